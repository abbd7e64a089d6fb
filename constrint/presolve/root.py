"""Root reasoning: propagate once before search, keep what that proves, and drop what it decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from constrint.constraints import LinearLe, Node
from constrint.deadline import NEVER, Deadline, Pace
from constrint.engine.build import LIMIT, Box, Branch, build
from constrint.engine.fixpoint import FAILED, INTERRUPTED, fixpoint
from constrint.engine.state import BITS, CHANGED, WIDER, State
from constrint.engine.store import contains, set_hi, set_lo
from constrint.ir import Infeasible, NeedsWiderBounds, Problem
from constrint.presolve.cycles import has_negative_cycle
from constrint.presolve.equations import tighten_classes
from constrint.presolve.factors import list_factors
from constrint.presolve.joint import joint_bounds
from constrint.presolve.residues import check_residues
from constrint.presolve.simplex import Bound

ROOT_PROPAGATIONS = 20_000  # bounds that creep further than this are left to search
MOST_ROUNDS = 4
WIDE = 1000  # variables with fewer values are not worth a linear program


class OutOfRange(NeedsWiderBounds):
    """A bound left the range that stands for all integers, so that failing proves nothing."""


@dataclass(frozen=True, slots=True)
class Root:
    """A problem after propagation at the root.

    Attributes:
        box: The domains.
        nodes: The constraints that are still open.
        exact: Whether some intermediate may not fit int64.
        huge: What stands for a bound that does not exist.
        stable: Whether propagation reached its fixpoint.
    """

    box: Box
    nodes: list[Node]
    exact: bool
    huge: int
    stable: bool


def presolve(problem: Problem, deadline: Deadline = NEVER) -> Root:
    """Propagate at the root; raises `Infeasible` where that proves that there is no solution.

    At the deadline it raises `Stopped`.
    """
    for left in range(MOST_ROUNDS - 1, -1, -1):
        state = build(
            Box(problem.lo, problem.hi, problem.step, problem.values), problem.nodes, Branch(), problem.huge
        )
        outcome = _propagate(state, deadline)
        if outcome == FAILED and state.scalar[WIDER]:
            # Nothing is proven, but what propagation creeps along for ever may have an end all the same.
            if left == 0 or not _narrow_jointly(problem, problem.lo, problem.hi):
                raise OutOfRange
            continue
        if outcome != FAILED:
            outcome = _reason(problem, state, outcome, deadline)
        if outcome == FAILED:
            raise OutOfRange if state.scalar[WIDER] else Infeasible
        box = _box(state)
        _absorb(problem, box)
        if left == 0 or not list_factors(problem):
            break
    return _root(problem, box, outcome)


def _propagate(state: State, deadline: Deadline) -> int:
    """`fixpoint`, with looks at the clock."""
    if not deadline.is_set:
        return fixpoint(state, ROOT_PROPAGATIONS)
    pace = Pace(ROOT_PROPAGATIONS)
    left = ROOT_PROPAGATIONS
    while True:
        deadline.check()
        pace.begin()
        slice_ = min(left, pace.work)
        outcome = fixpoint(state, slice_)
        pace.end()
        left -= slice_
        if outcome != INTERRUPTED or left <= 0:
            return outcome


def _reason(problem: Problem, state: State, outcome: int, deadline: Deadline) -> int:
    """Number theory and linear algebra on a propagated state, and propagation of what they prove."""
    if not tighten_classes(state, problem.nodes):
        return FAILED
    check_residues(state, problem.nodes)
    if state.scalar[CHANGED]:
        outcome = _propagate(state, deadline)
    limit = problem.finite
    if outcome == FAILED or (
        outcome != INTERRUPTED
        and all(lo > -limit and hi < limit for lo, hi in zip(state.lo, state.hi, strict=True))
    ):
        return outcome
    if has_negative_cycle(problem.nodes):
        raise Infeasible
    for v, (low, high) in _joint(problem, state.lo, state.hi).items():
        if not (low is None or set_lo(state, v, low)) or not (high is None or set_hi(state, v, high)):
            return FAILED
    return _propagate(state, deadline) if state.scalar[CHANGED] else outcome


def _joint(problem: Problem, lo: Sequence[int], hi: Sequence[int]) -> dict[int, tuple[Bound, Bound]]:
    """Bounds of the wide variables from the linear constraints together."""
    wide = [v for v in range(len(lo)) if hi[v] - lo[v] >= WIDE]
    return joint_bounds(problem.nodes, lo, hi, problem.finite, wide)


def _narrow_jointly(problem: Problem, lo: Sequence[int], hi: Sequence[int]) -> bool:
    changed = False
    for v, (low, high) in _joint(problem, lo, hi).items():
        if (low is not None and low > lo[v]) or (high is not None and high < hi[v]):
            changed = True
            problem.keep_between(
                v, problem.lo[v] if low is None else low, problem.hi[v] if high is None else high
            )
    return changed


def better_than(root: Root, v: int, direction: str, value: int) -> Root | None:
    """The root with a better value of v only, and what that bounds; None where there is none."""
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
    step = box.step
    try:
        bounds = joint_bounds(root.nodes, lo, hi, limit, [*unbounded, v])
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
    """Make the domains of a box those of the problem."""
    problem.lo[:], problem.hi[:] = box.lo, box.hi
    problem.step[:], problem.values[:] = box.step, box.values


def _root(problem: Problem, box: Box, outcome: int) -> Root:
    nodes = problem.nodes
    if outcome != INTERRUPTED:
        nodes = [node for node in nodes if not _is_decided(node, box)]
    exact = _exceeds_int64(box, nodes)
    return Root(box, nodes, exact, problem.huge if exact else LIMIT, outcome != INTERRUPTED)


def _box(state: State) -> Box:
    """The domains of a state."""
    count = len(state.lo)
    step = list(state.step)
    values: list[tuple[int, ...] | None] = [None] * count
    for v in range(count):
        lo, hi = state.lo[v], state.hi[v]
        if lo == hi:
            step[v] = 1
        elif state.hole[v] >= 0 and _has_holes(state, v):
            values[v] = tuple([x for x in range(lo, hi + 1, step[v]) if contains(state, v, x)])
    return Box(list(state.lo), list(state.hi), step, values)


def _has_holes(state: State, v: int) -> bool:
    step, base = state.step[v], state.base[v]
    first, last = (state.lo[v] - base) // step, (state.hi[v] - base) // step
    bits = 0
    for word in range(last // BITS, first // BITS - 1, -1):
        bits = bits << BITS | state.words[state.hole[v] + word]
    bits = bits >> first % BITS & ((1 << (last - first + 1)) - 1)
    return bits.bit_count() <= last - first


def _is_decided(node: Node, box: Box) -> bool:
    """Whether every assignment within the box satisfies a node."""
    if isinstance(node, LinearLe):
        most = sum(a * (box.hi[v] if a > 0 else box.lo[v]) for a, v in node.terms)
        return most <= node.bound
    scope = node.scope()
    return all(box.lo[v] == box.hi[v] for v in scope)


def _exceeds_int64(box: Box, nodes: list[Node]) -> bool:
    if any(max(-low, high) >= LIMIT >> 1 for low, high in zip(box.lo, box.hi, strict=True)):
        return True
    return any(node.peak(box.lo, box.hi) >= LIMIT for node in nodes)
