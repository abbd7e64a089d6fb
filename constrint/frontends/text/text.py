"""Reads a model from `.constrint` text: declarations, definitions, constraints and goals.

The syntax tree of `syntax.parse` is walked once, so every name must be declared before it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

from constrint.errors import ModelError, ParseError
from constrint.expr import BoolExpr, IntExpr
from constrint.expr.domain import Domain
from constrint.expr.position import Span
from constrint.frontends.constants import as_tree, name_of, subtrees
from constrint.frontends.formats import reader_of
from constrint.frontends.text.declared_names import declared_by
from constrint.frontends.text.declaring import is_binding, is_membership
from constrint.frontends.text.includes import Folders
from constrint.frontends.text.meanings import Value
from constrint.frontends.text.names import shown_value
from constrint.frontends.text.parameters import Given, GivenNames, ParameterReader
from constrint.frontends.text.plain import NotPlain, PlainPart, Plan, plan_of, values, word_place
from constrint.frontends.text.syntax import Source, Statement, statements
from constrint.modelling.declarations import Declarations
from constrint.modelling.objectives import Direction, Target
from constrint.support.garbage import uncollected
from constrint.support.limits import Budget, LimitExceeded, recursion_room

if TYPE_CHECKING:
    from lark import Token, Tree

    Node: TypeAlias = Tree[Token]


class NamedModel(NamedTuple):
    """A model that was read, and the names of its text.

    Attributes:
        model: The model.
        names: What the names stand for.
        places: Where they are declared.
    """

    model: Declarations
    names: dict[str, Value]
    places: dict[str, Span]


@uncollected()
def read_model(
    text: str,
    *,
    filename: str = "<text>",
    constants: Mapping[str, Given] | GivenNames | None = None,
    dialect: str = "constrint",
    budget: Budget | None = None,
    folders: Folders | None = None,
) -> Declarations:
    """Build the model that a text describes; see `Model.from_text`."""
    budget = budget or Budget()
    if not isinstance(text, str):
        raise ModelError(f"a model is read from a str, not {type(text).__name__}: from_file takes a path")
    given = constants if isinstance(constants, GivenNames) else GivenNames(constants)
    read = reader_of(dialect)
    if read is not None:
        if given.values:
            raise ModelError(f"a model in the dialect '{dialect}' takes no constants and no data")
        return read(text, filename, budget)
    if dialect == "flashrnn":
        from constrint.frontends.text.flashrnn import read_constraints

        source = Source(text.removeprefix("\ufeff"), filename)
        model, flat = _empty_model(filename), given.constants()
        if any(not isinstance(value, IntExpr | tuple) for value in flat.values()):
            raise ModelError("constants of this dialect are integers and lists of integers")
        with recursion_room(budget.frames):
            read_constraints(source, model, flat, budget)
        given.note(source.text)
        given.check_constants()
        return model
    return read_text(text, filename=filename, given=given, budget=budget, folders=folders).model


def read_text(
    text: str,
    *,
    filename: str = "<text>",
    given: GivenNames | None = None,
    budget: Budget | None = None,
    folders: Folders | None = None,
) -> NamedModel:
    """Read a text of the constrint language.

    Args:
        text: The text.
        filename: Its name in messages.
        given: Values of parameters and constants.
        budget: The limits of reading.
        folders: Where included files are; none may be included without.
    """
    source = Source(text.removeprefix("\ufeff"), filename)
    reader = TextReader(source, given or GivenNames(), budget or Budget(), folders or Folders())
    reader.budget.size(len(source.text), filename)
    reader.budget.here = reader.statement_place
    try:
        with recursion_room(reader.budget.frames):
            reader.read()
    except RecursionError:  # without a limit of depth
        raise ParseError(
            "this statement is nested too deeply to be read",
            filename=filename,
            line=reader.line,
            column=1,
            hint="name inner parts: y := …",
        ) from None
    return NamedModel(reader.model, reader.names, reader.places)


def read_condition(
    text: str,
    model: Declarations,
    constants: Mapping[str, Given] | None = None,
    *,
    filename: str = "<text>",
    names: Mapping[str, Value] | None = None,
) -> BoolExpr:
    """One condition over the names of a model, without adding it to the model.

    Args:
        text: The condition.
        model: The model.
        constants: Names that stand for integers, or for sequences of them.
        filename: Name of the text in messages.
        names: What further names stand for: those of the model's text.
    """
    source = Source(text, filename)
    budget = Budget()
    reader = TextReader(source, GivenNames(constants), budget, Folders())
    reader.names.update({**model.variables, **model.lets, **(names or {})})
    trees = [statement.tree for statement in statements(source, budget)]
    if len(trees) != 1 or trees[0].data in _STATEMENTS:
        raise source.error(1, 1, "one condition is needed here", "such as x >= 3 and y in {1, 2}")
    with recursion_room(budget.frames):
        return reader.boolean(trees[0])


_STEPS_OF_FILE = 100
"""A file system takes as long to find a file."""


def _empty_model(filename: str) -> Declarations:
    named = not filename.startswith("<") and filename != "-"
    return Declarations(PurePath(filename).stem) if named else Declarations()


class TextReader(ParameterReader):
    """Turns statements into calls on a model."""

    def __init__(self, source: Source, given: GivenNames, budget: Budget, folders: Folders) -> None:
        super().__init__(source, given.constants(), budget)
        self.model = _empty_model(source.filename)
        self.given = given
        self.parameters = set()
        self.places = {}
        self.enumerations = []
        self._folders = folders
        self._statements: Sequence[Statement] = []
        self._including: list[Path] = []  # files that are being read, outermost first
        self._included: set[Path] = set()
        self._targets: dict[tuple[str, str], Path] = {}  # by including file and name
        self._characters = len(source.text)
        self._main = source.filename

    def read(self) -> None:
        """Read the whole text."""
        self._read_source()
        self.check_given()

    def _read_source(self) -> None:
        self.given.note(self.source.text)
        self._statements = statements(self.source, self.budget)
        for statement in self._statements:
            self.read_statement(statement)

    def expect(self, coming: Sequence[Statement]) -> None:
        """Note the statements that `read_statement` will be given, for hints about later declarations."""
        self._statements = coming

    def recover(self, source: Source) -> None:
        """Forget what was being read when an error was raised, to go on with the next statement."""
        self.source, self.locals, self._depth = source, {}, 0
        self._including.clear()
        self._callers.clear()

    def read_statement(self, statement: Statement) -> None:
        """Read one statement of the present text."""
        self.line = statement.line
        plan = plan_of(statement.shape)
        if plan is None or not self._read_plain(statement, plan):
            self.statement(statement.tree)

    def _read_plain(self, statement: Statement, plan: Plan) -> bool:
        """Read a plain statement; False, without effect, where its tree must be read."""
        try:
            parts = values(self, statement, plan, self.model.settings.reading)
        except NotPlain:
            return False
        if plan.kind in ("declare", "declare_bool"):
            return self._declare_plain(statement, plan, parts)
        name, expr = (str(parts[0]) if len(parts) > 1 else None), parts[-1]
        if plan.kind == "let" and name is not None and isinstance(expr, IntExpr):
            if name in self.names:
                return False
            place = self.places[name] = word_place(self.source, statement, plan.parts[0])
            if expr.children:
                self.note_depth(place, expr)
            self.names[name] = self.model.let(name, expr)
            return True
        if plan.kind == "let" or not isinstance(expr, BoolExpr):
            return False
        self.model.add(expr, name=name)
        return True

    def _declare_plain(self, statement: Statement, plan: Plan, parts: list[PlainPart]) -> bool:
        """Declare variables; False, and nothing is done, where a name is known already."""
        domain = parts[-1] if isinstance(parts[-1], Domain) else None
        if (plan.kind == "declare") != (domain is not None):
            return False
        names = cast("list[str]", parts if domain is None else parts[:-2])
        if len(set(names)) < len(names) or not self.names.keys().isdisjoint(names):
            return False
        for name, word in zip(names, plan.parts, strict=False):
            place = word_place(self.source, statement, word)
            self.budget.variable(1, partial(self.where, place))
            variable = self.model.bool_var(name) if domain is None else self.model.variable(name, domain)
            self.places[name] = place
            self.names[name] = variable.at(place)
        return True

    def _include(self, tree: Node) -> None:
        """Read another file in place of the statement; one that has been read is not read again."""
        token = cast("Token", tree.children[0])
        name = token.strip('"')
        try:
            key = self._targets.get((self.source.filename, name))
            if key is not None and key in self._included and key not in self._including:
                return
            self.budget.count_steps(_STEPS_OF_FILE, partial(self.where, token))
            path = self._folders.find(name, self.source.filename)
            key = self._targets[self.source.filename, name] = path.resolve()
            if key in self._including or key == Path(self._main).resolve():
                chain = " -> ".join([Path(self._main).name, *[one.name for one in self._including], key.name])
                raise ModelError(f"files include each other in a circle, {chain}")
            if key in self._included:
                return
            self.budget.depth(len(self._including) + 1, partial(self.where, token))
            text = self._folders.read(path, self.budget)
        except (ModelError, RuntimeError, OSError, ValueError) as error:
            if isinstance(error, LimitExceeded):
                raise
            reason = str(error) if isinstance(error, ModelError) else f"'{name}' cannot be read"
            message, _, hint = reason.partition(": ")
            raise self.error(token, message, hint) from None
        self._characters += len(text)
        self.budget.size(self._characters, str(path))
        before = self.source, self.line, self._statements
        self._including.append(key)
        self._included.add(key)
        self.source = Source(text, str(path))
        self._read_source()
        self._including.pop()
        self.source, self.line, self._statements = before

    def statement(self, tree: Node) -> None:
        """Read one statement."""
        kind = tree.data
        if kind in _STATEMENTS:
            _STATEMENTS[kind](self, tree)
        elif self._is_declaration(tree):
            self.declare(as_tree(tree.children[0]), partial(self.members, as_tree(tree.children[2])))
        else:
            self.constraint(tree, None)

    def _is_declaration(self, tree: Node) -> bool:
        """Whether this is `name in members`, or `name[…] in members`, with a new name."""
        if not is_membership(tree):
            return False
        subject = as_tree(tree.children[0])
        if subject.data == "index":
            base = as_tree(subject.children[0])
            return base.data == "name" and name_of(base) not in self.names and not self._is_element(subject)
        return subject.data == "name" and name_of(subject) not in self.names

    def _is_element(self, tree: Node) -> bool:
        """Whether `x[1]` stands for a variable of this very name, where no array x is declared."""
        return not any(child.data == "range" for child in subtrees(tree)) and self._has_elements(
            name_of(as_tree(tree.children[0]))
        )

    def _declare_several(self, tree: Node) -> None:
        *names, _, members = tree.children
        domain: list[Domain] = []

        def once() -> Domain:
            if not domain:
                domain.append(self.members(as_tree(members)))
            return domain[0]

        for name in names:
            has_index = as_tree(name).data == "index" and any(map(is_binding, subtrees(as_tree(name))))
            self.declare(as_tree(name), partial(self.members, as_tree(members)) if has_index else once)

    def _declare_conditions(self, tree: Node) -> None:
        for name in tree.children:
            self.declare(as_tree(name), None)

    def _objective(self, tree: Node) -> None:
        goal = self._target(as_tree(tree.children[1]))
        (self.model.maximize if tree.children[0] == "maximize" else self.model.minimize)(goal)

    def _target(self, tree: Node) -> Target:
        """The target of an objective; it may have fractional coefficients."""
        return self.operand(tree)

    def _preferences(self, tree: Node) -> None:
        for preference in tree.children:
            self._prefer(as_tree(preference))

    def _prefer(self, tree: Node) -> None:
        direction = name_of(tree.children[1])
        if direction not in ("max", "min"):
            hint = "write 'max' or 'min' after each expression: prefer bm max, bn min"
            raise self.error(as_tree(tree.children[1]), f"'{direction}' is not a direction", hint)
        self.model.prefer((self._target(as_tree(tree.children[0])), cast(Direction, direction)))

    def _named(self, tree: Node) -> None:
        self.constraint(as_tree(tree.children[1]), name_of(tree.children[0]))

    def constraint(self, tree: Node, name: str | None) -> None:
        """Add a constraint; a `forall` adds one for each choice of its generators."""
        if name is not None and self._is_declaration(tree):
            hint = "only constraints have names; write the declaration without one"
            raise self.error(tree, "a declaration has no name", hint)
        if tree.data == "call" and name_of(tree.children[0]) == "forall" and len(subtrees(tree)) == 2:
            only = subtrees(tree)[1]
            if only.data == "comprehension":
                self.budget.node(1, partial(self.where, tree))
                self.expanded(only, lambda head: self.constraint(head, name))
                return
        expr = self.expression(tree)
        if not isinstance(expr, BoolExpr):
            raise self.error(tree, "this is a number, not a constraint", "compare it with something: … == 0")
        self.model.add(expr, name=self._instance(name))

    def _instance(self, name: str | None) -> str | None:
        """The name of one of the constraints of a `forall`: `rows[1]`, or `i = 1, j = 2` without a name."""
        if not self.locals:
            return name
        told = {local: text for local in self.locals if (text := shown_value(self.locals[local]))}
        if name is not None:
            return f"{name}[{','.join(told.values())}]" if told else name
        return ", ".join([f"{local} = {text}" for local, text in told.items()]) or None

    def declared_later(self, name: str) -> int | None:
        """The line of a later declaration of the name, or None."""
        for statement in self._statements:
            if statement.line > self.line and name in declared_by(statement):
                return statement.line
        return None


_STATEMENTS: dict[str, Callable[[TextReader, Node], None]] = {
    "named": TextReader._named,
    "let": TextReader.define,
    "let_array": TextReader.define_array,
    "template": TextReader.define_template,
    "declare": TextReader._declare_several,
    "declare_bool": TextReader._declare_conditions,
    "param": TextReader.declare_parameters,
    "enumeration": TextReader.declare_enumeration,
    "include": TextReader._include,
    "objective": TextReader._objective,
    "prefer": TextReader._preferences,
}
"""Statements other than plain conditions, and how they are read."""
