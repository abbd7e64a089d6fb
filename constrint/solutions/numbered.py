"""Solutions by number and numbers by solution, over independent diagrams and the labels of their codes."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, overload

import numpy as np

from constrint.diagrams.diagram import Diagram
from constrint.diagrams.listing import each, product_columns
from constrint.diagrams.terms import OBJECT, Array
from constrint.errors import ModelError, printable
from constrint.solutions.presented import PresentedVariables, Sets, few, members_of, name_of, sets_of
from constrint.support.arguments import integer
from constrint.support.long_numbers import counted

Solution = dict[str, Any]
Labels = Mapping[int, Mapping[object, object]]


class Numbered:
    """Base of `SolutionSet`: solutions that have numbers.

    Attributes:
        names: The columns of `to_numpy`: the variables in order of declaration, a set variable in place of
            the Boolean variables that it stands on.
        variables: The variables in order of declaration, without set variables.
        sets: The set variables: for each member the name of its Boolean variable.
        order: The variables in the order by which solutions are numbered.
        size: Number of solutions, exact at any magnitude.
    """

    def __init__(
        self,
        names: Sequence[str],
        diagrams: Sequence[Diagram] | None,
        labels: Labels | None = None,
        sets: Sets | None = None,
    ) -> None:
        """Make a set from independent diagrams over variables; None stands for the empty set."""
        self.variables = tuple(names)
        self.sets: Sets = dict(sets or {})
        self._presented = PresentedVariables(self.variables, self.sets)
        self.names = self._presented.names
        self._diagrams = tuple(diagrams or ())
        self._labels = dict(labels or {})
        self.size = 1
        for diagram in self._diagrams:
            self.size *= diagram.size
        if diagrams is None:
            self.size = 0
        if not self.size:
            self._diagrams = ()
        self._numbers = {name: i for i, name in enumerate(self.variables)}
        listed = [v for diagram in self._diagrams for v in diagram.variables]
        self.order = tuple(self.variables[v] for v in listed) or self.variables

    @property
    def diagrams(self) -> tuple[Diagram, ...]:
        """The independent diagrams whose product is the set; empty if there is no solution."""
        return self._diagrams

    @property
    def edges(self) -> int:
        """Number of edges of all diagrams: the size of the representation."""
        return sum(diagram.edges for diagram in self._diagrams)

    @property
    def width(self) -> int:
        """The greatest number of nodes in a layer."""
        return max([max(diagram.widths) for diagram in self._diagrams], default=0)

    def __len__(self) -> int:
        if self.size > sys.maxsize:
            raise OverflowError(f"{self.size:,} solutions are more than Python's len() can return: use .size")
        return self.size

    def __bool__(self) -> bool:
        return self.size > 0

    def __repr__(self) -> str:
        return f"SolutionSet({counted(self.size, 'solution')} of {', '.join(self.names)})"

    # By number

    @overload
    def __getitem__(self, number: int) -> Solution: ...

    @overload
    def __getitem__(self, number: slice) -> list[Solution]: ...

    def __getitem__(self, number: int | slice) -> Solution | list[Solution]:
        if isinstance(number, slice):
            numbers = range(self.size)[number]
            if numbers.step == 1:
                return list(self._solutions(self._columns(numbers.start, max(numbers.start, numbers.stop))))
            return list(self._solutions(self._at(list(numbers))))
        position = integer(number, "the number of a solution")
        if not -self.size <= position < self.size:
            raise IndexError(f"number {number} of a set of {counted(self.size, 'solution')}")
        return next(self._solutions(self._at([position % self.size])))

    def index(self, solution: Mapping[str, Any] | Sequence[Any]) -> int:
        """The number of a solution; raises `ValueError` if it is none."""
        number = self._number(self._codes(solution))
        if number is None:
            raise ValueError(f"no solution: {solution}")
        return number

    def __contains__(self, solution: object) -> bool:
        if not isinstance(solution, Mapping | Sequence):
            return False
        try:
            return self._number(self._codes(solution)) is not None
        except ModelError:
            return False

    def _variable(self, key: object) -> int:
        """The number of a variable by its name, or by itself."""
        name = name_of(key)
        if name not in self._numbers:
            raise ModelError(printable(f"no variable is named '{name}'; there are: {', '.join(self.names)}"))
        return self._numbers[name]

    def _members(self, key: object) -> tuple[tuple[object, int], ...] | None:
        """The members of a set variable with the numbers of their variables; None for another name."""
        found = self._presented.place(name_of(key)) if self.sets else None
        return found if isinstance(found, tuple) else None

    def values_of(self, name: object) -> list[Any]:
        """The values that a variable has in any solution: ascending; values that are no numbers as given.

        Args:
            name: The variable, an enumeration or a set, or its name.
        """
        if self._members(name) is not None:
            return self._sets_of(name_of(name))
        v = self._variable(name)
        for diagram in self._diagrams:
            if v in diagram.variables:
                return self._listed(v, np.unique(diagram.layers[diagram.variables.index(v)].value))
        return []

    def _sets_of(self, name: str) -> list[object]:
        """The values that a set variable has in any solution."""
        raise NotImplementedError

    def sample(self, count: int, seed: int | None = None) -> list[Solution]:
        """Distinct solutions, drawn uniformly; if there are at most `count`, all of them in random order."""
        return list(self._solutions(self._at(self._drawn(count, seed))))

    def _demand_any(self) -> None:
        """Raise `ModelError` if the set is empty."""

    def _drawn(self, count: int, seed: int | None) -> list[int]:
        if integer(count, "the size of a sample") < 0:
            raise ModelError(f"the size of a sample cannot be negative, as {count} is")
        self._demand_any()
        source = random.Random(seed)
        count = min(count, self.size)
        if 2 * count >= self.size:
            return source.sample(range(self.size), count)
        drawn: dict[int, None] = {}
        while len(drawn) < count:
            drawn[source.randrange(self.size)] = None
        return list(drawn)

    def _at(self, numbers: Sequence[int]) -> dict[int, Array]:
        """Columns of the solutions with these numbers, by variable."""
        columns: dict[int, Array] = {}
        rest: Array = np.array(numbers, dtype=np.int64 if self.size < 1 << 61 else OBJECT)
        for diagram in reversed(self._diagrams):
            digit = rest % diagram.size
            rest = rest // diagram.size
            found = diagram.at(digit.astype(np.int64) if diagram.size < 1 << 61 else digit)
            columns.update(zip(diagram.variables, found, strict=True))
        return columns

    def _columns(self, start: int, stop: int) -> dict[int, Array]:
        """Columns of solutions start … stop - 1, by variable."""
        return product_columns(self._diagrams, start, stop)

    def _number(self, codes: Sequence[Any]) -> int | None:
        if not self.size:
            return None
        number = 0
        for diagram in self._diagrams:
            digit = diagram.number([codes[v] for v in diagram.variables])
            if digit is None:
                return None
            number = number * diagram.size + digit
        return number

    # Values and their codes

    def _codes(self, solution: Mapping[str, object] | Sequence[object]) -> list[object]:
        if isinstance(solution, Mapping):
            if self.sets and all(name in solution for name in self.variables):
                return [self._code(v, solution[name]) for v, name in enumerate(self.variables)]
            missing = [name for name in self.names if name not in solution]
            if missing:
                raise ModelError(f"the solution has no value for {', '.join(missing)}")
            values = [solution[name] for name in self.names]
        else:
            if isinstance(solution, str) or not isinstance(solution, Sequence | np.ndarray):
                raise ModelError(
                    f"a solution is a dict, or a sequence in the order of names, not {solution!r}"
                )
            values = list(solution)
            if len(values) != len(self.names):
                raise ModelError(f"a solution has {counted(len(self.names), 'value')}, not {len(values)}")
        codes: dict[int, object] = {}
        for name, place, value in zip(self.names, self._presented.places, values, strict=True):
            if isinstance(place, int):
                codes[place] = self._code(place, value)
            else:
                codes.update(members_of(name, place, value))
        return [codes[v] for v in range(len(self.variables))]

    def _code(self, v: int, value: object) -> object:
        """The number that stands for a value of the v-th variable in diagrams; a number stands for itself."""
        labels = self._labels.get(v)
        if labels is None:
            if isinstance(value, float | np.floating):
                return float(value)
            if not hasattr(value, "__index__"):
                raise ModelError(f"{value!r} is not a value of '{self.variables[v]}', which is a number")
            return value.__index__()
        for code, label in labels.items():
            if label == value:
                return code
        known = few((label, code) for code, label in labels.items())
        raise ModelError(f"{value!r} is not a value of '{self.variables[v]}', which has: {known}")

    def _decoded(self, v: int, column: Array) -> Array:
        labels = self._labels.get(v)
        if labels is None:
            return column
        values = list(labels.values())
        if all(isinstance(value, bool | int | float) for value in values):
            decoded = np.array(values)
        else:
            decoded = np.empty(len(values), dtype=OBJECT)
            for i, value in enumerate(values):  # assigned one by one: numpy would take a tuple for a row
                decoded[i] = value
        codes = np.array(list(labels))
        return np.asarray(decoded[np.searchsorted(codes, column)])

    def _solutions(self, columns: Mapping[int, Array]) -> Iterator[Solution]:
        if not columns or not self.variables:
            only: Solution = {name: frozenset() for name in self.names}  # sets without possible members
            yield from [only.copy() for _ in range(self.size if not self.variables else 0)]
            return
        names = self.names
        for row in self._tuples(columns):
            yield dict(zip(names, row, strict=True))

    def _tuples(self, columns: Mapping[int, Array]) -> Iterator[tuple[object, ...]]:
        """Rows as tuples of Python values, in the order of `names`."""
        rows = len(next(iter(columns.values())))
        each: list[Iterable[object]] = [
            self._each(place, columns[place]) if isinstance(place, int) else sets_of(place, columns, rows)
            for place in self._presented.places
        ]
        return zip(*each, strict=True)

    def _shown(self, columns: Mapping[int, Array]) -> dict[str, Array]:
        """The columns that users see, by name."""
        rows = len(next(iter(columns.values()))) if columns else 0
        return {
            name: self._decoded(place, columns[place])
            if isinstance(place, int)
            else sets_of(place, columns, rows)
            for name, place in zip(self.names, self._presented.places, strict=True)
        }

    def _each(self, v: int, column: Array) -> Iterable[object]:
        labels = self._labels.get(v)
        return each(column) if labels is None else map(labels.__getitem__, each(column))

    def labelled(self, v: int, codes: Array) -> list[object]:
        """The values that codes of the v-th variable stand for."""
        return self._listed(v, codes)

    def _listed(self, v: int, column: Array) -> list[object]:
        labels = self._labels.get(v)
        values = column.tolist()
        return values if labels is None else [labels[value] for value in values]
