"""Results of a search: status, values, statistics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, overload

from constrint.errors import ModelError, shown_number
from constrint.expr import IntExpr
from constrint.support.optional import needed

if TYPE_CHECKING:
    from fractions import Fraction

    import numpy as np
    import pandas as pd  # type: ignore[import-untyped] # stubs are a package of their own

    from constrint.expr.rational import Rational
    from constrint.modelling.conflict import Conflict
    from constrint.modelling.constraints import Constraint
    from constrint.modelling.intervals import Interval, Scheduled
    from constrint.modelling.symbols import EnumVar, SetExpr


class Status(Enum):
    """How a search ended."""

    OPTIMAL = "optimal"
    """The best solution, proven; without an objective, any solution."""
    FEASIBLE = "feasible"
    """A solution; search stopped before it proved that there is no better one."""
    INFEASIBLE = "infeasible"
    """Proven: there is no solution."""
    UNKNOWN = "unknown"
    """Search stopped before it found a solution."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """The work of a search.

    Attributes:
        nodes: Search nodes visited, or tables of rows.
        failures: Nodes that failed.
        propagations: Runs of propagators.
        solutions: Solutions found during the search.
        seconds: Wall time, lowering included.
        engine: "interpreted"; "compiled" if the search was handed over to the compiled engine; "tables" if
            the optimum came from tables of rows.
        arithmetic: "int64", or "exact" for Python's integers.
        method: "branching"; "learning" if the learning search ran, which needs int64; "portfolio" if several
            took turns.
        learned: Clauses learned from failures.
    """

    nodes: int = 0
    failures: int = 0
    propagations: int = 0
    solutions: int = 0
    seconds: float = 0.0
    engine: str = "interpreted"
    arithmetic: str = "int64"
    method: str = "branching"
    learned: int = 0

    def plus(self, later: Statistics, solutions: int) -> Statistics:
        """The sum of this work and a later search's; engine and method are the later one's."""
        return Statistics(
            self.nodes + later.nodes,
            self.failures + later.failures,
            self.propagations + later.propagations,
            self.solutions + solutions,
            later.seconds,
            later.engine,
            later.arithmetic,
            later.method,
            self.learned + later.learned,
        )

    def within(self, seconds: float) -> Statistics:
        """The same work with another wall time."""
        work = (self.nodes, self.failures, self.propagations, self.solutions)
        return Statistics(*work, seconds, self.engine, self.arithmetic, self.method, self.learned)


@dataclass(frozen=True, slots=True, repr=False)
class Result:
    """The result of a search: a solution, or the reason why there is none. True if it has a solution.

    Attributes:
        status: How the search ended.
        values: Value of every variable and let by name, of enumeration and set variables the user's values;
            empty without a solution.
        objective: Value of the objective; a tuple for several objectives; None without one.
        statistics: The work of the search.
        bound: Proven bound of a single objective: no solution has a better one; None if there is none.
        violation: The total weight of the violated soft constraints; None without soft constraints.
        violated: The soft constraints that the solution violates.
        conflict: The guilty assumptions, if the call had assumptions and they leave no solution.
    """

    status: Status
    values: Mapping[str, Any] = field(default_factory=dict)
    objective: Any = None
    statistics: Statistics = field(default_factory=Statistics)
    conflict: Conflict | None = field(default=None, kw_only=True)
    bound: Any = field(default=None, kw_only=True)
    violation: Any = field(default=None, kw_only=True)
    violated: tuple[Constraint, ...] = field(default=(), kw_only=True)
    _assignment: Mapping[IntExpr, int] = field(default_factory=dict, repr=False)
    _intervals: Mapping[str, Interval] = field(default_factory=dict, repr=False)

    def __bool__(self) -> bool:
        return self.status in (Status.OPTIMAL, Status.FEASIBLE)

    def __repr__(self) -> str:
        values = ", ".join([f"{name!r}: {_shown(value)}" for name, value in self.values.items()])
        goals = self.objective
        objective = (
            f"({', '.join(map(shown_number, goals))}{',' * (len(goals) == 1)})"
            if isinstance(goals, tuple)
            else "None"
            if goals is None
            else shown_number(goals)
        )
        bound = None if self.bound is None else shown_number(self.bound)
        soft = "" if self.violation is None else f", violation={self.violation}"
        return (
            f"Result(status={self.status!r}, values={{{values}}}, objective={objective}, "
            f"statistics={self.statistics!r}, bound={bound}, conflict={self.conflict!r}{soft})"
        )

    @property
    def gap(self) -> float | None:
        """Distance of the objective from its bound, divided by the objective; None if either is unknown."""
        if self.bound is None or self.objective is None or isinstance(self.objective, tuple):
            return None
        return float(abs(self.objective - self.bound) / max(1, abs(self.objective)))

    @property
    def intervals(self) -> dict[str, Scheduled | None]:
        """When each interval takes place, by name; None for one that is absent. Empty without a solution."""
        if not self:
            return {}
        return {name: self[interval] for name, interval in self._intervals.items()}

    @overload
    def __getitem__(self, key: str | IntExpr) -> int: ...
    @overload
    def __getitem__(self, key: Interval) -> Scheduled | None: ...
    @overload
    def __getitem__(self, key: Rational) -> float | Fraction: ...
    @overload
    def __getitem__(self, key: SetExpr) -> frozenset[Any]: ...
    @overload
    def __getitem__(self, key: EnumVar) -> Any: ...
    def __getitem__(self, key: str | IntExpr | Interval | Rational | SetExpr | EnumVar) -> Any:
        """Value of a variable or let by name, or of any expression over the model's variables.

        Of an interval: its start, size and end; None where it is absent. Of an enumeration variable: its
        value. Of a set: the set of its members.
        """
        if not self:
            raise ModelError(f"there are no values: the status is {self.status.value}")
        if isinstance(key, str):
            if key not in self.values:
                raise ModelError(f"no variable or let is named '{key}'; there are: {', '.join(self.values)}")
            return self.values[key]
        return key.evaluate(self._assignment)

    @property
    def numbers(self) -> dict[str, int]:
        """The integer values of all variables by name, also of those that enumerations and sets stand on."""
        return {str(getattr(one, "name", "")): int(value) for one, value in self._assignment.items()}

    def to_dict(self) -> dict[str, Any]:
        """The values by name; empty without a solution."""
        return dict(self.values)

    def to_numpy(self) -> np.ndarray[Any, Any]:
        """The values as an array, in the order of `values`."""
        from constrint.modelling.export import to_numpy

        return to_numpy([self.values])[0] if self.values else to_numpy([]).reshape(0)

    def to_pandas(self) -> pd.Series:
        """The values as a series; needs pandas."""
        pandas = needed("pandas", "pandas", "a series")
        series: pd.Series = pandas.Series(self.to_dict(), dtype=object if not self.values else None)
        return series

    def _repr_html_(self) -> str:
        from constrint.modelling.notebook import result_html

        return result_html(self)


def _shown(value: Any) -> str:
    return shown_number(value) if isinstance(value, int) else repr(value)
