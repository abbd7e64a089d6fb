"""Results of a search: status, values, statistics."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, Mapping, Sequence, ValuesView
from dataclasses import dataclass, field, replace
from enum import Enum
from types import GenericAlias
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from constrint.errors import ModelError, Undefined, printable, shown_number
from constrint.expr import IntExpr
from constrint.support.arguments import WithOtherNames, check_comparable
from constrint.support.optional import needed
from constrint.support.record import public_names

if TYPE_CHECKING:
    from fractions import Fraction

    import numpy as np
    import pandas as pd  # type: ignore[import-untyped] # stubs are a package of their own
    from typing_extensions import TypeVar as TypeVarWithDefault

    from constrint.expr.array_operators import Axes, One, Two
    from constrint.expr.arrays import ExprArray
    from constrint.expr.enumerated import EnumExpr, Value
    from constrint.expr.rational import Number, Rational
    from constrint.modelling.conflict import Conflict
    from constrint.modelling.constraints import Constraint
    from constrint.modelling.intervals import Interval, Scheduled
    from constrint.modelling.symbols import SetExpr

    Objective = TypeVarWithDefault("Objective", default="int | Any", covariant=True)
else:
    Objective = TypeVar("Objective")


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

    if not TYPE_CHECKING:  # type checkers find comparisons of other types where the class has no `__eq__`

        def __eq__(self, other: object) -> bool:
            if not isinstance(other, Status):
                check_comparable("a status", other, f"compare it with a status, as in `status == {self}`")
            return self is other or NotImplemented

        __hash__ = Enum.__hash__


@dataclass(frozen=True, slots=True)
class Statistics:
    """The work of a search.

    Attributes:
        nodes: Search nodes visited, or tables of rows.
        failures: Nodes that failed.
        propagations: Runs of propagators; in learning also bounds that clauses raise.
        solutions: Solutions found during the search.
        seconds: Wall time, lowering included.
        engine: "interpreted"; "compiled" if the search was handed over to the compiled engine; "tables" if
            the optimum came from tables of rows; "cp-sat" for that backend.
        arithmetic: "int64", or "exact" for Python's integers.
        method: "branching"; "learning" if the learning search ran, which needs int64; "portfolio" if several
            took turns; "diagrams" if those of the planner answered; "cp-sat" for that backend.
        learned: Clauses learned from failures.
        finder: What found the best solution: a member of the portfolio by its name, such as "tree search",
            "learning" or "neighbourhoods"; "hint", "first tries", "points", "greedy descent", "probes",
            "tables" or "diagrams" for what comes before; empty without a solution, and for an enumeration.
        absent: What took no part though it might, by name, each with the condition that failed, its numbers
            and the setting of the limit: members of the portfolio, or "portfolio" where another search was
            used. Empty where the answer came before the tree search ended its first turn.
    """

    _internal = ("counting", "found_by", "missing", "plus", "within")
    __dir__ = public_names

    nodes: int = 0
    failures: int = 0
    propagations: int = 0
    solutions: int = 0
    seconds: float = 0.0
    engine: str = "interpreted"
    arithmetic: str = "int64"
    method: str = "branching"
    learned: int = 0
    finder: str = ""
    absent: Mapping[str, str] = field(default_factory=dict, hash=False)

    def plus(self, later: Statistics, solutions: int) -> Statistics:
        """The sum of this work and a later search's; engine, method and a finder are the later one's."""
        is_said = later.method == "portfolio" or bool(later.absent)
        return replace(
            later,
            nodes=self.nodes + later.nodes,
            failures=self.failures + later.failures,
            propagations=self.propagations + later.propagations,
            solutions=self.solutions + solutions,
            learned=self.learned + later.learned,
            finder=later.finder if solutions else self.finder,
            absent=later.absent if is_said else self.absent,
        )

    def missing(self, name: str, reason: str) -> Statistics:
        """The same work, without the part of something for this reason."""
        return replace(self, absent={**self.absent, name: reason})

    def found_by(self, finder: str) -> Statistics:
        """The same work with another finder."""
        return replace(self, finder=finder)

    def counting(self, solutions: int) -> Statistics:
        """The same work with another number of solutions."""
        return replace(self, solutions=solutions)

    def within(self, seconds: float) -> Statistics:
        """The same work with another wall time."""
        return replace(self, seconds=seconds)


MOST_SHOWN = 30  # values that the text of a result shows


class Values(dict[str, int]):
    """The values of a result by name; called, as a mapping's method `values` is, it lists them."""

    __slots__ = ()

    def __call__(self) -> ValuesView[int]:
        """The values."""
        return self.values()


