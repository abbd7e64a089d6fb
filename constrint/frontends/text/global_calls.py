"""Reading global constraints as function calls, by the kinds of their arguments.

For example ``cumulative([x, y], [2, 3], [1, 1], 2)``. If the only argument is one list of expressions, its
brackets may be left out: ``all_different(x, y, z)``. Words come last, and the default word may be left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from constrint.errors import ModelError, ParseError
from constrint.expr import IntExpr, Table
from constrint.expr.global_arguments import plain_matrix
from constrint.expr.global_expr import Field, node_of
from constrint.expr.written_calls import ANY, is_plain
from constrint.frontends.constants import name_of, subtrees
from constrint.frontends.text.labels import check_call
from constrint.frontends.text.meanings import Array
from constrint.globals import GLOBALS
from constrint.globals.tables import SHORT_TABLE
from constrint.support.long_numbers import counted

if TYPE_CHECKING:
    from lark import Token, Tree

    from constrint.frontends.text.calls import CallReader

    Node = Tree[Token]

_TABLE = (Field("values", "exprs"), Field("rows", "patterns", may_be_empty=True))

NAMES = [*GLOBALS, "table"]


def read_call(reader: CallReader, tree: Node, name: str, arguments: list[Node]) -> IntExpr:
    """The global constraint of a call."""
    fields = _TABLE if name == "table" else GLOBALS[name].fields
    least = sum(field.kind != "word" for field in fields)
    _check_form(reader, name, arguments)
    if is_plain(fields):
        parts = _plain_parts(reader, tree, name, fields, arguments)
    elif not least <= len(arguments) <= len(fields):
        raise _wrong_number(reader, tree, name, fields, arguments)
    else:
        parts = [
            _PARTS[field.kind](reader, field, argument)
            for field, argument in zip(fields, arguments, strict=False)
        ]
    labels = "" if name == "table" else GLOBALS[name].labels
    check_call(reader, tree, fields, labels, parts)
    parts += [field.words[0] for field in fields[len(parts) :]]
    try:
        return _built(name, tuple(parts))
    except ModelError as error:
        raise reader.error(tree, str(error)) from None


def _check_form(reader: CallReader, name: str, arguments: list[Node]) -> None:
    """Refuse arguments in a form that other languages have."""
    first = arguments[0] if arguments else None
    if name == "count" and len(arguments) == 2 and first is not None:
        text, other = [reader.position(argument).text for argument in arguments]
        if arguments[1].data in ("list", "comprehension") and reader.is_one_number(first):
            raise reader.error(first, "count takes the list first", f"write count({other}, {text})")
    is_list = first is not None and first.data == "list" and name in ("circuit", "subcircuit")
    if first is not None and is_list and any(child.data == "list" for child in subtrees(first)):
        hint = "arcs need conditions: arc_circuit([[0, 1], [1, 0]], [a, b])"
        raise reader.error(first, f"{name} takes the successor of each node: [next0, next1]", hint)


def _built(name: str, parts: tuple[Any, ...]) -> IntExpr:
    if name == "table" and any(None in row for row in parts[1]):
        return node_of(SHORT_TABLE, parts)
    if name == "table":
        return table_of(*parts)
    return node_of(GLOBALS[name], parts)


def table_of(values: tuple[IntExpr, ...], rows: tuple[tuple[int, ...], ...]) -> Table:
    """A table whose rows are as long as the list of values."""
    if not values:
        raise ModelError("table needs at least one entry in values")
    for row in rows:
        if len(row) != len(values):
            entries, needed = counted(len(row), "entry"), counted(len(values), "value")
            raise ModelError(f"table: the row {row} has {entries} for {needed}")
    return Table(values, frozenset(rows))


_LISTS = frozenset(["list", "name", "index", "call", "group", "range", "braces", "comprehension"])
"""Trees that may stand for a list."""


def _wrong_number(
    reader: CallReader, tree: Node, name: str, fields: Sequence[Field], arguments: list[Node]
) -> ParseError:
    least = sum(field.kind != "word" for field in fields)
    wanted = ", ".join(field.name for field in fields)
    return reader.error(tree, f"{name} takes {counted(least, 'argument')} ({wanted}), not {len(arguments)}")


def _plain_parts(
    reader: CallReader, tree: Node, name: str, fields: Sequence[Field], arguments: list[Node]
) -> list[object]:
    """The arguments of a constraint on one list: the list and words, or its entries without brackets."""
    if len(arguments) < 2:
        return [tuple(reader.spread(arguments))]
    first, *others = arguments
    value = reader.value(first)
    if isinstance(value, IntExpr):
        return [(value, *[reader.expression(argument) for argument in others])]
    found = reader.in_one_list(first, value)
    if len(arguments) > len(fields) or found is None:
        raise _wrong_number(reader, tree, name, fields, arguments)
    words = zip(fields[1:], others, strict=False)
    return [found, *[_word(reader, field, argument) for field, argument in words]]


def _exprs(reader: CallReader, field: Field, tree: Node) -> tuple[IntExpr, ...]:
    value = reader.value(tree) if tree.data in _LISTS and tree.data != "comprehension" else None
    found = None if value is None or isinstance(value, IntExpr) else reader.in_one_list(tree, value)
    if found is None:
        text = reader.position(tree).text
        hint = f"write {field.name} in brackets: [{text}]"
        raise reader.error(tree, f"'{text}' is not a list; {field.name} must be one", hint)
    return found


def _rows(reader: CallReader, field: Field, tree: Node) -> tuple[tuple[int, ...], ...]:
    token = reader.inner_token(tree) if tree.data == "list" else None
    if token is not None and token.type == "NUMBERS":
        raise reader.error(tree, f"{field.name} must be a list of lists", "write such as [[1, 2], [3, 4]]")
    return tuple(reader.rows(tree))


def _matrix(reader: CallReader, field: Field, tree: Node) -> object:
    """Rows of expressions; of numbers where all entries are constants."""
    if tree.data == "list" and reader.inner_token(tree) is None:
        return plain_matrix(tuple([_exprs(reader, field, child) for child in subtrees(tree)]))
    value = None if tree.data == "list" else reader.value(tree)
    if isinstance(value, Array) and len(value.axes) > 1:
        return plain_matrix(tuple([reader.flat_integers(tree, part) or () for part in value.parts()]))
    return _rows(reader, field, tree)


def _patterns(reader: CallReader, field: Field, tree: Node) -> tuple[tuple[int | None, ...], ...]:
    """Rows of numbers in which `_` stands for any value."""
    rows = subtrees(tree) if tree.data == "list" and reader.inner_token(tree) is None else []
    if not any(row.data == "list" and any(map(_is_any, subtrees(row))) for row in rows):
        return _rows(reader, field, tree)
    return tuple([_pattern(reader, row) for row in rows])


def _pattern(reader: CallReader, tree: Node) -> tuple[int | None, ...]:
    entries = subtrees(tree) if tree.data == "list" and reader.inner_token(tree) is None else []
    if not any(map(_is_any, entries)):
        return reader.sequence(tree)
    return tuple([None if _is_any(entry) else reader.constant(entry) for entry in entries])


def _is_any(tree: Node) -> bool:
    return tree.data == "name" and name_of(tree) == ANY


def _word(reader: CallReader, field: Field, tree: Node) -> str:
    word = reader.position(tree).text
    if word not in field.words:
        raise reader.error(tree, f"{field.name} is one of {', '.join(field.words)}, not '{word}'")
    return word


_PARTS: dict[str, Callable[[CallReader, Field, Node], object]] = {
    "expr": lambda reader, field, tree: reader.expression(tree),
    "exprs": _exprs,
    "int": lambda reader, field, tree: reader.constant(tree),
    "ints": lambda reader, field, tree: reader.sequence(tree),
    "rows": _rows,
    "matrix": _matrix,
    "patterns": _patterns,
    "word": _word,
}
"""How each kind of argument is read."""
