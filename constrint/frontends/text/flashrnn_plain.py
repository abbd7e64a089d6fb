"""Plain constraints of FlashRNN's dialect: comparisons of names and numbers, without lists and alternatives.

They are nearly all that tuners write, and brackets do not group, so one pass over the tokens reads them: each
operator closes those that bind more tightly. Everything else, mistakes included, is left to lark
(`flashrnn_syntax`), whose grammar defines the language.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple, cast

from constrint.expr import Const, IntExpr, IntVar, Mod, Pow, linear
from constrint.expr.build import MOST_FACTORS
from constrint.expr.integers import Mul
from constrint.frontends.text.expressions import ExpressionReader

_BLANK = r"[ \t\f\r\n]*+"
LONGEST_NUMBER = 4_000
"""The most digits that Python converts by default."""
_NUMBER = rf"(?:0|[1-9][0-9]{{0,{LONGEST_NUMBER - 1}}}+)"
_ATOM = rf"(?:[^\W\d]\w*+|{_NUMBER})"
_POWER = rf"{_ATOM}{_BLANK}(?:\^{_BLANK}{_ATOM}{_BLANK})?+"
_SUM = rf"{_POWER}(?:[-+*]{_BLANK}{_POWER})*+"
_SIDE = rf"{_SUM}(?:%{_BLANK}{_SUM})?+"
_PLAIN = re.compile(rf"{_BLANK}{_SIDE}(?:(?:[<>]=?+|[=!]=){_BLANK}{_SIDE})++")
_LISTED = re.compile(
    rf"{_BLANK}([^\W\d]\w*+){_BLANK}=={_BLANK}\[({_BLANK}{_NUMBER}{_BLANK}(?:,{_BLANK}{_NUMBER}{_BLANK})*+)\]{_BLANK}"
)
_TOKEN = re.compile(r"\w++|[^\w\s]=?+")  # of plain constraints
_BRACKET = re.compile(r"[()]")
_EMPTY = re.compile(rf"\({_BLANK}\)")
_ONLY_VARIABLES = frozenset([IntVar])
_NO_BRACKETS = str.maketrans("()", "  ")


class Plain(NamedTuple):
    """A plain constraint.

    Attributes:
        begin: Start of its first operand in the text.
        end: End of its last operand.
        tokens: Operands at even places, operators at odd ones.
        values: The numbers, for a name that equals one of some numbers; the tokens are then the name alone.
        piece: Start of the piece, and its text.
        has_brackets: Whether brackets were removed.
    """

    begin: int
    end: int
    tokens: list[str]
    values: list[str] | None
    piece: tuple[int, str]
    has_brackets: bool


def plain(piece: str, begin: int) -> Plain | None:
    """The plain constraint in a piece of text; None if it is not plain.

    Args:
        piece: The text between one ';' and the next, without comments.
        begin: Its start in the text.
    """
    code = piece
    if "(" in piece or ")" in piece:
        if not _are_paired(piece):
            return None
        code = piece.translate(_NO_BRACKETS)
    if _PLAIN.fullmatch(code):
        values, tokens = None, _TOKEN.findall(code)
    elif code is piece and (listed := _LISTED.fullmatch(piece)):
        values, tokens = listed[2].split(","), [listed[1]]
    else:
        return None
    start = begin + len(code) - len(code.lstrip())
    return Plain(start, begin + len(code.rstrip()), tokens, values, (begin, piece), code is not piece)


def _are_paired(piece: str) -> bool:
    """Whether brackets are balanced, and none are empty."""
    depth = 0
    for found in _BRACKET.finditer(piece):
        depth += 1 if found[0] == "(" else -1
        if depth < 0:
            return False
    return depth == 0 and not _EMPTY.search(piece)


class PlainReader(ExpressionReader):
    """Builds the comparisons of plain constraints."""

    def declared(self, name: str, plain: Plain) -> IntExpr | None:
        """The variable for a new name; None for the name of a list."""
        raise NotImplementedError

    def plain_sides(self, plain: Plain) -> tuple[list[IntExpr], list[str]] | None:
        """The sides of a comparison and the operators between them; None if a name stands for a list."""
        sides: list[IntExpr] = []
        comparisons: list[str] = []
        factors: list[IntExpr] = []
        terms: list[tuple[int, IntExpr]] = []
        dividend: IntExpr | None = None
        sign, is_exponent = 1, False
        names = self.names
        # The end closes what a comparison would close.
        for place, token in enumerate([*plain.tokens, "=="]):
            if not place & 1:
                expr: Any = names.get(token)
                if expr is None:
                    expr = Const(int(token)) if token[0] <= "9" else self.declared(token, plain)
                if type(expr) is tuple:
                    return None
                factors.append(self._raised(plain, factors.pop(), expr) if is_exponent else expr)
                is_exponent = False
            elif token == "^":
                is_exponent = True
            elif token != "*":
                terms.append((sign, self._product_of(plain, factors) if len(factors) > 1 else factors[0]))
                factors = []
                sign = -1 if token == "-" else 1
                if token in "+-":
                    continue
                total = self.moderate(cast(Any, plain), linear(terms)) if len(terms) > 1 else terms[0][1]
                terms = []
                if token == "%":
                    dividend = total
                    continue
                sides.append(total if dividend is None else Mod(dividend, total))
                dividend = None
                comparisons.append(token)
        return sides, comparisons[:-1]

    def _raised(self, plain: Plain, base: IntExpr, exponent: IntExpr) -> IntExpr:
        self.check_power(cast(Any, plain), base, exponent)
        return Pow(base, exponent)

    def _product_of(self, plain: Plain, factors: list[IntExpr]) -> IntExpr:
        if len(factors) <= MOST_FACTORS and _ONLY_VARIABLES.issuperset(map(type, factors)):
            return Mul(tuple(factors))
        return self.multiplied(cast(Any, plain), factors)
