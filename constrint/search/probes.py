"""Probes: short searches for a solution whose objective lies in a part of its range.

A search that requires each solution to be better than the last may creep: over wide domains, solutions
improve by one each, and bounds prove nothing before the last. If the best values that the root allows are
easily reached or easily refuted, some probes decide the objective, or leave a narrow range.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import isqrt
from typing import TYPE_CHECKING

from constrint.engine.state_arrays import LIMIT, Box
from constrint.lowering.problem import Infeasible
from constrint.preparing.checks import Assignment
from constrint.preparing.search_protocol import Outcome
from constrint.search.depth_first import DepthFirstRun

if TYPE_CHECKING:
    from constrint.preparing.prepared import Prepared
    from constrint.presolve import Root
    from constrint.search.call import CallContext


@dataclass
class Probes:
    """Probes of one objective.

    Attributes:
        call: The call, which counts the work.
        prepared: The prepared model.
        root: The root; refuted values of the objective are removed from its range.
        goal: The variable and the direction.
        note: Called with each better solution, its objective, and the search that found it; returns whether
            more are wanted.
        value: The objective of the best solution so far, or None.
    """

    call: CallContext
    prepared: Prepared
    root: Root
    goal: tuple[int, str]
    note: Callable[[Assignment, int, DepthFirstRun], bool]
    value: int | None = None
    _left: int = 0  # nodes
    _is_stopped: bool = False

    def __post_init__(self) -> None:
        self._rules = self.root.settings.search
        self._left = self._rules.most_nodes_of_probes

    def run(self) -> Root | Outcome:
        """Probe until the objective is decided, or the nodes are spent.

        Returns the root of what is left, or `EXHAUSTED` where it is proven that there is no better solution,
        or `STOPPED`.
        """
        low, high = self._range()
        huge = self.root.huge
        if high - low < self._rules.least_range or max(-low, high) >= (
            huge if huge == LIMIT else isqrt(huge)
        ):
            return self.root
        if not self.root.exact and not self._bound_jointly():
            return Outcome.EXHAUSTED
        low, high = self._range()
        low, high = self._from_below(low, high)
        low, high = self._by_halves(low, high)
        if self._is_stopped:
            return Outcome.STOPPED
        narrowed = self._between(low, high) if low <= high else None
        return Outcome.EXHAUSTED if narrowed is None else narrowed

    def _from_below(self, low: int, high: int) -> tuple[int, int]:
        """Probe the best part of the range, and double it while it is refuted.

        Returns the remaining range.
        """
        width = 1
        while low <= high and self._left > 0:
            outcome = self._probe(low, min(high, low + width - 1))
            if outcome is None:
                break
            if outcome:
                high = self._cost() - 1
                width = max(1, (high - low + 1) // 2)
            else:
                low += width
                width *= 4
        return low, high

    def _by_halves(self, low: int, high: int) -> tuple[int, int]:
        """Probe the better half, or the half near the best solution; returns the remaining range."""
        hopeful = low  # the least cost that a probe is likely to reach
        failures, most = 0, self._rules.most_failed_probes
        while hopeful <= high and self._left > 0 and failures < most:
            middle = (hopeful + high) // 2
            outcome = self._probe(low, middle)
            if outcome:
                high = self._cost() - 1
                continue
            if outcome is None:
                failures += 1
            else:
                low = middle + 1
            hopeful = middle + 1
        return low, high

    def _bound_jointly(self) -> bool:
        """Bound the objective by all constraints that imply linear ones; False if nothing is left."""
        from constrint.relaxation.proven_bounds import safe_bounds

        box, v = self.root.box, self.goal[0]
        try:
            low, high = safe_bounds(self.root, v, self.goal[1], self.value is None)
        except Infeasible:
            return False
        narrowed = between(
            self.root, v, box.lo[v] if low is None else low, box.hi[v] if high is None else high
        )
        self.root = narrowed or self.root
        return narrowed is not None

    def _nodes(self) -> int:
        """Nodes of a probe: enough for a probe without failures to finish, even if domains are halved."""
        lo, hi = self.root.box.lo, self.root.box.hi
        halves = sum([(hi[v] - lo[v]).bit_length() for v in set(self.prepared.variables.values())])
        return self._rules.nodes_of_probe + min(2 * halves, self._rules.most_halves)

    def _sign(self) -> int:
        return 1 if self.goal[1] == "min" else -1

    def _cost(self) -> int:
        """The cost of the best solution; less is better."""
        assert self.value is not None
        return self._sign() * self.value

    def _range(self) -> tuple[int, int]:
        """The range of costs of better solutions."""
        v = self.goal[0]
        ends = [self._sign() * self.root.box.lo[v], self._sign() * self.root.box.hi[v]]
        low, high = min(ends), max(ends)
        return low, high if self.value is None else min(high, self._cost() - 1)

    def _between(self, low: int, high: int) -> Root | None:
        """The root with a cost between two values; None if there is none."""
        first, last = sorted((self._sign() * low, self._sign() * high))
        return between(self.root, self.goal[0], first, last)

    def _probe(self, low: int, high: int) -> bool | None:
        """Whether there is a solution with a cost between two values, which is recorded; None if unknown."""
        part = self._between(low, high)
        if part is None:
            return False
        call = self.call
        options = replace(call.options, lns=False, restarts=None, watch=None)
        run = DepthFirstRun(call.task(self.prepared, part, self.goal, options), most_nodes=self._nodes())
        run.finder = "probes"
        better = None
        try:
            step = run.next(checked=False)
            better = step.found
        finally:
            self._left -= 1 + run.statistics().nodes
            call.work.add(run, 1 if better else 0)
        if better is not None:
            self.value = run.value(self.goal[0])
            if not self.note(better, self.value, run):
                self._stop()
            return True
        if step.outcome is Outcome.STOPPED:
            self._stop()
        return False if step.outcome is Outcome.EXHAUSTED else None

    def _stop(self) -> None:
        """Let no further probe begin."""
        self._is_stopped, self._left = True, 0


def between(root: Root, v: int, low: int, high: int) -> Root | None:
    """The root with the values of a variable between two bounds; None if there is none."""
    box = root.box
    lo, hi, values = list(box.lo), list(box.hi), list(box.values)
    own, step = values[v], box.step[v]
    if own is not None:
        left = tuple([x for x in own if low <= x <= high])
        if not left:
            return None
        lo[v], hi[v], values[v] = left[0], left[-1], left
    else:
        if low > lo[v]:
            lo[v] = low + (lo[v] - low) % step
        if high < hi[v]:
            hi[v] = high - (high - lo[v]) % step
        if lo[v] > hi[v]:
            return None
    return replace(root, box=Box(lo, hi, box.step, values))
