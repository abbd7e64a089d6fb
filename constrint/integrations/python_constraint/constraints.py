"""The constraint classes of python-constraint, each as a condition over the variables that it is given."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

from constrint.diagrams.symbols import Symbol, tree_of, watched
from constrint.errors import ModelError
from constrint.expr import BoolExpr, Const, IntExpr
from constrint.expr.functions import all_of, any_of, member, sum_
from constrint.globals import all_different
from constrint.integrations.python_constraint import restrictions
from constrint.integrations.python_constraint.scope import Coded, Scope, integer_of


class Constraint:
    """What a problem's variables must fulfil; subclasses say it in `condition`."""

    def condition(self, scope: Scope) -> BoolExpr:
        """The constraint over these variables."""
        raise NotImplementedError

    def __call__(
        self,
        variables: Sequence[Hashable],
        domains: Mapping[Any, Any],
        assignments: Mapping[Any, Any],
        *_: Any,
    ) -> bool:
        """Whether it holds for an assignment, as python-constraint's solvers ask; overridden by users."""
        raise NotImplementedError


class FunctionConstraint(Constraint):
    """A function of the values that is true where they are allowed.

    It is called once with symbols in place of values. Where it does anything with them but arithmetic and
    comparisons (ask for their truth, look them up, print them), or may fail for some values, it is called for
    all combinations of values instead.
    """

    def __init__(self, func: Callable[..., Any], assigned: bool = True) -> None:
        if not callable(func):
            raise ModelError(f"FunctionConstraint needs a function, not {func!r}")
        self.func = func

    def condition(self, scope: Scope) -> BoolExpr:
        """The function, traced or called."""
        traced = self._traced(scope) if scope.is_arithmetic else None
        return scope.listed(self.func) if traced is None else traced

    def _traced(self, scope: Scope) -> BoolExpr | None:
        """What the function does with symbols as a condition; None where that may not be all it does."""
        variables: dict[str, IntExpr] = {f"v{i}": one.variable for i, one in enumerate(scope.variables)}
        symbols = [Symbol(ast.Name(name)) for name in variables]
        try:
            answer = watched(lambda: self.func(*symbols))
            part = restrictions.read(tree_of(answer), variables, "")
        except Exception:  # whatever it is, calling the function with values shows it
            return None
        return part.holds if part.defined is restrictions.TRUE else None


class AllDifferentConstraint(Constraint):
    """No two values are equal."""

    def condition(self, scope: Scope) -> BoolExpr:
        """All different."""
        return all_different([coded.variable for coded in scope.variables])


class AllEqualConstraint(Constraint):
    """All values are equal."""

    def condition(self, scope: Scope) -> BoolExpr:
        """Each equal to the first."""
        first, *others = [coded.variable for coded in scope.variables]
        return all_of([first == other for other in others])


class _Aggregate(Constraint):
    """A sum or product of the values, compared with a number."""

    _operator = "=="
    _is_product = False

    def __init__(self, bound: float, multipliers: Sequence[float] | None = None) -> None:
        self._bound = bound
        self._multipliers = None if multipliers is None else list(multipliers)

    def condition(self, scope: Scope) -> BoolExpr:
        """The comparison; over values that are no integers, a table."""
        factors = self._multipliers or [1] * len(scope.variables)
        if len(factors) != len(scope.variables):
            raise ModelError(
                f"{scope.described} has {len(factors)} multipliers for {len(scope.variables)} variables"
            )
        if scope.is_arithmetic and all(isinstance(factor, int) for factor in factors):
            variables = [coded.variable for coded in scope.variables]
            if self._is_product:
                value: IntExpr = Const(1)
                for variable in variables:
                    value = value * variable
            else:
                value = sum_(
                    [int(factor) * variable for factor, variable in zip(factors, variables, strict=True)]
                )
            return _compared(self._operator, value, self._bound)

        def holds(*values: Any) -> bool:
            if self._is_product:
                return _holds(self._operator, math.prod(values), self._bound)
            return _holds(
                self._operator, sum(f * v for f, v in zip(factors, values, strict=True)), self._bound
            )

        return scope.listed(holds)


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
        """The comparison; over values that are no integers, a table."""
        target, *parts = scope.of([self._target, *self._variables])
        factors = self._multipliers or [1] * len(parts)
        if len(factors) != len(parts):
            raise ModelError(f"{scope.described} has {len(factors)} multipliers for {len(parts)} variables")
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
            return _holds(self._operator, math.prod(scaled) if self._is_product else sum(scaled), bound)

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
    def __init__(self, set: Iterable[Any]) -> None:
        self._values = list(set)

    def _is_in(self, coded: Coded) -> BoolExpr:
        """Whether a variable's value is in the set."""
        codes = [code for code, value in coded.values.items() if value in self._values]
        return member(coded.variable, codes)


class InSetConstraint(_SetConstraint):
    """Every value is in a set."""

    def condition(self, scope: Scope) -> BoolExpr:
        """All in."""
        return all_of([self._is_in(coded) for coded in scope.variables])


class NotInSetConstraint(_SetConstraint):
    """No value is in a set."""

    def condition(self, scope: Scope) -> BoolExpr:
        """None in."""
        return all_of([~self._is_in(coded) for coded in scope.variables])


class SomeInSetConstraint(_SetConstraint):
    """At least, or exactly, n values are in a set."""

    _wanted = True

    def __init__(self, set: Iterable[Any], n: int = 1, exact: bool = False) -> None:
        super().__init__(set)
        self._n = n
        self._exact = exact

    def condition(self, scope: Scope) -> BoolExpr:
        """Their number compared."""
        tests = [self._is_in(coded) for coded in scope.variables]
        number = sum_([1 * (test if self._wanted else ~test) for test in tests])
        return number == self._n if self._exact else number >= self._n


class SomeNotInSetConstraint(SomeInSetConstraint):
    """At least, or exactly, n values are not in a set."""

    _wanted = False
