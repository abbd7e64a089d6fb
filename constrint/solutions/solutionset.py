"""All solutions of a finite model as one exact, compressed object.

The solutions are the product of independent diagrams (`constrint.diagrams.diagram`). They are numbered: by
the values of the variables in `order`, each ascending, like words in a dictionary
(`constrint.solutions.numbered`). Nothing but `to_numpy`, iteration and their like
(`constrint.solutions.listed`) ever lists them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from constrint.diagrams import merge, reorder
from constrint.diagrams.costs import Part, separate
from constrint.diagrams.diagram import Diagram
from constrint.diagrams.layers import Budget, TooLarge
from constrint.diagrams.terms import Array
from constrint.errors import LimitError, ModelError
from constrint.expr import IntExpr
from constrint.solutions import setops
from constrint.solutions.listed import Listed
from constrint.solutions.numbered import Solution
from constrint.support.limits import Limits, budget_for

Operation = Literal["union", "intersection", "difference"]


class SolutionSet(Listed):
    """The solutions of a model: a set with numbers.

    Attributes:
        names: The variables in order of declaration: the columns of `to_numpy`.
        order: The variables in the order that the solutions are numbered by.
        size: Number of solutions, exact at any magnitude.
    """

    def minimum(self, cost: IntExpr | Mapping[str, Part]) -> tuple[Any, Solution]:
        """The least cost and its first solution.

        Args:
            cost: An expression that is a sum of functions of one variable each; or a dict that has, for each
                variable that counts, a factor, a function of its value, or a dict of costs by value.
        """
        return self._best(cost, 1)

    def maximum(self, cost: IntExpr | Mapping[str, Part]) -> tuple[Any, Solution]:
        """The greatest cost and its first solution; the cost is given as for `minimum`."""
        return self._best(cost, -1)

    def _best(self, cost: IntExpr | Mapping[str, Part], sign: int) -> tuple[Any, Solution]:
        if not self.size:
            raise ModelError("there is no solution, so none is best")
        total: Any
        total, functions = separate(cost, self.names, self._labels)
        values: dict[int, Any] = {}
        for diagram in self._diagrams:
            part, chosen = diagram.best([functions.get(v) for v in diagram.variables], sign)
            total += part
            values.update(zip(diagram.variables, chosen, strict=True))
        return total, next(self._solutions({v: np.array([value]) for v, value in values.items()}))

    def value_counts(self, name: str) -> dict[Any, int]:
        """How many solutions have each value of a variable; values of no solution are left out.

        Values that are lists, which cannot be keys, stand there as tuples.
        """
        v = self._variable(name)
        for diagram in self._diagrams:
            if v in diagram.variables:
                others = self.size // diagram.size
                counts = diagram.value_counts(diagram.variables.index(v))
                labels = self._labels.get(v, {})
                return {_key(labels.get(value, value)): count * others for value, count in counts.items()}
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
        if isinstance(names, str):
            raise ModelError(f"project takes a list of names, such as [{names!r}]")
        wanted = [self._variable(name) for name in names]
        if len(set(wanted)) < len(wanted):
            raise ModelError(f"project on {', '.join(names)}: each name once")
        place = {v: i for i, v in enumerate(wanted)}
        diagrams = []
        for diagram in self._diagrams:
            kept = [v for v in diagram.variables if v in place]
            if not kept:
                continue
            part = diagram if len(kept) == len(diagram.variables) else _projected(diagram, kept)
            diagrams.append(Diagram([place[v] for v in part.variables], part.layers, part.counts))
        labels = {place[v]: table for v, table in self._labels.items() if v in place}
        return SolutionSet(names, diagrams if self.size else None, labels)

    # Sets

    def union(self, other: SolutionSet) -> SolutionSet:
        """The solutions of this set or the other, over the same variables."""
        return self._combined(other, "union")

    def intersection(self, other: SolutionSet) -> SolutionSet:
        """The solutions of both sets, over the same variables."""
        return self._combined(other, "intersection")

    def difference(self, other: SolutionSet) -> SolutionSet:
        """The solutions of this set that the other has not, over the same variables."""
        return self._combined(other, "difference")

    __or__ = union
    __and__ = intersection
    __sub__ = difference

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SolutionSet) or self.names != other.names:
            return NotImplemented
        return self.size == other.size and self.intersection(other).size == self.size

    __hash__ = None  # type: ignore[assignment] # equal sets may be held differently

    def _combined(self, other: SolutionSet, operation: Operation) -> SolutionSet:
        if not isinstance(other, SolutionSet):
            raise ModelError(f"the {operation} of a set of solutions is with another one, not with {other!r}")
        if set(self.names) != set(other.names):
            raise ModelError(
                f"the sets have different variables: {', '.join(self.names)}; {', '.join(other.names)}"
            )
        if not self.size or not other.size or not self.names:
            has_none = not self.size if operation == "difference" else not (self.size and other.size)
            if operation == "union":
                return self if self.size else other._named(self.names)
            return self._like(None) if has_none or (operation == "difference" and other.size) else self
        diagrams, labels = setops.combined(self._side(), other._side(), setops.KEPT[operation])
        return SolutionSet(self.names, diagrams or None, labels)

    def _side(self) -> setops.Side:
        return setops.Side(self.names, self._diagrams, self._labels)

    def _named(self, names: Sequence[str]) -> SolutionSet:
        """This set with its columns in another order."""
        return self.project(names) if self.names != tuple(names) else self

    def _like(self, diagrams: Sequence[Diagram] | None) -> SolutionSet:
        return SolutionSet(self.names, diagrams, self._labels)

    # Pictures

    def facts(self) -> list[str]:
        """What to know of the set beside its size, in words."""
        groups = f"{len(self._diagrams)} independent groups" if len(self._diagrams) > 1 else "one group"
        return [f"{len(self.names)} variables in {groups}, {self.edges:,} edges, width {self.width:,}"]

    def picture(self, path: str | Path, variables: Sequence[str] | None = None) -> None:
        """Draw the values, the pairs of values and the diagram's width.

        Args:
            path: A file `.svg`, or a page of its own `.html`, in which counts show on hover and as tables.
            variables: Which variables to show all pairs of; by default the first that have several values.
        """
        from constrint.pictures import write_picture

        self._demand_any()
        write_picture(self, path, variables)

    def _repr_html_(self) -> str:
        from constrint.pictures import notebook

        return notebook(self)

    # Files

    def save(self, path: str | Path) -> None:
        """Write the set to a file (numpy's `.npz`), which `load` reads back."""
        from constrint.diagrams.files import save

        save(path, self.names, self._diagrams if self.size else None, self._labels)

    @staticmethod
    def load(
        path: str | Path,
        *,
        limits: Limits | None = None,
        time_limit: float | None = None,
        memory_limit: int | None = None,
    ) -> SolutionSet:
        """Read a set that `save` wrote.

        Args:
            path: The file.
            limits: How large it may be; `Limits()` has the defaults.
            time_limit: Seconds that reading may take.
            memory_limit: Bytes that the process may grow by while it reads.

        Returns:
            The set. Raises `ModelError` for a file that holds none or a damaged one, `LimitExceeded` for one
            beyond the limits.
        """
        from constrint.diagrams.files import load

        return SolutionSet(*load(path, budget_for(limits, time_limit, memory_limit)))


def _key(value: Any) -> Any:
    return tuple(map(_key, value)) if isinstance(value, list | tuple) else value


def _equals(code: Any) -> Callable[[Array], Array]:
    return lambda values: np.asarray(values == code)


def _projected(diagram: Diagram, variables: Sequence[int]) -> Diagram:
    try:
        return merge.projected(diagram, variables)
    except TooLarge:
        pass
    try:
        return reorder.projected(diagram, variables, Budget())
    except TooLarge as problem:
        raise LimitError(
            "the projection does not fit its memory limit: project on other variables"
        ) from problem
