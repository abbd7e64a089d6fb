"""A FlatZinc text as data: declarations, constraints and the solve item, nothing looked up yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from constrint.errors import ParseError
from constrint.expr.domain import Domain
from constrint.frontends.parsers import parser_of

Node: TypeAlias = Any  # a lark tree or token: which of them, the grammar says


@dataclass(frozen=True, slots=True)
class Name:
    """A name that is used; with an index, one entry of the array of that name (counted from 1)."""

    name: str
    index: int | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """An annotation with arguments, such as `int_search(…)`."""

    name: str
    args: tuple[Value, ...]


Value: TypeAlias = "bool | int | str | Domain | Name | Call | list[Value]"
"""A literal, a set of integers, a name, an annotation, or an array of values."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """A variable, a constant, or an array of them.

    Attributes:
        name: Its name.
        domain: Its values; None for Booleans.
        is_variable: Whether it is a variable.
        is_array: Whether it is an array.
        value: What it is equal to, if that is said.
        annotations: Its annotations.
        line: Where it stands.
    """

    name: str
    domain: Domain | None
    is_variable: bool
    is_array: bool
    value: Value | None
    annotations: tuple[Value, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Item:
    """A constraint.

    Attributes:
        name: Which one.
        args: Its arguments.
        annotations: Its annotations.
        line: Where it stands.
    """

    name: str
    args: tuple[Value, ...]
    annotations: tuple[Value, ...]
    line: int

    @property
    def defines(self) -> str | None:
        """The name of the variable that this constraint defines, where MiniZinc says so."""
        for annotation in self.annotations:
            if isinstance(annotation, Call) and annotation.name == "defines_var":
                (defined,) = annotation.args
                if isinstance(defined, Name) and defined.index is None:
                    return defined.name
        return None


@dataclass
class Document:
    """A FlatZinc text.

    Attributes:
        declarations: By name, in order.
        constraints: In order.
        goal: "satisfy", "minimize" or "maximize".
        objective: What is optimised.
        search: The annotations of the solve item.
        filename: Where the text came from, for messages.
    """

    declarations: dict[str, Declaration] = field(default_factory=dict)
    constraints: list[Item] = field(default_factory=list)
    goal: str = "satisfy"
    objective: Value | None = None
    search: tuple[Value, ...] = ()
    filename: str = "<flatzinc>"

    def error(self, line: int, message: str) -> ParseError:
        """An error at a line."""
        return ParseError(message, filename=self.filename, line=line, column=1)


def parse(text: str, filename: str = "<flatzinc>") -> Document:
    """Read FlatZinc; raises `ParseError` with line and column for text that is none."""
    from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

    try:
        tree = parser_of("flatzinc/flatzinc", positions=False).parse(text)
    except UnexpectedInput as problem:
        found = ""
        if isinstance(problem, UnexpectedToken):
            found = "the end of the text" if problem.token.type == "$END" else repr(str(problem.token))
        elif isinstance(problem, UnexpectedCharacters):
            found = repr(problem.char)
        line, column = max(problem.line, 1), max(problem.column, 1)
        message = f"this is no FlatZinc: unexpected {found}"
        raise ParseError(message, filename=filename, line=line, column=column) from None
    document = Document(filename=filename)
    nodes: list[Node] = tree.children
    for node in nodes:
        _READERS[node.data](document, node)
    return document


def _declaration(document: Document, node: Node) -> None:
    kind, name, *rest = node.children
    *annotations, value = rest if rest and not _is(rest[-1], "annotation") else [*rest, None]
    base = kind.children[-1]
    (domain,) = base.children
    line = name.line or 1
    if str(name) in document.declarations:
        raise document.error(line, f"'{name}' is declared twice")
    document.declarations[str(name)] = Declaration(
        str(name),
        _domain(document, domain, line),
        base.data == "var",
        kind.data == "array_type",
        None if value is None else _value(document, value),
        tuple(_value(document, part.children[0]) for part in annotations),
        line,
    )


def _is(node: Any, kind: str) -> bool:
    return getattr(node, "data", None) == kind


def _domain(document: Document, node: Node, line: int) -> Domain | None:
    kind = node.data
    if kind == "bool_domain":
        return None
    if kind in ("int_domain", "sets_domain"):
        return Domain.of_range(None, None, 1)
    if kind == "range_domain":
        low, high = (_integer(part) for part in node.children)
        return Domain.of_range(low, high, 1)
    if kind == "set_domain":
        return Domain.of_values([_integer(part) for part in node.children])
    raise document.error(line, "floats are not supported: this solver is for integers")


def _constraint(document: Document, node: Node) -> None:
    name, *rest = node.children
    args = [part for part in rest if not _is(part, "annotation")]
    annotations = [part.children[0] for part in rest if _is(part, "annotation")]
    document.constraints.append(
        Item(
            str(name),
            tuple(_value(document, part) for part in args),
            tuple(_value(document, part) for part in annotations),
            name.line or 1,
        )
    )


def _solve(document: Document, node: Node) -> None:
    document.goal = node.data
    parts = list(node.children)
    if document.goal != "satisfy":
        document.objective = _value(document, parts.pop())
    document.search = tuple(_advice(document, part.children[0]) for part in parts)


def _advice(document: Document, node: Node) -> Value:
    """An annotation, in which floats may stand, as text."""
    if node.data == "float":
        return str(node.children[0])
    if node.data == "call":
        return Call(str(node.children[0]), tuple(_advice(document, part) for part in node.children[1:]))
    return _value(document, node)


def _value(document: Document, node: Node) -> Value:
    kind, parts = node.data, node.children
    if kind == "number":
        return _integer(parts[0])
    if kind == "name":
        return Name(str(parts[0]))
    if kind == "plain_array":
        return [_plain(part) for part in parts[0][1:-1].split(",")]
    if kind == "array":
        return [_value(document, part) for part in parts if part is not None]
    if kind in ("true", "false"):
        return bool(kind == "true")
    if kind == "item":
        return Name(str(parts[0]), int(parts[1]))
    if kind == "range":
        low, high = (_integer(part) for part in parts)
        return Domain.of_range(low, high, 1) if low <= high else Domain.of_values([])
    if kind == "set":
        return Domain.of_values([_integer(part) for part in parts if part is not None])
    if kind == "call":
        return Call(str(parts[0]), tuple(_value(document, part) for part in parts[1:]))
    if kind == "string":
        return str(parts[0][1:-1])
    raise document.error(parts[0].line or 1, "floats are not supported: this solver is for integers")


def _plain(text: str) -> Value:
    """A name or a number of an array that is one token."""
    text = text.strip()
    if text[0] == "-" or text[0].isdigit():
        return int(text)
    return text == "true" if text in ("true", "false") else Name(text)


def _integer(text: object) -> int:
    """An integer; Python reads no zeros before decimal digits where it tells the base by itself."""
    word = str(text)
    return int(word, 0) if word.lstrip("-")[:2] in ("0x", "0o") else int(word)


_READERS: Mapping[str, Any] = {
    "predicate": lambda document, node: None,
    "declaration": _declaration,
    "constraint": _constraint,
    "satisfy": _solve,
    "minimize": _solve,
    "maximize": _solve,
}
