"""Root reasoning: propagate once before search, keep what that proves, and drop what it decides."""

from __future__ import annotations

from dataclasses import dataclass

from constrint.constraints import LinearEq, LinearLe, Node
from constrint.engine.build import LIMIT, Box, Branch, build
from constrint.engine.fixpoint import FAILED, INTERRUPTED, fixpoint
from constrint.engine.state import BITS, WIDER, State
from constrint.engine.store import contains
from constrint.ir import Infeasible, NeedsWiderBounds, Problem

ROOT_PROPAGATIONS = 20_000  # bounds that creep further than this are left to search


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


def presolve(problem: Problem) -> Root:
    """Propagate at the root; raises `Infeasible` where that proves that there is no solution."""
    state = build(
        Box(problem.lo, problem.hi, problem.step, problem.values), problem.nodes, Branch(), problem.huge
    )
    outcome = fixpoint(state, ROOT_PROPAGATIONS)
    if outcome == FAILED:
        raise OutOfRange if state.scalar[WIDER] else Infeasible
    creeps = outcome == INTERRUPTED or any(
        lo <= -problem.finite or hi >= problem.finite for lo, hi in zip(state.lo, state.hi, strict=True)
    )
    if creeps and has_negative_cycle(problem.nodes):
        raise Infeasible
    box = _box(state)
    nodes = problem.nodes
    if outcome != INTERRUPTED:
        nodes = [node for node in nodes if not _is_decided(node, box)]
    exact = _exceeds_int64(box, nodes)
    return Root(box, nodes, exact, problem.huge if exact else LIMIT, outcome != INTERRUPTED)


def has_negative_cycle(nodes: list[Node]) -> bool:
    """Whether the constraints x - y <= c contradict each other around a cycle, whatever the bounds are."""
    edges: list[tuple[int, int, int]] = []
    for node in nodes:
        if isinstance(node, LinearLe | LinearEq) and len(node.terms) == 2:
            (a, x), (b, y) = node.terms
            if a + b == 0:
                x, y = (x, y) if a > 0 else (y, x)
                edges.append((x, y, node.bound // abs(a)))
                if isinstance(node, LinearEq):
                    edges.append((y, x, -node.bound // abs(a)))
    # Bellman and Ford: distances that still fall after as many rounds as there are variables fall for ever.
    distance = dict.fromkeys([v for x, y, _ in edges for v in (x, y)], 0)
    for _ in range(len(distance) + 1):
        changed = False
        for x, y, bound in edges:
            if distance[y] + bound < distance[x]:
                distance[x] = distance[y] + bound
                changed = True
        if not changed:
            return False
    return True


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
