"""The variables of a python-constraint constraint with their values, and the coding of values as integers.

Integers stand for themselves. If a variable has other values (strings, floats, tuples), each of its values
gets an integer code; equal values get equal codes in all variables.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from numbers import Number
from typing import Any

from constrint.errors import ModelError
from constrint.expr import BoolExpr, IntVar
from constrint.expr.builders import table
from constrint.expr.domain import Domain

MOST_COMBINATIONS = 2_000_000
"""The most combinations of values for which a function is called."""


class Codes:
    """The integer codes of a problem's values."""

    def __init__(self, values: Iterable[object]) -> None:
        integers = [whole for value in values if (whole := integer_of(value)) is not None]
        self._next = max(integers, default=0) + 1
        self._codes: dict[Any, int] = {}
        self._unhashable: list[tuple[object, int]] = []

    def code(self, value: object) -> int:
        """The code of a value."""
        whole = integer_of(value)
        if whole is not None:
            return whole
        following = self._next + len(self._codes) + len(self._unhashable)
        try:
            return self._codes.setdefault(value, following)
        except TypeError:  # not hashable: compared with all unhashable values
            for other, code in self._unhashable:
                if bool(value == other):
                    return code
            self._unhashable.append((value, following))
            return following


def integer_of(value: object) -> int | None:
    """The integer that equals a number, whatever its type; None if there is none."""
    if not isinstance(value, Number):
        return None
    try:
        whole = int(value)  # type: ignore[call-overload] # raises for what is none
        return whole if whole == value else None
    except (TypeError, ValueError, OverflowError):
        return None


@dataclass(frozen=True, eq=False)
class Coded:
    """A variable of the problem.

    Attributes:
        name: Its name, anything hashable.
        variable: The integer variable of its codes.
        values: Its values by code.
        is_number: Whether all its values are integers, so that arithmetic on codes is arithmetic on values.
    """

    name: Hashable
    variable: IntVar
    values: dict[int, Any]
    is_number: bool

    @staticmethod
    def of(name: Hashable, label: str, values: Sequence[Any], codes: Codes) -> Coded:
        """The variable with these values; of equal values the first is kept."""
        coded: dict[int, Any] = {}
        for value in values:
            coded.setdefault(codes.code(value), value)
        is_number = all(type(value) is int for value in values)
        return Coded(name, IntVar(label, Domain.of_values(coded)), coded, is_number)


@dataclass(frozen=True)
class Scope:
    """The variables of one constraint, in its order, with the coding of the whole problem."""

    variables: Sequence[Coded]
    codes: Codes
    described: str

    @property
    def is_arithmetic(self) -> bool:
        """Whether every value is an integer."""
        return all(coded.is_number for coded in self.variables)

    def of(self, names: Iterable[Hashable]) -> list[Coded]:
        """The variables with these names."""
        by_name = {coded.name: coded for coded in self.variables}
        missing = [name for name in names if name not in by_name]
        if missing:
            raise ModelError(
                f"{self.described} names {missing[0]!r}, which is not among its variables "
                f"({', '.join(repr(name) for name in by_name)}): give them all to addConstraint"
            )
        return [by_name[name] for name in names]

    def listed(self, holds: Callable[..., object]) -> BoolExpr:
        """The condition as a table of all combinations of values for which the function returns true."""
        size = math.prod(len(coded.values) for coded in self.variables)
        if size > MOST_COMBINATIONS:
            raise ModelError(
                f"{self.described} can only be called, and {size} combinations of values are too many "
                f"for that (at most {MOST_COMBINATIONS}). Write it with operators only (`&` and `|` between "
                "comparisons in place of `and` and `or`; no `if`), or split it into smaller constraints"
            )
        rows: list[tuple[int, ...]] = []
        self._extend(holds, (), (), rows)
        return table([coded.variable for coded in self.variables], rows)

    def _extend(
        self,
        holds: Callable[..., object],
        row: tuple[int, ...],
        values: tuple[object, ...],
        rows: list[tuple[int, ...]],
    ) -> None:
        if len(row) == len(self.variables):
            if holds(*values):
                rows.append(row)
            return
        for code, value in self.variables[len(row)].values.items():
            self._extend(holds, (*row, code), (*values, value), rows)
