"""Reading global constraints as function calls, by the kinds of their arguments.

For example ``cumulative([x, y], [2, 3], [1, 1], 2)``. If the only argument is one list of expressions, its
brackets may be left out: ``all_different(x, y, z)``. Words come last, and the default word may be left out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from constrint.errors import ModelError
from constrint.expr import Const, IntExpr, Table
from constrint.expr.global_arguments import plain_matrix
from constrint.expr.global_expr import Field, node_of
from constrint.expr.written_calls import ANY, is_plain
from constrint.globals import GLOBALS
from constrint.globals.tables import SHORT_TABLE

if TYPE_CHECKING:
    from lark import Token, Tree

    from constrint.frontends.text.expressions import ExpressionReader

    Node = Tree[Token]

_TABLE = (Field("values", "exprs"), Field("rows", "patterns", may_be_empty=True))

NAMES = [*GLOBALS, "table"]


def read_call(reader: ExpressionReader, tree: Node, name: str, arguments: list[Node]) -> IntExpr:
    """The global constraint of a call."""
    fields = _TABLE if name == "table" else GLOBALS[name].fields
    if is_plain(fields) and (not arguments or arguments[0].data != "list"):
        parts: list[Any] = [tuple([reader.integer(argument) for argument in arguments])]
    else:
        least = sum(field.kind != "word" for field in fields)
        if not least <= len(arguments) <= len(fields):
            wanted = ", ".join(field.name for field in fields)
            raise reader.error(tree, f"{name} takes {least} arguments ({wanted}), not {len(arguments)}")
        parts = [
            _PARTS[field.kind](reader, field, argument)
            for field, argument in zip(fields, arguments, strict=False)
        ]
    parts += [field.words[0] for field in fields[len(parts) :]]
    try:
        return _built(name, tuple(parts))
    except ModelError as error:
        raise reader.error(tree, str(error)) from None


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
            raise ModelError(f"table: the row {row} has {len(row)} entries for {len(values)} values")
    return Table(values, frozenset(rows))


def _list(reader: ExpressionReader, field: Field, tree: Node) -> list[Node]:
    if tree.data != "list":
        text = reader.position(tree).text
        hint = f"write {field.name} in brackets: [{text}]"
        raise reader.error(tree, f"'{text}' is not a list; {field.name} must be one", hint)
    return [child for child in tree.children if not isinstance(child, str)]


def _long_list(reader: ExpressionReader, field: Field, tree: Node) -> list[tuple[int, ...]] | None:
    """The rows of a list that is a single token; one row for a list of numbers; None for other lists."""
    token = reader.inner_token(tree)
    if token is None:
        return None
    kind, is_flat = field.kind, token.type == "NUMBERS"
    if is_flat and kind == "rows":
        raise reader.error(tree, f"{field.name} must be a list of lists", "write such as [[1, 2], [3, 4]]")
    if not is_flat and kind != "rows":
        raise reader.error(tree, f"{field.name} must be a list of numbers, not of lists")
    return [tuple(reader.long_list(token))] if is_flat else reader.long_rows(token)


def _exprs(reader: ExpressionReader, field: Field, tree: Node) -> tuple[IntExpr, ...]:
    if tree.data == "name" and isinstance(meaning := reader.lookup(tree), tuple):
        return tuple([Const(value) for value in meaning])
    written = _list(reader, field, tree)
    long = _long_list(reader, field, tree)
    if long is not None:
        return tuple([Const(value) for value in long[0]])
    return tuple([reader.integer(child) for child in written])


def _rows(reader: ExpressionReader, field: Field, tree: Node) -> tuple[tuple[int, ...], ...]:
    written, long = _list(reader, field, tree), _long_list(reader, field, tree)
    return tuple([reader.sequence(child) for child in written] if long is None else long)


def _matrix(reader: ExpressionReader, field: Field, tree: Node) -> Any:
    """Rows of expressions; of numbers where all entries are constants."""
    written, long = _list(reader, field, tree), _long_list(reader, field, tree)
    if long is not None:
        return tuple(long)
    return plain_matrix(tuple([_exprs(reader, field, child) for child in written]))


def _patterns(reader: ExpressionReader, field: Field, tree: Node) -> tuple[tuple[int | None, ...], ...]:
    """Rows of numbers in which `_` stands for any value."""
    written, long = _list(reader, field, tree), _long_list(reader, field, tree)
    return tuple([_pattern(reader, child) for child in written] if long is None else long)


def _pattern(reader: ExpressionReader, tree: Node) -> tuple[int | None, ...]:
    entries = [] if tree.data != "list" or reader.inner_token(tree) is not None else tree.children
    trees = [child for child in entries if not isinstance(child, str)]
    if not any(_is_any(reader, child) for child in trees):
        return reader.sequence(tree)
    return tuple([None if _is_any(reader, child) else reader.constant(child) for child in trees])


def _is_any(reader: ExpressionReader, tree: Node) -> bool:
    return tree.data == "name" and reader.position(tree).text == ANY


def _word(reader: ExpressionReader, field: Field, tree: Node) -> str:
    word = reader.position(tree).text
    if word not in field.words:
        raise reader.error(tree, f"{field.name} is one of {', '.join(field.words)}, not '{word}'")
    return word


_PARTS: dict[str, Callable[[ExpressionReader, Field, Node], Any]] = {
    "expr": lambda reader, field, tree: reader.integer(tree),
    "exprs": _exprs,
    "int": lambda reader, field, tree: reader.constant(tree),
    "ints": lambda reader, field, tree: reader.sequence(tree),
    "rows": _rows,
    "matrix": _matrix,
    "patterns": _patterns,
    "word": _word,
}
"""How each kind of argument is read."""
