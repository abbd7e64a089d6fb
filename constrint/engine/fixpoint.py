"""Propagation: run the propagators whose variables changed, cheapest first, until no queue has any."""

from __future__ import annotations

from constrint.propagators import dispatch
from constrint.store.state import (
    CHANGED,
    CULPRIT,
    HEAD,
    PRIORITIES,
    PROPAGATIONS,
    SETTLED,
    TAIL,
    State,
    compilable,
)

FAILED = 0
STABLE = 1
INTERRUPTED = 2

TURN = 256
TURN_OF_LAST = TURN - 1  # every TURN propagations the most expensive queue goes first, and before it the
TURN_OF_MIDDLE = TURN - 2  # middle one: cheap propagators with creeping bounds would starve them


@compilable
def enqueue(st: State, c: int) -> None:
    """Queue a propagator that is not queued."""
    priority = st.priority[c]
    capacity = len(st.kind)
    tail = st.scalar[TAIL + priority]
    st.queue[priority * capacity + tail % capacity] = c
    st.scalar[TAIL + priority] = tail + 1
    st.queued[c] = 1


@compilable
def enqueue_all(st: State) -> None:
    """Queue every propagator."""
    for c in range(len(st.kind)):
        if st.queued[c] == 0:
            enqueue(st, c)


@compilable
def wake(st: State) -> None:
    """Queue every propagator that watches an event noted since the last call."""
    scalar = st.scalar
    dirty = st.dirty
    changed = st.changed
    watch_start = st.watch_start
    watch_mask = st.watch_mask
    watch_constraint = st.watch_constraint
    queued = st.queued
    queue = st.queue
    priorities = st.priority
    capacity = len(queued)
    for i in range(scalar[CHANGED]):
        v = changed[i]
        event = dirty[v]
        dirty[v] = 0
        for w in range(watch_start[v], watch_start[v + 1]):
            if watch_mask[w] & event:
                c = watch_constraint[w]
                if queued[c] == 0:
                    # `enqueue` inlined: this is the innermost loop.
                    queued[c] = 1
                    priority = priorities[c]
                    tail = scalar[TAIL + priority]
                    queue[priority * capacity + tail % capacity] = c
                    scalar[TAIL + priority] = tail + 1
    scalar[CHANGED] = 0


@compilable
def clear(st: State) -> None:
    """Clear all events and queues."""
    scalar = st.scalar
    for i in range(scalar[CHANGED]):
        st.dirty[st.changed[i]] = 0
    scalar[CHANGED] = 0
    capacity = len(st.kind)
    for priority in range(PRIORITIES):
        for i in range(scalar[HEAD + priority], scalar[TAIL + priority]):
            st.queued[st.queue[priority * capacity + i % capacity]] = 0
        scalar[HEAD + priority] = 0
        scalar[TAIL + priority] = 0


@compilable
def fixpoint(st: State, budget: int) -> int:
    """Propagate until a fixpoint, a failure, or the end of the budget of propagations.

    If interrupted, the queues are kept for the next call. On failure they are cleared.
    """
    scalar = st.scalar
    queued = st.queued
    queue = st.queue
    idempotent = st.idempotent
    capacity = len(queued)
    while True:
        if scalar[CHANGED] > 0:
            wake(st)
        turn = scalar[PROPAGATIONS] % TURN
        if turn == TURN_OF_LAST and scalar[HEAD + 2] != scalar[TAIL + 2]:
            priority = 2
        elif turn == TURN_OF_MIDDLE and scalar[HEAD + 1] != scalar[TAIL + 1]:
            priority = 1
        elif scalar[HEAD] != scalar[TAIL]:
            priority = 0
        elif scalar[HEAD + 1] != scalar[TAIL + 1]:
            priority = 1
        elif scalar[HEAD + 2] != scalar[TAIL + 2]:
            priority = 2
        else:
            return STABLE
        if budget <= 0:
            return INTERRUPTED
        budget -= 1
        head = scalar[HEAD + priority]
        c = queue[priority * capacity + head % capacity]
        scalar[HEAD + priority] = head + 1
        scalar[PROPAGATIONS] += 1
        scalar[SETTLED] = idempotent[c]
        if not dispatch(st, c):
            queued[c] = 0
            scalar[CULPRIT] = c
            clear(st)
            return FAILED
        # A settled propagator stays marked as queued, so its own changes do not wake it.
        if scalar[SETTLED] == 1 and scalar[CHANGED] > 0:
            wake(st)
        queued[c] = 0