@dataclass(frozen=True, slots=True, repr=False)
class Result(WithOtherNames, Generic[Objective]):
    """The result of a search: a solution, or the reason why there is none. True if it has a solution.

    It is a mapping from the names of variables and lets to their values: `len`, `in`, `list` and `dict`. Its
    items may also be asked for by variables, by any expressions over them, and by arrays of expressions.

    Type checkers know its objective: `Result[int]` is that of an integer objective.

    Attributes:
        status: How the search ended.
        values: Value of every variable and let by name, of enumeration and set variables the user's values;
            empty without a solution.
        objective: Value of the objective; a tuple for a list of objectives; None without one.
        statistics: The work of the search.
        bound: Proven bound of the objective: no solution has a better one; None if there is none. A tuple
            for several objectives, where each bound holds for the solutions that have the values of
            `objective` in the more important ones.
        violation: The total weight of the violated soft constraints; None without soft constraints.
        violated: The soft constraints that the solution violates.
        conflict: The guilty assumptions, if assumptions of the call or of `Model.assume` leave no solution;
            else None, and `Model.explain` names constraints.
    """

    status: Status
    values: Mapping[str, Any] = field(default_factory=dict)
    objective: Objective | Any = None  # None without a solution: who asks knows, as with the groups of `re`
    statistics: Statistics = field(default_factory=Statistics)
    conflict: Conflict | None = field(default=None, kw_only=True)
    bound: Objective | Any = field(default=None, kw_only=True)
    violation: Number | Any = field(default=None, kw_only=True)
    violated: tuple[Constraint, ...] = field(default=(), kw_only=True)
    _assignment: Mapping[IntExpr, int] = field(default_factory=dict, repr=False)
    _intervals: Mapping[str, Interval] = field(default_factory=dict, repr=False)

    if not TYPE_CHECKING:
        __class_getitem__ = classmethod(GenericAlias)  # the argument may be left out, as checkers allow

    def __bool__(self) -> bool:
        return self.status in (Status.OPTIMAL, Status.FEASIBLE)

    if not TYPE_CHECKING:  # as in `Status`

        def __eq__(self, other: object) -> bool:
            if isinstance(other, Result):
                return self._answer == other._answer
            if isinstance(other, Mapping):
                return dict(self.values) == dict(other)
            advice = (
                "write `result.status == Status.OPTIMAL`, `if result:` for any solution, "
                "`result.objective` or `result[x]` for a value"
            )
            check_comparable("a result", other, advice)
            return NotImplemented

    @property
    def _answer(self) -> tuple[object, ...]:
        """All but the work, which differs from call to call."""
        return self.status, self.values, self.objective, self.bound, self.violation

    def __post_init__(self) -> None:
        if type(self.values) is not Values:
            object.__setattr__(self, "values", Values(self.values))

    def __repr__(self) -> str:
        parts = [self.status.value]
        if self.objective is not None:
            parts.append(f"objective={shown_values(self.objective)}")
        if self.bound is not None and self.status is not Status.OPTIMAL:
            parts.append(f"bound={shown_values(self.bound)}")
        if self:
            first = list(self.values.items())[:MOST_SHOWN]
            values = [f"{name!r}: {shown_values(value)}" for name, value in first]
            if len(self.values) > len(first):
                values.append(f"… {len(self.values) - len(first)} more")
            parts.append(f"values={{{', '.join(values)}}}")
        if self.violation is not None:
            parts.append(f"violation={shown_values(self.violation)}")
        if self.conflict is not None:
            parts.append(f"conflict={self.conflict!r}")
        return f"Result({', '.join(parts)})"

    @property
    def gap(self) -> float | None:
        """Distance of the objective from its bound, divided by the objective; None if either is unknown.

        Of several objectives, `gaps` has one for each.
        """
        return None if isinstance(self.objective, tuple) else gap_of(self.objective, self.bound)

    @property
    def gaps(self) -> tuple[float | None, ...]:
        """The gap of each objective, the most important first; None where it is unknown."""
        if not isinstance(self.objective, tuple):
            return () if self.objective is None else (self.gap,)
        bounds: Any = self.bound or (None,) * len(self.objective)
        return tuple(map(gap_of, self.objective, bounds))

    @property
    def intervals(self) -> dict[str, Scheduled | None]:
        """When each interval takes place, by name; None for one that is absent. Empty without a solution."""
        if not self:
            return {}
        return {name: self[interval] for name, interval in self._intervals.items()}

    def breaks_of(self, name: str) -> tuple[tuple[int, int], ...]:
        """The breaks of an interval by name, as (begin, end) pairs in order."""
        return self._intervals[name].breaks

    @overload
    def __getitem__(self, key: str) -> Any: ...
    @overload
    def __getitem__(self, key: IntExpr) -> int: ...
    @overload
    def __getitem__(self, key: Interval) -> Scheduled | None: ...
    @overload
    def __getitem__(self, key: Rational) -> float | Fraction: ...
    @overload
    def __getitem__(self, key: EnumExpr[Value]) -> Value: ...
    @overload
    def __getitem__(self, key: SetExpr[Value]) -> frozenset[Value]: ...
    @overload
    def __getitem__(self, key: ExprArray[Any, Axes]) -> np.ndarray[Axes, np.dtype[np.int64]]: ...
    @overload
    def __getitem__(self, key: Sequence[IntExpr]) -> np.ndarray[One, np.dtype[np.int64]]: ...
    @overload
    def __getitem__(self, key: Sequence[Sequence[IntExpr]]) -> np.ndarray[Two, np.dtype[np.int64]]: ...
    @overload
    def __getitem__(self, key: Sequence[Any]) -> np.ndarray[Any, Any]: ...
    @overload
    def __getitem__(self, key: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]: ...
    def __getitem__(self, key: Any) -> Any:
        """A value, or the values of an array.

        Args:
            key: The name of a variable or let, a variable, any expression over the model's variables, an
                interval, a set, or an array or list of names and expressions.

        Returns:
            The value as an int; for an interval, its start, size and end, or None where it is absent; for an
            expression with fractional coefficients, a float or `Fraction`; for an enumeration variable, its
            value, and for a set, the frozen set of its members; for an array or list, a numpy array of the
            same shape: of int64, or of Python integers if one of them is larger.

        Raises:
            ModelError: There is no solution, or a variable is not in this result.
            Undefined: The expression has no value, as `x // 0`.
        """
        if not self:
            raise ModelError(f"there are no values: the status is {self.status.value}")
        if isinstance(key, str):
            if key not in self.values:
                raise ModelError(
                    printable(f"no variable or let is named '{key}'; there are: {_some(self.values)}")
                )
            return self.values[key]
        if hasattr(key, "evaluate"):  # an expression or an interval
            try:
                value = key.evaluate(self._assignment)
                return int(value) if isinstance(value, bool) else value
            except KeyError as error:
                raise ModelError(self._foreign(error.args[0])) from None
        from constrint.expr.array_operators import elements_of
        from constrint.expr.array_shapes import numpy_array

        found = elements_of(key)
        if found is None:
            raise ModelError(f"{key!r} names no value: give a name, an expression, or an array of them")
        flat, shape = found
        return numpy_array([one if isinstance(one, int) else self[one] for one in flat], shape)

    def _foreign(self, variable: object) -> str:
        name = getattr(variable, "name", variable)
        if name in self.values:
            return (
                f"'{name}' is a variable of another model with the same name: use this model's, or the name"
            )
        return f"there is no value for '{name}': it is a variable of another model, or was declared later"

    def __iter__(self) -> Iterator[str]:
        return iter(self.values)

    def __len__(self) -> int:
        return len(self.values)

    def __contains__(self, key: object) -> bool:
        if isinstance(key, IntExpr):
            return bool(self) and all(variable in self._assignment for variable in key.variables())
        if hasattr(key, "evaluate"):  # an enumeration, a set, an interval or a fraction
            try:
                key.evaluate(self._assignment)
            except KeyError:
                return False
            except Undefined:
                pass
            return bool(self)
        return isinstance(key, str) and key in self.values

    def keys(self) -> KeysView[str]:
        """The names of variables and lets."""
        return self.values.keys()

    def items(self) -> ItemsView[str, Any]:
        """The names of variables and lets with their values."""
        return self.values.items()

    def get(self, key: object, default: object = None) -> Any:
        """The value of a name or expression; `default` for one that is not in the result."""
        name: Any = key
        return self[name] if name in self else default  # noqa: SIM401 - this is `get`

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


Mapping.register(Result)


def gap_of(objective: Any, bound: Any) -> float | None:
    """The gap between the value of one objective and its bound; None if either is unknown."""
    if objective is None or bound is None:
        return None
    return float(abs(objective - bound) / max(1, abs(objective)))


def shown_values(value: object) -> str:
    """A value, or those of several objectives."""
    if isinstance(value, tuple):
        return f"({', '.join(map(shown_values, value))}{',' * (len(value) == 1)})"
    return shown_number(value) if isinstance(value, int) else repr(value)


def _some(names: Mapping[str, object]) -> str:
    first = list(names)[:MOST_SHOWN]
    return ", ".join(first) + (f", … {len(names) - len(first)} more" if len(names) > len(first) else "")
