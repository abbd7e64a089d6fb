"""The contents of a model: variables, definitions, constraints, goals, and scopes that undo additions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Self

from constrint.errors import ModelError
from constrint.expr import BoolExpr, BoolVar, IntExpr, IntLike, IntVar, as_expr
from constrint.expr.array_shapes import Shape, names_of, shape_of
from constrint.expr.arrays import ExprArray
from constrint.expr.domain import BINARY, Domain
from constrint.modelling import constraints as kept
from constrint.modelling.blocking import blocking
from constrint.modelling.constraints import Constraint as Constraint
from constrint.modelling.constraints import Handle, Held
from constrint.modelling.constraints import constraints_of as constraints_of
from constrint.modelling.objectives import Direction, Goal, as_goals
from constrint.modelling.scopes import Snapshot, pop, scope
from constrint.support.arguments import integer, integer_list

if TYPE_CHECKING:
    from constrint.modelling.declaring_intervals import Periods, TimeLike
    from constrint.modelling.intervals import Interval
    from constrint.modelling.result import Result


class Declarations:
    """Base class of `Model` that collects declarations and constraints.

    Attributes:
        name: Name of the model.
        variables: The variables by name, in order of declaration.
        lets: Named expressions by name, in order of definition.
        intervals: The intervals by name, in order of declaration.
        constraints: The constraints in force, in order.
        disabled: The constraints that are switched off.
        goals: The default objectives of `solve`: lexicographic, the most important first.
        preferences: The default preferences of `solve`.
    """

    def __init__(self, name: str = "model") -> None:
        self.name = name
        self.variables: dict[str, IntVar | BoolVar] = {}
        self.lets: dict[str, IntExpr] = {}
        self.intervals: dict[str, Interval] = {}
        self.constraints: list[Constraint] = []
        self.disabled: list[Constraint] = []
        self.order: list[Constraint] = []  # of both, while some are switched off: see `constraints.in_order`
        self.goals: list[Goal] = []
        self.preferences: list[Goal] = []
        self._scopes: list[Snapshot] = []

    def __str__(self) -> str:
        from constrint.modelling.written import model_text

        return model_text(self)

    def int_var(
        self,
        name: str,
        lo: int | None = None,
        hi: int | None = None,
        *,
        step: int = 1,
        values: Iterable[int] | None = None,
    ) -> IntVar:
        """Declare an integer variable by bounds and a stride, or by a set of values.

        Args:
            name: Name; it must be new in this model.
            lo: Least value, or None for no bound.
            hi: Greatest value, or None for no bound.
            step: Distance between values, counted from `lo`, or from `hi` if there is no `lo`.
            values: The exact set of values, instead of bounds and step.

        Returns:
            The variable, an expression.

        Raises:
            ModelError: The name is taken or invalid, or the arguments contradict each other.
        """
        if not isinstance(name, str):
            raise ModelError(f"the name comes first, as in int_var('x', 0, 9); {name!r} is not a name")
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
        lengths = _array(name, shape, lo, hi)
        domain = _domain(name, lo, hi, step, values)
        return ExprArray([self.variable(one, domain) for one in names_of(name, lengths)], lengths)

    def bool_vars(self, name: str, shape: Shape) -> ExprArray:
        """Declare an array of Boolean variables; see `bool_var`."""
        lengths = _array(name, shape)
        return ExprArray([self.bool_var(one) for one in names_of(name, lengths)], lengths)

    def bool_var(self, name: str) -> BoolVar:
        """Declare a Boolean variable: a condition that counts as 0 or 1 in integer expressions."""
        self._declare(name)
        variable = BoolVar(name, BINARY)
        self.variables[name] = variable
        return variable

    def interval(
        self,
        name: str,
        start: TimeLike | None = None,
        size: TimeLike | None = None,
        end: TimeLike | None = None,
        *,
        optional: bool = False,
        presence: BoolExpr | None = None,
        breaks: Periods = (),
    ) -> Interval:
        """Declare an interval: a task with a start, a size and an end, which may be optional.

        Each of the three is a number, an expression, or the bounds of a new variable: a pair (least,
        greatest), where None is no bound, or a range. The variables are named "name.start", "name.size",
        "name.end" and "name.present". What is left out follows from the others; the start is then at least 0.

        Where an optional interval is absent, the variables that this call has declared have their least
        values, so that each solution is counted once. Expressions that were given are not restricted.

        Args:
            name: Name; it must be new among the intervals of this model.
            start: When it starts.
            size: How long it works; at least 0.
            end: When it ends.
            optional: Whether it may be absent: a new Boolean variable decides.
            presence: A condition under which it is present, instead of a new variable.
            breaks: Periods, as (begin, end) pairs, in which its work stops: the interval starts in none of
                them, and ends later by each that it meets. One of size 0 may be anywhere.

        Returns:
            The interval, for `no_overlap`, `cumulative` and the other constraints over intervals.

        Raises:
            ModelError: The name is taken, or the arguments contradict each other.
        """
        from constrint.modelling.declaring_intervals import declare_interval

        return declare_interval(self, name, start, size, end, optional, presence, breaks)

    def let(self, name: str, expr: IntLike) -> IntExpr:
        """Name an expression: results show its value under this name. It is not a variable."""
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
                raise ModelError(
                    f"{name!r} is not a name: half of a surrogate pair is not a character"
                ) from None
        if name in self.variables or name in self.lets:
            raise ModelError(f"'{name}' is declared twice: give each variable and let its own name")

    def add(self, *conditions: BoolExpr | Iterable[Any], name: str | None = None) -> Handle:
        """Add constraints: all of them must hold.

        Args:
            *conditions: Conditions, or arrays, lists and generators of them.
            name: Name of the constraints: messages show it, and `remove`, `disable` and `enable` take it.

        Returns:
            The handle of these constraints, to remove them or to switch them off and on.
        """
        if len(conditions) == 1 and name is None and isinstance(conditions[0], BoolExpr):  # the usual case
            constraint = Constraint(conditions[0])
            self.constraints.append(constraint)
            return Handle(self, (constraint,))
        constraints = constraints_of(conditions, name)
        self.constraints += constraints
        return Handle(self, constraints)

    def __iadd__(self, conditions: BoolExpr | Iterable[Any]) -> Self:
        """``model += condition`` adds constraints, as `add` does."""
        self.add(conditions)
        return self

    def remove(self, *constraints: Held) -> None:
        """Remove constraints.

        Args:
            *constraints: What `add`, `assume` or `block` returned, or names; a name stands for all
                constraints that have it.

        Raises:
            ModelError: One of them is not in the model.
        """
        kept.remove(self, constraints)

    def disable(self, *constraints: Held) -> None:
        """Switch constraints off until `enable` switches them on again; arguments as for `remove`.

        Calls, exports and conflicts take no notice of them; copies, scopes and JSON keep them.
        """
        kept.disable(self, constraints)

    def enable(self, *constraints: Held) -> None:
        """Switch constraints on again, each at its old place in the order; arguments as for `remove`."""
        kept.enable(self, constraints)

    def assume(self, *conditions: BoolExpr | Iterable[Any], name: str | None = None) -> Handle:
        """Add constraints that messages call assumptions; `retract` removes them.

        Args:
            *conditions: Conditions, or arrays, lists and generators of them.
            name: Name of the assumptions, for messages.

        Returns:
            The handle of the assumptions, a sequence with one `Constraint` for each.
        """
        assumptions = constraints_of(conditions, name, assumed=True)
        self.constraints += assumptions
        return Handle(self, assumptions)

    def retract(self, *constraints: Held) -> None:
        """Remove constraints as `remove` does; without arguments, remove all assumptions."""
        kept.remove(self, constraints or [one for one in kept.in_order(self) if one.assumed])

    def scope(self) -> AbstractContextManager[Self]:
        """A scope for `with m.scope(): …`.

        Declarations and constraints of the block are removed at its end.
        """
        return scope(self, self._scopes)

    def copy(self) -> Self:
        """An independent model with the same contents; expressions are immutable and shared."""
        copy = type(self)(self.name)
        self.copy_to(copy)
        return copy

    def copy_to(self, other: Declarations) -> None:
        """Replace another model's contents by this model's."""
        Snapshot.of(self).restore(other)

    def push(self) -> None:
        """Open a scope: `pop` removes what is declared and added after this call."""
        self._scopes.append(Snapshot.of(self))

    def pop(self) -> None:
        """Close the innermost scope: remove what was declared and added since `push`."""
        pop(self, self._scopes)

    def block(
        self, solution: Result | Mapping[str, int], variables: Iterable[str | IntExpr] | None = None
    ) -> Handle:
        """Exclude a solution: at least one variable must differ from it.

        Args:
            solution: The solution, or values by name.
            variables: The variables of which one must differ; all by default.

        Returns:
            The handle of the constraint, for `remove`.
        """
        constraint = Constraint(blocking(self, solution, variables), "blocked")
        self.constraints.append(constraint)
        return Handle(self, [constraint])

    def minimize(self, *exprs: IntLike) -> None:
        """Set expressions that `solve` minimises; several are lexicographic, the most important first."""
        self.goals.extend([(as_expr(expr), "min") for expr in exprs])

    def maximize(self, *exprs: IntLike) -> None:
        """Set expressions that `solve` maximises; several are lexicographic, the most important first."""
        self.goals.extend([(as_expr(expr), "max") for expr in exprs])

    def prefer(self, *goals: tuple[IntLike, Direction]) -> None:
        """Set (expression, "max" | "min") pairs for which `solve` finds the lexicographic optimum."""
        self.preferences.extend(as_goals(goals))


def _domain(name: str, lo: int | None, hi: int | None, step: int, values: Iterable[int] | None) -> Domain:
    """The domain for the arguments of `int_var`."""
    if isinstance(lo, Iterable):
        raise ModelError(
            f"'{name}': lo must be an integer, not {lo!r}: write int_var({name!r}, lo, hi), or values={lo!r} "
            "for a set of values"
        )
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
    if lo is not None and hi is not None and lo > hi:
        raise ModelError(
            f"'{name}': lo is {lo} and hi is {hi}, so there is no value: lo comes first; values=[] declares "
            "an empty domain"
        )
    return _range(lo, hi, step)


_range = lru_cache(256)(Domain.of_range)
"""Variables with the same bounds share their domain."""


def _array(name: Any, shape: Any, lo: int | None = None, hi: int | None = None) -> tuple[int, ...]:
    """The shape of an array of variables; raises `ModelError` for arguments in another order."""
    if isinstance(name, list | tuple):
        raise ModelError(
            f"an array has one name, not {name!r}: write int_vars('x', {len(name)}, lo, hi) for x[0] …, or "
            "declare each by int_var"
        )
    if not isinstance(name, str):
        raise ModelError(f"the name comes first, as in int_vars('x', 3, 0, 9); {name!r} is not a name")
    lengths = shape_of(shape)
    if lengths == (0,) and lo is not None and hi is None:
        raise ModelError(
            f"'{name}': the shape comes before the bounds, as in int_vars({name!r}, 3, {shape}, {lo}); an "
            "array of shape 0 has no elements"
        )
    return lengths
