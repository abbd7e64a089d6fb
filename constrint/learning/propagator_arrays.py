"""The arrays of the learning search's propagators under construction."""

from __future__ import annotations

from collections.abc import Sequence

from constrint.engine.state_arrays import Box
from constrint.learning.circuits import FIXED_ARC, NO_ARC
from constrint.learning.entries import Atom, Entry
from constrint.learning.layout import (
    AT_MOST,
    CIRCUIT,
    DIFFERENT,
    DISTINCT,
    EXTREME,
    NOTHING,
    OPEN_RESOURCE,
    PROPAGATOR,
    RESOURCE,
    Cells,
)
from constrint.learning.normal import Arcs, Terms
from constrint.learning.resource import WHOLE
from constrint.learning.tasks import Task
from constrint.propagators import Propagator
from constrint.store.state import FIXED, LOWER, UPPER


class PropagatorArrays:
    """The propagators' arrays under construction."""

    def __init__(self) -> None:
        self.kind: Cells = []
        self.start: Cells = [0]
        self.literal: Cells = []
        self.literal_at: Cells = []
        self.limit: Cells = []
        self.term: Cells = []
        self.factor: Cells = []
        self.wakes: dict[int, list[tuple[int, int]]] = {}

    def _wake(self, b: int, only_fixed: bool = False) -> None:
        self.wakes.setdefault(b, []).append((len(self.kind), int(only_fixed)))

    def _finish(self, kind: int, condition: Atom | None, limit: int) -> None:
        if condition is not None:
            self._wake(condition[0])
        self.kind.append(kind)
        self.start.append(len(self.term))
        self.literal.append(NOTHING if condition is None else condition[0])
        self.literal_at.append(0 if condition is None else condition[1])
        self.limit.append(limit)

    def at_most(self, condition: Atom | None, terms: Terms, limit: int) -> None:
        """Add ``condition -> sum <= limit``."""
        for a, v in terms:
            b = 2 * v + (a < 0)
            self._wake(b)
            self.term.append(b)
            self.factor.append(abs(a))
        self._finish(AT_MOST, condition, limit)

    def different(self, condition: Atom | None, terms: Terms, limit: int) -> None:
        """Add ``condition -> sum != limit``."""
        for a, v in terms:
            self._wake(2 * v)
            self._wake(2 * v + 1)
            self.term.append(2 * v)
            self.factor.append(a)
        self._finish(DIFFERENT, condition, limit)

    def resource(self, tasks: Sequence[Task], capacity: int) -> None:
        """Add a resource: tasks never demand more than its capacity."""
        for start, _, _ in tasks:
            self._wake(2 * start)
            self._wake(2 * start + 1)
        for place in (1, 2):
            self.term += [2 * task[0] for task in tasks]
            self.factor += [task[place] for task in tasks]
        are_alike = capacity == 1 and all(task[1:] == (1, 1) for task in tasks)
        self._finish(DISTINCT if are_alike else RESOURCE, None, capacity)

    def open_resource(self, tasks: Sequence[Task], capacity: int) -> None:
        """The same with variables for durations, demands and the capacity.

        Its factors and its limit are scratch space: the least durations and demands, the greatest capacity.
        """
        for start, duration, demand in tasks:
            for b in (2 * start, 2 * start + 1, 2 * duration, 2 * demand):
                self._wake(b)
        self._wake(2 * capacity + 1)
        for place in (0, 2, 1):
            self.term += [2 * task[place] for task in tasks]
        self.term.append(2 * capacity + 1)
        self.factor += [0] * (3 * len(tasks) + 1)
        self._finish(OPEN_RESOURCE, None, 0)

    def circuit(self, arcs: Arcs, kind: int) -> None:
        """Add a circuit of arcs, or another kind of `circuits`."""
        for arc in (arc for row in arcs for arc in row):
            if isinstance(arc, bool):
                self.term.append(FIXED_ARC if arc else NO_ARC)
                self.factor.append(0)
            else:
                self._wake(arc[0])
                self._wake(arc[0] ^ 1)
                self.term.append(arc[0])
                self.factor.append(arc[1])
        self._finish(CIRCUIT, None, kind)
        self.literal_at[-1] = len(arcs)

    def extreme(self, z: int, entries: Sequence[Entry]) -> None:
        """Add an extreme: some entry, whose condition holds, is at least bound z."""
        self._wake(z)
        for b, condition in entries:
            self._wake(b ^ 1)
            if condition is not None:
                self._wake(condition[0] ^ 1)
        self.term += [b for b, _ in entries]
        self.factor += [0] * len(entries)
        self.term += [NOTHING if condition is None else condition[0] for _, condition in entries]
        self.factor += [0 if condition is None else condition[1] for _, condition in entries]
        self._finish(EXTREME, None, z)

    def propagator(self, place: int, node: Propagator, box: Box) -> None:
        """Add a constraint with its own propagation function."""
        for v, mask in node.watches():
            if mask & (LOWER | FIXED):
                self._wake(2 * v, only_fixed=not mask & LOWER)
            if mask & (UPPER | FIXED):
                self._wake(2 * v + 1, only_fixed=not mask & UPPER)
        for v in sorted(set(node.scope())):
            self.term.append(2 * v)
            self.factor.append(1)
        self._finish(PROPAGATOR, None, place)

    def arrays(self, bounds: int) -> dict[str, Cells]:
        """All arrays of propagators, by field."""
        wake_start, wake, wake_fixed = self._wake_lists(bounds)
        return {
            "kind": self.kind,
            "start": self.start,
            "literal": self.literal,
            "literal_at": self.literal_at,
            "limit": self.limit,
            "term": self.term,
            "factor": self.factor,
            "wake_start": wake_start,
            "wake": wake,
            "wake_fixed": wake_fixed,
            "queued": [0] * len(self.kind),
            "gain": [WHOLE] * len(self.kind),
            "to_skip": [0] * len(self.kind),
            "queue": [0] * (2 * len(self.kind)),
        }

    def _wake_lists(self, bounds: int) -> tuple[Cells, Cells, Cells]:
        """Start, propagator and condition of the wake list of each bound."""
        start, wake, fixed = [0], [], []
        for b in range(bounds):
            for p, only_fixed in dict.fromkeys(self.wakes.get(b, ())):
                wake.append(p)
                fixed.append(only_fixed)
            start.append(len(wake))
        return start, wake, fixed
