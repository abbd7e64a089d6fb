"""Reads a model from `.constrint` text: declarations, definitions, constraints and goals.

The syntax tree of `syntax.parse` is walked once, so every name must be declared before it is used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from operator import index
from pathlib import PurePath
from typing import TYPE_CHECKING, TypeAlias, cast

from constrint.errors import ModelError, ParseError
from constrint.expr import BoolExpr, Const
from constrint.expr.domain import Domain
from constrint.expr.walk import Depths
from constrint.frontends.text.expressions import Meaning, as_tree, name_of
from constrint.frontends.text.lines import LONGEST_SIMPLE, Chunk, Compared, Declared, Worded
from constrint.frontends.text.simple import Parsed, SimpleReader, Statement, parsed, statements, whole
from constrint.frontends.text.syntax import LONGEST_KNOWN, Source, parse
from constrint.modelling.declarations import Declarations
from constrint.modelling.objectives import Direction
from constrint.support.limits import Budget, LimitExceeded, recursion_room

if TYPE_CHECKING:
    from lark import Token, Tree

    Node: TypeAlias = Tree[Token]


_NO_CONDITIONS = frozenset(["named", "let", "declare", "declare_bool", "objective", "prefer"])
"""Statements other than plain conditions."""


def read_model(
    text: str,
    *,
    filename: str = "<text>",
    constants: Mapping[str, int | Sequence[int]] | None = None,
    dialect: str = "constrint",
    budget: Budget | None = None,
) -> Declarations:
    """Build the model that a text in one of the two dialects of this language describes."""
    budget = budget or Budget()
    if not isinstance(text, str):
        raise ModelError(f"a model is read from a str, not {type(text).__name__}: from_file takes a path")
    source = Source(text.removeprefix("\ufeff"), filename)
    if dialect == "flashrnn":
        from constrint.frontends.text.flashrnn import read_constraints

        model = _empty_model(filename)
        with recursion_room(budget.frames):
            read_constraints(source, model, _check_constants(constants or {}), budget)
        return model
    reader = _Reader(source, constants or {}, budget)
    try:
        with recursion_room(budget.frames):
            reader.read()
    except RecursionError:  # without a limit of depth
        raise ParseError(
            "this statement is nested too deeply to be read",
            filename=filename,
            line=reader.line,
            column=1,
            hint="name inner parts: y := …",
        ) from None
    return reader.model


def read_condition(
    text: str,
    model: Declarations,
    constants: Mapping[str, int | Sequence[int]] | None = None,
    *,
    filename: str = "<text>",
) -> BoolExpr:
    """One condition over the names of a model, without adding it to the model.

    Args:
        text: The condition.
        model: The model.
        constants: Names that stand for integers, or for sequences of them.
        filename: Name of the text in messages.
    """
    source = Source(text, filename)
    budget = Budget()
    reader = _Reader(source, constants or {}, budget)
    reader.names.update({**model.variables, **model.lets})
    statements = [cast("Node", statement) for statement in parse(source, budget).children]
    if len(statements) != 1 or statements[0].data in _NO_CONDITIONS:
        raise source.error(1, 1, "one condition is needed here", "such as x >= 3 and y in {1, 2}")
    with recursion_room(budget.frames):
        return reader.boolean(statements[0])


def _empty_model(filename: str) -> Declarations:
    named = not filename.startswith("<") and filename != "-"
    return Declarations(PurePath(filename).stem) if named else Declarations()


def _check_constants(constants: Mapping[str, int | Sequence[int]]) -> dict[str, Meaning]:
    meanings: dict[str, Meaning] = {}
    for name, value in constants.items():
        try:
            if isinstance(value, Sequence) and not isinstance(value, str):
                meanings[name] = tuple(index(item) for item in value)
            else:
                meanings[name] = Const(index(value))
        except TypeError:
            message = f"constant '{name}' must be an integer or a sequence of integers, not {value!r}"
            raise ModelError(message) from None
    return meanings


class _Reader(SimpleReader):
    """Turns statements into calls on a model."""

    def __init__(self, source: Source, constants: Mapping[str, int | Sequence[int]], budget: Budget) -> None:
        super().__init__(source, _check_constants(constants), budget)
        self.model = _empty_model(source.filename)
        self._statements: Sequence[Statement] = []
        self._depths = Depths(budget.limits.depth)

    def read(self) -> None:
        """Read the whole text."""
        is_short = len(self.source.text) <= LONGEST_KNOWN or self._limits_digits()
        self._statements = (whole if is_short else statements)(self.source, self.budget)
        for statement in self._statements:
            if isinstance(statement, Parsed):
                self._read_parsed(statement)
            else:
                self._read_simple(statement)

    def _limits_digits(self) -> bool:
        """Whether numbers must be shorter than those of simple statements may be."""
        limit = self.budget.limits.digits
        return limit is not None and limit < LONGEST_SIMPLE

    def _read_parsed(self, statement: Parsed) -> None:
        self.begin, self.line = statement.begin, statement.line
        self.statement(statement.tree)

    def _read_simple(self, statement: Declared | Compared | Worded) -> None:
        if isinstance(statement, Declared):
            if self.declares(statement):
                return
        elif isinstance(statement, Worded):
            if self._reads(statement):
                return
        elif (condition := self.compares(statement)) is not None:
            self.model.add(condition)
            return
        # What lark makes of it is right, or says what is wrong.
        text = self.source.text[statement.begin : statement.end]
        for one in parsed(self.source, self.budget, Chunk(statement.begin, statement.line, text)):
            self._read_parsed(one)

    def _reads(self, piece: Worded) -> bool:
        """Define or require what a plain statement says; False, and nothing done, where lark is to."""
        expr = None if piece.is_definition and piece.name in self.names else self.worded(piece)
        if expr is None:
            return False
        if piece.is_definition and piece.name is not None:
            try:
                self._depths.note(expr)
            except LimitExceeded:
                return False
            self.names[piece.name] = self.model.let(piece.name, expr)
        elif isinstance(expr, BoolExpr):
            self.model.add(expr, name=piece.name)
        else:
            return False
        return True

    def statement(self, tree: Node) -> None:
        kind = tree.data
        if kind == "named":
            self._constraint(as_tree(tree.children[1]), name_of(tree.children[0]))
        elif kind == "let":
            self._let(tree)
        elif kind == "declare":
            *names, _, members = tree.children
            domain = self.members(as_tree(members))
            for name in names:
                self._declare(as_tree(name), domain)
        elif kind == "declare_bool":
            for name in tree.children:
                self._new_name(as_tree(name))
                self.budget.variable(1, partial(self.where, name))
                self.names[name_of(name)] = self.model.bool_var(name_of(name)).at(self.span(as_tree(name)))
        elif kind == "objective":
            goal = self.integer(as_tree(tree.children[1]))
            (self.model.maximize if tree.children[0] == "maximize" else self.model.minimize)(goal)
        elif kind == "prefer":
            for preference in tree.children:
                self._prefer(as_tree(preference))
        elif self._is_declaration(tree):
            self._declare(as_tree(tree.children[0]), self.members(as_tree(tree.children[2])))
        else:
            self._constraint(tree, None)

    def _is_declaration(self, tree: Node) -> bool:
        """Whether this is `name in members` with a new name."""
        if not _is_membership(tree):
            return False
        subject = as_tree(tree.children[0])
        return subject.data == "name" and name_of(subject) not in self.names

    def _new_name(self, tree: Node) -> None:
        if name_of(tree) in self.names:
            hint = "a second domain for a variable is a constraint of its own: x in {…}"
            raise self.error(tree, f"'{name_of(tree)}' is declared already", hint)

    def _declare(self, tree: Node, domain: Domain) -> None:
        self._new_name(tree)
        self.budget.variable(1, partial(self.where, tree))
        name = name_of(tree)
        if domain.values is not None:
            variable = self.model.int_var(name, values=domain.values)
        elif domain.is_empty:
            variable = self.model.int_var(name, values=[])
        else:
            variable = self.model.int_var(name, domain.lo, domain.hi, step=domain.step)
        self.names[name] = variable.at(self.span(tree))

    def _let(self, tree: Node) -> None:
        name, value = as_tree(tree.children[0]), as_tree(tree.children[1])
        self._new_name(name)
        if value.data == "braces":
            self.names[name_of(name)] = tuple(self.members(value))
        elif value.data == "list":
            self.names[name_of(name)] = self.sequence(value)
        else:
            expr = self.integer(value)
            try:
                self._depths.note(expr)
            except LimitExceeded as error:
                raise LimitExceeded(error.name, error.limit, self.where(name)) from None
            self.names[name_of(name)] = self.model.let(name_of(name), expr)

    def _prefer(self, tree: Node) -> None:
        direction = name_of(tree.children[1])
        if direction not in ("max", "min"):
            hint = "write 'max' or 'min' after each expression: prefer bm max, bn min"
            raise self.error(as_tree(tree.children[1]), f"'{direction}' is not a direction", hint)
        self.model.prefer((self.integer(as_tree(tree.children[0])), cast(Direction, direction)))

    def _constraint(self, tree: Node, name: str | None) -> None:
        if name is not None and self._is_declaration(tree):
            hint = "only constraints have names; write the declaration without one"
            raise self.error(tree, "a declaration has no name", hint)
        expr = self.expression(tree)
        if not isinstance(expr, BoolExpr):
            raise self.error(tree, "this is a number, not a constraint", "compare it with something: … == 0")
        self.model.add(expr, name=name)

    def declared_later(self, name: str) -> int | None:
        for statement in self._statements:
            if statement.line > self.line and _declares(statement, name):
                return statement.line
        return None


def _declares(statement: Statement, name: str) -> bool:
    """Whether a statement gives a name its meaning, where it is the first to do so."""
    if isinstance(statement, Declared):
        return name in map(str.strip, statement.names)
    if isinstance(statement, Compared):
        return False
    if isinstance(statement, Worded):
        return statement.is_definition and statement.name == name
    tree = statement.tree
    if tree.data not in _DECLARING or (tree.data == "chain" and not _is_membership(tree)):
        return False
    names = tree.children[:1] if tree.data in ("let", "chain") else tree.children
    return any(getattr(child, "data", "") == "name" and name_of(child) == name for child in names)


_DECLARING = frozenset(["declare", "declare_bool", "let", "chain"])


def _is_membership(tree: Node) -> bool:
    return tree.data == "chain" and len(tree.children) == 3 and getattr(tree.children[1], "type", "") == "IN"
