"""The base of global constraints: their definitions, and their expression nodes.

A global constraint is a `Definition`: the kinds of its arguments, its exact meaning on values, its lowering
if it must hold, and an equivalent expression of other constraints. The last is used if a condition is negated
or has a truth value, and by planners and writers that do not know the constraint. The text language, JSON and
checks follow from the kinds of the arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from constrint.errors import ModelError, Undefined
from constrint.expr import And, Assignment, BoolExpr, IntExpr, IntVar, definedness, linear
from constrint.expr.evaluation import with_parts
from constrint.support.record import record

Kind: TypeAlias = Literal["expr", "exprs", "matrix", "int", "ints", "rows", "patterns", "word"]
"""One expression, several, several lists of them (or of constants only); one constant, several, several lists
of them, such lists with None for any value; one of the field's words."""

Part: TypeAlias = Any
"""An argument: an IntExpr, int or str, or (nested) tuples of them, depending on the field's kind."""


@record()
class Field:
    """An argument of a global constraint.

    Attributes:
        name: Its name in messages.
        kind: Its kind.
        words: The possible words of a "word", the default first; such an argument may be omitted.
        may_be_empty: Whether a list may be empty.
    """

    name: str
    kind: Kind
    words: tuple[str, ...] = ()
    may_be_empty: bool = False


@dataclass(frozen=True)
class Definition:
    """A global constraint.

    Attributes:
        name: Its name in text, JSON and Python.
        fields: Its arguments.
        meaning: Its value as a function of the arguments' values: the definition.
        decomposed: An expression of other constraints with the same value wherever the arguments are defined.
        lower: Lowers it, given the lowering and the arguments: posts a condition, or returns the sum that
            equals a number. None: the decomposition is lowered.
        literal: Returns the literal of a condition, given the lowering, a literal to use if a new one is
            needed (or None), and the arguments. None: the literal of the decomposition.
        is_number: Whether it is a number, not a condition.
        needs: The conditions under which a number is defined if its arguments are. None: always.
        check: Raises `ModelError` for arguments that do not match.
        equal: Names of the lists that have equal lengths.
        labels: Names of the arguments with values of one kind: where one has enumerations, the others may
            have their labels.
        ordered: Whether the order of these values counts.
    """

    name: str
    fields: tuple[Field, ...]
    meaning: Callable[..., int]
    decomposed: Callable[..., IntExpr]
    lower: Callable[..., Any] | None = None
    check: Callable[..., None] | None = None
    literal: Callable[..., int] | None = None
    is_number: bool = False
    needs: Callable[..., tuple[BoolExpr, ...]] | None = None
    equal: str = ""
    labels: str = ""
    ordered: bool = False

    def checked(self, parts: tuple[Part, ...]) -> tuple[Part, ...]:
        """The arguments, after checks; raises `ModelError`."""
        for field, part in zip(self.fields, parts, strict=True):
            if field.kind == "word" and part not in field.words:
                choice = ", ".join(field.words)
                raise ModelError(f"{self.name}: {field.name} is one of {choice}, not {part}")
            if isinstance(part, tuple) and not part and not field.may_be_empty:
                raise ModelError(f"{self.name} needs at least one entry in {field.name}")
        if self.equal:
            named = dict(zip([field.name for field in self.fields], parts, strict=True))
            lengths = {name: len(named[name]) for name in self.equal.split()}
            if len(set(lengths.values())) > 1:
                said = ", ".join(f"{length} {name}" for name, length in lengths.items())
                raise ModelError(f"{self.name} needs lists of one length, not {said}")
        if self.check is not None:
            self.check(*parts)
        return parts


def is_of_expressions(rows: tuple[tuple[object, ...], ...]) -> bool:
    """Whether the entries of a matrix are expressions, not constants."""
    return any(isinstance(entry, IntExpr) for row in rows for entry in row[:1])


_VARIABLE = {IntVar}


def _expressions(parts: tuple[Part, ...]) -> list[IntExpr]:
    """The expressions among arguments and what these list."""
    found: list[IntExpr] = []
    for part in parts:
        if isinstance(part, IntExpr):
            found.append(part)
        elif type(part) is tuple:
            found += part if _VARIABLE.issuperset(map(type, part)) else _expressions(part)
    return found


def _needs(parts: tuple[Part, ...]) -> list[BoolExpr]:
    """The conditions under which all expressions among the arguments are defined."""
    known: dict[int, tuple[BoolExpr, ...]] = {}
    return [need for part in _expressions(parts) for need in definedness(part, known)]


def _evaluated(kind: Kind, part: Part, assignment: Assignment) -> object:
    if kind == "exprs":
        return tuple([assignment[e] if type(e) is IntVar else e.meaning(assignment) for e in part])
    if kind == "matrix" and any(hasattr(entry, "meaning") for row in part for entry in row[:1]):
        return tuple([tuple([expr.meaning(assignment) for expr in row]) for row in part])
    return int(part.meaning(assignment)) if kind == "expr" else part


def _values(definition: Definition, parts: tuple[Part, ...], assignment: Assignment) -> list[object]:
    """The values of arguments; conditions become truth values, which act as numbers."""
    fields = zip(definition.fields, parts, strict=True)
    return [_evaluated(field.kind, part, assignment) for field, part in fields]


@record(eq=False)
class Relation(BoolExpr):
    """A global constraint that is a condition."""

    definition: Definition
    parts: tuple[Part, ...]

    @property
    def children(self) -> tuple[IntExpr, ...]:
        """The expressions among the arguments."""
        return tuple(_expressions(self.parts))

    def meaning(self, assignment: Assignment) -> bool:
        """Whether it holds; false if an argument is undefined."""
        try:
            return bool(self.definition.meaning(*_values(self.definition, self.parts, assignment)))
        except Undefined:
            return False

    def decomposed(self) -> BoolExpr:
        """The same condition without this constraint."""
        condition = self.definition.decomposed(*self.parts)
        assert isinstance(condition, BoolExpr)
        needs = _needs(self.parts)
        return And((*needs, condition)) if needs else condition


@record(eq=False)
class Function(IntExpr):
    """A global constraint that is a number."""

    definition: Definition
    parts: tuple[Part, ...]

    @property
    def children(self) -> tuple[IntExpr, ...]:
        """The expressions among the arguments."""
        return tuple(_expressions(self.parts))

    def meaning(self, assignment: Assignment) -> int:
        """Its value; raises `Undefined` if there is none."""
        return int(self.definition.meaning(*_values(self.definition, self.parts, assignment)))

    def needs(self) -> tuple[BoolExpr, ...]:
        """The conditions under which it is defined if its arguments are."""
        return () if self.definition.needs is None else self.definition.needs(*self.parts)

    def decomposed(self) -> IntExpr:
        """The same number without this constraint; undefined if an argument is."""
        number = self.definition.decomposed(*self.parts)
        partial = [arg for arg in _expressions(self.parts) if definedness(arg)]
        return linear([(1, number), *[(0, arg) for arg in partial]]) if partial else number


with_parts(Relation, Function)


def node_of(definition: Definition, parts: tuple[Part, ...]) -> Relation | Function:
    """The expression of a global constraint with these arguments."""
    return (Function if definition.is_number else Relation)(definition, definition.checked(parts))
