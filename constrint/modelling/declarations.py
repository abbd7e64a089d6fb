"""The contents of a model: variables, definitions, constraints, goals, and scopes that undo additions."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Self, overload

from constrint.errors import ModelError
from constrint.expr import BoolExpr, BoolVar, IntExpr, IntLike, IntVar
from constrint.expr.domain import BINARY, Domain, EnumDomain
from constrint.expr.enumerated import EnumExpr
from constrint.modelling import constraints as kept
from constrint.modelling.blocking import blocking
from constrint.modelling.bounds import domain_of
from constrint.modelling.constraints import Constraint as Constraint
from constrint.modelling.constraints import Handle, Held
from constrint.modelling.constraints import constraints_of as constraints_of
from constrint.modelling.hints import Hint, hints_of
from constrint.modelling.objectives import Direction, Goal, Target, Units, whole
from constrint.modelling.ownership import Checked, is_plain, own_goals
from constrint.modelling.scopes import COLLECTIONS, Snapshot, pop, scope
from constrint.modelling.soft import Soft, Weight, soft, violation
from constrint.modelling.threads import Shared, changed_by, of_copy, of_known_keywords
from constrint.modelling.with_arrays import WithArrays
from constrint.modelling.with_intervals import WithIntervals
from constrint.modelling.with_symbols import WithSymbols
from constrint.settings import Settings, of_new_models
from constrint.support.arguments import WithOtherNames
from constrint.support.record import public_names

if TYPE_CHECKING:
    from constrint.expr.rational import Rational
    from constrint.modelling.chosen import Chosen
    from constrint.modelling.result import Result


@changed_by(
    *("enum_var", "enum_vars", "set_var", "interval", "let", "soften", "remove", "disable", "enable"),
    *("assume", "retract", "push", "pop", "block", "minimize", "maximize", "prefer", "hint"),
)
class Declarations(Shared, WithArrays, WithIntervals, WithSymbols, WithOtherNames):
    """The calls of `Model` that declare variables, add constraints and change them.

    Attributes:
        name: Name of the model.
        variables: The variables by name, in order of declaration.
        lets: Named expressions by name, in order of definition; of a fraction, its numerator.
        intervals: The intervals by name, in order of declaration.
        constraints: The constraints in force, in order.
        disabled: The constraints that are switched off.
        goals: The default objectives of `solve`: lexicographic, the most important first.
        preferences: The default preferences of `solve`.
        hints: Values by variable name that `solve` tries first; see `hint`.
        weights: The soft constraints, which are among those that are off, each with its weight.
        symbols: The enumeration and set variables by name.
    """

    _internal: tuple[str, ...] = ("copy_to", "declare_name", "lock", "order", "owned", "settings", "units")
    __dir__ = public_names

    def __init__(self, name: str = "model") -> None:
        self.name = name
        self.variables: dict[str, IntVar | BoolVar] = {}
        self.lets: dict[str, IntExpr] = {}
        self.intervals = {}
        self.constraints: list[Constraint] = []
        self.disabled: list[Constraint] = []
        self.order: list[Constraint] = []  # of both, while some are switched off: see `constraints.in_order`
        self.goals: list[Goal] = []
        self.preferences: list[Goal] = []
        self.hints: dict[str, int] = {}
        self.weights: dict[Constraint, Soft] = {}
        self.units: Units = {}  # fractional goals and definitions, by the expressions in their place
        self.symbols = {}
        self.settings: Settings = of_new_models()  # when rules and searches take part
        self._scopes: list[Snapshot] = []
        self.owned = Checked()  # refuses expressions that have variables of another model
        self.lock = threading.RLock()  # of changes and copies

    def __repr__(self) -> str:
        from constrint.modelling.model_text import heading

        return heading(self)

    @of_copy
    def _repr_html_(self) -> str:
        from constrint.modelling.notebook import model_html

        return model_html(self)

    @of_copy
    def __str__(self) -> str:
        from constrint.modelling.model_text import model_text

        return model_text(self)

    @of_known_keywords
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
        return self.variable(name, domain_of(name, lo, hi, step, values))

    def variable(self, name: str, domain: Domain) -> IntVar:
        """Declare an integer variable with a domain; see `int_var`."""
        variable = IntVar(name, domain)
        with self.lock:
            self.declare_name(name)
            self.variables[name] = variable
            if type(domain) is EnumDomain:
                from constrint.modelling.symbols import EnumVar

                self.symbols[name] = EnumVar(name, domain.labels, variable)
        return variable

    def bool_var(self, name: str) -> BoolVar:
        """Declare a Boolean variable: a condition that counts as 0 or 1 in integer expressions."""
        variable = BoolVar(name, BINARY)
        with self.lock:
            self.declare_name(name)
            self.variables[name] = variable
        return variable

    @overload
    def let(self, name: str, expr: IntLike) -> IntExpr: ...  # type: ignore[overload-overlap] # whole numbers are both

    @overload
    def let(self, name: str, expr: EnumExpr) -> EnumExpr: ...

    @overload
    def let(self, name: str, expr: Target) -> Rational: ...

    def let(self, name: str, expr: Target | EnumExpr) -> IntExpr | EnumExpr | Rational:
        """Name an expression: results show its value under this name. It is not a variable."""
        units: Units = {}
        named = expr.index if isinstance(expr, EnumExpr) else whole(expr, units)
        self.owned.check(self.variables, [named])
        self.declare_name(name)
        self.lets[name] = named
        self.units.update(units)
        return expr if isinstance(expr, EnumExpr) else units.get(named, named)

    def declare_name(self, name: str) -> None:
        """Check that a name is new; raises `ModelError` if not."""
        if not isinstance(name, str) or not name:
            raise ModelError(f"a name must be a string that is not empty, not {name!r}")
        if not name.isascii():
            try:
                name.encode("utf-8")
            except UnicodeEncodeError:
                raise ModelError(
                    f"{name!r} is not a name: half of a surrogate pair is not a character"
                ) from None
        if name in self.variables or name in self.lets or name in self.symbols:
            raise ModelError(f"'{name}' is declared twice: give each variable and let its own name")

    def add(
        self,
        *conditions: BoolExpr | bool | Iterable[object],
        name: str | None = None,
        weight: Weight | None = None,
    ) -> Handle:
        """Add constraints: all of them must hold.

        Args:
            *conditions: Conditions, or arrays, lists and generators of them.
            name: Name of the constraints: messages show it, and `remove`, `disable` and `enable` take it.
            weight: Makes each of them soft: it may be violated at this cost; see `soften`.

        Returns:
            The handle of these constraints, to remove them or to switch them off and on.
        """
        if name is None and weight is None and len(conditions) == 1 and isinstance(conditions[0], BoolExpr):
            if not is_plain(conditions[0], self.variables):
                self.owned.check(self.variables, conditions)  # type: ignore[arg-type] # one condition
            constraint = Constraint(conditions[0])
            with self.lock:
                self.constraints.append(constraint)
            return Handle(self, (constraint,))
        constraints = constraints_of(conditions, name)
        self.owned.check(self.variables, [constraint.expr for constraint in constraints])
        entries = {} if weight is None else {one: soft(one, weight) for one in constraints}
        with self.lock:
            self.constraints += constraints
            handle = Handle(self, constraints)
            if entries:
                kept.disable(self, [handle])
                self.weights.update(entries)
        return handle

    def soften(self, *constraints: Held, weight: Weight = 1) -> None:
        """Make constraints soft: they may be violated at a cost.

        `solve` violates as little total weight as possible, and among such solutions looks for the best by
        its goals; `Result.violation` and `Result.violated` say what is violated. To weigh violations against
        a goal instead, put `violation` into the goal: ``m.solve(minimize=cost + m.violation)``. Other calls
        take no notice of soft constraints. `enable` makes them hard, `disable` switches them off.

        Args:
            *constraints: What `add` returned, or names, as for `remove`.
            weight: What the violation of each costs: a number above 0.

        Raises:
            ModelError: A constraint is not in the model, or the weight is not above 0.
        """
        chosen = kept.held(self, constraints)
        entries = {constraint: soft(constraint, weight) for constraint in chosen}
        kept.disable(self, constraints)
        self.weights.update(entries)

    @property
    def violation(self) -> IntExpr | Rational:
        """The total weight of the violated soft constraints, as an expression for goals and constraints."""
        return violation(self)

    def __iadd__(self, conditions: BoolExpr | bool | Iterable[object]) -> Self:
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
        self._harden(constraints)
        kept.remove(self, constraints)

    def disable(self, *constraints: Held) -> None:
        """Switch constraints off until `enable` switches them on again; arguments as for `remove`.

        Calls, exports and conflicts take no notice of them; copies, scopes and JSON keep them.
        """
        self._harden(constraints)
        kept.disable(self, constraints)

    def enable(self, *constraints: Held) -> None:
        """Switch constraints on again, each at its old place in the order; arguments as for `remove`."""
        self._harden(constraints)
        kept.enable(self, constraints)

    def _harden(self, constraints: Iterable[Held]) -> None:
        for constraint in kept.held(self, constraints) if self.weights else ():
            self.weights.pop(constraint, None)

    def assume(self, *conditions: BoolExpr | Iterable[object], name: str | None = None) -> Handle:
        """Add constraints that messages call assumptions; `retract` removes them.

        Args:
            *conditions: Conditions, or arrays, lists and generators of them.
            name: Name of the assumptions, for messages.

        Returns:
            The handle of the assumptions, a sequence with one `Constraint` for each.
        """
        assumptions = constraints_of(conditions, name, assumed=True)
        self.owned.check(self.variables, [assumption.expr for assumption in assumptions])
        self.constraints += assumptions
        return Handle(self, assumptions)

    def retract(self, *constraints: Held) -> None:
        """Remove constraints as `remove` does; without arguments, remove all assumptions."""
        self.remove(*constraints or [one for one in kept.in_order(self) if one.assumed])

    def scope(self) -> AbstractContextManager[Self]:
        """A scope for `with m.scope(): …`.

        Declarations and constraints of the block are removed at its end.
        """
        return scope(self, self._scopes)

    def copy(self) -> Self:
        """An independent model with the same contents; expressions are immutable and shared."""
        copy = object.__new__(type(self))  # the constructor of a subclass may take anything
        held = copy.__dict__
        with self.lock:
            held.update(self.__dict__)
            for collection in COLLECTIONS:
                held[collection] = held[collection].copy()
        copy.lock, copy.owned, copy._scopes = threading.RLock(), Checked(), []
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
        self, solution: Result | Mapping[str, object], variables: Chosen | Iterable[Chosen] | None = None
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

    def minimize(self, *exprs: Target) -> None:
        """Add expressions that `solve` minimises, less important than earlier ones: lexicographic order."""
        self.goals += own_goals(self, [(expr, "min") for expr in exprs], self.units)

    def maximize(self, *exprs: Target) -> None:
        """Add expressions that `solve` maximises, less important than earlier ones: lexicographic order."""
        self.goals += own_goals(self, [(expr, "max") for expr in exprs], self.units)

    def prefer(self, *goals: tuple[Target, Direction]) -> None:
        """Set (expression, "max" | "min") pairs for which `solve` finds the lexicographic optimum."""
        self.preferences.extend(own_goals(self, goals))

    def hint(self, values: Hint) -> None:
        """Set values that a solution is likely to have: `solve` begins with a search for one near them.

        A hint never removes solutions. It may name some of the variables only, it may be infeasible, and a
        value outside a variable's domain stands for the nearest one inside.

        Args:
            values: Values by variable or by name, or an earlier `Result`. They add to earlier hints and
                replace those of the same variables; `m.hints.clear()` removes all.

        Raises:
            ModelError: A key is not a variable of this model, or a value is not an integer.
        """
        self.hints.update(hints_of(self, values))
