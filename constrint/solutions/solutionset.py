"""All solutions of a finite model as one exact, compressed object.

The solutions are the product of independent diagrams (`constrint.diagrams.diagram`). They are numbered in the
lexicographic order of the values of the variables in `order` (`constrint.solutions.numbered`). Only
`to_numpy`, iteration and similar calls (`constrint.solutions.listed`) list them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from constrint.diagrams import merge, reorder
from constrint.diagrams.costs import Part, separate
from constrint.diagrams.diagram import Diagram
from constrint.diagrams.layers import EdgeBudget, TooLargeDiagram
from constrint.diagrams.terms import Array
from constrint.errors import LimitError, ModelError
from constrint.expr import IntExpr
from constrint.solutions import setops
from constrint.solutions.listed import Listed
from constrint.solutions.numbered import Solution
from constrint.solutions.presented import members_of, name_of, names_of
from constrint.support.arguments import check_comparable
from constrint.support.limits import Limits, budget_for
from constrint.support.long_numbers import counted
from constrint.support.record import public_names

MOST_SETS = 1 << 16  # values of a set variable that are listed
Operation = Literal["union", "intersection", "difference"]


class SolutionSet(Listed):
    """The set of all solutions of a model, numbered in lexicographic order.

    Attributes:
        names: The columns of `to_numpy`: the variables in order of declaration, a set variable in place of
            the Boolean variables that it stands on.
        variables: The variables in order of declaration, without set variables.
        sets: The set variables: for each member the name of its Boolean variable.
        order: The variables in the order by which solutions are numbered.
        size: Number of solutions, exact at any magnitude.
    """

    _internal = ("diagrams", "labelled")
    __dir__ = public_names

    def minimum(self, cost: IntExpr | Mapping[Any, Part]) -> tuple[Any, Solution]:
        """The least cost and the first solution that has it.

        Args:
            cost: An expression that is a sum of functions of one variable each; or a dict that maps variables
                or their names to a factor, a function of the value, or a dict of costs by value.
        """
        return self._best(cost, 1)

    def maximum(self, cost: IntExpr | Mapping[Any, Part]) -> tuple[Any, Solution]:
        """The greatest cost and the first solution that has it; the cost is given as for `minimum`."""
        return self._best(cost, -1)

    def _best(self, cost: IntExpr | Mapping[Any, Part], sign: int) -> tuple[Any, Solution]:
        if not self.size:
            raise ModelError("the set is empty, so it has no best solution")
        if isinstance(cost, Mapping):
            cost = {name_of(one): part for one, part in cost.items()}
        total: Any
        total, functions = separate(cost, self.variables, self._labels)
        values: dict[int, Any] = {}
        for diagram in self._diagrams:
            part, chosen = diagram.best([functions.get(v) for v in diagram.variables], sign)
            total += part
            values.update(zip(diagram.variables, chosen, strict=True))
        return total, next(self._solutions({v: np.array([value]) for v, value in values.items()}))

    def plain(self) -> SolutionSet:
        """The same set with the numbers that enumerations and sets stand on in place of their values."""
        return SolutionSet(self.variables, self._diagrams if self.size else None)

    def value_counts(self, name: object) -> dict[Any, int]:
        """The number of solutions for each value of a variable; values without solutions are left out.

        Lists cannot be keys: a value that is a list appears as a tuple.

        Args:
            name: The variable, an enumeration or a set, or its name.
        """
        if self._members(name) is not None:
            known = name_of(name)
            return {value: self.given(**{known: value}).size for value in self._sets_of(known)}
        v = self._variable(name)
        for diagram in self._diagrams:
            if v in diagram.variables:
                others = self.size // diagram.size
                counts = diagram.value_counts(diagram.variables.index(v))
                labels = self._labels.get(v, {})
                return {_key(labels.get(value, value)): count * others for value, count in counts.items()}
        return {}

    def given(self, **values: Any) -> SolutionSet:
        """The subset of solutions in which these variables have these values.

        Args:
            values: For each variable a value, or several as a set or a range: `given(x=3, y={1, 2},
                z=range(10))`. Numbers that the variable never has are left out. For a set variable, the set
                of its members.

        Raises:
            ModelError: A value is none of the enumeration's, or no number where the variable has numbers.
        """
        diagrams = list(self._diagrams)
        for v, value in self._restricted(values):
            for i, diagram in enumerate(diagrams):
                if v in diagram.variables:
                    k = diagram.variables.index(v)
                    wanted = self._wanted(v, value, diagram.layers[k].value)
                    diagrams[i] = diagram.restricted(k, wanted)
                    if not diagrams[i].size:
                        return self._like(None)
        return self._like(diagrams if self.size else None)

    def _restricted(self, values: Mapping[str, object]) -> list[tuple[int, object]]:
        """The variables of `given` with their values, after a check that these may be meant."""
        found: list[tuple[int, Any]] = []
        for name, value in values.items():
            members = self._members(name)
            if members is not None:
                found += members_of(name, members, value).items()
                continue
            v = self._variable(name)
            several = value if isinstance(value, set | frozenset) else [value]
            for one in () if isinstance(value, range) else several:
                code = self._code(v, one)
                if isinstance(code, float) and self._types[v].kind in "iub" and not code.is_integer():
                    raise ModelError(f"{one!r} is not a value of '{name}', which is an integer")
            found.append((v, value))
        return found

    def _wanted(self, v: int, value: object, codes: Array) -> Callable[[Array], Array]:
        """The test for codes of a value, or of the values of a set or a range."""
        if not isinstance(value, set | frozenset | range):
            return _equals(self._code(v, value))
        distinct = np.unique(codes)
        labels = self.labelled(v, distinct)
        return _one_of(distinct[[isinstance(one, Hashable) and one in value for one in labels]])

    def neighbours(
        self,
        solution: Mapping[str, object] | Sequence[object],
        kind: Literal["hamming", "adjacent"] = "hamming",
    ) -> list[Solution]:
        """The solutions that differ from an assignment in exactly one variable.

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
        for v in range(len(self.variables)):
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

    def project(self, names: Iterable[object]) -> SolutionSet:
        """The distinct combinations of values of some variables, as a set over these names in this order.

        Args:
            names: Variables, enumerations, sets, arrays of variables, or names of them.
        """
        wanted, sets = [], {}
        listed = names_of(names)
        for name in listed:
            members = self._members(name)
            wanted += [self._variable(name)] if members is None else [v for _, v in members]
            if members is not None:
                sets[name] = self.sets[name]
        if len(set(wanted)) < len(wanted) or len(set(listed)) < len(listed):
            raise ModelError(f"project on {', '.join(listed)}: each name once")
        place = {v: i for i, v in enumerate(wanted)}
        diagrams = []
        for diagram in self._diagrams:
            kept = [v for v in diagram.variables if v in place]
            if not kept:
                continue
            part = diagram if len(kept) == len(diagram.variables) else _projected(diagram, kept)
            diagrams.append(Diagram([place[v] for v in part.variables], part.layers, part.counts))
        labels = {place[v]: table for v, table in self._labels.items() if v in place}
        chosen = [self.variables[v] for v in wanted]
        return SolutionSet(chosen, diagrams if self.size else None, labels, sets)

    def _sets_of(self, name: str) -> list[object]:
        found = self.project([name])
        if found.size > MOST_SETS:
            raise ModelError(f"'{name}' has {found.size:,} values: ask for single members, as '{name}[…]'")
        return [row[name] for row in found]

    # Sets

    def union(self, other: SolutionSet) -> SolutionSet:
        """The solutions that are in this set or in the other; both have the same variables."""
        return self._combined(other, "union")

    def intersection(self, other: SolutionSet) -> SolutionSet:
        """The solutions that are in both sets; both have the same variables."""
        return self._combined(other, "intersection")

    def difference(self, other: SolutionSet) -> SolutionSet:
        """The solutions of this set that are not in the other; both have the same variables."""
        return self._combined(other, "difference")

    __or__ = union
    __and__ = intersection
    __sub__ = difference

    if not TYPE_CHECKING:  # type checkers find comparisons of other types where the class has no `__eq__`

        def __eq__(self, other: object) -> bool:
            if not isinstance(other, SolutionSet):
                advice = "write `solutions.size` for the number, `list(solutions)` for a list of them"
                check_comparable("a set of solutions", other, advice)
                return NotImplemented
            if set(self.variables) != set(other.variables):
                return False
            return self.size == other.size and self.intersection(other).size == self.size

    __hash__ = None  # type: ignore[assignment] # equal sets may be held differently

    def _combined(self, other: SolutionSet, operation: Operation) -> SolutionSet:
        if not isinstance(other, SolutionSet):
            raise ModelError(f"the {operation} of a set of solutions is with another one, not with {other!r}")
        if set(self.variables) != set(other.variables):
            ours, theirs = ", ".join(self.variables), ", ".join(other.variables)
            raise ModelError(f"the sets have different variables: {ours}; {theirs}")
        if not self.size or not other.size or not self.variables:
            has_none = not self.size if operation == "difference" else not (self.size and other.size)
            if operation == "union":
                return self if self.size else other._ordered(self)
            return self._like(None) if has_none or (operation == "difference" and other.size) else self
        diagrams, labels = setops.combined(self._side(), other._side(), setops.KEPT[operation])
        return SolutionSet(self.variables, diagrams or None, labels, self.sets)

    def _side(self) -> setops.Side:
        return setops.Side(self.variables, self._diagrams, self._labels)

    def _ordered(self, like: SolutionSet) -> SolutionSet:
        """This set with its columns in the order of another one."""
        if self.variables == like.variables:
            return self
        found = self.project(like.variables)
        return SolutionSet(found.variables, found._diagrams if found.size else None, found._labels, like.sets)

    def _like(self, diagrams: Sequence[Diagram] | None) -> SolutionSet:
        return SolutionSet(self.variables, diagrams, self._labels, self.sets)

    # Pictures

    def facts(self) -> list[str]:
        """Facts about the set for people, except its size; one line each."""
        groups = f"{len(self._diagrams)} independent groups" if len(self._diagrams) > 1 else "one group"
        variables, edges = counted(len(self.variables), "variable"), counted(self.edges, "edge")
        return [f"{variables} in {groups}, {edges}, width {self.width:,}"]

    def picture(
        self, path: str | Path, variables: Iterable[Any] | None = None, *, most_edges: int | None = None
    ) -> None:
        """Draw the values of each variable, pairs of values, and samples.

        Args:
            path: A file ``.svg``, or a self-contained page ``.html``. The page holds the diagram of the set:
                conditions are set by clicks, and counts under them are exact.
            variables: The variables whose pairs are shown; by default the first that have several values.
            most_edges: The most edges of a diagram that a page holds, 1,000,000 by default. The page of a
                larger set is a static picture.
        """
        from constrint.pictures import MOST_EMBEDDED, write_picture

        self._demand_any()
        if variables is not None:
            variables = [one for name in names_of(variables) for one in self._standing_for(name)]
        write_picture(self, path, variables, MOST_EMBEDDED if most_edges is None else most_edges)

    def _standing_for(self, name: str) -> list[str]:
        """The variables that a set stands on; of another name, itself."""
        return [*self.sets[name].values()] if name in self.sets else [name]

    def _repr_html_(self) -> str:
        from constrint.pictures import notebook

        return notebook(self)

    # Files

    def save(self, path: str | Path) -> None:
        """Write the set to a file in numpy's ``.npz`` format; `load` reads it."""
        from constrint.diagrams.files import save

        save(path, self.variables, self._diagrams if self.size else None, self._labels, self.sets)

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
            limits: Limits of its size; `Limits()` has the defaults.
            time_limit: Seconds that reading may take.
            memory_limit: Bytes by which the process may grow while it reads.

        Returns:
            The set.

        Raises:
            ModelError: The file is damaged, or holds no set.
            LimitExceeded: The file is beyond the limits.
        """
        from constrint.diagrams.files import load

        return SolutionSet(*load(path, budget_for(limits, time_limit, memory_limit)))


def _key(value: object) -> object:
    return tuple(map(_key, value)) if isinstance(value, list | tuple) else value


def _equals(code: object) -> Callable[[Array], Array]:
    return lambda values: np.asarray(values == code)


def _one_of(codes: Array) -> Callable[[Array], Array]:
    return lambda values: np.isin(values, codes)


def _projected(diagram: Diagram, variables: Sequence[int]) -> Diagram:
    try:
        return merge.projected(diagram, variables)
    except TooLargeDiagram:
        pass
    try:
        return reorder.projected(diagram, variables, EdgeBudget())
    except TooLargeDiagram as problem:
        raise LimitError(
            "the projection does not fit its memory limit: project on other variables"
        ) from problem
