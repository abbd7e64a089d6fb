"""The constraint classes of python-constraint, each as a condition over the given variables."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Hashable, Iterable, Mapping, MutableMapping, Sequence
from typing import Any

from constrint.diagrams.traced_symbols import Symbol, tree_of, watched
from constrint.errors import ModelError
from constrint.expr import BoolExpr, Const, IntExpr
from constrint.expr.functions import all_of, any_of, member, sum_
from constrint.globals import all_different
from constrint.integrations.python_constraint import restrictions
from constrint.integrations.python_constraint.constraint_base import Constraint
from constrint.integrations.python_constraint.domains import Unassigned
from constrint.integrations.python_constraint.scope import Coded, Scope, integer_of


class FunctionConstraint(Constraint):
    """A function of the values that returns true for allowed values.

    It is called once with symbols instead of values. If it does anything but arithmetic and comparisons with
    them (takes their truth value, looks them up, prints them), or may fail for some values, it is called for
    all combinations of values instead.
    """

    def __init__(self, func: Callable[..., object], assigned: bool = True) -> None:
        if not callable(func):
            raise ModelError(f"FunctionConstraint needs a function, not {func!r}")
        self.func = func
        self._assigned = assigned

    def __call__(
        self,
        variables: Sequence[Hashable],
        domains: MutableMapping[Any, Any],
        assignments: Mapping[Any, Any],
        forwardcheck: bool = False,
    ) -> bool:
        """As for every constraint; the function gets values `Unassigned` only if that was requested."""
        values = [assignments.get(one, Unassigned) for one in variables]
        if (Unassigned not in values or not self._assigned) and not self.func(*values):
            return False
        return not forwardcheck or self.forwardCheck(variables, domains, assignments)

    def condition(self, scope: Scope) -> BoolExpr:
        """The function as a condition, traced or tabulated."""
        traced = self._traced(scope) if scope.is_arithmetic else None
        return scope.listed(self.func) if traced is None else traced

    def _traced(self, scope: Scope) -> BoolExpr | None:
        """The condition that tracing the function gives; None if the function may do more than that."""
        variables: dict[str, IntExpr] = {f"v{i}": one.variable for i, one in enumerate(scope.variables)}
        symbols = [Symbol(ast.Name(name)) for name in variables]
        try:
            answer = watched(lambda: self.func(*symbols))
            holds, defined = restrictions.read(tree_of(answer), variables, "")
        except Exception:  # any error: the function is then called with values
            return None
        return holds if defined is restrictions.TRUE else None


class AllDifferentConstraint(Constraint):
    """No two values are equal."""

    def condition(self, scope: Scope) -> BoolExpr:
        """The values are pairwise different."""
        return all_different([coded.variable for coded in scope.variables])

    def _may_hold(self, count: int, assigned: Sequence[tuple[int, object]]) -> bool:
        values = [value for _, value in assigned]
        return all(value not in values[:place] for place, value in enumerate(values))


class AllEqualConstraint(Constraint):
    """All values are equal."""

    def condition(self, scope: Scope) -> BoolExpr:
        """Each value is equal to the first."""
        first, *others = [coded.variable for coded in scope.variables]
        return all_of([first == other for other in others])

    def _may_hold(self, count: int, assigned: Sequence[tuple[int, object]]) -> bool:
        return all(value == assigned[0][1] for _, value in assigned)


class _Aggregate(Constraint):
    """A sum or product of the values, compared with a number."""

    _operator = "=="
    _is_product = False

    def __init__(self, bound: float, multipliers: Sequence[float] | None = None) -> None:
        self._bound = bound
        self._multipliers = None if multipliers is None else list(multipliers)

    def condition(self, scope: Scope) -> BoolExpr:
        """The comparison; a table if some values are not integers."""
        factors = self._factors(len(scope.variables))
        if scope.is_arithmetic and all(isinstance(factor, int) for factor in factors):
            variables = [coded.variable for coded in scope.variables[: len(factors)]]
            value = _aggregate(variables, [int(factor) for factor in factors], self._is_product)
            return _compared(self._operator, value, self._bound)
        return scope.listed(lambda *values: self._may_hold(len(values), list(enumerate(values))))

    def _factors(self, count: int) -> list[float]:
        """A multiplier for each variable, as far as multipliers are given."""
        return self._multipliers[:count] if self._multipliers else [1] * count

    def _may_hold(self, count: int, assigned: Sequence[tuple[int, Any]]) -> bool:
        if len(assigned) < count:
            return True
        scaled = [factor * value for factor, (_, value) in zip(self._factors(count), assigned, strict=False)]
        return _holds(self._operator, _total(scaled, self._is_product), self._bound)


def _total(values: Sequence[Any], is_product: bool) -> Any:
    """The sum or product; floats are rounded to ten digits after the point, as python-constraint does."""
    found = math.prod(values) if is_product else sum(values)
    return round(found, 10) if isinstance(found, float) else found


def _compared(operator: str, value: IntExpr, bound: float) -> BoolExpr:
    if not math.isfinite(bound):
        return all_of([]) if _holds(operator, 0, bound) else any_of([])
    if operator == "<=":
        return value <= math.floor(bound)
    if operator == ">=":
        return value >= math.ceil(bound)
    whole = integer_of(bound)
    return any_of([]) if whole is None else value == whole


def _holds(operator: str, value: Any, bound: Any) -> bool:
    if operator == "<=":
        return bool(value <= bound)
    return bool(value >= bound) if operator == ">=" else bool(value == bound)


class ExactSumConstraint(_Aggregate):
    """The values, times their multipliers, sum up to exactly a number."""

    def __init__(self, exactsum: float, multipliers: Sequence[float] | None = None) -> None:
        super().__init__(exactsum, multipliers)


class MaxSumConstraint(_Aggregate):
    """The values, times their multipliers, sum up to at most a number."""

    _operator = "<="

    def __init__(self, maxsum: float, multipliers: Sequence[float] | None = None) -> None:
        super().__init__(maxsum, multipliers)


class MinSumConstraint(_Aggregate):
    """The values, times their multipliers, sum up to at least a number."""

    _operator = ">="

    def __init__(self, minsum: float, multipliers: Sequence[float] | None = None) -> None:
        super().__init__(minsum, multipliers)


class ExactProdConstraint(_Aggregate):
    """The product of the values is exactly a number."""

    _is_product = True

    def __init__(self, exactprod: float) -> None:
        super().__init__(exactprod)


class MaxProdConstraint(_Aggregate):
    """The product of the values is at most a number."""

    _operator, _is_product = "<=", True

    def __init__(self, maxprod: float) -> None:
        super().__init__(maxprod)


class MinProdConstraint(_Aggregate):
    """The product of the values is at least a number."""

    _operator, _is_product = ">=", True

    def __init__(self, minprod: float) -> None:
        super().__init__(minprod)


class _VariableAggregate(Constraint):
    """A sum or product of some variables, compared with another variable."""

    _operator = "=="
    _is_product = False

    def __init__(
        self,
        target_var: Hashable,
        variables: Sequence[Hashable],
        multipliers: Sequence[float] | None = None,
    ) -> None:
        self._target = target_var
        self._variables = list(variables)
        self._multipliers = None if multipliers is None else list(multipliers)

    def condition(self, scope: Scope) -> BoolExpr:
        """The comparison; a table if some values are not integers."""
        target, *parts = scope.of([self._target, *self._variables])
        factors = self._multipliers[: len(parts)] if self._multipliers else [1] * len(parts)
        parts = parts[: len(factors)]
        if scope.is_arithmetic and all(isinstance(factor, int) for factor in factors):
            value = _aggregate(
                [coded.variable for coded in parts], [int(f) for f in factors], self._is_product
            )
            if self._operator == "==":
                return value == target.variable
            return value <= target.variable if self._operator == "<=" else value >= target.variable
        named = Scope([target, *parts], scope.codes, scope.described)

        def holds(bound: Any, *values: Any) -> bool:
            scaled = [factor * value for factor, value in zip(factors, values, strict=True)]
            return _holds(self._operator, _total(scaled, self._is_product), bound)

        return named.listed(holds)


def _aggregate(variables: Sequence[IntExpr], factors: Sequence[int], is_product: bool) -> IntExpr:
    if not is_product:
        return sum_([factor * variable for factor, variable in zip(factors, variables, strict=True)])
    value: IntExpr = Const(math.prod(factors))
    for variable in variables:
        value = value * variable
    return value


class VariableExactSumConstraint(_VariableAggregate):
    """The sum of some variables is exactly the target variable."""

    def __init__(
        self,
        target_var: Hashable,
        sum_vars: Sequence[Hashable],
        multipliers: Sequence[float] | None = None,
    ) -> None:
        super().__init__(target_var, sum_vars, multipliers)


class VariableMaxSumConstraint(VariableExactSumConstraint):
    """The sum of some variables is at most the target variable."""

    _operator = "<="


class VariableMinSumConstraint(VariableExactSumConstraint):
    """The sum of some variables is at least the target variable."""

    _operator = ">="


class VariableExactProdConstraint(_VariableAggregate):
    """The product of some variables is exactly the target variable."""

    _is_product = True

    def __init__(self, target_var: Hashable, product_vars: Sequence[Hashable]) -> None:
        super().__init__(target_var, product_vars)


class VariableMaxProdConstraint(VariableExactProdConstraint):
    """The product of some variables is at most the target variable."""

    _operator = "<="


class VariableMinProdConstraint(VariableExactProdConstraint):
    """The product of some variables is at least the target variable."""

    _operator = ">="


class _SetConstraint(Constraint):
    def __init__(self, set: Iterable[object]) -> None:
        self._values = list(set)

    def _is_in(self, coded: Coded) -> BoolExpr:
        """The condition that a variable's value is in the set."""
        codes = [code for code, value in coded.values.items() if value in self._values]
        return member(coded.variable, codes)


