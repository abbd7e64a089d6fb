"""A model made ready for search: lowered to the normal form and propagated at the root."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from constrint.branching import VALUE_RULES, Brancher, Inputs, dependents, directions
from constrint.engine.build import Branch
from constrint.engine.state import GREATEST, LEAST
from constrint.errors import ModelError, UnboundedError
from constrint.expr import BoolVar, IntExpr
from constrint.ir import HUGE_BITS, Infeasible, NeedsWiderBounds
from constrint.lower import Lowering, is_domain
from constrint.presolve import OutOfRange, Root, presolve
from constrint.variables import MOST_BITS, check_length

if TYPE_CHECKING:
    from constrint.goals import Goal
    from constrint.learn.proof import ProofLog
    from constrint.model import Engine, Model

WIDEST_BITS = 1 << 14  # search is repeated with bounds up to this wide where narrower ones prove nothing


@dataclass(frozen=True, slots=True)
class Options:
    """How to search.

    Attributes:
        time_limit: Seconds after which to stop, or None.
        seed: Seed of random value choices.
        engine: "auto", "interpreted" or "compiled".
        brancher: How to branch.
        learn: Whether to learn from failures, where the numbers fit int64.
        proof: Where the learning search writes down what it proves, or None.
    """

    time_limit: float | None = None
    seed: int = 0
    engine: Engine = "auto"
    brancher: Brancher = field(default_factory=Brancher)
    learn: bool = False
    proof: ProofLog | None = None


class Plan:
    """A model lowered and propagated at the root.

    Attributes:
        model: The model.
        variables: Number of each variable of the model.
        goals: (number, direction) of each expression to optimise.
        preferences: (number, direction) of each preferred expression.
        inputs: What each function is a function of.
        root: What presolve left; None where it proved that there is no solution.
    """

    def __init__(
        self, model: Model, goals: Sequence[Goal], preferences: Sequence[Goal], bits: int = HUGE_BITS
    ) -> None:
        self.model = model
        self.variables: dict[IntExpr, int] = {}
        self.goals: list[tuple[int, str]] = []
        self.preferences: list[tuple[int, str]] = []
        self.inputs: Inputs = {}
        self.root: Root | None = None
        while True:
            self.bits = bits
            try:
                self._lower(bits, goals, preferences)
            except NeedsWiderBounds as signal:
                if isinstance(signal, OutOfRange) and bits >= WIDEST_BITS:
                    raise UnboundedError(self.first_unbounded()) from None
                bits *= 4
                if bits > MOST_BITS:
                    check_length(bits)
                continue
            except Infeasible:
                pass
            except RecursionError:
                raise ModelError(
                    "an expression is nested too deeply: build long sums with sum_, conditions with all_of"
                ) from None
            return

    def _lower(self, bits: int, goals: Sequence[Goal], preferences: Sequence[Goal]) -> None:
        lowering = Lowering(bits)
        model = self.model
        for variable in model.variables.values():
            lowering.declare(variable)
        # Domains first: the bounds of functions are taken from those of their arguments.
        for constraint in sorted(model.constraints, key=lambda constraint: not is_domain(constraint.expr)):
            lowering.require(constraint.expr)
        for expr in model.lets.values():
            lowering.sum_of(expr)  # a let that is undefined is no solution either
        self.variables = lowering.variables
        declared = set(lowering.variables.values())
        targets = [_target(lowering, expr, direction) for expr, direction in [*goals, *preferences]]
        # Trying values in order suits variables. A function of them may be decided long before its
        # arguments are, so functions, and all that is more important, are optimised one after the other.
        first = len(goals)
        for i in range(first, len(targets)):
            if targets[i][0] not in declared:
                first = i + 1
        self.goals, self.preferences = targets[:first], targets[first:]
        self.inputs = lowering.problem.inputs
        root = presolve(lowering.problem)
        if not root.stable:
            # Bounds that creep without an end in sight would keep search from ever branching.
            for v in lowering.variables.values():
                if max(-root.box.lo[v], root.box.hi[v]) >= lowering.problem.finite:
                    raise UnboundedError(self.name_of(v))
        self.root = root

    def first_unbounded(self) -> str:
        """Name of a variable of the model without finite bounds of its own."""
        for variable, v in self.variables.items():
            domain = getattr(variable, "domain", None)
            if domain is not None and not domain.is_finite:
                return self.name_of(v)
        return "an expression"

    def name_of(self, v: int) -> str:
        """Name of the variable of the model with a number, or of the expression that it stands for."""
        for variable, number in self.variables.items():
            if number == v and not isinstance(variable, BoolVar):
                return str(getattr(variable, "name", ""))
        return "an expression to optimise"

    def branch(self, root: Root, options: Options, goal: tuple[int, str] | None) -> Branch:
        """What to decide: preferences first and in order, then the variables of the model."""
        preferred = [(v, GREATEST if direction == "max" else LEAST) for v, direction in self.preferences]
        rule = VALUE_RULES[options.brancher.values]
        rules = {}
        if goal is not None and options.brancher.values == "auto":
            sign = 1 if goal[1] == "min" else -1
            for v, direction in directions(goal[0], self.inputs).items():
                rules[v] = GREATEST if direction == -sign else rule
        entries = preferred + [(v, rules.get(v, rule)) for v in self.variables.values()]
        degrees = dependents(len(root.box.lo), root.nodes, self.inputs)
        in_order = options.brancher.variables == "input_order"
        return Branch(
            [v for v, _ in entries],
            [rule for _, rule in entries],
            [degrees[v] + 1 for v, _ in entries],
            len(entries) if in_order else len(preferred),
            options.seed,
        )


def _target(lowering: Lowering, expr: IntExpr, direction: str) -> tuple[int, str]:
    """The variable to optimise for an expression, and its direction."""
    value = lowering.sum_of(expr)
    if len(value.terms) == 1:
        ((v, factor),) = value.terms.items()
        return v, direction if factor > 0 else ("min" if direction == "max" else "max")
    return lowering.problem.of_linear(value), direction
