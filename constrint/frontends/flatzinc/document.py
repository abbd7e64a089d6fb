"""Reading FlatZinc into a document: plain lines by themselves, everything else by the grammar."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeAlias

from constrint.errors import ParseError
from constrint.expr.domain import Domain
from constrint.frontends.flatzinc.items import Call, Declaration, Document, Item, Name, Value
from constrint.frontends.flatzinc.plain import PlainLines
from constrint.frontends.parsers import parser_of, tables_of
from constrint.support.limits import Budget, LimitExceeded

Node: TypeAlias = Any  # a lark tree or token, depending on the grammar
_BRACKETS = re.compile(r'"(?:[^"\\]++|\\.)*+"|%[^\n]*|[\[({]|[\])}]')
_SHORT = 18  # digits; shorter numbers are not counted


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
    document = _mostly_plain(text, filename, budget) or _by_grammar(text, filename, budget)
    if not document.is_complete:
        line = text.count("\n") + 1
        raise document.error(line, "the text ends without a solve item: write 'solve satisfy;' at its end")
    return document


def _mostly_plain(text: str, filename: str, budget: Budget) -> Document | None:
    """The document of a text of plain lines; None where the grammar has to read it, or to name a mistake."""
    document = Document(filename=filename, budget=budget)
    counted = budget.node_count, budget.value_count

    def read_rest(first: int, part: str) -> bool:
        _check_depth(part, filename, budget, first)
        tree = _tree_of(part, filename, budget, first)
        if tree is not None:
            _read(document, tree)
        return tree is not None

    try:
        if PlainLines(document, read_rest).read(text):
            return document
    except ParseError:
        pass
    budget.node_count, budget.value_count = counted
    return None


def _by_grammar(text: str, filename: str, budget: Budget) -> Document:
    """The document of any text."""
    _check_depth(text, filename, budget)
    tree = _tree_of(text, filename, budget)
    document = Document(filename=filename, budget=budget)
    _read(document, _explained(text, filename) if tree is None else tree)
    return document


def _read(document: Document, tree: Node) -> None:
    """Add the items of a tree to a document."""
    nodes: list[Node] = tree.children
    for node in nodes:
        try:
            _READERS[node.data](document, node)
        except LimitExceeded as problem:
            where = problem.where or document.place(_line(node))
            raise LimitExceeded(problem.name, problem.limit, where) from None


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


def _check_depth(text: str, filename: str, budget: Budget, first: int = 1) -> None:
    """Refuse brackets that are nested too deep, before they are parsed."""
    depth = deepest = 0
    for match in _BRACKETS.finditer(text):
        bracket = text[match.start()]
        if bracket in "[({":
            depth += 1
            if depth > deepest:
                deepest = depth
                line = text.count("\n", 0, match.start()) + first
                budget.depth(deepest, f"{filename}:{line}")
        elif bracket in "])}":
            depth = max(0, depth - 1)


def _tree_of(text: str, filename: str, budget: Budget, first: int = 1) -> Node | None:
    """The tree of a text, parsed token by token with checks of the clock; None where it has a mistake."""
    tables = tables_of("flatzinc/flatzinc")
    return tables.parse(text, lambda _: budget.count_steps(1, filename), first)


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
    index = kind.children[0].children if kind.data == "array_type" else []
    document.declare(
        Declaration(
            str(name),
            _domain(document, domain, line),
            base.data == "var",
            kind.data == "array_type",
            domain.data == "sets_domain",
            None if value is None else _value(document, value),
            tuple(_value(document, part.children[0]) for part in annotations),
            line,
        ),
        [_integer(document, part) for part in index] or None,
    )


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
