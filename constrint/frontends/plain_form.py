"""A model in few kinds of constraints, for writers of formats: `PlainForm`.

The kinds are sums, products, greatest and least values, absolute values, memberships, clauses, elements,
tables, and all-different; conditions on sums, memberships and tables may have a truth value. Everything else
is expressed by them, with variables that the others determine.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Any

from constrint import propagators as c
from constrint.errors import ModelError
from constrint.expr import BoolVar
from constrint.expr.global_expr import Definition
from constrint.lowering.conditions import Lowering
from constrint.lowering.problem import HUGE_BITS, TRUE, Infeasible, NeedsWiderBounds
from constrint.lowering.variables import MOST_BITS, check_length
from constrint.modelling.declarations import Declarations
from constrint.modelling.objectives import Direction
from constrint.modelling.soft import sole_goal, whole_goal
from constrint.propagators.handlers import Rules
from constrint.support.deadline import watched
from constrint.support.limits import recursion_room

KINDS = (
    c.LinearLe, c.LinearEq, c.LinearNe, c.LinearLeIf, c.LinearEqIf, c.Product, c.Maximum, c.Minimum,
    c.Absolute, c.Member, c.Clause, c.Element, c.Selection, c.Table, c.AllDifferent,
)  # fmt: skip
"""The kinds of constraints that writers must write; the views of all-different are variables."""
MOST_ROWS = 20_000
"""The most combinations of values for which a function without a counterpart becomes a table."""
MOST_VALUES = 4_096
"""The most values of a domain with a stride that are listed."""
LOWERING_FRAMES = 10_000
_ONE = 0  # the variable that is the constant 1


class _Lowering(Lowering):
    """The lowering that keeps all-different and decomposes the other global constraints."""

    def has(self, definition: Definition) -> bool:
        return definition.name == "all_different"


class PlainForm:
    """The plain form of a model.

    Attributes:
        names: Names of the variables; of those that the user did not declare, "".
        boolean: The variables that the user declared as Boolean.
        propagators: The constraints.
        goal: The variable to optimise, and the direction.
        denominator: The number by which the values of the goal are divided.
        is_float: Whether they are floats then.

    Raises:
        ModelError: The model has several goals, or something that has no plain form; says what.
    """

    def __init__(self, model: Declarations, what: str, *, has_fractions: bool = False) -> None:
        """Make it; `has_fractions` says whether objectives may have fractional coefficients."""
        self._what = what
        self.denominator, self.is_float = 1, False
        if has_fractions:
            self._target, unit = sole_goal(model, what)
            if unit is not None:
                self.denominator, self.is_float = unit.denominator, unit.is_float
        else:
            self._target = whole_goal(model, what)
        self.propagators: list[c.Propagator] = []
        self.goal: tuple[int, Direction] | None = None
        bits = HUGE_BITS
        while True:
            lowering: Lowering = _Lowering(bits)
            try:
                with recursion_room(LOWERING_FRAMES):
                    self._lower(model, lowering)
                break
            except NeedsWiderBounds:
                bits *= 4
                if bits > MOST_BITS:
                    check_length(bits)
            except Infeasible:
                lowering = self._infeasible(model)
                break
            except RecursionError:
                raise ModelError(f"{what}: an expression is nested too deeply: name inner parts") from None
        self._problem = lowering.problem
        self.boolean = {v for one, v in lowering.variables.items() if isinstance(one, BoolVar)}
        for node in [*self._problem.propagators]:
            _REWRITTEN[type(node)](self, node)
        self._list_strides()
        self.names = [""] * len(self._problem.lo)
        for one, v in lowering.variables.items():
            self.names[v] = str(getattr(one, "name", ""))

    def _lower(self, model: Declarations, lowering: Lowering) -> None:
        for variable in model.variables.values():
            lowering.declare(variable)
        for constraint in watched(model.constraints):
            lowering.require(constraint.expr)
        if self._target is not None:
            expr, direction = self._target
            self.goal = lowering.problem.of_linear(lowering.sum_of(expr)), direction

    def _infeasible(self, model: Declarations) -> Lowering:
        """The variables alone, with a clause that nothing satisfies."""
        lowering = _Lowering()
        for variable in model.variables.values():
            v = lowering.variables[variable] = lowering.problem.variable(0, 1)
            if not (variable.domain.is_empty or isinstance(variable, BoolVar)):
                lowering.problem.keep_between(v, 0, 0)
        lowering.problem.propagators.append(c.Clause(()))
        self.goal = None
        return lowering

    # What writers ask

    def bounds(self, v: int) -> tuple[int | None, int | None]:
        """Least and greatest value of a variable; None for no bound."""
        problem = self._problem
        lo, hi = problem.lo[v], problem.hi[v]
        return (None if lo <= -problem.finite else lo), (None if hi >= problem.finite else hi)

    def values(self, v: int) -> Sequence[int] | None:
        """The values of a variable that has holes; None for a plain range."""
        problem = self._problem
        if problem.values[v] is None and problem.step[v] > 1:
            return range(problem.lo[v], problem.hi[v] + 1, problem.step[v])
        return problem.values[v]

    def fixed(self, v: int) -> int | None:
        """The value of a variable that has only one."""
        problem = self._problem
        return problem.lo[v] if problem.lo[v] == problem.hi[v] else None

    def used(self) -> list[int]:
        """The variables that are declared or occur in a constraint, without constants of our own."""
        found = {v for node in self.propagators for v in node.scope()}
        found |= set() if self.goal is None else {self.goal[0]}
        return [v for v, name in enumerate(self.names) if name or (v in found and self.fixed(v) is None)]

    # Rewriting

    def _variable(self, lo: int, hi: int) -> int:
        return self._problem.variable(lo, hi)

    def _list_strides(self) -> None:
        """Give variables with a long stride another variable that counts the steps."""
        problem = self._problem
        for v in range(len(problem.lo)):
            lo, hi, step = problem.lo[v], problem.hi[v], problem.step[v]
            if problem.values[v] is not None or step == 1 or (hi - lo) // step < MOST_VALUES:
                continue
            steps = self._variable(0, (hi - lo) // step)
            anchor = lo
            if lo <= -problem.finite or hi >= problem.finite:
                steps, anchor = self._variable(-problem.huge, problem.huge), lo % step
                if lo > -problem.finite:
                    self.propagators.append(c.LinearLe(((-1, v),), -lo))
                if hi < problem.finite:
                    self.propagators.append(c.LinearLe(((1, v),), hi))
            problem.step[v] = 1
            self.propagators.append(c.LinearEq(((1, v), (-step, steps)), anchor))

    def _differ(self, node: c.AllDifferent | c.AllDifferentBounds | c.AllDifferentDomain) -> None:
        self.propagators.append(c.AllDifferent(tuple([(1, self._view(view), 0) for view in node.views])))

    def _round_up(self, node: c.CeilDiv) -> None:
        whole = self._product(node.y, node.q)
        self.propagators += [
            c.LinearLe(((-1, node.x),), 0),
            c.LinearLe(((-1, node.y),), -1),
            c.LinearLe(((1, node.x), (-1, whole)), 0),
            c.LinearLe(((1, whole), (-1, node.x), (-1, node.y)), -1),
        ]

    def _view(self, view: tuple[int, int, int]) -> int:
        a, v, b = view
        if (a, b) == (1, 0):
            return v
        problem = self._problem
        ends = sorted([a * problem.lo[v] + b, a * problem.hi[v] + b])
        other = self._variable(*ends)
        self.propagators.append(c.LinearEq(((a, v), (-1, other)), -b))
        return other

    def _product(self, x: int, y: int) -> int:
        problem = self._problem
        corners = [a * b for a in (problem.lo[x], problem.hi[x]) for b in (problem.lo[y], problem.hi[y])]
        whole = self._variable(min(corners), max(corners))
        self.propagators.append(c.Product(x, y, whole))
        return whole

    def _condition(self, terms: tuple[tuple[int, int], ...], bound: int) -> int:
        """The literal of ``sum <= bound``."""
        v = self._variable(0, 1)
        self.propagators.append(c.LinearLeIf(2 * v, terms, bound))
        return 2 * v

    def _divide(self, x: int, y: int, q: int, r: int) -> None:
        """Post x == y q + r with r between 0 and y, with the sign of y."""
        divisor = self.fixed(y)
        if divisor == 0:
            self.propagators.append(c.Clause(()))
            return
        if divisor is not None:
            sign = 1 if divisor > 0 else -1
            self.propagators += [
                c.LinearEq(((divisor, q), (1, r), (-1, x)), 0),
                c.LinearLe(((-sign, r),), 0),
                c.LinearLe(((sign, r),), abs(divisor) - 1),
            ]
            return
        whole = self._product(y, q)
        self.propagators += [c.LinearEq(((1, whole), (1, r), (-1, x)), 0), c.LinearNe(((1, y),), 0)]
        positive = self._condition(((-1, y),), -1)
        for literal, terms, bound in (
            (positive, ((-1, r),), 0),
            (positive, ((1, r), (-1, y)), -1),
            (positive ^ 1, ((1, r),), 0),
            (positive ^ 1, ((1, y), (-1, r)), -1),
        ):
            self.propagators.append(c.Clause((literal ^ 1, self._condition(terms, bound))))

    def _divides(self, node: c.Divides) -> None:
        """Post literal <-> d divides x; a divisor of 0 divides 0 only."""
        problem, d, x, literal = self._problem, node.d, node.x, node.literal
        most = max(abs(problem.lo[x]), abs(problem.hi[x]))
        divisor = self.fixed(d)
        if divisor == 0:
            self.propagators.append(c.LinearEqIf(literal, ((1, x),), 0))
            return
        quotient = self._variable(-most - 1, most + 1)
        if divisor is not None:
            rest = self._variable(0, abs(divisor) - 1)
            self.propagators.append(c.LinearEq(((abs(divisor), quotient), (1, rest), (-1, x)), 0))
            self.propagators.append(c.LinearEqIf(literal, ((1, rest),), 0))
            return
        # |d|, or 1 in place of 0, divides x; d = 0 needs x = 0 as well.
        size = max(abs(problem.lo[d]), abs(problem.hi[d]), 1)
        length, safe, rest = self._variable(0, size), self._variable(1, size), self._variable(0, size - 1)
        self.propagators += [c.Absolute(d, length), c.Maximum(safe, (length, _ONE))]
        self._divide(x, safe, quotient, rest)
        zeros = []
        for v in (rest, d, x):
            flag = self._variable(0, 1)
            self.propagators.append(c.LinearEqIf(2 * flag, ((1, v),), 0))
            zeros.append(2 * flag)
        no_rest, no_divisor, no_dividend = zeros
        self.propagators += [
            c.Clause((literal ^ 1, no_rest)),
            c.Clause((literal ^ 1, no_divisor ^ 1, no_dividend)),
            c.Clause((literal, no_rest ^ 1, no_divisor)),
            c.Clause((literal, no_rest ^ 1, no_dividend ^ 1)),
        ]

    def _power(self, node: c.Power) -> None:
        exponent = self.fixed(node.y)
        if exponent is None:
            self._tabulate(node)
        elif exponent < 0:
            self.propagators.append(c.Clause(()))
        elif exponent == 0:
            self.propagators.append(c.LinearEq(((1, node.z),), 1))
        else:
            power = node.x
            for _ in range(exponent - 1):
                power = self._product(power, node.x)
            self.propagators.append(c.LinearEq(((1, power), (-1, node.z)), 0))

    def _tabulate(self, node: c.Propagator) -> None:
        """Post a constraint over few values as the table of what its definition allows."""
        problem = self._problem
        scope = list(dict.fromkeys(node.scope()))
        rows = []
        sizes = [(problem.hi[v] - problem.lo[v]) // problem.step[v] + 1 for v in scope]
        names = [v for v, size in zip(scope, sizes, strict=True) if size > MOST_ROWS]
        if names or prod(sizes) > MOST_ROWS * 50:
            kind = type(node).__name__.lower()
            raise ModelError(
                f"{self._what} has no counterpart of {kind}, and its values are too many for a table: bound "
                "its variables more narrowly"
            )
        domains = [
            problem.values[v] or range(problem.lo[v], problem.hi[v] + 1, problem.step[v]) for v in scope
        ]
        known = list(problem.lo)
        for row in product(*domains):
            for v, value in zip(scope, row, strict=True):
                known[v] = value
            if node.holds(known):
                rows.append(row)
        if len(rows) > MOST_ROWS:
            raise ModelError(f"{self._what}: a table of {len(rows)} rows is too long: bound its variables")
        self.propagators.append(c.Table(TRUE, tuple(scope), tuple(rows)) if rows else c.Clause(()))


_REWRITTEN: Rules[PlainForm, None] = Rules(
    "plain form",
    {
        KINDS: lambda form, node: form.propagators.append(node),
        c.DIFFERENT: PlainForm._differ,
        c.DivMod: lambda form, node: form._divide(node.x, node.y, node.q, node.r),
        c.CeilDiv: PlainForm._round_up,
        c.Divides: PlainForm._divides,
        c.Power: PlainForm._power,
    },
    generic=PlainForm._tabulate,
)


class ObjectWriter:
    """A plain form on its way into objects of another package.

    Attributes:
        form: The plain form.
        variables: The package's variables by number; what has one value only may have none.
    """

    def __init__(self, form: PlainForm) -> None:
        self.form = form
        self.variables: dict[int, Any] = {}

    def of(self, v: int) -> Any:
        """A variable, or its only value."""
        return self.variables[v] if v in self.variables else self.form.fixed(v)

    def all(self, variables: Sequence[int]) -> list[Any]:
        """Variables, or their only values."""
        return [self.of(v) for v in variables]
