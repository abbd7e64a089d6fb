"""Intension: expressions such as `eq(add(x,y),mul(2,z))`, over variables and integers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from constrint.errors import ModelError
from constrint.expr import BoolExpr, Const, IntExpr, Mul
from constrint.expr.functions import abs_, all_of, any_of, if_then_else, max_, min_, sum_, truncdiv, truncmod
from constrint.frontends.xcsp3.numbers import domain_of, integer, shown
from constrint.globals import all_different
from constrint.support.limits import Budget

Leaf = Callable[[str], IntExpr]
_WORD = re.compile(r"\s*([A-Za-z_%][\w.\[\]%]*|-?[0-9]+(?:\.\.-?[0-9]+)?|[(),{}])")


def product_of(args: Sequence[IntExpr], budget: Budget) -> IntExpr:
    """The product of several expressions."""
    constant = 1
    others: list[IntExpr] = []
    for arg in args:
        if isinstance(arg, Const):
            constant *= arg.value
            budget.digits(_digits(constant))
        else:
            others += arg.args if isinstance(arg, Mul) else (arg,)
    if not others:
        return Const(constant)
    product = others[0] if len(others) == 1 else Mul(tuple(others))
    return product if constant == 1 else constant * product


def _digits(value: int) -> int:
    """An estimate, never too large, of the number of decimal digits."""
    return int(value.bit_length() * 0.30102)


def _power(budget: Budget, base: IntExpr, exponent: IntExpr) -> IntExpr:
    if isinstance(base, Const) and isinstance(exponent, Const) and exponent.value >= 0:
        if abs(base.value) > 1:
            budget.digits((abs(base.value).bit_length() - 1) * exponent.value * 30102 // 100000)
        return Const(base.value**exponent.value)
    return base**exponent


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


# Division and remainder round towards 0, which the specification takes from Java.
_FUNCTIONS: dict[str, Callable[..., IntExpr]] = {
    "neg": lambda x: -x,
    "abs": abs_,
    "add": lambda *args: sum_(args),
    "sub": lambda x, y: x - y,
    "div": truncdiv,
    "mod": truncmod,
    "sqr": lambda x: x * x,
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


def expression(text: str, leaf: Leaf, budget: Budget) -> IntExpr:
    """The expression of a text.

    Args:
        text: The expression in functional form.
        leaf: The meaning of a name.
        budget: The limits of reading.

    Returns:
        The expression.

    Raises:
        ModelError: The text is not valid.
    """
    return _IntensionReader(text, leaf, budget).expression()


def condition(text: str, leaf: Leaf, budget: Budget) -> BoolExpr:
    """The condition of a text."""
    return _condition(expression(text, leaf, budget))


@dataclass
class _Call:
    """A function call whose arguments are being read.

    Attributes:
        name: Its name.
        args: The arguments so far.
        sizes: Operators and operands of each.
    """

    name: str
    args: list[IntExpr] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)


def _size(call: _Call) -> int:
    """Operators and operands of a call; an argument counts as often as it occurs in the translation."""
    times = 1
    if call.name == "sqr":
        times = 2
    elif call.name in ("div", "mod"):
        times = 4
    elif len(call.args) > 2 and call.name in ("lt", "le", "ge", "gt", "eq"):
        times = 2
    first = (len(call.args) - 2) * call.sizes[0] if call.name == "iff" and len(call.args) > 2 else 0
    return times * sum(call.sizes) + first + len(call.args)


class _IntensionReader:
    """Reads one expression from left to right; the grammar is one rule, and open calls are on a stack."""

    def __init__(self, text: str, leaf: Leaf, budget: Budget) -> None:
        self._text = text
        self._leaf = leaf
        self._budget = budget
        self._place = 0
        self._word: str | None = None
        self._calls: list[_Call] = []
        self._advance()

    def _advance(self) -> None:
        match = _WORD.match(self._text, self._place)
        if match is None:
            if self._text[self._place :].strip():
                raise ModelError(f"'{shown(self._text)}' is not an expression, at '{self._rest()}'")
            self._word = None
            return
        self._word, self._place = match[1], match.end()

    def _rest(self) -> str:
        return shown(self._text[self._place : self._place + 100])

    def _take(self) -> str:
        word = self._word
        if word is None:
            raise ModelError(f"'{shown(self._text)}' ends too early")
        self._advance()
        return word

    def expression(self) -> IntExpr:
        """The whole text as an expression."""
        while True:
            word = self._take()
            if self._word == "(":
                self._advance()
                self._calls.append(_Call(word))
                self._budget.depth(len(self._calls))
                continue
            found, size = self._operand(word), 1
            self._budget.node()
            while True:  # an operand ends an argument, which may end a call, which may end an argument …
                if not self._calls:
                    if self._word is not None:
                        raise ModelError(f"'{shown(self._text)}': unexpected '{shown(self._word)}'")
                    return found
                call = self._calls[-1]
                call.args.append(found)
                call.sizes.append(size)
                if self._word == ",":
                    self._advance()
                    if call.name != "in":
                        break
                    found, size = self._member(found), size + 1
                else:
                    found, size = self._closed(call)
                self._calls.pop()

    def _operand(self, word: str) -> IntExpr:
        if word[0].isdigit() or word[0] == "-":
            return Const(integer(word, self._budget))
        if not (word[0].isalpha() or word[0] in "_%"):
            raise ModelError(f"'{shown(self._text)}': unexpected '{shown(word)}'")
        return self._leaf(word)

    def _closed(self, call: _Call) -> tuple[IntExpr, int]:
        """The expression of a call whose last argument has been read, and its size."""
        self._close(")")
        size = _size(call)
        self._budget.node(size - sum(call.sizes))
        try:
            if call.name == "mul":
                return product_of(call.args, self._budget), size
            if call.name == "pow":
                return _power(self._budget, *call.args), size
            function = _FUNCTIONS.get(call.name)
            if function is None:
                raise ModelError(f"'{shown(self._text)}': the function '{shown(call.name)}' is not supported")
            return function(*call.args), size
        except (TypeError, IndexError):
            many = len(call.args)
            raise ModelError(f"'{shown(self._text)}': '{call.name}' cannot have {many} arguments") from None

    def _member(self, value: IntExpr) -> BoolExpr:
        """The condition that a value is in the set that follows in the text."""
        if self._take() not in ("set", "{"):
            raise ModelError(f"'{shown(self._text)}': `in` needs a set")
        if self._word == "(":
            self._advance()
        members: list[str] = []
        while self._word not in (")", "}", None):
            word = self._take()
            if word != ",":
                members.append(word)
        self._advance()
        self._close(")")
        return value.is_in(domain_of(" ".join(members), self._budget))

    def _close(self, wanted: str) -> None:
        if self._take() != wanted:
            raise ModelError(f"'{shown(self._text)}': '{wanted}' is missing, at '{self._rest()}'")
