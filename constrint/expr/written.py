"""Writing expressions in the constrint language; the text reads back as the same expression.

Every node has a text and a binding strength; an operand gets brackets if it binds less tightly than its place
requires.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import count
from typing import Any

from constrint.errors import ModelError
from constrint.expr import (
    And,
    BoolConst,
    BoolVar,
    Comparison,
    Const,
    Divides,
    Element,
    FloorDiv,
    Iff,
    Implies,
    IntExpr,
    IntFunction,
    IntVar,
    Member,
    Mod,
    Mul,
    Not,
    Or,
    Pow,
    Selection,
    Sum,
    Table,
    linear,
)
from constrint.expr.domain import Domain
from constrint.expr.enumerated import labels_of
from constrint.expr.global_expr import Function, Relation
from constrint.expr.strengths import AND, ATOM, COMPARE, IFF, IMPLIES, NOT, OR, POWER, PRODUCT, SIGN, SUM
from constrint.expr.walk import inner_first
from constrint.expr.written_calls import write_call, write_table

KEYWORD_SCOPES = {
    "keyword.operator.word": ("and", "or", "not", "in", "divides", "step"),
    "keyword.control": ("for", "if", "include"),
    "keyword.other": ("maximize", "minimize", "prefer"),
    "storage.type": ("bool", "enum", "param"),
    "constant.language": ("true", "false"),
}
"""The words of the language by the scopes of TextMate grammars, by which themes colour them."""
KEYWORDS = frozenset(word for words in KEYWORD_SCOPES.values() for word in words)
"""Keywords, which are names only in backquotes."""


Written = tuple[str, int]
"""A text and its binding strength."""


def write_expression(expr: IntExpr) -> str:
    """The text of one expression; named expressions are written out.

    One that has very many paths to its shared parts is written with definitions before it:
    ``part1 := x + y; part1 * part1``.
    """
    writer = Writer()
    definitions = writer.shared([expr], [variable.name for variable in expr.variables()])
    return "; ".join([*definitions, writer.text(expr)])


def quote(name: str) -> str:
    """The text of a name: in backquotes unless it is a plain word."""
    if name.isidentifier() and name not in KEYWORDS:
        return name
    if not name or "`" in name or "\n" in name or "\r" in name:
        raise ModelError(f"the name {name!r} cannot be written as text: it has a backquote or a line break")
    return f"`{name}`"


def write_set(domain: Domain) -> str:
    """The values of a domain as a set or range."""
    if domain.size in (1, 2) and not (domain.step == 1 and domain.size == 2):
        return "{" + ", ".join(map(str, domain)) + "}"
    return str(domain)


class Writer:
    """Writes expressions; an expression with a name in the model is written as that name."""

    def __init__(self) -> None:
        self.named: dict[int, str] = {}  # names of written definitions, by identity
        self._kept: list[IntExpr] = []  # keeps named parts alive

    def shared(self, exprs: Sequence[IntExpr], names: Iterable[str]) -> list[str]:
        """Give the shared parts of expressions names, where written out they would be too long.

        Args:
            exprs: The expressions.
            names: Names that are taken.

        Returns:
            The definitions of the parts, which come before all expressions.
        """
        self._kept = shared_parts(exprs)
        taken, free = set(names), count(1)
        definitions = []
        for part in self._kept:
            name = next(name for i in free if (name := f"part{i}") not in taken)
            definitions.append(f"{name} := {self.text(part)}")
            self.named[id(part)] = name
        return definitions

    def definition(self, name: str, expr: IntExpr) -> str:
        """The right side of `name := …`; from now on the expression is written as this name."""
        text = self.text(expr)
        if expr.children:
            self.named.setdefault(id(expr), name)
        return text

    def text(self, expr: IntExpr, least: int = IFF) -> str:
        """The text of an expression for a place that requires a binding strength."""
        if id(expr) in self.named:
            return self.name(self.named[id(expr)])
        text, binding = self.node(expr)
        return text if binding >= least else f"({text})"

    def node(self, expr: IntExpr) -> Written:
        """The text of an expression without a name, and its binding strength."""
        return _WRITERS.get(type(expr), Writer.call)(self, expr)

    def name(self, name: str) -> str:
        """The text of a name."""
        return quote(name)

    def constant(self, number: int, labels: tuple[object, ...] | None) -> str:
        """The text of a constant; `labels` are those of the enumeration whose number it is, if known."""
        return str(number)

    def operand(self, expr: IntExpr, beside: IntExpr) -> str:
        """The text of one side of a comparison."""
        if type(expr) is Const and expr.value >= 0:
            return self.constant(expr.value, labels_of(beside))
        return self.text(expr, SUM)

    def member(self, expr: Member) -> Written:
        """The text of a condition that a number is in a set."""
        return f"{self.text(expr.arg, SUM)} in {self.members(expr)}", COMPARE

    def members(self, expr: Member) -> str:
        """The text of the set that a number is in."""
        labels = labels_of(expr.arg)
        if labels is None or not expr.domain.is_finite:
            return write_set(expr.domain)
        return "{" + ", ".join([self.constant(number, labels) for number in expr.domain]) + "}"

    def joined(self, words: str, parts: tuple[IntExpr, ...], least: int) -> str:
        return words.join([self.text(part, least) for part in parts])

    def sum(self, expr: Sum) -> Written:
        text = ""
        for coefficient, term in expr.terms:
            size, written = self._term(coefficient, term, leads=not text)
            sign = "-" if size < 0 else "+"
            scaled = written if abs(size) == 1 else f"{abs(size)} * {written}"
            text += f" {sign} {scaled}" if text else scaled if size > 0 or size == 0 else f"-{scaled}"
        if expr.constant:
            text += f" {'-' if expr.constant < 0 else '+'} {abs(expr.constant)}"
        if len(expr.terms) > 1 or expr.constant:
            return text, SUM
        if expr.terms[0][0] == 1:
            # A condition used as a number: the sign keeps it a number.
            return f"+{self.text(expr.terms[0][1], SIGN)}", SIGN
        size = self._term(*expr.terms[0])[0]
        return text, ATOM if size == 1 else SIGN if size == -1 else PRODUCT

    def _term(self, coefficient: int, term: IntExpr, *, leads: bool = True) -> tuple[int, str]:
        """A coefficient and the text that it multiplies; quotients rounded up are recognised."""
        if (
            type(term) is FloorDiv
            and coefficient < 0
            and _leads_negative(term.left)
            and id(term) not in self.named
        ):
            dividend = linear([(-1, term.left)])
            return -coefficient, f"ceildiv({self.text(dividend)}, {self.text(term.right)})"
        # After another term a product needs no brackets; after a coefficient or a leading sign it does.
        is_bare = coefficient == 1 or (coefficient == -1 and not leads)
        return coefficient, self.text(term, PRODUCT if is_bare else SIGN)

    def product(self, expr: Mul) -> Written:
        first, *rest = expr.args
        # `a // b * c` would be correct but hard to read, and `a % b * c` is not allowed.
        loosest = SIGN if isinstance(first, FloorDiv | Mod) else PRODUCT
        texts = [self.text(first, loosest), *[self.text(factor, SIGN) for factor in rest]]
        return " * ".join(texts), PRODUCT

    def quotient(self, operator: str, expr: FloorDiv | Mod) -> Written:
        return f"{self.text(expr.left, PRODUCT)} {operator} {self.text(expr.right, SIGN)}", PRODUCT

    def negation(self, expr: Not) -> Written:
        member = _as_member(expr.arg)
        if member is not None and id(expr.arg) not in self.named:
            return f"{self.text(member.arg, SUM)} not in {self.members(member)}", COMPARE
        return f"not {self.text(expr.arg, NOT)}", NOT

    def junction(self, expr: And | Or, word: str, level: int) -> Written:
        if not expr.args:
            return ("true" if isinstance(expr, And) else "false"), ATOM
        if len(expr.args) == 1:
            return self.text(expr.args[0], ATOM), ATOM
        return self.joined(f" {word} ", expr.args, level + 1), level

    def call(self, expr: IntFunction) -> Written:
        return f"{expr.name}({self.joined(', ', expr.children, IFF)})", ATOM


def shared_parts(exprs: Sequence[IntExpr]) -> list[IntExpr]:
    """Parts with several places in expressions, inner ones first; none where they can be written out."""
    uses: dict[int, int] = {}
    paths: dict[int, int] = {}
    order: list[IntExpr] = []
    for node in inner_first(exprs):
        for child in node.children:
            uses[id(child)] = uses.get(id(child), 0) + 1
        paths[id(node)] = min(_ENDLESS, 1 + sum([paths[id(child)] for child in node.children]))
        order.append(node)
    for root in exprs:
        uses[id(root)] = uses.get(id(root), 0) + 1
    total = sum([paths[id(root)] for root in exprs])
    if total <= MOST_REPEATED * len(order) + MOST_WRITTEN:
        return []
    return [node for node in order if node.children and uses[id(node)] > 1]


MOST_REPEATED, MOST_WRITTEN = 20, 1000
"""Expressions are written out whole up to so many times their distinct parts, and so many parts."""
_ENDLESS = 10**12


def _leads_negative(expr: IntExpr) -> bool:
    if type(expr) is Const:
        return expr.value < 0
    return type(expr) is Sum and expr.terms[0][0] < 0


def _write_constant(writer: Writer, expr: Const) -> Written:
    return writer.constant(expr.value, None), ATOM if expr.value >= 0 else SIGN


def _write_pair(word: str, level: int, left: int, right: int) -> Callable[[Writer, Any], Written]:
    def write(writer: Writer, expr: IntExpr) -> Written:
        first, second = expr.children
        return f"{writer.text(first, left)} {word} {writer.text(second, right)}", level

    return write


def _write_comparison(writer: Writer, expr: Comparison) -> Written:
    if expr.scale is not None:
        from constrint.expr.written_fractions import write_comparison

        return write_comparison(writer, expr), COMPARE
    left, right = writer.operand(expr.left, expr.right), writer.operand(expr.right, expr.left)
    return f"{left} {expr.operator} {right}", COMPARE


def _write_element(writer: Writer, expr: Element) -> Written:
    values = [writer.constant(value, None) for value in expr.values]
    return f"[{', '.join(values)}][{writer.text(expr.index)}]", ATOM


def _as_member(expr: IntExpr) -> Member | None:
    """A condition that one number is in a set, or a table of one number, as the former."""
    if type(expr) is Table and len(expr.args) == 1:
        return Member(expr.args[0], Domain.of_values([row[0] for row in expr.rows]))
    return expr if type(expr) is Member else None


def _write_table(writer: Writer, expr: Table) -> Written:
    member = _as_member(expr)
    if member is not None:
        return writer.member(member)
    return write_table(writer.text, expr, writer.constant), ATOM


def _write_global(writer: Writer, expr: Relation | Function) -> Written:
    return write_call(writer.text, expr, writer.constant), ATOM


_WRITERS: dict[type[IntExpr], Callable[[Writer, Any], Written]] = {
    Const: _write_constant,
    IntVar: lambda writer, expr: (writer.name(expr.name), ATOM),
    BoolVar: lambda writer, expr: (writer.name(expr.name), ATOM),
    BoolConst: lambda _, expr: ("true" if expr.value else "false", ATOM),
    Sum: Writer.sum,
    Mul: Writer.product,
    FloorDiv: lambda writer, expr: writer.quotient("//", expr),
    Mod: lambda writer, expr: writer.quotient("%", expr),
    Pow: _write_pair("**", POWER, ATOM, SIGN),
    Element: _write_element,
    Selection: lambda writer, expr: (
        f"[{writer.joined(', ', expr.entries, IFF)}][{writer.text(expr.index)}]",
        ATOM,
    ),
    Table: _write_table,
    Relation: _write_global,
    Function: _write_global,
    Comparison: _write_comparison,
    Divides: _write_pair("divides", COMPARE, SUM, SUM),
    Member: lambda writer, expr: writer.member(expr),
    Not: Writer.negation,
    And: lambda writer, expr: writer.junction(expr, "and", AND),
    Or: lambda writer, expr: writer.junction(expr, "or", OR),
    Implies: _write_pair("->", IMPLIES, OR, IMPLIES),
    Iff: _write_pair("<->", IFF, IMPLIES, IFF),
}
"""How each node is written; functions that are not here are called by name."""
