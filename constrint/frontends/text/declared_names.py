"""The names that a statement declares."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from constrint.frontends.constants import as_tree, name_of
from constrint.frontends.text.declaring import is_membership
from constrint.frontends.text.syntax import Statement

if TYPE_CHECKING:
    from lark import Token, Tree

    Node: TypeAlias = Tree[Token]


def declared_by(statement: Statement) -> list[str]:
    """The names that a statement gives a meaning, where it is the first to do so; a function ends in `(`."""
    tree = statement.tree
    if tree.data == "template":
        return [f"{name_of(as_tree(tree.children[0]).children[0])}("]
    if tree.data not in _DECLARING or (tree.data == "chain" and not is_membership(tree)):
        return []
    targets = (
        tree.children[:1] if tree.data in ("let", "let_array", "chain", "enumeration") else tree.children
    )
    return [name for child in targets if hasattr(child, "data") and (name := _target_name(as_tree(child)))]


def _target_name(target: Node) -> str:
    """The name that is declared by `name` or `name[…]`; empty for another tree."""
    if target.data == "index":
        target = as_tree(target.children[0])
    return name_of(target) if target.data == "name" else ""


_DECLARING = frozenset(["declare", "declare_bool", "let", "let_array", "chain", "param", "enumeration"])
