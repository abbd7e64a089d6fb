"""Solutions that are easy to find, looked for before anything that takes long.

They are what a call with a time limit gives where the limit comes before its search has a solution.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from constrint.engine.build import Branch, build
from constrint.errors import ModelError, UnboundedError, Undefined
from constrint.expr import BoolVar
from constrint.expr.evaluation import Values
from constrint.preparing.checks import Assignment, check
from constrint.preparing.search import GaveUp
from constrint.propagators import Clause, LinearLe
from constrint.search.sliced import Limits, Stepper
from constrint.store.state import GREATEST, IN_ORDER, LEAST, SOLUTION
from constrint.support.deadline import Deadline, Stopped, look, present

if TYPE_CHECKING:
    from constrint.modelling.declarations import Declarations
    from constrint.modelling.objectives import Goal
    from constrint.preparing.options import Options
    from constrint.preparing.prepared import Plan
    from constrint.presolve import Root

FEW_CONSTRAINTS = 500  # the first solution of a model with fewer is left to its search
SHARE = 0.3  # of the time that is left may go into a dive
MORE_NODES = 200  # of a dive, beside one for each variable


def at_an_end(model: Declarations, goals: Iterable[Goal]) -> Assignment | None:
    """A solution that gives all variables their least values, or all their greatest; None where none does."""
    for assignment in _ends(model):
        values = Values(assignment)
        try:
            if all(_holds(constraint.expr.evaluate(values)) for constraint in model.constraints):
                for expr in [*model.lets.values(), *[expr for expr, _ in goals]]:
                    expr.evaluate(values)  # no solution leaves one of these undefined
                return assignment
        except (Undefined, ModelError):  # no value, or one too large to be worked out
            pass
    return None


def _holds(truth: bool) -> bool:
    look()
    return truth


def _ends(model: Declarations) -> Iterator[Assignment]:
    """The assignments of all least values and of all greatest, where there are such."""
    least: Assignment = {}
    greatest: Assignment = {}
    for variable in model.variables.values():
        if isinstance(variable, BoolVar):
            low: int | None = 0
            high: int | None = 1
        else:
            low, high = variable.domain.lo, variable.domain.hi
        if low is not None:
            least[variable] = low
        if high is not None:
            greatest[variable] = high
    for ends in (least, greatest):
        if len(ends) == len(model.variables):
            yield ends


def by_diving(plan: Plan, root: Root, options: Options) -> Assignment | None:
    """A solution of a large model by a short search that decides the variables in order; None for none.

    Each variable takes the end of its domain that satisfies more of the inequalities.
    """
    if len(root.nodes) < FEW_CONSTRAINTS or root.exact or options.proof is not None:
        return None
    rising = _rising(root)
    variables = list(dict.fromkeys(plan.variables.values()))
    rules = [GREATEST if rising[v] else LEAST for v in variables]
    branch = Branch(variables, rules, groups=[(len(variables), IN_ORDER)])
    outer = present()
    limits = Limits(Deadline(SHARE * outer.left), len(variables) + MORE_NODES)
    try:
        state = build(root.box, root.nodes, branch, root.huge)
        found = _Dive(state, options.engine, False, limits).solution(plan)
    except (GaveUp, Stopped, UnboundedError):
        outer.check()
        return None
    if found is not None:
        check(plan, found)
    return found


def _rising(root: Root) -> list[bool]:
    """For each variable whether more inequalities are satisfied by its greatest value than by its least."""
    balance = [0] * len(root.box.lo)
    for node in root.nodes:
        look()
        if isinstance(node, LinearLe):
            for a, v in node.terms:
                balance[v] += -1 if a > 0 else 1
        elif isinstance(node, Clause):
            for literal in node.literals:
                balance[literal >> 1] += -1 if literal & 1 else 1
    return [more > 0 for more in balance]


class _Dive(Stepper):
    """A search for a first solution."""

    def solution(self, plan: Plan) -> Assignment | None:
        """The first; None where there is none, or something stands in the way."""
        self._start()
        if self._advance() != SOLUTION:
            return None
        return {variable: self.value(v) for variable, v in plan.variables.items()}
