"""Root reasoning: propagate once before search, keep what is proven, drop decided constraints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import eq, sub
from typing import TYPE_CHECKING

from constrint.engine.encoding import Encoding
from constrint.engine.fixpoint import FAILED, INTERRUPTED, fixpoint
from constrint.engine.state_arrays import LIMIT, Box, Branch, build, can_resume, decided
from constrint.lowering.problem import Infeasible, NeedsWiderBounds, Problem
from constrint.presolve.basis import KnownBasis
from constrint.presolve.boxes import box_of
from constrint.presolve.cliques import with_cliques
from constrint.presolve.cycles import has_negative_cycle
from constrint.presolve.disjunctions import add_machines
from constrint.presolve.dominated import without_dominated
from constrint.presolve.engine_at_hand import is_at_hand
from constrint.presolve.equations import keep_classes, narrower_classes
from constrint.presolve.factors import list_factors
from constrint.presolve.joint import joint_bounds
from constrint.presolve.modular import check_modulo
from constrint.presolve.parallel_rows import tightened, without_parallel
from constrint.presolve.residues import check_residues
from constrint.propagators import LinearEq, LinearLe, Propagator
from constrint.settings import DEFAULT, PresolveSettings, Settings
from constrint.store.domains import set_hi, set_lo
from constrint.store.state import CHANGED, WIDER, State
from constrint.support.deadline import NEVER, Deadline, Pace

if TYPE_CHECKING:
    from constrint.engine.compiled import CompiledSearch
    from constrint.presolve.simplex import Bound


class OutOfRange(NeedsWiderBounds):
    """A bound left the range that represents all integers, so a failure proves nothing."""


@dataclass(slots=True)
class Settled:
    """The engine's state at the root fixpoint, from which one search may continue.

    Attributes:
        box: The domains.
        propagators: The propagators.
        state: The state.
        session: The compiled engine's session with this state, or None.
        is_taken: Whether a search has taken it.
    """

    box: Box
    propagators: list[Propagator]
    state: State
    session: CompiledSearch | None
    is_taken: bool = False


@dataclass(frozen=True, slots=True)
class Root:
    """A problem after propagation at the root.

    Attributes:
        box: The domains.
        propagators: The constraints that are not decided.
        exact: Whether some intermediate result may not fit int64.
        huge: The bound that means "no bound".
        stable: Whether propagation reached its fixpoint.
        settled: The state after propagation, if a search may continue from it.
        postponed: Whether root reasoning, including propagation, is still to be done.
        settings: The settings of all that starts here.
        basis: Where linear programs of these constraints begin.
    """

    box: Box
    propagators: list[Propagator]
    exact: bool
    huge: int
    stable: bool
    settled: Settled | None = None
    postponed: bool = False
    settings: Settings = DEFAULT
    basis: KnownBasis = field(default_factory=KnownBasis)

    def begin(
        self, branch: Branch, may_compile: bool, encoding: Callable[[Root], Encoding], *, may_resume: bool
    ) -> tuple[State, CompiledSearch | None]:
        """The state of a search, and its session if it runs in the compiled engine already.

        Args:
            branch: The decisions.
            may_compile: Whether it may run there.
            encoding: Gives the encoding of the constraints.
            may_resume: Whether the state of presolve may go on.
        """
        settled = self.settled
        # A root that was narrowed since has other domains than the state.
        if (
            settled is None
            or settled.is_taken
            or not may_resume
            or (settled.session is not None and not may_compile)
            or settled.box is not self.box
            or settled.propagators is not self.propagators
        ):
            return build(self.box, self.propagators, branch, self.huge, encoding(self)), None
        settled.is_taken = True
        fields = decided(settled.state, branch, self.huge)
        if settled.session is not None:
            return settled.session.replace(fields), settled.session
        return settled.state._replace(**fields), None


def presolve(
    problem: Problem,
    deadline: Deadline = NEVER,
    may_compile: bool = False,
    may_postpone: bool = False,
    settings: Settings = DEFAULT,
    tell: Callable[[str], object] = str,
) -> Root:
    """Propagate at the root.

    Args:
        problem: The problem, which is narrowed.
        deadline: End of the call.
        may_compile: Whether the compiled engine may be used if this process has loaded it.
        may_postpone: Whether root reasoning on small problems may wait, since a short search may suffice.
        settings: The settings, which the root keeps.
        tell: Is called with the name of each rule that may have changed the problem.

    Raises:
        Infeasible: There is no solution.
        Stopped: The deadline was reached.
    """
    rules = settings.presolve
    if may_postpone:
        postponed = _postponed(problem, settings)
        if postponed is not None:
            return postponed
    joined = with_cliques(problem.propagators, problem.lo, problem.hi, rules)
    if joined is not None:
        problem.propagators[:] = joined
        tell("cliques")
    merged = without_parallel(problem.propagators)
    if merged is not None:
        problem.propagators[:] = merged
        tell("parallel rows")
    add_machines(problem, rules)
    tell("machines")
    tight = tightened(problem.propagators, problem.lo, problem.hi)
    if tight is not None:
        problem.propagators[:] = tight
        tell("tightened rows")
    for left in range(rules.rounds - 1, -1, -1):
        session, state, outcome = _first_fixpoint(problem, deadline, may_compile, rules)
        if outcome == FAILED and state.scalar[WIDER]:
            # Nothing is proven; joint bounds may still end bounds that creep.
            if left == 0 or not _narrow_jointly(problem, rules):
                raise OutOfRange
            continue
        if outcome != FAILED:
            propagated = state
            state, outcome = _reason(problem, state, outcome, deadline, rules)
            if state is not propagated:
                session = None
        if outcome == FAILED:
            raise OutOfRange if state.scalar[WIDER] else Infeasible
        box = box_of(state, problem.values)
        _absorb(problem, box)
        tell("propagation")
        if left == 0 or not list_factors(problem, rules):
            break
        tell("factors")
    check_modulo(problem.propagators, box, problem.finite, rules)
    return _root(problem, box, state, session, outcome, settings)


def _postponed(problem: Problem, settings: Settings) -> Root | None:
    """The root without any reasoning; None for what is not small, narrow and within int64."""
    rules = settings.presolve
    widest = max(map(sub, problem.hi, problem.lo), default=0)
    if len(problem.propagators) > rules.most_postponed or widest >= rules.wide:
        return None
    return untouched(problem, settings)


def untouched(problem: Problem, settings: Settings = DEFAULT) -> Root | None:
    """The root without any reasoning; None where numbers may not fit int64."""
    box = Box(problem.lo, problem.hi, problem.step, problem.values)
    if _exceeds_int64(box, problem.propagators):
        return None
    return Root(
        box, problem.propagators, exact=False, huge=LIMIT, stable=True, postponed=True, settings=settings
    )


def _first_fixpoint(
    problem: Problem, deadline: Deadline, may_compile: bool, rules: PresolveSettings
) -> tuple[CompiledSearch | None, State, int]:
    """Propagate all constraints: where machine code is loaded and many are read, by that.

    Returns:
        The compiled search that has propagated, or None; the state, whose fields are arrays then but for the
        domains, which are lists; and the last answer of the propagation, such as `FAILED`.
    """
    box = Box(problem.lo, problem.hi, problem.step, problem.values)
    most = most_propagations(problem.propagators, rules)
    if (
        may_compile
        and is_at_hand(problem.propagators, deadline, rules)
        and not _exceeds_int64(box, problem.propagators)
    ):
        from constrint.engine.compiled import CompiledSearch, propagate, read_at_root

        session = CompiledSearch(build(box, problem.propagators, Branch()))
        outcome = _propagate(partial(propagate, session), deadline, most)
        return session, read_at_root(session), outcome
    state = build(box, problem.propagators, Branch(), problem.huge)
    return None, state, _propagate(partial(fixpoint, state), deadline, most)


def most_propagations(propagators: list[Propagator], rules: PresolveSettings) -> int:
    """The propagations after which a fixpoint is given up: bounds that creep reach it after ages."""
    return max(rules.propagations, rules.propagations_of_constraint * len(propagators))


def _propagate(advance: Callable[[int], int], deadline: Deadline, most: int) -> int:
    """Propagate to a fixpoint with checks of the clock; `advance` runs a given number of propagations."""
    if not deadline.is_set:
        return advance(most)
    pace = Pace(most, deadline)
    left = most
    while True:
        deadline.check()
        pace.begin()
        slice_ = min(left, pace.work)
        outcome = advance(slice_)
        pace.end()
        left -= slice_
        if outcome != INTERRUPTED or left <= 0:
            return outcome


def _reason(
    problem: Problem, state: State, outcome: int, deadline: Deadline, rules: PresolveSettings
) -> tuple[State, int]:
    """Apply number theory and linear algebra to a propagated state, and propagate the results."""
    classes = narrower_classes(state, problem.propagators, rules)
    if classes:
        state = _interpretable(state)
        if not keep_classes(state, classes):
            return state, FAILED
    check_residues(state, problem.propagators)
    if classes:
        outcome = _propagate(
            partial(fixpoint, state), deadline, most_propagations(problem.propagators, rules)
        )
    limit = problem.finite
    if outcome == FAILED or (
        outcome != INTERRUPTED and -limit < min(state.lo, default=0) and max(state.hi, default=0) < limit
    ):
        return state, outcome
    if has_negative_cycle(problem.propagators):
        raise Infeasible
    state = _interpretable(state)
    for v, (low, high) in _joint(problem, state.lo, state.hi, rules).items():
        if not (low is None or set_lo(state, v, low)) or not (high is None or set_hi(state, v, high)):
            return state, FAILED
    if state.scalar[CHANGED]:
        outcome = _propagate(
            partial(fixpoint, state), deadline, most_propagations(problem.propagators, rules)
        )
    return state, outcome


def _interpretable(state: State) -> State:
    """The state with lists instead of arrays."""
    if isinstance(state.args, list):
        return state
    from constrint.engine.compiled import listed

    return listed(state)


def _joint(
    problem: Problem, lo: Sequence[int], hi: Sequence[int], rules: PresolveSettings
) -> dict[int, tuple[Bound, Bound]]:
    """Joint bounds of the wide variables from the linear constraints."""
    wide = [v for v in range(len(lo)) if hi[v] - lo[v] >= rules.wide]
    return joint_bounds(problem.propagators, lo, hi, problem.finite, wide, rules)


def _narrow_jointly(problem: Problem, rules: PresolveSettings) -> bool:
    changed = False
    lo, hi = problem.lo, problem.hi
    for v, (low, high) in _joint(problem, lo, hi, rules).items():
        if (low is not None and low > lo[v]) or (high is not None and high < hi[v]):
            changed = True
            problem.keep_between(
                v, problem.lo[v] if low is None else low, problem.hi[v] if high is None else high
            )
    return changed


def is_linear(root: Root, v: int) -> bool:
    """Whether an objective occurs in a linear constraint, and there are other linear constraints."""
    rows = [node for node in root.propagators if isinstance(node, LinearLe | LinearEq)]
    return len(rows) > 1 and any(x == v for node in rows for _, x in node.terms)


def better_than(root: Root, v: int, direction: str, value: int) -> Root | None:
    """The root restricted to better values of v, with the bounds that follow; None if there is none."""
    box = root.box
    lo, hi = list(box.lo), list(box.hi)
    if direction == "min":
        hi[v] = value - 1 - (value - 1 - lo[v]) % box.step[v]
    else:
        lo[v] = value + 1 + (lo[v] - value - 1) % box.step[v]
    if lo[v] > hi[v]:
        return None
    values = list(box.values)
    own = values[v]
    if own is not None:
        left = [x for x in own if lo[v] <= x <= hi[v]]
        if not left:
            return None
        lo[v], hi[v], values[v] = left[0], left[-1], tuple(left)
    limit = 1 << (root.huge.bit_length() // 2)
    unbounded = [u for u in range(len(lo)) if lo[u] <= -limit or hi[u] >= limit]
    step, rules = box.step, root.settings.presolve
    if not unbounded and all(hi[u] - lo[u] < rules.wide for u in range(len(lo)) if u != v):
        return replace(root, box=Box(lo, hi, box.step, values))  # its search bounds the goal as well
    try:
        bounds = joint_bounds(root.propagators, lo, hi, limit, [*unbounded, v], rules)
    except Infeasible:
        return None
    for u, (low, high) in bounds.items():
        if values[u] is None:
            lo[u] = lo[u] if low is None or low <= lo[u] else low + (lo[u] - low) % step[u]
            hi[u] = hi[u] if high is None or high >= hi[u] else high - (high - lo[u]) % step[u]
            if lo[u] > hi[u]:
                return None
    return replace(root, box=Box(lo, hi, box.step, values))


def _absorb(problem: Problem, box: Box) -> None:
    """Copy the domains of a box to the problem."""
    problem.lo[:], problem.hi[:] = box.lo, box.hi
    problem.step[:], problem.values[:] = box.step, box.values


def _root(
    problem: Problem,
    box: Box,
    state: State,
    session: CompiledSearch | None,
    outcome: int,
    settings: Settings,
) -> Root:
    propagators = list(problem.propagators)  # what is kept of a root's constraints is found by their list
    if outcome != INTERRUPTED:
        are_fixed = sum(map(eq, box.lo, box.hi)) > 1  # more than the constant 1 is fixed
        propagators = [
            node
            for node in propagators
            if not (are_fixed or isinstance(node, LinearLe)) or not is_decided(node, box)
        ]
        if not state.scalar[WIDER]:
            fewer = without_dominated(propagators, box, problem.finite, settings.presolve)
            propagators = propagators if fewer is None else fewer
    exact = session is None and _exceeds_int64(box, propagators)
    settled = None
    if outcome != INTERRUPTED and len(propagators) == len(problem.propagators) and can_resume(state, box):
        settled = Settled(box, propagators, state, session)
    huge = problem.huge if exact else LIMIT
    return Root(box, propagators, exact, huge, outcome != INTERRUPTED, settled, settings=settings)


def is_decided(node: Propagator, box: Box) -> bool:
    """Whether every assignment within the box satisfies a constraint."""
    if isinstance(node, LinearLe):
        most = sum(a * (box.hi[v] if a > 0 else box.lo[v]) for a, v in node.terms)
        return most <= node.bound
    lo, hi = box.lo, box.hi
    for v in node.scope():  # noqa: SIM110 - most end with the first variable
        if lo[v] != hi[v]:
            return False
    return True


def _exceeds_int64(box: Box, propagators: list[Propagator]) -> bool:
    lo, hi = box.lo, box.hi
    if max(-min(lo, default=0), max(hi, default=0)) >= LIMIT >> 1:
        return True
    return max([node.peak(lo, hi) for node in propagators], default=0) >= LIMIT
