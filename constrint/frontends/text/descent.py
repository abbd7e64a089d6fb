"""Reads statements of names, numbers, operators and calls without the parser's tables.

lark takes some ten microseconds a token, so in long texts a statement is read by descent where it holds
nothing but integers, names, brackets, operators and the functions of integers. The rules are those of
grammar.lark. Whatever is not surely of this form raises `NotPlain`: lark then reads the statement, or says
what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from constrint.expr import (
    And,
    BoolConst,
    BoolExpr,
    Const,
    FloorDiv,
    Iff,
    Implies,
    IntExpr,
    Mod,
    Not,
    Or,
    Pow,
    linear,
)
from constrint.expr.position import Span
from constrint.frontends.text.calls import CALLED
from constrint.frontends.text.expressions import ExpressionReader, compare
from constrint.frontends.text.lines import TOKEN
from constrint.frontends.text.pieces import Worded

Expr = TypeVar("Expr", bound=IntExpr)

MOST_NESTING = 40
"""The most operators and brackets that may nest; a statement with more of them is left to lark."""
_NESTING = frozenset(["(", "-", "**", "->", "<->", "not", "//", "%"])
_COMPARING = frozenset(["==", "!=", "<=", ">=", "<", ">", "divides"])
_END = "\n"


class NotPlain(Exception):  # noqa: N818 - another way of reading applies, which is no fault
    """The statement is for lark to read."""


class Descent:
    """Reads one statement; each method reads what grammar.lark has under the same name.

    Args:
        reader: Knows the names, and checks the limits.
        piece: The statement, whose operands and operators stand as the grammar has them.
        start: Where the expression begins in its text.
    """

    def __init__(self, reader: ExpressionReader, piece: Worded, start: int = 0) -> None:
        self._reader = reader
        self._piece = cast(Any, piece)  # the place of limits, which lark makes anew
        self._places = list(TOKEN.finditer(piece.text, start))
        self._tokens = [place[0] for place in self._places]
        self._next = 0

    def expression(self) -> IntExpr:
        """The expression; raises `NotPlain`, and `LimitExceeded` without a place."""
        depth = self._reader.budget.limits.depth
        most = MOST_NESTING if depth is None else min(MOST_NESTING, depth)
        if sum(map(_NESTING.__contains__, self._tokens)) > most:
            raise NotPlain
        self._reader.budget.node(len(self._tokens))
        self._tokens += [_END, _END]  # an operand that is missing is looked at, and what comes after it
        expr = self._iff()
        if self._next != len(self._places):
            raise NotPlain
        return expr

    def _placed(self, expr: Expr, first: int) -> Expr:
        """The expression, with its place: from a token to the last that was read."""
        begin = self._piece.begin
        start, end = self._places[first].start(), self._places[self._next - 1].end()
        return expr.at(Span(self._reader.source, begin + start, begin + end))

    def _iff(self) -> IntExpr:
        first, left = self._next, self._implication()
        if self._tokens[self._next] != "<->":
            return left
        self._next += 1
        return self._placed(Iff(_condition(left), _condition(self._iff())), first)

    def _implication(self) -> IntExpr:
        first, left = self._next, self._disjunction()
        if self._tokens[self._next] != "->":
            return left
        self._next += 1
        return self._placed(Implies(_condition(left), _condition(self._implication())), first)

    def _disjunction(self) -> IntExpr:
        first, one = self._next, self._conjunction()
        if self._tokens[self._next] != "or":
            return one
        return self._placed(Or(self._others("or", one, self._conjunction)), first)

    def _conjunction(self) -> IntExpr:
        first, one = self._next, self._negation()
        if self._tokens[self._next] != "and":
            return one
        return self._placed(And(self._others("and", one, self._negation)), first)

    def _others(self, word: str, one: IntExpr, part: Callable[[], IntExpr]) -> tuple[BoolExpr, ...]:
        parts = [_condition(one)]
        while self._tokens[self._next] == word:
            self._next += 1
            parts.append(_condition(part()))
        return tuple(parts)

    def _negation(self) -> IntExpr:
        if self._tokens[self._next] != "not":
            return self._comparison()
        first = self._next
        self._next += 1
        return self._placed(Not(_condition(self._negation())), first)

    def _comparison(self) -> IntExpr:
        first, left = self._next, self._sum()
        operator = self._tokens[self._next]
        if operator not in _COMPARING:
            return left
        links: list[BoolExpr] = []
        while operator in _COMPARING:
            self._next += 1
            right = self._sum()
            links.append(compare(operator, left, right))
            left, operator = right, self._tokens[self._next]
        for link in links:
            self._placed(link, first)
        return links[0] if len(links) == 1 else self._placed(And(tuple(links)), first)

    def _sum(self) -> IntExpr:
        first, term = self._next, self._product()
        sign = self._tokens[self._next]
        if sign not in ("+", "-"):
            return term
        terms = [(1, term)]
        while sign in ("+", "-"):
            self._next += 1
            terms.append((1 if sign == "+" else -1, self._product()))
            sign = self._tokens[self._next]
        return self._placed(self._reader.moderate(self._piece, linear(terms)), first)

    def _product(self) -> IntExpr:
        first, factor = self._next, self._factor()
        operator = self._tokens[self._next]
        if operator not in ("*", "//", "%"):
            return factor
        factors, has_remainder = [factor], False
        while operator in ("*", "//", "%"):
            self._next += 1
            factor = self._factor()
            if operator == "*":
                if has_remainder:  # ambiguous for readers
                    raise NotPlain
                factors.append(factor)
            else:
                has_remainder = has_remainder or operator == "%"
                kind = FloorDiv if operator == "//" else Mod
                factors = [kind(self._reader.multiplied(self._piece, factors), factor)]
            operator = self._tokens[self._next]
        return self._placed(self._reader.multiplied(self._piece, factors), first)

    def _factor(self) -> IntExpr:
        first, token = self._next, self._tokens[self._next]
        if token in ("+", "-"):
            self._next += 1
            return self._placed(linear([(1 if token == "+" else -1, self._factor())]), first)
        base = self._atom()
        if self._tokens[self._next] != "**":
            return base
        self._next += 1
        exponent = self._factor()
        self._reader.check_power(self._piece, base, exponent)
        return self._placed(Pow(base, exponent), first)

    def _atom(self) -> IntExpr:
        token = self._tokens[self._next]
        self._next += 1
        if token.isdigit():
            return Const(int(token))
        if token == "(":
            expr = self._iff()
            self._close()
            return expr
        if self._tokens[self._next] == "(":
            return self._call(token)
        if token in ("true", "false"):
            return self._placed(BoolConst(token == "true"), self._next - 1)
        meaning = self._reader.names.get(token)
        if not isinstance(meaning, IntExpr):
            raise NotPlain
        return meaning

    def _close(self) -> None:
        if self._tokens[self._next] != ")":
            raise NotPlain
        self._next += 1

    def _call(self, name: str) -> IntExpr:
        first, function = self._next - 1, CALLED.get(name)
        if function is None:
            raise NotPlain
        self._next += 1
        arguments: list[IntExpr] = []
        while self._tokens[self._next] != ")":
            arguments.append(self._iff())
            if self._tokens[self._next] != ",":
                break
            self._next += 1
        self._close()
        if not function.fewest <= len(arguments) <= (function.most or len(arguments)):
            raise NotPlain
        for condition in arguments[: function.conditions]:
            _condition(condition)
        parts = tuple(arguments)
        if function.grows:
            self._reader.check_bits(self._piece, parts, sum)
        return self._placed(function.of(parts), first)


def _condition(expr: IntExpr) -> BoolExpr:
    if not isinstance(expr, BoolExpr):
        raise NotPlain
    return expr