class InSetConstraint(_SetConstraint):
    """Every value is in a set."""

    def condition(self, scope: Scope) -> BoolExpr:
        """All values are in the set."""
        return all_of([self._is_in(coded) for coded in scope.variables])

    def _may_hold(self, count: int, assigned: Sequence[tuple[int, object]]) -> bool:
        return all(value in self._values for _, value in assigned)


class NotInSetConstraint(_SetConstraint):
    """No value is in a set."""

    def condition(self, scope: Scope) -> BoolExpr:
        """No value is in the set."""
        return all_of([~self._is_in(coded) for coded in scope.variables])

    def _may_hold(self, count: int, assigned: Sequence[tuple[int, object]]) -> bool:
        return not any(value in self._values for _, value in assigned)


class SomeInSetConstraint(_SetConstraint):
    """At least, or exactly, n values are in a set."""

    _wanted = True

    def __init__(self, set: Iterable[object], n: int = 1, exact: bool = False) -> None:
        super().__init__(set)
        self._n = n
        self._exact = exact

    def condition(self, scope: Scope) -> BoolExpr:
        """The number of values in the set, compared with n."""
        tests = [self._is_in(coded) for coded in scope.variables]
        number = sum_([1 * (test if self._wanted else ~test) for test in tests])
        return number == self._n if self._exact else number >= self._n

    def _may_hold(self, count: int, assigned: Sequence[tuple[int, object]]) -> bool:
        found = sum((value in self._values) is self._wanted for _, value in assigned)
        return found + count - len(assigned) >= self._n and not (self._exact and found > self._n)

    def forwardCheck(  # noqa: N802
        self, variables: Sequence[Hashable], domains: Any, assignments: Mapping[Any, Any], *_: Any
    ) -> bool:
        """Hide values that no unassigned variable can take if all or none of them must be in the set."""
        missing = [one for one in variables if one not in assignments]
        found = sum(
            (assignments[one] in self._values) is self._wanted for one in variables if one in assignments
        )
        if found + len(missing) == self._n:
            keep = self._wanted
        elif self._exact and found == self._n:
            keep = not self._wanted
        else:
            return True
        for one in missing:
            for value in list(domains[one]):
                if (value in self._values) is not keep:
                    domains[one].hideValue(value)
        return all(bool(domains[one]) for one in missing)


class SomeNotInSetConstraint(SomeInSetConstraint):
    """At least, or exactly, n values are not in a set."""

    _wanted = False
