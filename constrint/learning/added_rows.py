"""Rows that a learning search is given while it runs: sums of factors times bounds that are at most a limit.

Each holds in every solution, so it propagates and explains like a row of the model. A row is dropped when the
next is added, unless it is a reason on the trail. Rows are the last propagators of a learner.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from constrint.learning.layout import (
    AT_MOST,
    BY_CLAUSE,
    NOTHING,
    QUEUE_HEAD,
    QUEUE_TAIL,
    TRAIL,
    Learner,
)

Ints: TypeAlias = NDArray[np.int64]

LARGEST_TOTAL = 1 << 61  # the sum of factors times ends of their variables


@dataclass(frozen=True, slots=True)
class AddedRow:
    """``sum of factors * bounds <= limit``.

    Attributes:
        bounds: The bounds; no variable occurs twice.
        factors: Their factors, which are positive.
        limit: The limit.
    """

    bounds: Ints
    factors: Ints
    limit: int


def row_of(ls: Learner, variables: Ints, factors: Ints, limit: int) -> AddedRow | None:
    """The row ``sum of factors * variables <= limit``; None if it is none or its numbers are too large.

    Variables that are fixed at the root are part of its limit. A variable may occur several times.
    """
    if not float(np.abs(factors.astype(np.float64)).sum()) < LARGEST_TOTAL:
        return None
    order = np.argsort(variables, kind="stable")
    variables, first = np.unique(variables[order], return_index=True)
    if not len(variables):
        return None
    factors = np.add.reduceat(factors[order], first)
    came = np.argsort(order[first], kind="stable")  # in the order of their first columns
    variables, factors = variables[came], factors[came]
    root = np.asarray(ls.root, np.int64)
    low, high = root[2 * variables], -root[2 * variables + 1]
    farthest = np.maximum(np.abs(low), np.abs(high)).astype(np.float64)
    if not float((np.abs(factors) * farthest).sum()) + abs(limit) < LARGEST_TOTAL:
        return None
    is_fixed = low == high
    limit -= int((factors * low)[is_fixed].sum())
    left = ~is_fixed & (factors != 0)
    variables, factors = variables[left], factors[left]
    if not len(variables):
        return None
    divisor = int(np.gcd.reduce(factors))
    return AddedRow(2 * variables + (factors < 0), np.abs(factors) // divisor, limit // divisor)


class AddedRows:
    """The rows that one learner was given.

    Args:
        ls: The learner before the first of them.
    """

    def __init__(self, ls: Learner) -> None:
        self._first = len(ls.kind)
        self._rows: list[AddedRow] = []

    def with_row(self, ls: Learner, row: AddedRow) -> Learner:
        """The learner with a further row, without earlier ones that are no reasons. All rows are queued."""
        first = self._first
        used = _in_use(ls, first)
        numbers = {p: first + i for i, p in enumerate(used)}
        if any(p != number for p, number in numbers.items()):
            _renumber(ls, numbers)
        self._rows = [*(self._rows[p - first] for p in used), row]
        return _with_rows(ls, first, self._rows)


def _in_use(ls: Learner, first: int) -> list[int]:
    """The propagators from a number on that are reasons of bounds on the trail, in order."""
    reasons = np.asarray(ls.trail_why[: int(ls.scalar[TRAIL])], np.int64)
    propagators = np.unique(reasons[(reasons >= 0) & (reasons & 3 != BY_CLAUSE)] >> 2)
    return [int(p) for p in propagators if p >= first]


def _renumber(ls: Learner, numbers: Mapping[int, int]) -> None:
    """Give propagators that are reasons on the trail other numbers."""
    for at in range(int(ls.scalar[TRAIL])):
        why = int(ls.trail_why[at])
        if why >= 0 and why & 3 != BY_CLAUSE and why >> 2 in numbers:
            ls.trail_why[at] = 4 * numbers[why >> 2] + (why & 3)


def _with_rows(ls: Learner, first: int, rows: Sequence[AddedRow]) -> Learner:
    """A learner, of lists or of arrays, with rows in place of its propagators from a number on."""
    last = int(ls.start[first])
    bounds = np.concatenate([row.bounds for row in rows])
    ends = last + np.cumsum([len(row.bounds) for row in rows], dtype=np.int64)
    zeros, nothing = [0] * len(rows), [NOTHING] * len(rows)
    fields: dict[str, NDArray[np.int64]] = {
        "kind": _joined(ls.kind, first, [AT_MOST] * len(rows)),
        "start": _joined(ls.start, first + 1, ends),
        "literal": _joined(ls.literal, first, nothing),
        "literal_at": _joined(ls.literal_at, first, zeros),
        "limit": _joined(ls.limit, first, [row.limit for row in rows]),
        "term": _joined(ls.term, last, bounds),
        "factor": _joined(ls.factor, last, np.concatenate([row.factors for row in rows])),
        "queued": _joined(ls.queued, first, [1] * len(rows)),
        "queue": _queue(ls, first, len(rows)),
    }
    fields |= _wakes(ls, first, rows)
    if isinstance(ls.kind, list):
        return ls._replace(**{name: cells.tolist() for name, cells in fields.items()})
    return ls._replace(**fields)


def _joined(cells: Sequence[int], kept: int, more: object) -> NDArray[np.int64]:
    return np.append(np.asarray(cells[:kept], np.int64), np.asarray(more, np.int64))


def _queue(ls: Learner, first: int, count: int) -> NDArray[np.int64]:
    """The queues, with the new rows at the end of the cheap one."""
    capacity = len(ls.kind)
    queue = np.zeros(2 * (first + count), np.int64)
    for which in range(2):
        places = range(int(ls.scalar[QUEUE_HEAD + which]), int(ls.scalar[QUEUE_TAIL + which]))
        waiting = [int(ls.queue[which * capacity + i % capacity]) for i in places]
        waiting = [p for p in waiting if p < first]
        if which == 0:
            waiting += range(first, first + count)
        begin = which * (first + count)
        queue[begin : begin + len(waiting)] = waiting
        ls.scalar[QUEUE_HEAD + which] = 0
        ls.scalar[QUEUE_TAIL + which] = len(waiting)
    return queue


def _wakes(ls: Learner, first: int, rows: Sequence[AddedRow]) -> dict[str, NDArray[np.int64]]:
    """The lists of what each bound wakes."""
    starts, wake = np.asarray(ls.wake_start, np.int64), np.asarray(ls.wake, np.int64)
    fixed = np.asarray(ls.wake_fixed, np.int64)
    counts = np.diff(starts)
    stays = wake < first
    if not stays.all():
        owner = np.repeat(np.arange(len(counts)), counts)[stays]
        counts = np.bincount(owner, minlength=len(counts))
        wake, fixed = wake[stays], fixed[stays]
    bounds = np.concatenate([row.bounds for row in rows])
    numbers = np.repeat(np.arange(first, first + len(rows)), [len(row.bounds) for row in rows])
    at = np.cumsum(counts)[bounds]  # behind the others of the bound
    more = np.bincount(bounds, minlength=len(counts))
    return {
        "wake_start": np.append(0, np.cumsum(counts + more)),
        "wake": np.insert(wake, at, numbers),
        "wake_fixed": np.insert(fixed, at, np.zeros(len(bounds), np.int64)),
    }
