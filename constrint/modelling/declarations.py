"""What a model is made of: variables, definitions, constraints, goals, and the scopes that take them back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Self

from constrint.errors import ModelError, Position
from constrint.expr import BoolExpr, BoolVar, IntExpr, IntLike, IntVar, as_expr
from constrint.expr.arrays import ExprArray, Shape, names_of, shape_of
from constrint.expr.domain import BINARY, Domain
from constrint.modelling.blocking import blocking
from constrint.modelling.objectives import Direction, Goal, as_goals
from constrint.modelling.scopes import Snapshot, pop, scope
from constrint.support.arguments import integer, integer_list
from constrint.support.record import record

if TYPE_CHECKING:
    from constrint.modelling.result import Result


@record(eq=False)  # comparing expressions builds one
class Constraint:
    """A condition of the model.

    Attributes:
        expr: The condition.
        name: Its name, or None.
        assumed: Whether it was only assumed, by `Model.assume` or for one call.
    """

    expr: BoolExpr
    name: str | None = None
    assumed: bool = False

    @property
    def position(self) -> Position | None:
        """Where the condition stands in the user's source, if that is known."""
        return self.expr.position


class Declarations:
    """The part of `Model` that collects.

    Attributes:
        name: Name of the model.
        variables: The variables by name, in order of declaration.
        lets: Named expressions by name, in order of definition.
        constraints: The constraints in order.
        goals: What `solve` optimises unless told otherwise: lexicographic, the most important first.
        preferences: What `solve` prefers unless told otherwise.
    """

    def __init__(self, name: str = "model") -> None:
        self.name = name
        self.variables: dict[str, IntVar | BoolVar] = {}
        self.lets: dict[str, IntExpr] = {}
        self.constraints: list[Constraint] = []
        self.goals: list[Goal] = []
        self.preferences: list[Goal] = []
        self._scopes: list[Snapshot] = []

    def int_var(
        self,
        name: str,
        lo: int | None = None,
        hi: int | None = None,
        *,
        step: int = 1,
        values: Iterable[int] | None = None,
    ) -> IntVar:
        """Declare an integer variable: bounds and a stride, or an explicit set of values.

        Args:
            name: Name, new in this model.
            lo: Least value, or None for no bound.
            hi: Greatest value, or None for no bound.
            step: Distance between values, counted from `lo` (from `hi` where there is no `lo`).
            values: Exactly these values, in place of bounds and step.

        Returns:
            The variable, to build expressions with.
        """
        return self.variable(name, _domain(name, lo, hi, step, values))

    def variable(self, name: str, domain: Domain) -> IntVar:
        """Declare an integer variable with a domain; see `int_var`."""
        variable = IntVar(name, domain)
        self._declare(name)
        self.variables[name] = variable
        return variable

    def int_vars(
        self,
        name: str,
        shape: Shape,
        lo: int | None = None,
        hi: int | None = None,
        *,
        step: int = 1,
        values: Iterable[int] | None = None,
    ) -> ExprArray:
        """Declare an array of integer variables, name[0], name[1] … (or name[0,0] …); see `int_var`."""
        lengths = shape_of(shape)
        domain = _domain(name, lo, hi, step, values)
        return ExprArray([self.variable(one, domain) for one in names_of(name, lengths)], lengths)

    def bool_vars(self, name: str, shape: Shape) -> ExprArray:
        """Declare an array of Boolean variables; see `bool_var`."""
        lengths = shape_of(shape)
        return ExprArray([self.bool_var(one) for one in names_of(name, lengths)], lengths)

    def bool_var(self, name: str) -> BoolVar:
        """Declare a Boolean variable, which is a condition, and 0 or 1 where an integer is wanted."""
        self._declare(name)
        variable = BoolVar(name, BINARY)
        self.variables[name] = variable
        return variable

    def let(self, name: str, expr: IntLike) -> IntExpr:
        """Name an expression: results show its value under this name. It is no variable."""
        self._declare(name)
        self.lets[name] = as_expr(expr)
        return self.lets[name]

    def _declare(self, name: str) -> None:
        if not isinstance(name, str) or not name:
            raise ModelError(f"a name must be a string that is not empty, not {name!r}")
        if not name.isascii():
            try:
                name.encode("utf-8")
            except UnicodeEncodeError:
                raise ModelError(f"{name!r} is no name: half a surrogate pair is no character") from None
        if name in self.variables or name in self.lets:
            raise ModelError(f"'{name}' is declared twice: give each variable and let its own name")

    def add(self, *conditions: BoolExpr, name: str | None = None) -> None:
        """Add constraints: all of them must hold.

        Args:
            *conditions: Boolean expressions.
            name: Name of the constraints, for messages.
        """
        self.constraints.extend(constraints_of(conditions, name))

    def assume(self, *conditions: BoolExpr, name: str | None = None) -> tuple[Constraint, ...]:
        """Add constraints that messages call assumptions; `retract` takes them back.

        Args:
            *conditions: Boolean expressions.
            name: Name of the assumptions, for messages.

        Returns:
            The assumptions, for `retract`.
        """
        assumptions = constraints_of(conditions, name, assumed=True)
        self.constraints.extend(assumptions)
        return tuple(assumptions)

    def retract(self, *constraints: Constraint) -> None:
        """Take these constraints back; without arguments, all assumptions."""
        given = set(constraints) or {constraint for constraint in self.constraints if constraint.assumed}
        if not given.issubset(self.constraints):
            raise ModelError("a constraint that is not (or no longer) in the model cannot be retracted")
        self.constraints[:] = [constraint for constraint in self.constraints if constraint not in given]

    def scope(self) -> AbstractContextManager[Self]:
        """For `with m.scope(): …`: what is declared and added in the block goes at its end."""
        return scope(self, self._scopes)

    def copy(self) -> Self:
        """A model of its own with the same contents; expressions, which never change, are shared."""
        copy = type(self)(self.name)
        self.copy_to(copy)
        return copy

    def copy_to(self, other: Declarations) -> None:
        """Give another model the same contents in place of its own."""
        Snapshot.of(self).restore(other)

    def push(self) -> None:
        """Open a scope: `pop` takes back what is declared and added from here on."""
        self._scopes.append(Snapshot.of(self))

    def pop(self) -> None:
        """Close the innermost scope."""
        pop(self, self._scopes)

    def block(
        self, solution: Result | Mapping[str, int], variables: Iterable[str | IntExpr] | None = None
    ) -> Constraint:
        """Exclude a solution: at least one variable must differ from it.

        Args:
            solution: The solution, or values by name.
            variables: The variables of which one must differ; all by default.

        Returns:
            The constraint, for `retract`.
        """
        constraint = Constraint(blocking(self, solution, variables), "blocked")
        self.constraints.append(constraint)
        return constraint

    def minimize(self, *exprs: IntLike) -> None:
        """Let `solve` minimise this expression; several are lexicographic, the first most important."""
        self.goals.extend([(as_expr(expr), "min") for expr in exprs])

    def maximize(self, *exprs: IntLike) -> None:
        """Let `solve` maximise this expression; several are lexicographic, the first most important."""
        self.goals.extend([(as_expr(expr), "max") for expr in exprs])

    def prefer(self, *goals: tuple[IntLike, Direction]) -> None:
        """Let `solve` give the lexicographic optimum of these (expression, "max" | "min") pairs."""
        self.preferences.extend(as_goals(goals))


