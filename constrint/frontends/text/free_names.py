"""The names in a tree of the text language that its own generators do not declare."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeAlias

from constrint.frontends.constants import as_tree, name_of, subtrees
from constrint.support.limits import Budget

if TYPE_CHECKING:
    from lark import Token, Tree

    Node: TypeAlias = Tree[Token]


def count_of(generator: Node) -> int:
    """How many names a generator binds."""
    return next(place for place, child in enumerate(generator.children) if not hasattr(child, "data"))


def free_names(tree: Node, bound: set[str], budget: Budget) -> Iterator[tuple[Node, str]]:
    """The names in a tree that its generators do not bind, and where they stand."""
    stack: list[tuple[Node, frozenset[str]]] = [(tree, frozenset(bound))]
    while stack:
        node, known = stack.pop()
        if node.data == "name":
            if name_of(node) not in known:
                yield node, name_of(node)
        elif node.data == "comprehension":
            head, *generators = subtrees(node)
            for generator in generators:
                count = count_of(generator)
                budget.elements(len(known))
                stack.append((as_tree(generator.children[count + 1]), known))
                known = known | {name_of(child) for child in generator.children[:count]}
                stack += [(as_tree(child), known) for child in generator.children[count + 2 :]]
            stack.append((head, known))
        else:
            children = subtrees(node)
            if node.data == "call":
                children = children[1:]
            stack += [(child, known) for child in children]
