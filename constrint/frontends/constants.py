"""Constants in the readers of text: numbers, long lists of them, and computed values.

Constants are computed while reading, so each step is checked before it makes a number with too many digits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from constrint.errors import ModelError, ParseError, Position, Undefined
from constrint.expr import Const, IntExpr, IntVar, Sum
from constrint.expr.evaluation import SharedValues
from constrint.expr.position import Span
from constrint.frontends.text.syntax import Source
from constrint.support.limits import Budget, LimitExceeded

if TYPE_CHECKING:
    from lark import Token, Tree

    from constrint.frontends.nodes import Node as Made

    Node: TypeAlias = Tree[Token]

Place: TypeAlias = "Node | Token | Span"
"""A part of a text: its tree, or its place where it has none."""

BITS_OF_DIGIT = 3.33
LONGER = 10
"""Computed constants may have this many times the digits of a written number."""
LONGEST_WORD, MOST_WORDS = 60, 2_000
"""For hints: the longest misspelled word, and the most words that it is compared with."""
_ROW = re.compile(r"\[([^\]]*)\]")


class ConstantReader:
    """Reads constants, and gives places names.

    Attributes:
        source: The text.
        budget: The limits of reading.
    """

    def __init__(self, source: Source, budget: Budget) -> None:
        self.source = source
        self.budget = budget
        self._constants = SharedValues({})

    def position(self, tree: Node) -> Position:
        """The source position of a tree."""
        return self.span(tree).resolve()

    def span(self, tree: Place) -> Span:
        """The place of a tree, resolved later."""
        if isinstance(tree, Span):
            return tree
        made = cast("Made", tree)  # trees are typed as lark's, and made by `nodes`
        first, last = made.first, made.last
        if first is None or last is None:
            return Span(self.source, 0, 0)
        return Span(self.source, first.start_pos, last.end_pos)

    def _start(self, place: Place) -> Position:
        """The position where a tree or token begins."""
        at: Any = getattr(place, "meta", place)
        start = place.start if isinstance(place, Span) else at.start_pos or 0
        return Span(self.source, start, start).resolve()

    def where(self, place: Place) -> str:
        """A place as limits name it."""
        return str(self._start(place))

    def error(self, place: Place, message: str, hint: str = "") -> ParseError:
        """An error at a tree or token."""
        where = self._start(place)
        return self.source.error(where.line, where.column, message, hint)

    def value_of(self, tree: Place, expr: IntExpr) -> int:
        """The value of an expression without variables; raises `Undefined` if there is none."""
        try:
            return expr.evaluate(self._constants)
        except ModelError as error:
            raise self.error(tree, str(error)) from None

    def too_large(self, tree: Place, limit: int) -> LimitExceeded:
        """The error for a computed constant with too many digits."""
        return LimitExceeded("digits", limit, self.where(tree))

    def number(self, token: Token) -> int:
        """The value of a number token."""
        self.budget.digits(token, partial(self.where, token))
        try:
            return int(token, 0)
        except ValueError:
            if token.startswith("0"):
                hint = f"write {token.lstrip('0')}"
                raise self.error(token, f"the number {token} begins with 0", hint) from None
            hint = "call sys.set_int_max_str_digits(0) before, or write it as a product or power"
            raise self.error(token, "Python does not read numbers with this many digits", hint) from None

    def long_list(self, token: Token) -> list[int]:
        """The numbers of a list that is a single token."""
        parts = token.split(",")
        if not parts[-1].strip():
            parts.pop()
        self.budget.values(len(parts), partial(self.where, token))
        self.budget.digits(max(map(len, map(str.strip, parts))), partial(self.where, token))
        return list(map(int, parts))

    def long_rows(self, token: Token) -> list[tuple[int, ...]]:
        """The lists of numbers of a list that is a single token."""
        where, rows = partial(self.where, token), []
        for found in _ROW.finditer(token):
            row = found[1].split(",")
            if not row[-1].strip():
                row.pop()
            self.budget.values(len(row), where)
            self.budget.digits(max([len(part.strip()) for part in row], default=0), where)
            rows.append(tuple(map(int, row)))
        return rows

    @staticmethod
    def inner_token(tree: Node) -> Token | None:
        """The token between two brackets if there is only one: a long list."""
        inner = tree.children[1] if len(tree.children) == 3 else None
        return None if inner is None or hasattr(inner, "data") else inner

    def check_power(self, tree: Place, base: IntExpr, exponent: IntExpr) -> None:
        """Refuse a constant power that would have too many digits."""
        digits, low, high = (
            _times(self.budget.limits.digits),
            self.known(tree, base),
            self.known(tree, exponent),
        )
        if digits is None or low is None or high is None:
            return
        if (abs(low).bit_length() - 1) * max(high, 0) > digits * BITS_OF_DIGIT:
            raise self.too_large(tree, digits)

    def check_bits(
        self, tree: Place, parts: Sequence[IntExpr], total: Callable[[Sequence[int]], int]
    ) -> None:
        """Refuse constants that would have too many digits; their value is not computed."""
        digits = _times(self.budget.limits.digits)
        if digits is None or len(parts) < 2:
            return
        values = [self.known(tree, part) for part in parts]
        bits = total([abs(value).bit_length() - 1 for value in values if value])
        if bits > digits * BITS_OF_DIGIT and 0 not in values:
            raise self.too_large(tree, digits)

    def known(self, tree: Place, expr: IntExpr) -> int | None:
        """The value of an expression without variables; None if it has variables, or is undefined."""
        if type(expr) is Const:
            return expr.value
        if type(expr) is IntVar:
            return None
        self.budget.elements(len(expr.children), partial(self.where, tree))  # counts the search for variables
        if next(expr.variables(), None) is not None:
            return None
        try:
            return self.value_of(tree, expr)
        except Undefined:
            return None

    def moderate(self, tree: Place, expr: IntExpr) -> IntExpr:
        """The expression, after a check that its coefficients are not too long."""
        if type(expr) is not Sum:
            return expr
        self.budget.count_steps(len(expr.terms), partial(self.where, tree))
        digits = _times(self.budget.limits.digits)
        if digits is not None:
            most = max(abs(expr.constant), max([abs(factor) for factor, _ in expr.terms], default=0))
            if most.bit_length() > digits * BITS_OF_DIGIT + 4:
                raise self.too_large(tree, digits)
        return expr


def _times(digits: int | None) -> int | None:
    return None if digits is None else LONGER * digits


def as_tree(child: Node | Token) -> Node:
    """A child that is a tree by the grammar."""
    return cast("Node", child)


def as_token(child: Node | Token) -> Token:
    """A child that is a token by the grammar."""
    return cast("Token", child)


def subtrees(tree: Node) -> list[Node]:
    """The children that are trees: the items of a list or call."""
    return [as_tree(child) for child in tree.children if hasattr(child, "data")]


def nearest(word: str, known: Collection[str]) -> list[str]:
    """The most similar known word, if one is similar enough; of very many words only some are compared."""
    if len(word) > LONGEST_WORD:
        return []
    alike = [other for other in known if abs(len(other) - len(word)) <= 2 + len(word) // 3]
    from difflib import get_close_matches  # imported late: few texts need it

    return get_close_matches(word, alike[:MOST_WORDS], n=1)


def name_of(child: Node | Token) -> str:
    """The name in a `name` node, without its quotes."""
    return str(as_tree(child).children[0]).strip("`")