def _domain(name: str, lo: int | None, hi: int | None, step: int, values: Iterable[int] | None) -> Domain:
    """The domain of variables with a name, from what is said of them."""
    if values is not None:
        if lo is not None or hi is not None or step != 1:
            raise ModelError(f"'{name}': give either values or bounds and step, not both")
        return Domain.of_values(integer_list(values, f"'{name}': the values"))
    if type(step) is not int:
        step = integer(step, f"'{name}': step")
    if step < 1:
        raise ModelError(f"'{name}': step must be at least 1, not {step}")
    if lo is not None and type(lo) is not int:
        lo = integer(lo, f"'{name}': lo")
    if hi is not None and type(hi) is not int:
        hi = integer(hi, f"'{name}': hi")
    return Domain.of_range(lo, hi, step)


def constraints_of(conditions: Iterable[Any], name: str | None, *, assumed: bool = False) -> list[Constraint]:
    """Check conditions, and make constraints of them."""
    constraints = []
    for condition in conditions:
        if not isinstance(condition, BoolExpr):
            raise ModelError(_no_condition(condition))
        constraints.append(Constraint(condition, name, assumed))
    return constraints


def _no_condition(value: object) -> str:
    if isinstance(value, bool):
        return (
            f"{value} is a Python truth value, not a condition: Python compared two plain numbers before the "
            "model saw them. Compare an expression, such as a variable"
        )
    if isinstance(value, IntExpr):
        return "a constraint must be a condition, not a number: compare the expression, such as `… == 0`"
    return f"a constraint must be a condition, not {type(value).__name__}: write a comparison of expressions"
