"""The base class of python-constraint's constraints, and the protocol by which its solvers call them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, MutableMapping, Sequence
from typing import Any

from constrint.expr import BoolExpr
from constrint.integrations.python_constraint.scope import Scope


class Constraint:
    """Base of all constraints: built-in classes define `condition`, user classes define `__call__`."""

    def condition(self, scope: Scope) -> BoolExpr:
        """The constraint over these variables."""
        raise NotImplementedError

    def __call__(
        self,
        variables: Sequence[Hashable],
        domains: MutableMapping[Any, Any],
        assignments: Mapping[Any, Any],
        forwardcheck: bool = False,
    ) -> bool:
        """Whether the constraint may still hold for a partial assignment.

        Python-constraint's solvers call this.

        Args:
            variables: The constraint's variables, in its order.
            domains: Their values.
            assignments: The values of the assigned variables.
            forwardcheck: Whether to hide values that the only unassigned variable cannot take.
        """
        assigned = [(place, assignments[one]) for place, one in enumerate(variables) if one in assignments]
        if not self._may_hold(len(variables), assigned):
            return False
        return not forwardcheck or self.forwardCheck(variables, domains, assignments)

    def _may_hold(self, count: int, assigned: Sequence[tuple[int, object]]) -> bool:
        """Whether values at some places of `count` variables can be completed; True if unknown."""
        return True

    def preProcess(  # noqa: N802
        self, variables: Sequence[Hashable], domains: Any, constraints: list[Any], vconstraints: Any
    ) -> None:
        """Remove values that are impossible for a constraint on a single variable."""
        if len(variables) == 1:
            domain = domains[variables[0]]
            for value in list(domain):
                if not self(variables, domains, {variables[0]: value}):
                    domain.remove(value)
            constraints.remove((self, variables))
            vconstraints[variables[0]].remove((self, variables))

    def forwardCheck(  # noqa: N802
        self, variables: Sequence[Hashable], domains: Any, assignments: Mapping[Any, Any], *_: Any
    ) -> bool:
        """Hide values that the only unassigned variable cannot take; returns whether any are left."""
        missing = [one for one in variables if one not in assignments]
        if len(missing) != 1:
            return True
        domain = domains[missing[0]]
        for value in list(domain):
            if not self(variables, domains, {**assignments, missing[0]: value}):
                domain.hideValue(value)
        return bool(domain)


def is_called(constraint: Constraint) -> bool:
    """Whether the class defines its meaning in `__call__`, as user classes do."""
    for one in type(constraint).__mro__:
        if "condition" in vars(one):
            return one is Constraint
        if "__call__" in vars(one):
            return True
    return True
