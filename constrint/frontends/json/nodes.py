"""The JSON form of each expression node: writing, and reading with errors that name the place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from constrint.errors import ModelError
from constrint.expr import (
    FUNCTIONS,
    And,
    Comparison,
    Divides,
    Element,
    Iff,
    Implies,
    IntExpr,
    IntFunction,
    Member,
    Mul,
    Not,
    Or,
    Selection,
    Sum,
    Table,
)
from constrint.expr.conditions import Scale
from constrint.expr.domain import Domain
from constrint.expr.global_arguments import plain_matrix
from constrint.expr.global_expr import node_of
from constrint.frontends.json.places import JsonPlace
from constrint.globals import GLOBALS, Definition, Field, Function, Relation
from constrint.support.long_numbers import counted

Json: TypeAlias = Any
Write: TypeAlias = Callable[[IntExpr], Json]
Number: TypeAlias = Callable[[int], Json]
WriteSet: TypeAlias = Callable[[Domain], Json]


Read: TypeAlias = Callable[[Json, JsonPlace], IntExpr]
Reader: TypeAlias = Callable[[JsonPlace, list[Json], Read], IntExpr]
Writer: TypeAlias = Callable[[Any, Write, Number, WriteSet], Json]

_PLAIN: dict[str, tuple[type[Any], int]] = {
    "divides": (Divides, 2),
    "not": (Not, 1),
    "->": (Implies, 2),
    "<->": (Iff, 2),
}
"""Nodes with a fixed number of operands."""

_LISTS: dict[str, tuple[type[Any], int]] = {
    "*": (Mul, 2),
    "and": (And, 0),
    "or": (Or, 0),
}
"""Nodes with a least number of operands."""

_FUNCTIONS = {
    function.symbol or name: function
    for name, function in FUNCTIONS.items()
    if function not in (Element, Selection)
}
"""Arithmetic functions."""

_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
_CONDITIONS = {"not", "->", "<->", "and", "or"}
"""Operators whose operands are conditions."""


def _operands(
    place: JsonPlace, operands: list[Json], read: Read, least: int, most: int | None
) -> list[IntExpr]:
    if len(operands) < least or (most is not None and len(operands) > most):
        wanted = f"{least}" if least == most else f"at least {least}"
        raise place.error(f"{wanted} operands are needed here, not {len(operands)}")
    return [read(item, place.at(i)) for i, item in enumerate(operands, 1)]


def _plain(name: str, node: type[Any], count: int) -> Reader:
    def build(place: JsonPlace, operands: list[Json], read: Read) -> IntExpr:
        parts = _operands(place, operands, read, count, count)
        for part in parts if name in _CONDITIONS else []:
            place.condition(part)
        built: IntExpr = node(*parts)
        return built

    return build


def _list(name: str, node: type[Any], least: int) -> Reader:
    def build(place: JsonPlace, operands: list[Json], read: Read) -> IntExpr:
        parts = _operands(place, operands, read, least, None)
        for part in parts if name in _CONDITIONS else []:
            place.condition(part)
        built: IntExpr = node(tuple(parts))
        return built

    return build


def _function(function: type[IntFunction]) -> Reader:
    def build(place: JsonPlace, operands: list[Json], read: Read) -> IntExpr:
        parts = _operands(place, operands, read, function.fewest, function.most)
        for part in parts[: function.conditions]:
            place.condition(part)
        return function.of(tuple(parts))

    return build


def _comparison(name: str) -> Reader:
    def build(place: JsonPlace, operands: list[Json], read: Read) -> IntExpr:
        left, right = _operands(place, operands[:2], read, 2, 2)
        if len(operands) == 2:
            return Comparison(name, left, right)
        return Comparison(name, left, right, _scale(place.at(3), _fixed(place, operands, 3)[2]))

    return build


def _scale(place: JsonPlace, written: Json) -> Scale:
    """By what the sides of a comparison of fractions were multiplied."""
    entry = place.object(written, required=("denominator",), optional=("float",))
    denominator = place.at("denominator").integer(entry["denominator"])
    if denominator < 2:
        raise place.at("denominator").error(
            f"the denominator of a comparison is at least 2, not {denominator}"
        )
    return Scale(denominator, entry.get("float") is True)


def _fixed(place: JsonPlace, operands: list[Json], count: int) -> list[Json]:
    if len(operands) != count:
        raise place.error(f"{count} operands are needed here, not {len(operands)}")
    return operands


def _read_sum(place: JsonPlace, operands: list[Json], read: Read) -> IntExpr:
    constant, *terms = operands or [None]
    pairs = []
    for i, term in enumerate(terms, 2):
        where = place.at(i)
        coefficient, expr = _fixed(where, where.array(term), 2)
        pairs.append((where.integer(coefficient), read(expr, where)))
    if not pairs:
        raise place.error("a sum needs a constant and at least one [coefficient, term]")
    return Sum(tuple(pairs), place.integer(constant))


def _read_element(place: JsonPlace, operands: list[Json], read: Read) -> IntExpr:
    values, index = _fixed(place, operands, 2)
    return Element(tuple(place.integers(values)), read(index, place))


def _read_selection(place: JsonPlace, operands: list[Json], read: Read) -> IntExpr:
    written, index = _fixed(place, operands, 2)
    entries = tuple([read(item, where) for where, item in place.items(written)])
    if not entries:
        raise place.error("a selection needs at least one entry")
    return Selection(entries, read(index, place))


def _read_member(place: JsonPlace, operands: list[Json], read: Read) -> IntExpr:
    expr, members = _fixed(place, operands, 2)
    return Member(read(expr, place), place.domain(members))


def _read_table(place: JsonPlace, operands: list[Json], read: Read) -> IntExpr:
    written, rows = _fixed(place, operands, 2)
    args = tuple(read(item, where) for where, item in place.items(written))
    listed = set()
    for where, row in place.items(rows):
        values = tuple(where.integers(row))
        if len(values) != len(args):
            raise where.error(f"a row has {counted(len(args), 'value')} here, not {len(values)}")
        listed.add(values)
    return Table(args, frozenset(listed))


def _part(place: JsonPlace, field: Field, written: Json, read: Read) -> Any:
    """An argument of a global constraint."""
    if field.kind == "expr":
        return read(written, place)
    if field.kind == "int":
        return place.integer(written)
    if field.kind == "word":
        return place.text(written)
    if field.kind == "exprs":
        return tuple([read(item, where) for where, item in place.items(written)])
    if field.kind == "ints":
        return tuple(place.integers(written))
    if field.kind == "matrix":
        rows = [[read(item, at) for at, item in where.items(row)] for where, row in place.items(written)]
        return plain_matrix(tuple(map(tuple, rows)))
    if field.kind == "patterns":
        return tuple(
            [
                tuple([None if entry is None else at.integer(entry) for at, entry in where.items(row)])
                for where, row in place.items(written)
            ]
        )
    return tuple([tuple(where.integers(item)) for where, item in place.items(written)])


def _global(definition: Definition) -> Reader:
    fields = definition.fields

    def build(place: JsonPlace, operands: list[Json], read: Read) -> IntExpr:
        needed = sum(field.kind != "word" for field in fields)
        if not needed <= len(operands) <= len(fields):
            raise place.error(f"{needed} operands are needed here, not {len(operands)}")
        parts = [
            _part(place.at(i), field, written, read)
            for i, (field, written) in enumerate(zip(fields, operands, strict=False), 1)
        ]
        parts += [field.words[0] for field in fields[len(parts) :]]
        try:
            return node_of(definition, tuple(parts))
        except ModelError as error:
            raise place.error(str(error)) from None

    return build


def _write_global(expr: Any, write: Write, number: Number, members: WriteSet) -> Json:
    def written(part: object) -> Json:
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
    **{name: _function(function) for name, function in _FUNCTIONS.items()},
    "element": _read_element,
    "selection": _read_selection,
    "in": _read_member,
    "table": _read_table,
    **{name: _global(definition) for name, definition in GLOBALS.items()},
}
"""How each operator is read."""


def _write(name: str) -> Writer:
    return lambda expr, write, number, members: [name, *[write(child) for child in expr.children]]


def _scales(expr: Comparison) -> list[Scale]:
    return [] if expr.scale is None else [expr.scale]


WRITERS: dict[type[IntExpr], Writer] = {
    **{node: _write(name) for name, (node, _) in {**_PLAIN, **_LISTS}.items()},
    **{function: _write(name) for name, function in _FUNCTIONS.items()},
    Comparison: lambda expr, write, number, members: [
        expr.operator,
        *[write(part) for part in expr.children],
        *[{"denominator": number(scale.denominator), "float": scale.is_float} for scale in _scales(expr)],
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
    Selection: lambda expr, write, number, members: [
        "selection",
        [write(entry) for entry in expr.entries],
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
