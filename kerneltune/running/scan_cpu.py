"""The linear recurrence on a CPU in float32: rows and blocks of channels side by side, steps in order."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float32]
CHANNELS_AT_ONCE = 64  # whose states stay in registers and the nearest cache


def linear_scan(
    a: Floats,
    b: Floats,
    initial: Floats,
    lengths: NDArray[np.int32] | None = None,
    resets: NDArray[np.bool_] | None = None,
    *,
    reverse: bool = False,
) -> tuple[Floats, Floats, Floats]:
    """H' = a h + b.

    Args:
        a: `[B, T, D]`.
        b: `[B, T, D]`.
        initial: h before the first step, `[B, D]`.
        lengths: Steps of each row that count, `[B]`; all if not given.
        resets: `[B, T]`: where h before the step is dropped.
        reverse: Whether the last step is the first.

    Returns:
        h after each step, 0 where it does not count; h before each step, as the step saw it; the last h.
    """
    batch, steps, _ = a.shape
    if lengths is None:
        lengths = np.full(batch, steps, np.int32)
    if resets is None:
        resets = np.zeros((batch, steps), np.bool_)
    after, before = np.zeros_like(b), np.zeros_like(b)
    last = np.array(initial, np.float32)
    _compiled()(a, b, last, lengths, resets, reverse, after, before)
    return after, before, last


@cache
def _compiled() -> Callable[..., None]:
    from numba import njit, prange

    @njit(parallel=True, fastmath=False, cache=False)
    def scan(
        a: Any, b: Any, state: Any, lengths: Any, resets: Any, reverse: bool, after: Any, before: Any
    ) -> None:
        batch, steps, channels = a.shape
        blocks = (channels + CHANNELS_AT_ONCE - 1) // CHANNELS_AT_ONCE
        for job in prange(batch * blocks):
            row, first = job // blocks, job % blocks * CHANNELS_AT_ONCE
            for i in range(steps):
                step = steps - 1 - i if reverse else i
                if step >= lengths[row]:
                    continue
                for channel in range(first, min(first + CHANNELS_AT_ONCE, channels)):
                    entering = np.float32(0.0) if resets[row, step] else state[row, channel]
                    before[row, step, channel] = entering
                    kept = np.float32(0.0) if resets[row, step] else a[row, step, channel] * entering
                    state[row, channel] = kept + b[row, step, channel]
                    after[row, step, channel] = state[row, channel]

    compiled: Callable[..., None] = scan
    return compiled
