"""The items of a FlatZinc text: declarations, constraints and the solve item, with names not resolved."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from constrint.errors import ParseError
from constrint.expr.domain import Domain
from constrint.support.limits import Budget


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

    def declare(self, declaration: Declaration, index: list[int] | None = None) -> None:
        """Add a declaration; raises `ParseError` where its value does not fit its type, or its index."""
        name, line = declaration.name, declaration.line
        if name in self.declarations:
            raise self.error(line, f"'{shortened(name)}' is declared twice")
        if not declaration.is_variable:
            if declaration.value is None:
                raise self.error(line, f"the constant '{shortened(name)}' has no value")
            self._check_constants(declaration)
        if index is not None and isinstance(declaration.value, list):
            found = len(declaration.value)
            if index != [1, found]:
                from constrint.support.long_numbers import counted

                size = counted(found, "entry")
                raise self.error(line, f"the array '{shortened(name)}' has {size}: its index is 1..{found}")
        self.declarations[name] = declaration

    def _check_constants(self, declaration: Declaration) -> None:
        """Refuse constants of another type than the declared one."""
        value, domain, line = declaration.value, declaration.domain, declaration.line
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, Domain) is not declaration.is_set and isinstance(one, Domain | int):
                raise self.expected(line, "a set" if declaration.is_set else "a number", one)
            if type(one) is int and domain is not None and one not in domain:
                name = shortened(declaration.name)
                raise self.error(line, f"'{name}' is {_said(one)}, which its type does not have")


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
