"""A FlatZinc text as data: declarations, constraints and the solve item, with names not yet resolved."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from constrint.errors import ParseError
from constrint.expr.domain import Domain
from constrint.frontends.parsers import parser_of, tables_of
from constrint.support.limits import Budget, LimitExceeded

Node: TypeAlias = Any  # a lark tree or token, depending on the grammar
_BRACKETS = re.compile(r'"(?:[^"\\]++|\\.)*+"|%[^\n]*|[\[({]|[\])}]')
_SHORT = 18  # digits; shorter numbers are not counted


@dataclass(frozen=True, slots=True)
class Name:
    """The use of a name; with an index, one entry of the array of that name (1-based)."""

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
        domain: Its values, of a set its possible members; None for Booleans.
        is_variable: Whether it is a variable.
        is_array: Whether it is an array.
        is_set: Whether its values are sets.
        value: The value that it equals, or None.
        annotations: Its annotations.
        line: Its line.
    """

    name: str
    domain: Domain | None
    is_variable: bool
    is_array: bool
    is_set: bool
    value: Value | None
    annotations: tuple[Value, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Item:
    """A constraint.

    Attributes:
        name: Its name.
        args: Its arguments.
        annotations: Its annotations.
        line: Its line.
    """

    name: str
    args: tuple[Value, ...]
    annotations: tuple[Value, ...]
    line: int

    @property
    def defines(self) -> str | None:
        """The name of the variable that this constraint defines according to MiniZinc, or None."""
        for annotation in self.annotations:
            if isinstance(annotation, Call) and annotation.name == "defines_var":
                defined = annotation.args[0]
                if len(annotation.args) == 1 and isinstance(defined, Name) and defined.index is None:
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
        budget: What reading may take.
        is_complete: Whether there was a solve item, which ends the text.
        solve_line: The line of the solve item.
    """

    declarations: dict[str, Declaration] = field(default_factory=dict)
    constraints: list[Item] = field(default_factory=list)
    goal: str = "satisfy"
    objective: Value | None = None
    search: tuple[Value, ...] = ()
    filename: str = "<flatzinc>"
    budget: Budget = field(default_factory=Budget)
    is_complete: bool = False
    solve_line: int = 1

    def place(self, line: int) -> str:
        """A line in the form that limits use."""
        return f"{self.filename}:{line}"

    def expected(self, line: int, what: str, value: Value) -> ParseError:
        """The error for a value of the wrong kind."""
        return self.error(line, f"{what} is expected, not {_said(value)}")

    def error(self, line: int, message: str) -> ParseError:
        """The error at a line."""
        return ParseError(message, filename=self.filename, line=line, column=1)


def parse(text: str, filename: str = "<flatzinc>", budget: Budget | None = None) -> Document:
    """Read FlatZinc.

    Args:
        text: The FlatZinc.
        filename: Its name in messages.
        budget: The limits of reading; the usual ones by default.

    Returns:
        The document.

    Raises:
        ParseError: The text is not valid; has line and column.
    """
    budget = budget or Budget()
    budget.size(len(text), filename)
    _check_depth(text, filename, budget)
    tree = _tree(text, filename, budget)
    document = Document(filename=filename, budget=budget)
    nodes: list[Node] = tree.children
    for node in nodes:
        try:
            _READERS[node.data](document, node)
        except LimitExceeded as problem:
            where = problem.where or document.place(_line(node))
            raise LimitExceeded(problem.name, problem.limit, where) from None
    if not document.is_complete:
        line = text.count("\n") + 1
        raise document.error(line, "the text ends without a solve item: write 'solve satisfy;' at its end")
    return document


def _line(node: Node) -> int:
    """The line on which a tree begins."""
    stack = [node]
    while stack:
        part = stack.pop()
        if hasattr(part, "children"):
            stack.extend(reversed(part.children))
        elif part is not None and part.line:
            return int(part.line)
    return 1


def _said(value: Value) -> str:
    """A value for a message."""
    if isinstance(value, Name):
        return f"'{shortened(value.name)}{'' if value.index is None else '[…]'}'"
    if isinstance(value, Call):
        return f"'{shortened(value.name)}(…)'"
    if isinstance(value, list):
        return f"an array of {len(value)}"
    if isinstance(value, Domain):
        return "a set"
    if isinstance(value, int) and abs(value) > 10**20:
        return "a long number"
    return f"'{shortened(value)}'" if isinstance(value, str) else str(value).lower()


def shortened(word: str) -> str:
    """A name for a message."""
    return word if len(word) <= 60 else f"{word[:59]}…"


def _check_depth(text: str, filename: str, budget: Budget) -> None:
    """Refuse brackets that are nested too deep, before they are parsed."""
    depth = deepest = 0
    for match in _BRACKETS.finditer(text):
        bracket = text[match.start()]
        if bracket in "[({":
            depth += 1
            if depth > deepest:
                deepest = depth
                line = text.count("\n", 0, match.start()) + 1
                budget.depth(deepest, f"{filename}:{line}")
        elif bracket in "])}":
            depth = max(0, depth - 1)


def _tree(text: str, filename: str, budget: Budget) -> Node:
    """The tree of a text, parsed token by token with checks of the clock."""
    tree = tables_of("flatzinc/flatzinc").parse(text, lambda _: budget.count_steps(1, filename))
    return _explained(text, filename) if tree is None else tree


def _explained(text: str, filename: str) -> Node:
    """The tree of a text, or lark's reason why there is none."""
    from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

    try:
        return parser_of("flatzinc/flatzinc", positions=False).parse(text)
    except UnexpectedInput as problem:
        found = ""
        if isinstance(problem, UnexpectedToken):
            found = "the end of the text" if problem.token.type == "$END" else _shown(problem.token)
        elif isinstance(problem, UnexpectedCharacters):
            found = _shown(problem.char)
        line, column = max(problem.line, 1), max(problem.column, 1)
        message = f"this is not FlatZinc: unexpected {found}"
        raise ParseError(message, filename=filename, line=line, column=column) from None


def _shown(token: object) -> str:
    word = str(token)
    return ascii(word if len(word) <= 40 else f"{word[:40]}…") if not word.isprintable() else repr(word[:40])


def _declaration(document: Document, node: Node) -> None:
    kind, name, *rest = node.children
    *annotations, value = rest if rest and not _is(rest[-1], "annotation") else [*rest, None]
    base = kind.children[-1]
    (domain,) = base.children
    line = name.line or 1
    if str(name) in document.declarations:
        raise document.error(line, f"'{shortened(name)}' is declared twice")
    declaration = Declaration(
        str(name),
        _domain(document, domain, line),
        base.data == "var",
        kind.data == "array_type",
        domain.data == "sets_domain",
        None if value is None else _value(document, value),
        tuple(_value(document, part.children[0]) for part in annotations),
        line,
    )
    if value is None and not declaration.is_variable:
        raise document.error(line, f"the constant '{shortened(name)}' has no value")
    if not declaration.is_variable:
        _check_constants(document, declaration)
    if declaration.is_array:
        _check_length(document, declaration, kind.children[0])
    document.declarations[str(name)] = declaration


def _check_length(document: Document, declaration: Declaration, index: Node) -> None:
    """Refuse an array whose number of entries differs from its index set."""
    if not index.children or not isinstance(declaration.value, list):
        return
    found = len(declaration.value)
    if [_integer(document, part) for part in index.children] != [1, found]:
        message = f"the array '{shortened(declaration.name)}' has {found} entries: its index is 1..{found}"
        raise document.error(declaration.line, message)


def _check_constants(document: Document, declaration: Declaration) -> None:
    """Refuse constants of another type than the declared one."""
    value, domain, line = declaration.value, declaration.domain, declaration.line
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, Domain) is not declaration.is_set and isinstance(one, Domain | int):
            raise document.expected(line, "a set" if declaration.is_set else "a number", one)
        if type(one) is int and domain is not None and one not in domain:
            name = shortened(declaration.name)
            raise document.error(line, f"'{name}' is {_said(one)}, which its type does not have")


