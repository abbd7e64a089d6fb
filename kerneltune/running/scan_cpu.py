"""The linear recurrence on a CPU in float32: rows, blocks of channels and chunks of time side by side.

Where there are few rows and channels, time is cut into chunks of a fixed length: each is first reduced to
what it does to the state, then states pass from chunk to chunk, and then every chunk is computed from its
own. How many threads there are changes no bit.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float32]
Flags: TypeAlias = NDArray[np.bool_]
Way: TypeAlias = tuple[int, int, int]  # first step, number of steps, 1 or -1
CHANNELS_AT_ONCE = 64  # whose states stay in registers and the nearest cache
CHUNK = 4096  # steps
JOBS = 8  # rows times blocks of channels from which on time is not cut


class Rows(NamedTuple):
    """Where the runs of steps lie: `length` steps from `first` on of row `batch`, each `[R]`."""

    batch: NDArray[np.int64]
    first: NDArray[np.int64]
    length: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        batch: int,
        steps: int,
        lengths: NDArray[np.int32] | None = None,
        boundaries: NDArray[np.int32] | None = None,
    ) -> Rows:
        """Rows of a batch, of their lengths, or the sequences that boundaries divide one row into."""
        if boundaries is not None:
            starts = boundaries.astype(np.int64)
            return cls(np.zeros(len(starts) - 1, np.int64), starts[:-1], np.diff(starts))
        counts = np.full(batch, steps, np.int64) if lengths is None else lengths.astype(np.int64)
        return cls(np.arange(batch), np.zeros(batch, np.int64), np.clip(counts, 0, steps))


def linear_scan(
    a: Floats,
    b: Floats,
    initial: Floats,
    lengths: NDArray[np.int32] | None = None,
    resets: NDArray[np.bool_] | None = None,
    *,
    reverse: bool = False,
    boundaries: NDArray[np.int32] | None = None,
    wants_before: bool = True,
) -> tuple[Floats, Floats, Floats]:
    """H' = a h + b.

    Args:
        a: `[B, T, D]`; or `[B, T, D, 2, 2]`, of matrices.
        b: `[B, T, D]`; with matrices `[B, T, D, 2]`, and so all that follows h.
        initial: h before the first step, `[B, D]`, or of every sequence, `[N, D]`.
        lengths: Steps of each row that count, `[B]`; all if not given.
        resets: `[B, T]`: where h before the step is dropped.
        reverse: Whether the last step is the first.
        boundaries: Where the sequences of the one row begin, and T, `[N + 1]`.
        wants_before: Whether h before each step is wanted; without, h after it stands in its place.

    Returns:
        h after each step, 0 where it does not count; h before each step, as the step saw it; the last h.
    """
    batch, steps = a.shape[:2]
    rows = Rows.of(batch, steps, lengths, boundaries)
    if resets is None:
        resets = np.zeros((batch, steps), np.bool_)
    after = np.zeros_like(b)
    before = np.zeros_like(b) if wants_before else after  # which is written behind it
    last = np.array(initial, np.float32)
    if a.ndim == 5:
        _matrices()(a, b, last, rows, resets, reverse, after, before)
        return after, before, last
    blocks = -(-a.shape[2] // CHANNELS_AT_ONCE)
    chunk = CHUNK if len(last) * blocks < JOBS else max(1, steps)
    chunks = max(1, -(-steps // chunk))
    entering = np.zeros((len(last), chunks, a.shape[2]), np.float32)
    _numbers()(a, b, last, rows, resets, reverse, after, before, chunk, entering)
    return after, before, last


@cache
def _chunk_loops() -> tuple[Callable[..., bool], Callable[..., None], Callable[..., None]]:
    """A chunk reduced to what it does to the state; states passed between chunks; a chunk from its state."""
    from kerneltune.running.jit import njit

    @njit(fastmath=False, cache=False)
    def walk(a: Floats, b: Floats, state: Floats, before: Floats) -> None:
        for channel in range(len(state)):
            before[channel] = state[channel]
            state[channel] = a[channel] * state[channel] + b[channel]

    @njit(fastmath=False, cache=False)
    def multiply(a: Floats, product: Floats) -> None:
        for channel in range(len(product)):
            product[channel] = a[channel] * product[channel]

    @njit(fastmath=False, cache=False)
    def reduced(a: Floats, b: Floats, resets: Flags, steps: Way, state: Floats, product: Floats) -> bool:
        lost = False  # whether it drops what enters it
        unused = np.empty(CHANNELS_AT_ONCE, np.float32)
        first, count, way = steps
        for i in range(count):
            step = first + way * i
            if resets[step]:
                state[:] = b[step]
                product[:] = np.float32(0.0)
                lost = True
            else:
                walk(a[step], b[step], state, unused[: len(state)])
                multiply(a[step], product)
        return lost

    @njit(fastmath=False, cache=False)
    def passed(entering: Floats, product: Floats, lost: Flags, last: Floats) -> None:
        count, chunks, channels = entering.shape
        for row in range(count):
            for number in range(chunks):
                for channel in range(channels):
                    added = entering[row, number, channel]
                    state = last[row, channel]
                    entering[row, number, channel] = state
                    if chunks > 1:
                        is_lost = lost[row, number, 0]
                        kept = np.float32(0.0) if is_lost else product[row, number, channel] * state
                        last[row, channel] = kept + added

    @njit(fastmath=False, cache=False)
    def whole(
        a: Floats, b: Floats, resets: Flags, steps: Way, state: Floats, after: Floats, before: Floats
    ) -> None:
        first, count, way = steps
        for i in range(count):
            step = first + way * i
            if resets[step]:
                state[:] = b[step]
            else:
                walk(a[step], b[step], state, before[step])
            after[step] = state

    return reduced, passed, whole


@cache
def _numbers() -> Callable[..., None]:
    from kerneltune.running.jit import njit, prange

    reduced, passed, whole = _chunk_loops()

    @njit(inline="always")
    def steps_of(rows: Rows, row: int, chunk: int, number: int, reverse: bool) -> Way:
        """First step, number of steps and direction of a chunk."""
        begin = number * chunk
        count = max(0, min(chunk, rows.length[row] - begin))
        if reverse:
            return rows.first[row] + rows.length[row] - 1 - begin, count, -1
        return rows.first[row] + begin, count, 1

    @njit(parallel=True, fastmath=False, cache=False)
    def scan(
        a: Floats,
        b: Floats,
        last: Floats,
        rows: Rows,
        resets: Flags,
        reverse: bool,
        after: Floats,
        before: Floats,
        chunk: int,
        entering: Floats,
    ) -> None:
        channels = a.shape[2]
        blocks = (channels + CHANNELS_AT_ONCE - 1) // CHANNELS_AT_ONCE
        count, chunks = entering.shape[0], entering.shape[1]
        product = np.ones_like(entering)
        lost = np.zeros((count, chunks, blocks), np.bool_)
        if chunks > 1:
            for job in prange(count * chunks * blocks):
                row, number, block = job // blocks // chunks, job // blocks % chunks, job % blocks
                batch, first = rows.batch[row], block * CHANNELS_AT_ONCE
                some = slice(first, min(first + CHANNELS_AT_ONCE, channels))
                steps = steps_of(rows, row, chunk, number, reverse)
                state, factor = entering[row, number, some], product[row, number, some]
                x, y = a[batch, :, some], b[batch, :, some]
                lost[row, number, block] = reduced(x, y, resets[batch], steps, state, factor)
        passed(entering, product, lost, last)
        for job in prange(count * chunks * blocks):
            row, number, block = job // blocks // chunks, job // blocks % chunks, job % blocks
            batch, first = rows.batch[row], block * CHANNELS_AT_ONCE
            some = slice(first, min(first + CHANNELS_AT_ONCE, channels))
            steps = steps_of(rows, row, chunk, number, reverse)
            state = entering[row, number, some]
            x, y = a[batch, :, some], b[batch, :, some]
            whole(x, y, resets[batch], steps, state, after[batch, :, some], before[batch, :, some])
            if steps[1] and number * chunk + steps[1] == rows.length[row]:
                last[row, some] = state

    compiled: Callable[..., None] = scan
    return compiled


@cache
def _matrices() -> Callable[..., None]:
    from kerneltune.running.jit import njit, prange

    @njit(parallel=True, fastmath=False, cache=False)
    def scan(
        a: Floats,
        b: Floats,
        last: Floats,
        rows: Rows,
        resets: Flags,
        reverse: bool,
        after: Floats,
        before: Floats,
    ) -> None:
        channels = a.shape[2]
        for job in prange(last.shape[0] * channels):
            row, channel = job // channels, job % channels
            batch = rows.batch[row]
            for i in range(rows.length[row]):
                step = rows.first[row] + (rows.length[row] - 1 - i if reverse else i)
                dropped = resets[batch, step]
                x = np.float32(0.0) if dropped else last[row, channel, 0]
                y = np.float32(0.0) if dropped else last[row, channel, 1]
                before[batch, step, channel, 0] = x
                before[batch, step, channel, 1] = y
                for part in range(2):
                    kept = a[batch, step, channel, part, 0] * x + a[batch, step, channel, part, 1] * y
                    new = (np.float32(0.0) if dropped else kept) + b[batch, step, channel, part]
                    last[row, channel, part] = new
                    after[batch, step, channel, part] = new

    compiled: Callable[..., None] = scan
    return compiled
