"""Solutions that are quick to find, tried before anything that takes long.

They are the answers to calls whose time limit comes before their search has a solution.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sized
from typing import TYPE_CHECKING

from constrint.engine.select import GREATEST, IN_ORDER, LEAST
from constrint.engine.state_arrays import Branch, build
from constrint.errors import ModelError, Undefined
from constrint.expr import BoolVar, IntExpr
from constrint.expr.evaluation import SharedValues
from constrint.preparing.branching import PLAIN
from constrint.preparing.checks import Assignment, check, first_violated
from constrint.propagators import Clause, LinearEq, LinearLe
from constrint.search.choose import may_search_briefly
from constrint.search.sliced import SearchLimits, Stepper
from constrint.store.state import SOLUTION
from constrint.support.deadline import Deadline, Stopped, check_deadline, present, watched

if TYPE_CHECKING:
    from constrint.modelling.declarations import Declarations
    from constrint.modelling.objectives import Goal
    from constrint.preparing.options import Options
    from constrint.preparing.prepared import Prepared
    from constrint.presolve import Root
    from constrint.search.call import CallContext
    from constrint.settings import SearchSettings


class EasyAnswer:
    """The answer to a call whose time runs out before its search has a solution.

    Attributes:
        solution: The solution; None where none is found.
    """

    def __init__(self, call: CallContext) -> None:
        self.solution: Assignment | None = None
        self._call = call
        self._has_dived = False

    def at_once(self) -> None:
        """Try the hints and the ends of the domains; raises `Stopped` if that answers the call."""
        if self.solution is None:
            model, targets = self._call.model, self._call.targets
            self.solution = hinted_solution(model, targets) or at_an_end(model, targets)
            self._stop_if_enough()

    def dive(self, prepared: Prepared, root: Root) -> None:
        """Search briefly for a solution, unless one is known; raises `Stopped` if that answers the call."""
        if self.solution is None and not self._has_dived:
            rules = root.settings.search
            self._has_dived = not (root.exact or is_small(prepared.variables, root.propagators, rules))
            self.solution = by_diving(prepared, root, self._call.options)
            self._stop_if_enough()

    def _stop_if_enough(self) -> None:
        """Raise `Stopped` if the solution answers the call: any will do, and the model is large."""
        model, options = self._call.model, self._call.options
        if self.solution is None or self._call.targets or model.hints:
            return
        if is_small(model.variables, model.constraints, model.settings.search):
            return
        is_free = options.engine == "auto" and options.brancher == PLAIN and options.proof is None
        if is_free and may_search_briefly(options):
            raise Stopped


def at_an_end(model: Declarations, goals: Iterable[Goal]) -> Assignment | None:
    """A solution with all variables at their least, or all at their greatest values.

    None if neither is one.
    """
    for assignment in _ends(model):
        if is_solution(model, assignment, [expr for expr, _ in goals]):
            return assignment
    return None


def hinted_solution(model: Declarations, goals: Iterable[Goal]) -> Assignment | None:
    """The hinted values, if they are all there and a solution; nothing is lowered for that."""
    if len(model.hints) < len(model.variables):
        return None
    hinted = hint_of(model.variables, model.hints)
    complete = len(hinted) == len(model.variables)
    return hinted if complete and is_solution(model, hinted, [expr for expr, _ in goals]) else None


def hint_of(variables: Mapping[str, IntExpr], hints: Mapping[str, int]) -> dict[IntExpr, int]:
    """The hinted values by variable."""
    return {variables[name]: value for name, value in hints.items() if name in variables}


def is_solution(model: Declarations, assignment: Assignment, targets: Iterable[IntExpr]) -> bool:
    """Whether an assignment of values from the domains is a solution."""
    try:
        for variable, value in assignment.items():
            if not isinstance(variable, BoolVar) and value not in variable.domain:  # type: ignore[attr-defined] # keys are variables
                return False
        if first_violated(watched(model.constraints), assignment) is not None:
            return False
        values = SharedValues(assignment)
        for expr in [*model.lets.values(), *targets]:
            expr.evaluate(values)  # no solution leaves one of these undefined
    except (Undefined, ModelError):  # no value, or one too large to be computed
        return False
    except KeyError:  # a variable of another model: lowering says so
        return False
    return True


def _ends(model: Declarations) -> Iterator[Assignment]:
    """The assignments of all least and of all greatest values, as far as they are finite."""
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


def by_diving(prepared: Prepared, root: Root, options: Options) -> Assignment | None:
    """A solution of a large model by a short search in order of declaration; None if it finds none.

    Each variable takes the end of its domain that satisfies more of the inequalities and equations.
    """
    search = root.settings.search
    if is_small(prepared.variables, root.propagators, search) or root.exact or options.proof is not None:
        return None
    rising = _rising(root)
    box = root.box
    ends = {variable: box.hi[v] if rising[v] else box.lo[v] for variable, v in prepared.variables.items()}
    if is_solution(prepared.model, ends, prepared.targets):
        return ends
    variables = list(dict.fromkeys(prepared.variables.values()))
    rules = [GREATEST if rising[v] else LEAST for v in variables]
    branch = Branch(variables, rules, groups=[(len(variables), IN_ORDER)])
    outer = present()
    most = len(variables) + search.more_nodes_of_dive
    limits = SearchLimits(Deadline(search.share_of_dive * outer.left), most, settings=root.settings)
    try:
        state = build(root.box, root.propagators, branch, root.huge)
        found = _Dive(state, options.engine, False, limits).solution(prepared)
    except Stopped:
        outer.check()
        return None
    if found is not None:
        check(prepared, found)
    return found


def is_small(variables: Sized, constraints: Sized, rules: SearchSettings) -> bool:
    """Whether the first solution of a model is left to its search."""
    return len(variables) + len(constraints) < rules.small


def _rising(root: Root) -> list[bool]:
    """For each variable whether more constraints are satisfied by its greatest value than by its least."""
    balance = [0] * len(root.box.lo)
    for node in root.propagators:
        check_deadline()
        if isinstance(node, LinearLe):
            for a, v in node.terms:
                balance[v] += -1 if a > 0 else 1
        elif isinstance(node, LinearEq):
            least = sum(min(a * root.box.lo[v], a * root.box.hi[v]) for a, v in node.terms)
            for a, v in node.terms:
                balance[v] += 1 if (a > 0) == (least < node.bound) else -1
        elif isinstance(node, Clause):
            for literal in node.literals:
                balance[literal >> 1] += -1 if literal & 1 else 1
    return [more > 0 for more in balance]


class _Dive(Stepper):
    """A short search for a first solution."""

    def solution(self, prepared: Prepared) -> Assignment | None:
        """The first solution; None if there is none, or if an obstacle stops the search."""
        self._start()
        if self._advance() != SOLUTION:
            return None
        return {variable: self.value(v) for variable, v in prepared.variables.items()}