def _is(node: object, kind: str) -> bool:
    return getattr(node, "data", None) == kind


def _domain(document: Document, node: Node, line: int) -> Domain | None:
    kind = node.data
    if kind == "bool_domain":
        return None
    if kind == "int_domain":
        return Domain.of_range(None, None, 1)
    if kind == "sets_domain":
        (members,) = node.children
        if members.data in ("bool_domain", "sets_domain"):
            raise document.error(line, "sets are of integers in FlatZinc")
        return _domain(document, members, line)
    if kind == "range_domain":
        low, high = (_integer(document, part) for part in node.children)
        return Domain.of_range(low, high, 1)
    if kind == "set_domain":
        document.budget.values(len(node.children), document.place(line))
        return Domain.of_values([_integer(document, part) for part in node.children])
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
    document.solve_line = _line(node)
    if document.is_complete:
        raise document.error(document.solve_line, "there are two solve items: a text ends with exactly one")
    document.is_complete = True
    document.goal = node.data
    parts = list(node.children)
    if document.goal != "satisfy":
        document.objective = _value(document, parts.pop())
    document.search = tuple(_advice(document, part.children[0]) for part in parts)


def _advice(document: Document, node: Node) -> Value:
    """An annotation, which may contain floats, as text."""
    if node.data == "float":
        return str(node.children[0])
    if node.data == "call":
        return Call(str(node.children[0]), tuple(_advice(document, part) for part in node.children[1:]))
    return _value(document, node)


