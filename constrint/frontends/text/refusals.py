"""Errors for lists, arrays, fractions and other values that stand where numbers are needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from constrint.errors import ParseError
from constrint.expr.domain import Domain
from constrint.frontends.text.meanings import (
    Array,
    EnumerationType,
    Items,
    Template,
    Value,
    is_number,
    kind_of,
)
from constrint.frontends.text.names import NameReader

if TYPE_CHECKING:
    from lark import Token, Tree

    Node: TypeAlias = Tree[Token]


def no_fractions(reader: NameReader, tree: Node) -> ParseError:
    """The error for fractions in a list where integers are needed."""
    message = f"'{reader.position(tree).text}' has fractions, and integers are needed here"
    return reader.error(tree, message, "multiply them by their denominator")


def unusable(reader: NameReader, tree: Node, value: Value) -> ParseError:
    """The error for a value where a number or condition is needed."""
    text = reader.position(tree).text
    if is_number(value):
        message = f"'{text}' is not an integer: fractions stand in sums, products, comparisons and objectives"
        hint = "integers have no '/': write a // b (rounds down) or ceildiv(a, b) (rounds up)"
        return reader.error(tree, message, hint if "/" in text else "multiply by the denominator")
    if tree.data == "list":
        hint = "take an element, [3, 5, 7][k], or write x in [3, 5, 7]"
        return reader.error(tree, "a list is not a number", hint)
    hints = {
        tuple: f"write {text}[k] or x in {text}",
        EnumerationType: f"write one of its members, or x in {text}",
        Domain: f"write x in {text}",
        Template: f"call it: {text}(…)",
    }
    hint = next((hint for kind, hint in hints.items() if isinstance(value, kind)), "")
    if isinstance(value, Array | Items):
        hint = f"take an element, as in {text}[1], or write sum({text}), forall({text}) or the like"
    return reader.error(tree, f"'{text}' is {kind_of(value)}, not a number", hint)
