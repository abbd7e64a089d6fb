"""`Prepared`: a model lowered to the normal form and propagated at the root."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from constrint.engine.select import AS_BEST, AS_BEST_OR_GREATEST, GREATEST, IN_ORDER, LEAST
from constrint.engine.state_arrays import Branch
from constrint.errors import InternalError, ModelError, UnboundedError
from constrint.expr import BoolVar, Const, IntExpr
from constrint.expr.evaluation import SharedValues, is_light
from constrint.lowering.conditions import Lowering, is_domain
from constrint.lowering.problem import HUGE_BITS, Infeasible, NeedsWiderBounds
from constrint.lowering.variables import MOST_BITS, check_length
from constrint.preparing.branching import (
    PLAIN,
    VALUE_RULES,
    VARIABLE_RULES,
    Brancher,
    Group,
    Inputs,
    ValueSelector,
    credits_of,
    directions,
)
from constrint.preparing.checks import Assignment, check
from constrint.preparing.options import Options
from constrint.preparing.structure import Structure
from constrint.presolve import OutOfRange, Root, presolve, untouched
from constrint.store.state import COUNT_FAILURES
from constrint.support.deadline import NEVER, Deadline
from constrint.support.garbage import rarely_collected
from constrint.support.limits import recursion_room

if TYPE_CHECKING:
    from constrint.modelling.declarations import Declarations
    from constrint.modelling.objectives import Goal
    from constrint.preparing.proof import Proof

WIDEST_BITS = 1 << 14  # search is repeated with bounds up to this many bits if narrower ones prove nothing

LOWERING_FRAMES = 10_000
"""The most nested calls of lowering: about twenty for each level of an expression of usual depth."""


class Prepared:
    """A model lowered and propagated at the root; raises `Stopped` at the deadline.

    Attributes:
        model: The model.
        variables: Number of each variable of the model.
        goals: (number, direction) of each expression to optimise.
        preferences: (number, direction) of each preferred expression.
        decided: Number of each expression, other than a variable, that the brancher names.
        scales: (factor, constant) of each goal's expression over the variable that stands for it.
        targets: The expressions to optimise or preferred, in order.
        inputs: What each function is a function of.
        structure: What follows from the constraints of its roots alone.
        root: What presolve left; None where it proved that there is no solution.
    """

    def __init__(
        self,
        model: Declarations,
        goals: Sequence[Goal],
        preferences: Sequence[Goal],
        bits: int = HUGE_BITS,
        brancher: Brancher | None = None,
        deadline: Deadline = NEVER,
        may_compile: bool = False,
        may_postpone: bool = False,
        before_presolve: Callable[[Prepared, Root], None] | None = None,
        proof: Proof | None = None,
    ) -> None:
        """Make a model ready.

        Args:
            model: The model.
            goals: What to optimise, the most important first.
            preferences: What to try values of in order, after that.
            bits: How wide the range is that stands for all integers.
            brancher: What to decide.
            deadline: When this must end.
            may_compile: Whether the compiled engine may propagate, where this process has that.
            may_postpone: Whether root reasoning may be left for later, see `presolve`.
            before_presolve: Called with the prepared model and its root before presolve.
            proof: The proof that records lowering and presolve, or None.
        """
        self.model = model
        self.targets = [expr for expr, _ in [*goals, *preferences]]
        self._before_presolve = before_presolve
        self._proof = proof
        self._may_postpone = may_postpone
        self._deadline = deadline
        self._may_compile = may_compile
        self._brancher = brancher or PLAIN
        self.decided: dict[IntExpr, int] = {}
        self.variables: dict[IntExpr, int] = {}
        self.goals: list[tuple[int, str]] = []
        self.preferences: list[tuple[int, str]] = []
        self.scales: dict[int, tuple[int, int]] = {}
        self._factors: list[tuple[int, int]] = []
        self._steps: list[tuple[str, int]] = []  # rules of presolve, and the number of constraints after each
        self.inputs: Inputs = {}
        self.structure = Structure(self.inputs)
        self.root: Root | None = None
        while True:
            self.bits = bits
            try:
                with recursion_room(LOWERING_FRAMES), rarely_collected():
                    self._lower(bits, goals, preferences)
            except NeedsWiderBounds as signal:
                if isinstance(signal, OutOfRange) and bits >= WIDEST_BITS:
                    raise UnboundedError(self.first_unbounded()) from None
                bits *= 4
                if bits > MOST_BITS:
                    check_length(bits)
                continue
            except Infeasible:
                if proof is not None:
                    proof.infeasible()
            except RecursionError:
                raise ModelError(
                    "an expression is nested too deeply: lowering it takes more than "
                    f"{LOWERING_FRAMES:,} calls within each other, some three to twenty for each operator. "
                    "Build long sums with sum_, "
                    "conditions with all_of, and name inner parts: y = m.int_var(…), m.add(y == …)"
                ) from None
            return

    def _lower(self, bits: int, goals: Sequence[Goal], preferences: Sequence[Goal]) -> None:
        lowering = Lowering(bits, may_pair=not goals and not preferences)
        self._problem, self._lowered, self._steps = lowering.problem, 0, []
        model = self.model
        proof = self._proof
        if proof is not None:
            proof.lowering(model, [*goals, *preferences])
        for variable in model.variables.values():
            lowering.declare(variable)
        if proof is not None:
            proof.declared(lowering.problem, lowering.variables)
        # Domains first: the bounds of functions are computed from those of their arguments.
        numbered = enumerate(model.constraints)
        for number, constraint in sorted(numbered, key=lambda one: not is_domain(one[1].expr)):
            self._deadline.check()
            if proof is not None:
                proof.lowers(number)
            lowering.require(constraint.expr)
            if proof is not None:
                proof.lowered(lowering.problem)
        self.variables = lowering.variables
        declared = set(lowering.variables.values())
        if proof is not None:
            proof.lowers(None)
        self.decided = {
            expr: lowering.problem.of_linear(lowering.apart(expr)[0])
            for group in self._brancher.groups
            for expr in group.over
            if isinstance(expr, IntExpr) and not isinstance(expr, Const) and expr not in self.variables
        }
        scaled = [_target(lowering, expr, direction) for expr, direction in [*goals, *preferences]]
        targets = [target for target, _ in scaled]
        self._factors = [factors for _, factors in scaled]
        self.scales = {v: factors for ((v, _), factors) in reversed(scaled)}
        # Trying values in order suits variables. A function of them may be decided long before its arguments,
        # so functions, and everything more important, are optimised one after the other.
        first = len(goals)
        for i in range(first, len(targets)):
            if targets[i][0] not in declared:
                first = i + 1
        self.goals, self.preferences = targets[:first], targets[first:]
        self.inputs = self._problem.inputs
        self.structure = Structure(self.inputs)
        if self._before_presolve is not None:
            unreasoned = untouched(self._problem, model.settings)
            if unreasoned is not None:
                self._before_presolve(self, unreasoned)
        if proof is not None:
            self._tell_targets(proof, lowering, [*goals, *preferences], targets)
        del lowering  # what it knows of expressions takes as much memory as what it made of them
        self._lowered = len(self._problem.propagators)
        tell = self._step if proof is None else partial(proof.presolved, problem=self._problem)
        may = self._may_compile, self._may_postpone
        root = presolve(self._problem, self._deadline, *may, model.settings, tell)
        if not root.stable:
            self._refuse_creeping(root)
        if not root.postponed:
            self._problem.forget()
        self.root = root

    def _refuse_creeping(self, root: Root) -> None:
        """Raise `UnboundedError` where bounds creep without end, which would keep search from branching."""
        for v in self.variables.values():
            if max(-root.box.lo[v], root.box.hi[v]) >= self._problem.finite:
                raise UnboundedError(self.name_of(v))

    def _tell_targets(
        self, proof: Proof, lowering: Lowering, exprs: Sequence[Goal], targets: Sequence[tuple[int, str]]
    ) -> None:
        """Write the variable of each target into the proof."""
        proof.lowered(lowering.problem)
        for (expr, direction), target in zip(exprs, targets, strict=True):
            proof.objective(direction, lowering.sum_of(expr), target)

    def _step(self, rule: str) -> None:
        self._steps.append((rule, len(self._problem.propagators)))

    def presolve_lines(self) -> list[str]:
        """The changes by lowering and presolve, for people."""
        from constrint.presolve.summary import summary

        lowered = self._lowered or len(self._problem.propagators)
        return summary(self._problem, lowered, self._steps, self.root)

    def reason(self) -> Root | None:
        """Do the postponed root reasoning; returns the new root, or None if there is no solution."""
        try:
            self.root = presolve(
                self._problem, self._deadline, self._may_compile, settings=self.model.settings
            )
        except Infeasible:
            self.root = None
        return self.root

    def root_bound(self, place: int) -> int | None:
        """The bound that presolve proves of a goal as written; None where there is none."""
        root, (v, direction) = self.root, self.goals[place]
        if root is None:
            return None
        bound = root.box.lo[v] if direction == "min" else root.box.hi[v]
        stands_for_all = abs(bound) >= root.huge >> 1
        return None if stands_for_all else self.written_value(place, bound)

    def written_value(self, place: int, value: int) -> int:
        """The value of a target as written where the variable that stands for it has a value."""
        factor, constant = self._factors[place]
        return factor * value + constant

    def first_unbounded(self) -> str:
        """Name of a model variable whose own domain is unbounded."""
        for variable, v in self.variables.items():
            domain = getattr(variable, "domain", None)
            if domain is not None and not domain.is_finite:
                return self.name_of(v)
        return "an expression"

    def name_of(self, v: int) -> str:
        """Name of the model variable with a number, or a text for the expression that it stands for."""
        for variable, number in self.variables.items():
            if number == v and not isinstance(variable, BoolVar):
                return str(getattr(variable, "name", ""))
        return "an expression to optimise"

    def branch(self, root: Root, options: Options, goal: tuple[int, str] | None) -> Branch:
        """The decisions: preferences in order, then the brancher's groups, then the other variables."""
        brancher = options.brancher
        better: dict[int, int] = {}
        if goal is not None:
            sign = 1 if goal[1] == "min" else -1
            better = {v: sign * known for v, known in directions(goal[0], self.inputs).items()}
        entries = [(v, GREATEST if direction == "max" else LEAST) for v, direction in self.preferences]
        groups = [(len(entries), IN_ORDER)] if entries else []
        for group in brancher.groups:
            entries += [(v, value_rule(group.values, better.get(v))) for v in self._decided(group)]
            groups.append((len(entries), VARIABLE_RULES[group.variables]))
        grouped = {v for v, _ in entries[len(self.preferences) :]}
        others = [v for v in self.variables.values() if v not in grouped]
        if better:
            entries += [(v, value_rule(brancher.values, better.get(v))) for v in others]
        else:
            rule = value_rule(brancher.values, None)
            entries += [(v, rule) for v in others]
        groups.append((len(entries), VARIABLE_RULES[brancher.variables]))
        phases = self.hinted(options)
        if phases and not options.is_solution:
            first = len(self.preferences)
            entries[first:] = [(v, AS_BEST if v in phases else rule) for v, rule in entries[first:]]
        reached = self.structure.reached(root)
        variables = [v for v, _ in entries]
        weighing = brancher.weighing
        return Branch(
            variables,
            [rule for _, rule in entries],
            [len(reached[v]) + 1 for v in variables],
            groups,
            options.seed,
            weighing,
            credits_of(variables, reached, len(root.propagators)) if weighing == COUNT_FAILURES else (),
            root.settings.search.least_ranked,
        )

    def check_target(self, place: int, assignment: Assignment, value: int) -> None:
        """Compare a search's value of a target with the target as written; raises `InternalError`.

        Args:
            place: The place of the target among `targets`.
            assignment: A solution.
            value: The value that the target's variable has in that solution.
        """
        expr, said = self.targets[place], self.written_value(place, value)
        shared = assignment if is_light(expr) else SharedValues(assignment)
        written = expr.evaluate(shared)
        if written != said:
            check(self, assignment)  # a violated constraint is the clearer message
            raise InternalError(
                f"a search says {said} of an objective that is {written} in its solution: please report "
                "this model"
            )

    def hinted(self, options: Options) -> dict[int, int]:
        """The hinted values by number."""
        hint = options.hint or {}
        return {v: hint[variable] for variable, v in self.variables.items() if variable in hint}

    def _decided(self, group: Group) -> list[int]:
        """The numbers of a group's variables, each once."""
        numbers: dict[int, None] = {}
        for variable in group.over:
            if isinstance(variable, IntExpr) and not isinstance(variable, Const):
                known = self.variables if variable in self.variables else self.decided
                numbers[known[variable]] = None
        return list(numbers)


def value_rule(values: ValueSelector, better: int | None) -> int:
    """The engine's value rule; `better`: -1 if greater values improve the objective, 1 if smaller."""
    if better == -1 and values == "auto":
        return GREATEST
    if better == -1 and values == "best_so_far":
        return AS_BEST_OR_GREATEST
    return VALUE_RULES[values]


def _target(lowering: Lowering, expr: IntExpr, direction: str) -> tuple[tuple[int, str], tuple[int, int]]:
    """The variable to optimise for an expression, its direction, and the expression's factor and constant."""
    value = lowering.sum_of(expr)
    if len(value.terms) == 1:
        ((v, factor),) = value.terms.items()
        turned = "min" if direction == "max" else "max"
        return (v, direction if factor > 0 else turned), (factor, value.constant)
    return (lowering.problem.of_linear(value), direction), (1, 0)