def _value(document: Document, node: Node) -> Value:
    kind, parts = node.data, node.children
    document.budget.node()
    if kind == "number":
        return _integer(document, parts[0])
    if kind == "name":
        return Name(str(parts[0]))
    if kind == "plain_array":
        words = parts[0][1:-1].split(",")
        document.budget.node(len(words), document.place(parts[0].line or 1))
        return [_plain(document, word, parts[0].line or 1) for word in words]
    if kind == "array":
        return [_value(document, part) for part in parts if part is not None]
    if kind in ("true", "false"):
        return bool(kind == "true")
    if kind == "item":
        return Name(str(parts[0]), _integer(document, parts[1]))
    if kind == "range":
        low, high = (_integer(document, part) for part in parts)
        return Domain.of_range(low, high, 1) if low <= high else Domain.of_values([])
    if kind == "set":
        document.budget.values(len(parts))
        return Domain.of_values([_integer(document, part) for part in parts if part is not None])
    if kind == "call":
        return Call(str(parts[0]), tuple(_value(document, part) for part in parts[1:]))
    if kind == "string":
        return str(parts[0][1:-1])
    raise document.error(parts[0].line or 1, "floats are not supported: this solver is for integers")


def _plain(document: Document, text: str, line: int) -> Value:
    """A name or a number in an array that is a single token."""
    text = text.strip()
    if text[0] == "-" or text[0].isdigit():
        if len(text) > _SHORT:
            document.budget.digits(text, document.place(line))
        return int(text)
    return text == "true" if text in ("true", "false") else Name(text)


def _integer(document: Document, token: Any) -> int:
    """An integer; leading zeros, which Python refuses, are removed."""
    word = str(token)
    if len(word) > _SHORT:
        document.budget.digits(word, document.place(token.line or 1))
    return int(word, 0) if word.lstrip("-")[:2] in ("0x", "0o") else int(word)


_READERS: Mapping[str, Any] = {
    "predicate": lambda document, node: None,
    "declaration": _declaration,
    "constraint": _constraint,
    "satisfy": _solve,
    "minimize": _solve,
    "maximize": _solve,
}
