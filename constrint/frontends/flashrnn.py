"""Reads the first ConstrINT dialect, as FlashRNN ships it: docs/constrint-flashrnn.md says what it means.

Brackets are only decoration in that dialect, so lark ignores them; that they match is checked apart. What the
first reader took for one odd variable name (``x - 1``, ``x y``, ``x >= 2``) is an error here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import PurePath
from typing import TYPE_CHECKING, TypeAlias, cast

from constrint.domain import Domain
from constrint.errors import ModelError, ParseError, Position
from constrint.expr import (
    BoolExpr,
    Comparison,
    Const,
    Divides,
    IntExpr,
    Member,
    Or,
    Pow,
    as_expr,
    linear,
)
from constrint.frontends.expressions import MOST_BITS
from constrint.frontends.parsers import parser_of
from constrint.frontends.syntax import Source
from constrint.model import Model

if TYPE_CHECKING:
    from lark import Token, Tree
    from lark.exceptions import UnexpectedToken

    Node: TypeAlias = Tree[Token]

GREATEST = 1 << 30
"""Variables of the first dialect go from 1 to this."""
MOST_CHOICES = 10_000
"""A comparison with lists has an alternative for each choice of their members; no more than this."""

_HINTS = {
    "-": "this dialect has no '-': bring the term to the other side",
    "/": "this dialect has no '/': multiply the other side",
    ">": "this dialect has no '>' and '>=': swap the sides, a <= b",
    "<": "this dialect has no '<': write a + 1 <= b",
    "=": "an equation is written ==",
    "!": "this dialect has no '!='",
    "&": "'and' is written ;",
    "%": "divisibility is written a % b == 0, with one '%'",
    "<=": "a comparison has two sides: write a <= b; b <= c",
    "==": "a comparison has two sides: write a == b; b == c",
    "^": "an exponent is a number, and there is one: x ^ 2",
}


def read_flashrnn(text: str, filename: str, constants: Mapping[str, int | Sequence[int]]) -> Model:
    """The model that a text in this dialect describes."""
    source = Source(text.removeprefix("\ufeff"), filename)
    tree = _parse(source)
    named = not filename.startswith("<") and filename != "-"
    reader = _Reader(source, Model(PurePath(filename).stem) if named else Model(), constants)
    for statement in tree.children:
        reader.statement(cast("Node", statement))
    return reader.model


def _parse(source: Source) -> Node:
    from lark.exceptions import UnexpectedCharacters, UnexpectedInput

    _check_brackets(source)
    try:
        return parser_of("flashrnn").parse(source.text)
    except UnexpectedCharacters as error:
        character = source.text[error.pos_in_stream or 0]
        hint = _HINTS.get(character, "names have letters, digits and _; comments begin with #")
        message = f"unexpected character {character!r}"
        raise source.error(error.line, error.column, message, hint) from None
    except UnexpectedInput as error:
        raise _explain(source, cast("UnexpectedToken", error)) from None


def _check_brackets(source: Source) -> None:
    """Brackets match within a statement: those around ';' would promise a grouping that there is not."""
    open_places: list[tuple[int, int]] = []
    for number, line in enumerate(source.text.split("\n"), 1):
        for column, character in enumerate(line.partition("#")[0], 1):
            if character == "(":
                open_places.append((number, column))
            elif character == ")" and open_places:
                open_places.pop()
            elif character == ")":
                raise source.error(
                    number, column, "')' closes nothing", "remove it: brackets only decorate here"
                )
            elif character == ";" and open_places:
                raise source.error(*open_places[-1], "'(' is not closed before ';'", _NO_GROUPS)
    if open_places:
        raise source.error(*open_places[-1], "'(' is never closed", _NO_GROUPS)


_NO_GROUPS = "brackets only decorate in this dialect: they cannot group constraints"


def _explain(source: Source, error: UnexpectedToken) -> ParseError:
    token = error.token
    if token.type in ("$END", "_SEMICOLON", "_OR"):
        place = token if token.type != "$END" else None
        line = (place.line if place else source.text.rstrip().count("\n") + 1) or 1
        column = (place.column if place else len(source.line(line).rstrip()) + 1) or 1
        hint = "a constraint is a == b, a <= b or a % b == 0"
        return source.error(line, column, "the constraint ends too early", hint)
    hint = _HINTS.get(str(token), "a constraint is a == b, a <= b or a % b == 0, and ends with ;")
    return source.error(token.line or 1, token.column or 1, f"'{token}' cannot stand here", hint)


class _Reader:
    """Turns statements into constraints; a name that is no constant is a variable."""

    def __init__(self, source: Source, model: Model, constants: Mapping[str, int | Sequence[int]]) -> None:
        self.source = source
        self.model = model
        self.constants = constants

    def statement(self, tree: Node) -> None:
        """One constraint: alternatives, of which one holds."""
        parts = [self._comparison(cast("Node", child)) for child in tree.children]
        expr = parts[0] if len(parts) == 1 else Or(tuple(parts))
        expr.at(self._position(tree))
        self.model.add(expr)

    def _position(self, tree: Node) -> Position:
        meta = tree.meta
        text = self.source.text[meta.start_pos : meta.end_pos]
        return Position(self.source.filename, meta.line, meta.column, meta.end_line, meta.end_column, text)

    def _comparison(self, tree: Node) -> BoolExpr:
        sides = [cast("Node", child) for child in tree.children]
        if tree.data == "multiple" and not _is_zero(sides.pop()):
            meta = tree.meta
            hint = "a remainder r is a variable of its own: a == q * b + r; r + 1 <= b"
            raise self.source.error(meta.line, meta.column, "'%' stands in a % b == 0 only", hint)
        if tree.data == "equal":
            for side, other in (sides, sides[::-1]):
                values = self._only_list(side)
                if values is not None and not _lists(other):
                    return Member(self._sum(other, {}), Domain.of_values(values))
        return self._choices(tree, sides)

    def _choices(self, tree: Node, sides: list[Node]) -> BoolExpr:
        """The comparison for some choice of members of the lists in it."""
        lists = [part for side in sides for part in _lists(side)]
        members = [self._values(part) for part in lists]
        count = 1
        for values in members:
            count *= len(values)
        if count > MOST_CHOICES:
            meta = tree.meta
            raise self.source.error(meta.line, meta.column, f"these lists have {count} combinations")
        alternatives = []
        for choice in product(*members):
            chosen = {id(part): value for part, value in zip(lists, choice, strict=True)}
            left, right = (self._sum(side, chosen) for side in sides)
            alternatives.append(_compare(str(tree.data), left, right))
        return alternatives[0] if len(alternatives) == 1 else Or(tuple(alternatives))

    def _sum(self, tree: Node, chosen: Mapping[int, int]) -> IntExpr:
        return linear([(1, self._product(cast("Node", child), chosen)) for child in tree.children])

    def _product(self, tree: Node, chosen: Mapping[int, int]) -> IntExpr:
        first, *rest = (self._factor(cast("Node", child), chosen) for child in tree.children)
        for factor in rest:
            first = first * factor
        return first

    def _factor(self, tree: Node, chosen: Mapping[int, int]) -> IntExpr:
        if tree.data == "power":
            base, exponent = tree.children
            height = self._integer(cast("Token", exponent))
            if height > MOST_BITS:
                raise self.source.error(tree.meta.line, tree.meta.column, "this power is too large")
            return Pow(self._factor(cast("Node", base), chosen), Const(height))
        if tree.data == "list":
            return Const(chosen[id(tree)])
        token = cast("Token", tree.children[0])
        return Const(self._integer(token)) if tree.data == "number" else self._name(str(token))

    def _integer(self, token: Token) -> int:
        try:
            return int(token)
        except ValueError:
            raise self.source.error(
                token.line or 1, token.column or 1, "this number has too many digits"
            ) from None

    def _name(self, name: str) -> IntExpr:
        value = self.constants.get(name)
        if isinstance(value, Sequence):
            raise ModelError(f"constant '{name}' is a sequence: this dialect has them as lists only, [1, 2]")
        if value is not None:
            return as_expr(value)
        if name not in self.model.variables:
            self.model.int_var(name, 1, GREATEST)
        return self.model.variables[name]

    def _values(self, tree: Node) -> list[int]:
        return sorted({self._integer(cast("Token", token)) for token in tree.children})

    def _only_list(self, side: Node) -> list[int] | None:
        found = _lists(side)
        alone = len(found) == 1 and found[0].meta.start_pos == side.meta.start_pos
        return self._values(found[0]) if alone and found[0].meta.end_pos == side.meta.end_pos else None


def _lists(tree: Node) -> list[Node]:
    return list(tree.find_data("list"))


def _is_zero(side: Node) -> bool:
    """Whether a side is the number 0 alone."""
    numbers = list(side.scan_values(lambda token: True))
    return len(numbers) == 1 and str(numbers[0]) == "0"


def _compare(kind: str, left: IntExpr, right: IntExpr) -> BoolExpr:
    if kind == "multiple":
        return Divides(right, left)
    return Comparison("<=" if kind == "at_most" else "==", left, right)
