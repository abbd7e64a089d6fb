"""python-constraint's `Problem`: variables, constraints, and the calls that return solutions."""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from constrint.diagrams.interpreted import interpreted
from constrint.diagrams.python_conditions import Refused
from constrint.errors import LimitError, ModelError
from constrint.expr import IntExpr
from constrint.integrations.python_constraint import restrictions
from constrint.integrations.python_constraint.constraint_base import Constraint, is_called
from constrint.integrations.python_constraint.constraints import FunctionConstraint
from constrint.integrations.python_constraint.domains import Domain
from constrint.integrations.python_constraint.scope import Coded, Codes, Scope
from constrint.integrations.python_constraint.solvers import Solver
from constrint.model import Model

SET_BYTES = 40_000_000
"""Bytes for building the set of all solutions; beyond them, solutions are searched for one by one."""

Solution = dict[Any, Any]


class Problem:
    """Variables with their values, and constraints over them."""

    def __init__(self, solver: Solver | None = None) -> None:
        self._solver = solver
        self._values: dict[Hashable, Domain] = {}
        self._constraints: list[tuple[Constraint | str, list[Hashable] | None]] = []

    def reset(self) -> None:
        """Remove all variables and constraints."""
        self._values.clear()
        self._constraints.clear()

    def setSolver(self, solver: Solver | None) -> None:  # noqa: N802
        """Accepted and ignored."""
        self._solver = solver

    def getSolver(self) -> Solver | None:  # noqa: N802
        """The argument of the last `setSolver`."""
        return self._solver

    def addVariable(self, variable: Hashable, domain: Iterable[object]) -> None:  # noqa: N802
        """Add a variable with its values, which may be any objects with equality."""
        if variable in self._values:
            raise ModelError(f"Tried to insert duplicated variable {variable!r}: each may be added once")
        if not isinstance(domain, Iterable):
            raise ModelError(f"the domain of {variable!r} must be a list of values, not {domain!r}")
        values = copy.deepcopy(domain) if isinstance(domain, Domain) else Domain(domain)
        if not values:
            raise ModelError(f"the domain of {variable!r} is empty: give it at least one value")
        self._values[variable] = values

    def addVariables(self, variables: Iterable[Hashable], domain: Iterable[object]) -> None:  # noqa: N802
        """Add several variables with the same values."""
        values = domain if isinstance(domain, Domain) else list(domain)
        for variable in variables:
            self.addVariable(variable, values)

    def addConstraint(  # noqa: N802
        self,
        constraint: Constraint | Callable[..., object] | str | list[str],
        variables: Iterable[Hashable] | None = None,
    ) -> None:
        """Add a constraint.

        Args:
            constraint: A constraint object, a function of the values, a Python expression as a string, or a
                list of such strings.
            variables: The constraint's variables, in the order of the function's arguments; by default all,
                and for a string those that it names.
        """
        if isinstance(constraint, list) and all(isinstance(one, str) for one in constraint):
            for one in constraint:
                self.addConstraint(one)
            return
        if not isinstance(constraint, Constraint | str):
            if not callable(constraint):
                kinds = "a function, a string, a list of strings or a Constraint"
                raise ModelError(f"a constraint is {kinds}, not {constraint!r}")
            constraint = FunctionConstraint(constraint)
        names = list(variables or ()) or None
        if isinstance(constraint, str):
            restrictions.names_in(constraint)
        self._constraints.append((constraint, names))

    def getSolution(self) -> Solution | None:  # noqa: N802
        """A solution, or None."""
        if not self._values:
            return None
        model, coded = self._model()
        result = model.solve()
        return _decoded(coded, result.values) if result else None

    def getSolutions(self) -> list[Solution]:  # noqa: N802
        """All solutions; the last values come first, as usually in python-constraint."""
        found = list(self.getSolutionIter())
        found.reverse()
        return found

    def getSolutionIter(self) -> Iterator[Solution]:  # noqa: N802
        """All solutions, one after the other."""
        if not self._values:
            return
        model, coded = self._model()
        try:
            rows = model.solutions(memory_limit=SET_BYTES)
        except LimitError:
            for result in model.iter_solutions():
                yield _decoded(coded, result.values)
            return
        values = [one.values for one in coded]
        names = [one.name for one in coded]
        for chunk in rows.iter_chunks(65536):
            columns = [[labels[code] for code in chunk[:, v].tolist()] for v, labels in enumerate(values)]
            for row in zip(*columns, strict=True):
                yield dict(zip(names, row, strict=True))

    def getSolutionsOrderedList(self, order: Sequence[Hashable] | None = None) -> list[tuple[Any, ...]]:  # noqa: N802
        """All solutions as tuples of values, in the order of these variables."""
        names = list(order or self._values)
        return [tuple([solution[name] for name in names]) for solution in self.getSolutions()]

    def getSolutionsAsListDict(  # noqa: N802
        self, order: Sequence[Hashable] | None = None, validate: bool = True
    ) -> tuple[list[tuple[object, ...]], dict[tuple[object, ...], int], int]:
        """All solutions as tuples, the index of each tuple, and their number."""
        rows = self.getSolutionsOrderedList(order)
        return rows, {row: i for i, row in enumerate(rows)}, len(rows)

    def _model(self) -> tuple[Model, list[Coded]]:
        codes = Codes(value for values in self._values.values() for value in values)
        model = Model("python-constraint")
        coded: dict[Hashable, Coded] = {}
        labels: set[str] = set()
        for name, values in self._values.items():
            label = str(name)
            while label in labels:
                label += "'"
            labels.add(label)
            coded[name] = Coded.of(name, label, values, codes)
            model.variables[label] = coded[name].variable
        for constraint, names in self._constraints:
            model.add(self._condition(constraint, names, coded, codes))
        return model, list(coded.values())

    def _condition(
        self,
        constraint: Constraint | str,
        names: list[Hashable] | None,
        coded: Mapping[Hashable, Coded],
        codes: Codes,
    ) -> Any:
        if isinstance(constraint, str):
            return _of_text(constraint, coded, codes)
        scope = _scope(names or list(coded), coded, codes, type(constraint).__name__)
        if is_called(constraint):
            return self._called(constraint, scope)
        return constraint.condition(scope)

    def _called(self, constraint: Constraint, scope: Scope) -> Any:
        """The condition of a user's own constraint class, called with assignments as by python-constraint."""
        names = [one.name for one in scope.variables]
        domains = {name: copy.deepcopy(self._values[name]) for name in names}

        def holds(*values: Any) -> bool:
            return constraint(names, domains, dict(zip(names, values, strict=True)))

        return scope.listed(holds)


