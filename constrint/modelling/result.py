"""What solving gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from constrint.errors import ModelError
from constrint.expr import IntExpr
from constrint.support.optional import needed

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd  # type: ignore[import-untyped] # stubs are a package of their own

    from constrint.modelling.conflict import Conflict


class Status(Enum):
    """How a search ended."""

    OPTIMAL = "optimal"
    """The best solution, proven; also: a solution where there is nothing to optimise."""
    FEASIBLE = "feasible"
    """A solution; search stopped before it proved that there is none better."""
    INFEASIBLE = "infeasible"
    """Proven: no solution exists."""
    UNKNOWN = "unknown"
    """Stopped before any solution was found."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """How much work a search was.

    Attributes:
        nodes: Search nodes visited, or tables of rows.
        failures: Nodes that failed.
        propagations: Runs of propagators.
        solutions: Solutions found on the way.
        seconds: Wall time, lowering included.
        engine: "interpreted", or "compiled" where the search was handed over; "tables" where an optimum came
            from tables of rows instead.
        arithmetic: "int64", or "exact" for Python's integers.
        method: "branching"; "learning", where `solve(learn=True)` could: it needs int64; or
            "portfolio": several in turns.
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
        """This work and a later search's, which found so many solutions, in the way of the later one."""
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
        """The same work, and how long it took."""
        work = (self.nodes, self.failures, self.propagations, self.solutions)
        return Statistics(*work, seconds, self.engine, self.arithmetic, self.method, self.learned)


@dataclass(frozen=True, slots=True)
class Result:
    """A solution, or the reason that there is none. True where it holds a solution.

    Attributes:
        status: How the search ended.
        values: Value of every variable and let by name (empty without a solution).
        objective: Value of the objective; a tuple where several were given; None without one.
        statistics: How much work it was.
        bound: What is proven of a single objective: no solution has a better one. None where nothing is.
        conflict: Which assumptions are guilty, where the call had some and they leave no solution.
    """

    status: Status
    values: Mapping[str, int] = field(default_factory=dict)
    objective: int | tuple[int, ...] | None = None
    statistics: Statistics = field(default_factory=Statistics)
    conflict: Conflict | None = field(default=None, kw_only=True)
    bound: int | None = field(default=None, kw_only=True)
    _assignment: Mapping[IntExpr, int] = field(default_factory=dict, repr=False)

    def __bool__(self) -> bool:
        return self.status in (Status.OPTIMAL, Status.FEASIBLE)

    @property
    def gap(self) -> float | None:
        """How far the objective may be from the optimum, as a part of itself; None where unknown."""
        if self.bound is None or not isinstance(self.objective, int):
            return None
        return abs(self.objective - self.bound) / max(1, abs(self.objective))

    def __getitem__(self, key: str | IntExpr) -> int:
        """Value of a variable or let by name, or of any expression over the model's variables."""
        if not self:
            raise ModelError(f"there are no values: the status is {self.status.value}")
        if isinstance(key, str):
            if key not in self.values:
                raise ModelError(f"no variable or let is named '{key}'; there are: {', '.join(self.values)}")
            return self.values[key]
        return key.evaluate(self._assignment)

    def to_dict(self) -> dict[str, int]:
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
