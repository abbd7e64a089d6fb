"""How each expression node is written as JSON and read again, with errors that name the place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from constrint.errors import ModelError
from constrint.expr import (
    Abs,
    And,
    BoolExpr,
    Comparison,
    Divides,
    Element,
    FloorDiv,
    Gcd,
    Iff,
    IfThenElse,
    Implies,
    IntExpr,
    Lcm,
    Max,
    Member,
    Min,
    Mod,
    Mul,
    Not,
    Or,
    Pow,
    Sum,
    Table,
)
from constrint.expr.domain import Domain
from constrint.expr.global_expr import node_of
from constrint.globals import GLOBALS, Definition, Field, Function, Relation

Json: TypeAlias = Any
Write: TypeAlias = Callable[[IntExpr], Json]
Number: TypeAlias = Callable[[int], Json]
WriteSet: TypeAlias = Callable[[Domain], Json]


@dataclass(frozen=True)
class Place:
    """A place in a document; what is read there is checked.

    Attributes:
        filename: Name of the document.
        path: The way to the place, such as ``constraints[3].expr``.
    """

    filename: str
    path: str

    def at(self, key: str) -> Place:
        """The place of a member."""
        return Place(self.filename, f"{self.path}.{key}" if self.path else key)

    def error(self, message: str) -> ModelError:
        """An error at this place."""
        return ModelError(f"{self.filename}: {self.path + ': ' if self.path else ''}{message}")

    def object(self, value: Json, required: Sequence[str], optional: Sequence[str] = ()) -> dict[str, Json]:
        """An object with these members."""
        if not isinstance(value, dict):
            raise self.error(f"an object is needed here, not {_kind(value)}")
        for name in required:
            if name not in value:
                raise self.error(f"'{name}' is missing")
        for name in value:
            if name not in required and name not in optional:
                raise self.error(f"'{name}' is unknown here")
        return value

    def array(self, value: Json) -> list[Json]:
        """An array."""
        if not isinstance(value, list):
            raise self.error(f"an array is needed here, not {_kind(value)}")
        return value

    def items(self, value: Json) -> Iterator[tuple[Place, Json]]:
        """The items of an array with their places."""
        for i, item in enumerate(self.array(value)):
            yield Place(self.filename, f"{self.path}[{i}]"), item

    def text(self, value: Json) -> str:
        """A string."""
        if not isinstance(value, str):
            raise self.error(f"a string is needed here, not {_kind(value)}")
        return value

    def integer(self, value: Json) -> int:
        """An integer, or a hexadecimal one as a string."""
        if isinstance(value, str) and value.lstrip("-").startswith("0x"):
            try:
                return int(value, 16)
            except ValueError:
                raise self.error(f"{value!r} is no hexadecimal number") from None
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.error(f"an integer is needed here, not {_kind(value)}")
        return value

    def domain(self, value: Json) -> Domain:
        """A set of integers: an array, or an object with bounds."""
        if isinstance(value, list):
            return Domain.of_values([place.integer(item) for place, item in self.items(value)])
        bounds = self.object(value, required=("lo", "hi"), optional=("step",))
        lo, hi = (None if bounds[key] is None else self.at(key).integer(bounds[key]) for key in ("lo", "hi"))
        step = self.at("step").integer(bounds.get("step", 1))
        if step < 1 or (step > 1 and lo is None and hi is None):
            raise self.error("a step is at least 1 and needs a bound to count from")
        return Domain.of_range(lo, hi, step)

    def condition(self, expr: IntExpr) -> BoolExpr:
        """A condition."""
        if not isinstance(expr, BoolExpr):
            raise self.error("a condition is needed here, not a number")
        return expr


def _kind(value: Json) -> str:
    if value is None:
        return "null"
    names = {dict: "an object", list: "an array", str: "a string", bool: "a truth value", int: "an integer"}
    return names.get(type(value), type(value).__name__)


Read: TypeAlias = Callable[[Json, Place], IntExpr]
Reader: TypeAlias = Callable[[Place, list[Json], Read], IntExpr]
Writer: TypeAlias = Callable[[Any, Write, Number, WriteSet], Json]

_PLAIN: dict[str, tuple[type[Any], int]] = {
    "//": (FloorDiv, 2),
    "%": (Mod, 2),
    "**": (Pow, 2),
    "abs": (Abs, 1),
    "if": (IfThenElse, 3),
    "divides": (Divides, 2),
    "not": (Not, 1),
    "->": (Implies, 2),
    "<->": (Iff, 2),
}
"""Nodes with a fixed number of operands."""

_LISTS: dict[str, tuple[type[Any], int]] = {
    "*": (Mul, 2),
    "min": (Min, 1),
    "max": (Max, 1),
    "gcd": (Gcd, 1),
    "lcm": (Lcm, 1),
    "and": (And, 0),
    "or": (Or, 0),
}
"""Nodes with any number of operands from a least number on."""

_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
_CONDITIONS = {"not", "->", "<->", "and", "or"}
"""Operators whose operands are conditions."""


def _operands(place: Place, operands: list[Json], read: Read, least: int, most: int | None) -> list[IntExpr]:
    if len(operands) < least or (most is not None and len(operands) > most):
        wanted = f"{least}" if least == most else f"at least {least}"
        raise place.error(f"{wanted} operands are needed here, not {len(operands)}")
    return [read(item, Place(place.filename, f"{place.path}[{i}]")) for i, item in enumerate(operands, 1)]


def _plain(name: str, node: type[Any], count: int) -> Reader:
    def build(place: Place, operands: list[Json], read: Read) -> IntExpr:
        parts = _operands(place, operands, read, count, count)
        for part in parts if name in _CONDITIONS else parts[:1] if node is IfThenElse else []:
            place.condition(part)
        built: IntExpr = node(*parts)
        return built

    return build


def _list(name: str, node: type[Any], least: int) -> Reader:
    def build(place: Place, operands: list[Json], read: Read) -> IntExpr:
        parts = _operands(place, operands, read, least, None)
        for part in parts if name in _CONDITIONS else []:
            place.condition(part)
        built: IntExpr = node(tuple(parts))
        return built

    return build


def _comparison(name: str) -> Reader:
    def build(place: Place, operands: list[Json], read: Read) -> IntExpr:
        left, right = _operands(place, operands, read, 2, 2)
        return Comparison(name, left, right)

    return build


def _fixed(place: Place, operands: list[Json], count: int) -> list[Json]:
    if len(operands) != count:
        raise place.error(f"{count} operands are needed here, not {len(operands)}")
    return operands


def _read_sum(place: Place, operands: list[Json], read: Read) -> IntExpr:
    constant, *terms = operands or [None]
    pairs = []
    for i, term in enumerate(terms, 2):
        where = Place(place.filename, f"{place.path}[{i}]")
        coefficient, expr = _fixed(where, where.array(term), 2)
        pairs.append((where.integer(coefficient), read(expr, where)))
    if not pairs:
        raise place.error("a sum needs a constant and at least one [coefficient, term]")
    return Sum(tuple(pairs), place.integer(constant))


def _read_element(place: Place, operands: list[Json], read: Read) -> IntExpr:
    values, index = _fixed(place, operands, 2)
    table = tuple(where.integer(item) for where, item in place.items(values))
    return Element(table, read(index, place))


def _read_member(place: Place, operands: list[Json], read: Read) -> IntExpr:
    expr, members = _fixed(place, operands, 2)
    return Member(read(expr, place), place.domain(members))


def _read_table(place: Place, operands: list[Json], read: Read) -> IntExpr:
    written, rows = _fixed(place, operands, 2)
    args = tuple(read(item, where) for where, item in place.items(written))
    listed = set()
    for where, row in place.items(rows):
        values = tuple(where.integer(value) for value in where.array(row))
        if len(values) != len(args):
            raise where.error(f"a row has {len(args)} values here, not {len(values)}")
        listed.add(values)
    return Table(args, frozenset(listed))


def _part(place: Place, field: Field, written: Json, read: Read) -> Any:
    """An argument of a global constraint."""
    if field.kind == "expr":
        return read(written, place)
    if field.kind == "int":
        return place.integer(written)
    if field.kind == "word":
        return place.text(written)
    items = list(place.items(written))
    if field.kind == "exprs":
        return tuple([read(item, where) for where, item in items])
    if field.kind == "ints":
        return tuple([where.integer(item) for where, item in items])
    return tuple([tuple([at.integer(entry) for at, entry in where.items(item)]) for where, item in items])


def _global(definition: Definition) -> Reader:
    fields = definition.fields

    def build(place: Place, operands: list[Json], read: Read) -> IntExpr:
        needed = sum(field.kind != "word" for field in fields)
        if not needed <= len(operands) <= len(fields):
            raise place.error(f"{needed} operands are needed here, not {len(operands)}")
        parts = [
            _part(Place(place.filename, f"{place.path}[{i}]"), field, written, read)
            for i, (field, written) in enumerate(zip(fields, operands, strict=False), 1)
        ]
        parts += [field.words[0] for field in fields[len(parts) :]]
        try:
            return node_of(definition, tuple(parts))
        except ModelError as error:
            raise place.error(str(error)) from None

    return build


def _write_global(expr: Any, write: Write, number: Number, members: WriteSet) -> Json:
    def written(part: Any) -> Json:
        if isinstance(part, tuple):
            return [written(inner) for inner in part]
        if isinstance(part, IntExpr):
            return write(part)
        return number(part) if isinstance(part, int) else part

    return [expr.definition.name, *[written(part) for part in expr.parts]]


READERS: dict[str, Reader] = {
    **{name: _plain(name, node, count) for name, (node, count) in _PLAIN.items()},
    **{name: _list(name, node, least) for name, (node, least) in _LISTS.items()},
    **{name: _comparison(name) for name in _COMPARISONS},
    "sum": _read_sum,
    "element": _read_element,
    "in": _read_member,
    "table": _read_table,
    **{name: _global(definition) for name, definition in GLOBALS.items()},
}
"""How each operator is read."""


def _write(name: str) -> Writer:
    return lambda expr, write, number, members: [name, *[write(child) for child in expr.children]]


WRITERS: dict[type[IntExpr], Writer] = {
    **{node: _write(name) for name, (node, _) in {**_PLAIN, **_LISTS}.items()},
    Comparison: lambda expr, write, number, members: [
        expr.operator,
        *[write(part) for part in expr.children],
    ],
    Sum: lambda expr, write, number, members: [
        "sum",
        number(expr.constant),
        *[[number(coefficient), write(term)] for coefficient, term in expr.terms],
    ],
    Relation: _write_global,
    Function: _write_global,
    Element: lambda expr, write, number, members: [
        "element",
        [number(value) for value in expr.values],
        write(expr.index),
    ],
    Member: lambda expr, write, number, members: ["in", write(expr.arg), members(expr.domain)],
    Table: lambda expr, write, number, members: [
        "table",
        [write(arg) for arg in expr.args],
        [[number(value) for value in row] for row in sorted(expr.rows)],
    ],
}
"""How each node is written."""