def _scope(names: Iterable[Hashable], coded: Mapping[Hashable, Coded], codes: Codes, described: str) -> Scope:
    listed = list(names)
    unknown = [name for name in listed if name not in coded]
    if unknown:
        raise ModelError(f"the constraint {described} is about {unknown[0]!r}, which is not a variable")
    return Scope([coded[name] for name in listed], codes, f"the constraint {described}")


def _of_text(text: str, coded: Mapping[Hashable, Coded], codes: Codes) -> object:
    """The condition of a Python expression: as arithmetic, or tabulated over all combinations of values."""
    try:
        scope = _scope(restrictions.names_in(text), coded, codes, repr(text))
        if scope.is_arithmetic:
            variables: dict[str, IntExpr] = {str(one.name): one.variable for one in scope.variables}
            return restrictions.condition_of(text, variables)
        problem = ModelError(f"{scope.described} is not supported: give a function")
    except ModelError as refused:
        problem = refused
    try:
        names = [name for name in coded if isinstance(name, str)]
        function, read = interpreted(restrictions.parsed(text), names)
    except Refused:
        raise problem from None

    def holds(*values: Any) -> bool:
        try:
            return bool(function(**dict(zip(read, values, strict=True))))
        except ArithmeticError:  # an undefined combination is not allowed
            return False

    return _scope(read, coded, codes, repr(text)).listed(holds)


def _decoded(coded: Sequence[Coded], values: Mapping[str, int]) -> Solution:
    return {one.name: one.values[values[one.variable.name]] for one in coded}
