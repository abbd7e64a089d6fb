"""Intension: expressions such as `eq(add(x,y),mul(2,z))`, over variables and integers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from constrint.errors import ModelError
from constrint.expr import BoolExpr, Const, IntExpr
from constrint.expr.domain import Domain
from constrint.expr.functions import abs_, all_of, any_of, if_then_else, max_, min_, sum_
from constrint.frontends.flatzinc.builtins import truncated_div, truncated_mod
from constrint.globals import all_different

Leaf = Callable[[str], IntExpr]
_WORD = re.compile(r"\s*([A-Za-z_%][\w.\[\]%]*|-?\d+(?:\.\.-?\d+)?|[(),{}])")


def product_of(args: Sequence[IntExpr]) -> IntExpr:
    """The product of several expressions."""
    value: IntExpr = Const(1)
    for arg in args:
        value = value * arg
    return value


def _condition(value: IntExpr) -> BoolExpr:
    return value if isinstance(value, BoolExpr) else value != 0


def _chain(compare: Callable[[IntExpr, IntExpr], BoolExpr]) -> Callable[..., BoolExpr]:
    def chained(*args: IntExpr) -> BoolExpr:
        return all_of([compare(a, b) for a, b in pairwise(args)])

    return chained


def _parity(*args: IntExpr) -> BoolExpr:
    return sum_([1 * _condition(arg) for arg in args]) % 2 == 1


def _equivalent(*args: IntExpr) -> BoolExpr:
    first, *others = map(_condition, args)
    return all_of([first.iff(other) for other in others])


# Division and remainder round towards 0, as the specification takes them from Java.
_FUNCTIONS: dict[str, Callable[..., IntExpr]] = {
    "neg": lambda x: -x,
    "abs": abs_,
    "add": lambda *args: sum_(args),
    "sub": lambda x, y: x - y,
    "mul": lambda *args: product_of(args),
    "div": truncated_div,
    "mod": truncated_mod,
    "sqr": lambda x: x * x,
    "pow": lambda x, y: x**y,
    "min": min_,
    "max": max_,
    "dist": lambda x, y: abs_(x - y),
    "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y,
    "ge": lambda x, y: x >= y,
    "gt": lambda x, y: x > y,
    "ne": lambda *args: args[0] != args[1] if len(args) == 2 else all_different(args),
    "eq": _chain(lambda x, y: x == y),
    "not": lambda x: ~_condition(x),
    "and": lambda *args: all_of([_condition(arg) for arg in args]),
    "or": lambda *args: any_of([_condition(arg) for arg in args]),
    "xor": _parity,
    "iff": _equivalent,
    "imp": lambda x, y: _condition(x).implies(_condition(y)),
    "if": lambda test, then, other: if_then_else(_condition(test), then, other),
}


def expression(text: str, leaf: Leaf) -> IntExpr:
    """The expression that a text states.

    Args:
        text: In functional form.
        leaf: What a name stands for.

    Returns:
        The expression; raises `ModelError` for text that is none.
    """
    reader = _Reader(text, leaf)
    found = reader.expression()
    if reader.word is not None:
        raise ModelError(f"'{text.strip()}': unexpected '{reader.word}'")
    return found


def condition(text: str, leaf: Leaf) -> BoolExpr:
    """The condition that a text states."""
    return _condition(expression(text, leaf))


class _Reader:
    """Reads one expression from left to right; the grammar is one rule."""

    def __init__(self, text: str, leaf: Leaf) -> None:
        self._text = text
        self._leaf = leaf
        self._place = 0
        self.word: str | None = None
        self._advance()

    def _advance(self) -> None:
        match = _WORD.match(self._text, self._place)
        if match is None:
            if self._text[self._place :].strip():
                raise ModelError(f"'{self._text.strip()}' is no expression")
            self.word = None
            return
        self.word, self._place = match[1], match.end()

    def _take(self) -> str:
        word = self.word
        if word is None:
            raise ModelError(f"'{self._text.strip()}' ends too early")
        self._advance()
        return word

    def expression(self) -> IntExpr:
        word = self._take()
        if re.fullmatch(r"-?\d+", word):
            return Const(int(word))
        if self.word != "(":
            return self._leaf(word)
        self._advance()
        if word == "in":
            return self._member()
        args = [self.expression()]
        while self.word == ",":
            self._advance()
            args.append(self.expression())
        self._close(")")
        function = _FUNCTIONS.get(word)
        if function is None:
            raise ModelError(f"'{self._text.strip()}': the function '{word}' is not supported")
        try:
            return function(*args)
        except (TypeError, IndexError):
            raise ModelError(f"'{self._text.strip()}': '{word}' cannot have {len(args)} arguments") from None

    def _member(self) -> BoolExpr:
        value = self.expression()
        self._close(",")
        if self._take() not in ("set", "{"):
            raise ModelError(f"'{self._text.strip()}': `in` needs a set")
        if self.word == "(":
            self._advance()
        members: list[int] = []
        while self.word not in (")", "}", None):
            word = self._take()
            if word == ",":
                continue
            low, dots, high = word.partition("..")
            members.extend(range(int(low), int(high if dots else low) + 1))
        self._advance()
        self._close(")")
        return value.is_in(Domain.of_values(members))

    def _close(self, wanted: str) -> None:
        if self._take() != wanted:
            raise ModelError(f"'{self._text.strip()}': '{wanted}' is missing")
