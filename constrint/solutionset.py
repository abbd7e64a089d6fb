"""All solutions of a finite model as one exact, compressed object.

The solutions are the product of independent diagrams (`constrint.plan.diagram`). They are numbered: by the
values of the variables in `order`, each ascending, like words in a dictionary. Nothing but `to_numpy`,
iteration and their like ever lists them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from constrint.errors import ModelError
from constrint.expr import IntExpr
from constrint.plan import merge
from constrint.plan.costs import separate
from constrint.plan.diagram import Diagram, smallest_type
from constrint.plan.listing import fill, product_columns
from constrint.plan.terms import FLOAT, OBJECT, Array

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped] # stubs are a package of their own

Solution = dict[str, Any]
Labels = Mapping[int, Mapping[Any, Any]]
CHUNK = 1 << 16
MOST_LISTED = 50_000_000  # rows that set operations list where the orders of two sets differ


class SolutionSet:
    """The solutions of a model: a set with numbers.

    Attributes:
        names: The variables in order of declaration: the columns of `to_numpy`.
        order: The variables in the order that the solutions are numbered by.
        size: Number of solutions, exact at any magnitude.
    """

    def __init__(
        self, names: Sequence[str], diagrams: Sequence[Diagram] | None, labels: Labels | None = None
    ) -> None:
        """Make a set of independent diagrams; None stands for no solution at all."""
        self.names = tuple(names)
        self._diagrams = tuple(diagrams or ())
        self._labels = dict(labels or {})
        self.size = 1
        for diagram in self._diagrams:
            self.size *= diagram.size
        if diagrams is None:
            self.size = 0
        if not self.size:
            self._diagrams = ()
        self._numbers = {name: i for i, name in enumerate(self.names)}
        listed = [v for diagram in self._diagrams for v in diagram.variables]
        self.order = tuple(self.names[v] for v in listed) or self.names

    @property
    def edges(self) -> int:
        """Size of the representation: the number of edges of all diagrams."""
        return sum(diagram.edges for diagram in self._diagrams)

    @property
    def width(self) -> int:
        """The greatest number of nodes in a layer."""
        return max([max(diagram.widths) for diagram in self._diagrams], default=0)

    def __len__(self) -> int:
        return self.size

    def __bool__(self) -> bool:
        return self.size > 0

    def __repr__(self) -> str:
        return f"SolutionSet({self.size:,} solutions of {', '.join(self.names)})"

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
        position = number.__index__()
        if not -self.size <= position < self.size:
            raise IndexError(f"number {number} of a set of {self.size} solutions")
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

    def sample(self, count: int, seed: int | None = None) -> list[Solution]:
        """Distinct solutions, all equally likely; all of them, in random order, where there are no more."""
        return list(self._solutions(self._at(self._drawn(count, seed))))

    def sample_numpy(self, count: int, seed: int | None = None) -> Array:
        """As `sample`, as rows of an array with the columns of `names`."""
        return self._stacked(self._at(self._drawn(count, seed)))

    def _drawn(self, count: int, seed: int | None) -> list[int]:
        source = random.Random(seed)
        count = min(count, self.size)
        if 2 * count >= self.size:
            return source.sample(range(self.size), count)
        drawn: dict[int, None] = {}
        while len(drawn) < count:
            drawn[source.randrange(self.size)] = None
        return list(drawn)

    def _at(self, numbers: Sequence[int]) -> dict[int, Array]:
        """Columns of the solutions with these numbers."""
        columns: dict[int, Array] = {}
        rest: Array = np.array(numbers, dtype=np.int64 if self.size < 1 << 61 else OBJECT)
        for diagram in reversed(self._diagrams):
            digit = rest % diagram.size
            rest = rest // diagram.size
            found = diagram.at(digit.astype(np.int64) if diagram.size < 1 << 61 else digit)
            columns.update(zip(diagram.variables, found, strict=True))
        return columns

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

    # Values, and what stands for them

    def _codes(self, solution: Mapping[str, Any] | Sequence[Any]) -> list[Any]:
        if isinstance(solution, Mapping):
            missing = [name for name in self.names if name not in solution]
            if missing:
                raise ModelError(f"the solution has no value for {', '.join(missing)}")
            values = [solution[name] for name in self.names]
        else:
            values = list(solution)
            if len(values) != len(self.names):
                raise ModelError(f"a solution has {len(self.names)} values, not {len(values)}")
        return [self._code(v, value) for v, value in enumerate(values)]

    def _code(self, v: int, value: Any) -> Any:
        labels = self._labels.get(v)
        if labels is None:
            if isinstance(value, float | np.floating):
                return float(value)
            if not hasattr(value, "__index__"):
                raise ModelError(f"{value!r} is no value of '{self.names[v]}'")
            return value.__index__()
        for code, label in labels.items():
            if label == value:
                return code
        raise ModelError(f"{value!r} is no value of '{self.names[v]}'")

    def _decoded(self, v: int, column: Array) -> Array:
        labels = self._labels.get(v)
        if labels is None:
            return column
        values = list(labels.values())
        if all(isinstance(value, bool | int | float) for value in values):
            decoded = np.array(values)
        else:
            decoded = np.empty(len(values), dtype=OBJECT)
            for i, value in enumerate(values):  # at once, numpy would take a tuple for a row
                decoded[i] = value
        codes = np.array(list(labels))
        return np.asarray(decoded[np.searchsorted(codes, column)])

    def _solutions(self, columns: Mapping[int, Array]) -> Iterator[Solution]:
        lists = [self._listed(v, columns[v]) for v in range(len(self.names))] if columns else []
        if not lists:
            yield from [{}] * (self.size if not self.names else 0)
            return
        names = self.names
        for row in zip(*lists, strict=True):
            yield dict(zip(names, row, strict=True))

    def _listed(self, v: int, column: Array) -> list[Any]:
        labels = self._labels.get(v)
        values = column.tolist()
        return values if labels is None else [labels[value] for value in values]

    # Listing

    def _columns(self, start: int, stop: int) -> dict[int, Array]:
        return product_columns(self._diagrams, start, stop)

    def __iter__(self) -> Iterator[Solution]:
        for start in range(0, self.size, CHUNK):
            yield from self._solutions(self._columns(start, min(start + CHUNK, self.size)))

    @property
    def dtype(self) -> np.dtype[Any]:
        """The smallest type that all values of all variables fit."""
        if self._labels:
            kinds = [self._decoded(v, np.array(list(table))) for v, table in self._labels.items()]
            if any(kind.dtype == OBJECT for kind in kinds):
                return np.dtype(object)
        lo = hi = 0
        for diagram in self._diagrams:
            for v, layer in zip(diagram.variables, diagram.layers, strict=True):
                values = self._decoded(v, layer.value) if v in self._labels else layer.value
                if values.dtype == FLOAT:
                    return np.dtype(np.float64)
                lo, hi = min(lo, int(values.min())), max(hi, int(values.max()))
        return smallest_type(lo, hi)

    def to_numpy(self) -> Array:
        """All solutions as a 2-D array: a row for each, in order of number, a column for each of `names`.

        The type is the smallest that fits all values. The columns are each contiguous (Fortran order).
        """
        table = np.empty((self.size, len(self.names)), dtype=self.dtype, order="F")
        if self.size and self._labels:
            return self._stacked(self._columns(0, self.size))
        return fill(table, self._diagrams)

    def to_tuples(self) -> list[tuple[Any, ...]]:
        """All solutions as tuples of Python's values, in the order of `names`."""
        if not self.size or not self.names:
            return [()] * self.size
        columns = self._columns(0, self.size)
        return list(zip(*[self._listed(v, columns[v]) for v in range(len(self.names))], strict=True))

    def to_columns(self) -> dict[str, Array]:
        """All solutions, an array for each variable, each in the smallest type that fits."""
        if not self.size:
            return {name: np.zeros(0, dtype=np.int8) for name in self.names}
        columns = self._columns(0, self.size)
        return {name: self._decoded(v, columns[v]) for v, name in enumerate(self.names)}

    def to_pandas(self) -> pd.DataFrame:
        """All solutions as a data frame; needs pandas."""
        import pandas as pd

        return pd.DataFrame(self.to_columns())

    def iter_chunks(self, rows: int = CHUNK) -> Iterator[Array]:
        """All solutions as arrays of at most so many rows each: for sets beyond memory."""
        if rows < 1:
            raise ModelError(f"a chunk has at least one row, not {rows}")
        for start in range(0, self.size, rows):
            yield self._stacked(self._columns(start, min(start + rows, self.size)))

    def _stacked(self, columns: Mapping[int, Array]) -> Array:
        rows = len(next(iter(columns.values()))) if columns else 0
        table = np.empty((rows, len(self.names)), dtype=self.dtype, order="F")
        for v, column in columns.items():
            table[:, v] = self._decoded(v, column)
        return table

    # Questions

    def minimum(self, cost: IntExpr | Mapping[str, int]) -> tuple[int, Solution]:
        """The least cost and its first solution; the cost is a sum of functions of one variable each."""
        return self._best(cost, 1)

    def maximum(self, cost: IntExpr | Mapping[str, int]) -> tuple[int, Solution]:
        """The greatest cost and its first solution; the cost is a sum of functions of one variable each."""
        return self._best(cost, -1)

    def _best(self, cost: IntExpr | Mapping[str, int], sign: int) -> tuple[int, Solution]:
        if not self.size:
            raise ModelError("there is no solution, so none is best")
        total, functions = separate(cost, self.names)
        values: dict[int, Any] = {}
        for diagram in self._diagrams:
            part, chosen = diagram.best([functions.get(v) for v in diagram.variables], sign)
            total += part
            values.update(zip(diagram.variables, chosen, strict=True))
        return total, next(self._solutions({v: np.array([value]) for v, value in values.items()}))

    def value_counts(self, name: str) -> dict[Any, int]:
        """How many solutions have each value of a variable; values of no solution are left out."""
        v = self._variable(name)
        for diagram in self._diagrams:
            if v in diagram.variables:
                others = self.size // diagram.size
                counts = diagram.value_counts(diagram.variables.index(v))
                labels = self._labels.get(v, {})
                return {labels.get(value, value): count * others for value, count in counts.items()}
        return {}

    def given(self, **values: Any) -> SolutionSet:
        """The solutions in which these variables have these values."""
        diagrams = list(self._diagrams)
        for name, value in values.items():
            v = self._variable(name)
            try:
                code = self._code(v, value)
            except ModelError:
                return self._like(None)
            for i, diagram in enumerate(diagrams):
                if v in diagram.variables:
                    k = diagram.variables.index(v)
                    diagrams[i] = diagram.restricted(k, _equals(code))
                    if not diagrams[i].size:
                        return self._like(None)
        return self._like(diagrams if self.size else None)

    def neighbours(
        self, solution: Mapping[str, Any] | Sequence[Any], kind: Literal["hamming", "adjacent"] = "hamming"
    ) -> list[Solution]:
        """The solutions that differ from an assignment in one variable.

        Args:
            solution: Values of all variables; it need not be a solution itself.
            kind: "hamming" allows any other value of that variable; "adjacent" only the next lower and the
                next higher of the values that it has in any solution.

        Returns:
            The solutions, variable by variable in the order of `names`.
        """
        if kind not in ("hamming", "adjacent"):
            raise ModelError(f'the kind of neighbours is "hamming" or "adjacent", not {kind!r}')
        codes = self._codes(solution)
        found = []
        for v in range(len(self.names)):
            for value in self._others(v, codes[v], kind):
                changed = [*codes[:v], value, *codes[v + 1 :]]
                if self._number(changed) is not None:
                    columns = {i: np.array([code]) for i, code in enumerate(changed)}
                    found.append(next(self._solutions(columns)))
        return found

    def _others(self, v: int, code: Any, kind: str) -> list[Any]:
        for diagram in self._diagrams:
            if v in diagram.variables:
                values = np.unique(diagram.layers[diagram.variables.index(v)].value)
                if kind == "hamming":
                    return [value for value in values.tolist() if value != code]
                lower, higher = values[values < code], values[values > code]
                return [*lower[-1:].tolist(), *higher[:1].tolist()]
        return []

    def project(self, names: Sequence[str]) -> SolutionSet:
        """The distinct values of some variables, in the order given."""
        wanted = [self._variable(name) for name in names]
        place = {v: i for i, v in enumerate(wanted)}
        diagrams = []
        for diagram in self._diagrams:
            kept = [v for v in diagram.variables if v in place]
            if not kept:
                continue
            part = diagram if len(kept) == len(diagram.variables) else merge.projected(diagram, kept)
            diagrams.append(Diagram([place[v] for v in part.variables], part.layers, part.counts))
        labels = {place[v]: table for v, table in self._labels.items() if v in place}
        return SolutionSet(names, diagrams if self.size else None, labels)

    def _variable(self, name: str) -> int:
        if name not in self._numbers:
            raise ModelError(f"no variable is named '{name}'; there are: {', '.join(self.names)}")
        return self._numbers[name]

    # Sets

    def union(self, other: SolutionSet) -> SolutionSet:
        """The solutions of this set or the other, over the same variables."""
        return self._combined(other, np.logical_or)

    def intersection(self, other: SolutionSet) -> SolutionSet:
        """The solutions of both sets, over the same variables."""
        return self._combined(other, np.logical_and)

    def difference(self, other: SolutionSet) -> SolutionSet:
        """The solutions of this set that the other has not, over the same variables."""
        return self._combined(other, lambda left, right: left & ~right)

    __or__ = union
    __and__ = intersection
    __sub__ = difference

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SolutionSet) or self.names != other.names:
            return NotImplemented
        return self.size == other.size and self.intersection(other).size == self.size

    __hash__ = None  # type: ignore[assignment] # equal sets may be held differently

    def _combined(self, other: SolutionSet, keep: Callable[[Array, Array], Array]) -> SolutionSet:
        if set(self.names) != set(other.names):
            raise ModelError(
                f"the sets have different variables: {', '.join(self.names)}; {', '.join(other.names)}"
            )
        if self._labels != other._labels:
            raise ModelError("the sets have variables with different values that are no integers")
        for one, two in ((self, other), (other, self)):
            if not one.size:
                side = np.array([True]), np.array([False])
                kept = bool(keep(*(side if two is self else side[::-1]))[0])
                return two if kept else self._like(None)
        left = merge.chained(self._diagrams)
        right = other._in_order(self)
        combined = merge.combined(left, right, keep)
        return self._like([combined] if combined.size else None)

    def _in_order(self, like: SolutionSet) -> Diagram:
        """This set as one diagram, in the order and with the numbers of another set."""
        order = [v for diagram in like._diagrams for v in diagram.variables]
        place = [like._numbers[name] for name in self.names]
        chain = merge.chained(self._diagrams)
        if [place[v] for v in chain.variables] == order:
            return Diagram(order, chain.layers, chain.counts)
        if self.size > MOST_LISTED:
            raise ModelError(
                f"the sets number their solutions by different orders of variables, and {self.size:,} "
                "solutions are too many to list them in another order"
            )
        columns = {place[v]: column for v, column in self._columns(0, self.size).items()}
        return merge.of_rows(order, [columns[v] for v in order])

    def _like(self, diagrams: Sequence[Diagram] | None) -> SolutionSet:
        return SolutionSet(self.names, diagrams, self._labels)

    # Files

    def save(self, path: str | Path) -> None:
        """Write the set to a file (numpy's `.npz`), which `load` reads back."""
        from constrint.plan.files import save

        save(path, self.names, self._diagrams if self.size else None, self._labels)

    @staticmethod
    def load(path: str | Path) -> SolutionSet:
        """Read a set that `save` wrote."""
        from constrint.plan.files import load

        return SolutionSet(*load(path))


def _equals(code: Any) -> Callable[[Array], Array]:
    return lambda values: np.asarray(values == code)
