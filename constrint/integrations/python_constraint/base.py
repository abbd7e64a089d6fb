"""What every constraint of python-constraint is, and how its solvers ask one."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, MutableMapping, Sequence
from typing import Any

from constrint.expr import BoolExpr
from constrint.integrations.python_constraint.scope import Scope


class Constraint:
    """What a problem's variables must fulfil; ours say it in `condition`, those of users in `__call__`."""

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
        """Whether it may still hold for an assignment, as python-constraint's solvers ask.

        Args:
            variables: The variables that it is about, in its order.
            domains: Their values.
            assignments: The values of those that have one.
            forwardcheck: Whether to hide values that the last variable without one cannot take.
        """
        assigned = [(place, assignments[one]) for place, one in enumerate(variables) if one in assignments]
        if not self._may_hold(len(variables), assigned):
            return False
        return not forwardcheck or self.forwardCheck(variables, domains, assignments)

    def _may_hold(self, count: int, assigned: Sequence[tuple[int, Any]]) -> bool:
        """Whether so many variables, some with values at their places, may be completed; True if unknown."""
        return True

    def preProcess(  # noqa: N802
        self, variables: Sequence[Hashable], domains: Any, constraints: list[Any], vconstraints: Any
    ) -> None:
        """Take values out that a single variable cannot have."""
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
        """Hide what the only variable without a value cannot take; whether anything is left."""
        missing = [one for one in variables if one not in assignments]
        if len(missing) != 1:
            return True
        domain = domains[missing[0]]
        for value in list(domain):
            if not self(variables, domains, {**assignments, missing[0]: value}):
                domain.hideValue(value)
        return bool(domain)


def is_called(constraint: Constraint) -> bool:
    """Whether its class says in `__call__` what holds, as those of users do."""
    for one in type(constraint).__mro__:
        if "condition" in vars(one):
            return one is Constraint
        if "__call__" in vars(one):
            return True
    return True
