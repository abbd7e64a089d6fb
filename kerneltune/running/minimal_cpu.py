"""minGRU and minLSTM on a CPU in one pass: gates and recurrence of a step together, states in the cache.

Inputs and h are float32 or bfloat16 (as the 16 bits of each number), the state is float32. Blocks of channels
of rows are computed side by side. Channels do not depend on each other, so the number of threads changes no
bit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Flags: TypeAlias = NDArray[np.bool_]
Places: TypeAlias = NDArray[np.int64]
Stored: TypeAlias = NDArray[Any]
Floats: TypeAlias = NDArray[np.float32]
CHANNELS_AT_ONCE = 512  # whole rows of pages rather than short pieces of many
VECTORS = (
    64  # blocks begin at multiples of so many channels: which of them vectors leave over depends on no block
)


class Steps(NamedTuple):
    """An array `[B, T, D]`: the numbers from its first to its last one, how far apart rows and steps are."""

    numbers: NDArray[np.generic]
    row: int
    step: int


def minimal_scan(
    inputs: Sequence[Steps],
    hidden: Steps,
    state: NDArray[np.float32],
    resets: NDArray[np.bool_],
    *,
    reverse: bool,
    parts: int,
) -> None:
    """H after each step, of a minGRU from two inputs or of a minLSTM from three.

    Args:
        inputs: k, n; or k, j, n: before their activations. uint16 are bfloat16.
        hidden: Where h goes, of the same type.
        state: h before the first step, `[B, D]`; h after the last in its place.
        resets: `[B, T]`: where h before the step is dropped.
        reverse: Whether the last step is the first.
        parts: Blocks of channels of a row to compute side by side, at least.
    """
    short = hidden.numbers.dtype == np.uint16
    block = min(CHANNELS_AT_ONCE, -(-state.shape[1] // (parts * VECTORS)) * VECTORS)
    strides = np.array([[part.row, part.step] for part in (*inputs, hidden)], np.int64)
    arrays = tuple(part.numbers for part in inputs)
    _loop(len(inputs) == 3, short)(arrays, hidden.numbers, strides, state, resets, reverse, block)


@cache
def _exponential() -> Callable[..., np.float32]:
    """Exp without a branch, so that many channels are computed at once."""
    from kerneltune.running.jit import njit

    log2_e = np.float32(1.44269504)
    ln2_high, ln2_low = np.float32(0.693359375), np.float32(-2.12194440e-4)
    one, rounder = np.float32(1.0), np.float32(12582912.0)
    least, most = np.float32(-87.0), np.float32(87.0)
    # Cephes' expf: e^r = 1 + r + r^2 p(r) for |r| <= ln 2 / 2.
    p = [1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1]
    p0, p1, p2, p3, p4, p5 = (np.float32(x) for x in p)

    @njit(inline="always")
    def exponential(x: np.float32) -> np.float32:
        x = least if x < least else x  # a NaN stays one
        x = most if x > most else x
        shifted = x * log2_e + rounder
        whole = shifted - rounder
        r = x - whole * ln2_high - whole * ln2_low
        polynomial = ((((p0 * r + p1) * r + p2) * r + p3) * r + p4) * r + p5
        power = np.int32(
            (np.float32(shifted).view(np.int32) - np.int32(0x4B400000) + np.int32(127)) << np.int32(23)
        )
        return (polynomial * r * r + r + one) * np.int32(power).view(np.float32)

    found: Callable[..., np.float32] = exponential
    return found


@cache
def _gates() -> tuple[Callable[..., np.float32], ...]:
    """g, and the forget gates of both cells."""
    from kerneltune.running.jit import njit

    exponential = _exponential()
    one, half = np.float32(1.0), np.float32(0.5)

    @njit(inline="always")
    def sigmoid(x: np.float32) -> np.float32:
        return one / (one + exponential(-x))

    @njit(inline="always")
    def candidate(n: np.float32) -> np.float32:
        below = sigmoid(n)
        return below if n < np.float32(0.0) else n + half

    @njit(inline="always")
    def forget_of_gru(k: np.float32) -> np.float32:
        return one / (one + exponential(k))

    far, near = np.float32(25.0), np.float32(1.0e30)

    @njit(inline="always")
    def forget_of_lstm(k: np.float32, j: np.float32) -> np.float32:
        """(1 + exp(-j)) / (1 + exp(-j) + 1 + exp(-k)), both divided by what makes a large one exp(25)."""
        k = -near if k < -near else k
        k = near if k > near else k
        j = -near if j < -near else j
        j = near if j > near else j
        larger = -k if -k > -j else -j
        of_k, of_j = (-k - larger) + far, (-j - larger) + far
        of_forget = exponential(of_k if of_k < -k else -k)
        of_input = exponential(of_j if of_j < -j else -j)
        return (one + of_input) / ((one + of_input) + (one + of_forget))

    return candidate, forget_of_gru, forget_of_lstm


@cache
def _conversions(short: bool) -> tuple[Callable[..., object], Callable[..., object]]:
    """From what is stored to float32, and back to nearest even."""
    from kerneltune.running.jit import njit

    @njit(inline="always")
    def widened(bits: np.uint16) -> np.float32:
        return np.uint32(np.uint32(bits) << np.uint32(16)).view(np.float32)

    @njit(inline="always")
    def narrowed(x: np.float32) -> np.uint16:
        bits = np.float32(x).view(np.uint32)
        odd = np.uint32(np.uint32(bits >> np.uint32(16)) & np.uint32(1))
        rounded = np.uint32(np.uint32(bits + np.uint32(0x7FFF)) + odd)
        return np.uint16(np.uint32((rounded if x == x else np.uint32(0x7FC00000)) >> np.uint32(16)))

    @njit(inline="always")
    def as_it_is(x: object) -> object:
        return x

    return (widened, narrowed) if short else (as_it_is, as_it_is)


@cache
def _step(has_input_gate: bool, short: bool) -> Callable[..., None]:
    """A step of a block of channels, from where it lies in each array."""
    from kerneltune.running.jit import njit

    candidate, forget_of_gru, forget_of_lstm = _gates()
    read, written = _conversions(short)
    one, zero = np.float32(1.0), np.float32(0.0)

    @njit(error_model="numpy", fastmath={"contract"})
    def step_of_gru(k: Stored, n: Stored, h: Floats, to: Stored, kept: bool) -> None:
        for c in range(len(h)):
            a = forget_of_gru(read(k[c]))
            new = a * (h[c] if kept else zero) + (one - a) * candidate(read(n[c]))
            h[c] = new
            to[c] = written(new)

    @njit(error_model="numpy", fastmath={"contract"})
    def step_of_lstm(k: Stored, j: Stored, n: Stored, h: Floats, to: Stored, kept: bool) -> None:
        for c in range(len(h)):
            a = forget_of_lstm(read(k[c]), read(j[c]))
            new = a * (h[c] if kept else zero) + (one - a) * candidate(read(n[c]))
            h[c] = new
            to[c] = written(new)

    @njit(inline="always")
    def part(array: Stored, place: int, count: int) -> Stored:
        return array[place : place + count]

    @njit(error_model="numpy")
    def take_of_gru(
        arrays: tuple[Stored, ...], places: Places, h: Floats, hidden: Stored, kept: bool
    ) -> None:
        k, n = arrays
        count = len(h)
        ends = part(hidden, places[2], count)
        step_of_gru(part(k, places[0], count), part(n, places[1], count), h, ends, kept)

    @njit(error_model="numpy")
    def take_of_lstm(
        arrays: tuple[Stored, ...], places: Places, h: Floats, hidden: Stored, kept: bool
    ) -> None:
        k, j, n = arrays
        count = len(h)
        j_part, ends = part(j, places[1], count), part(hidden, places[3], count)
        step_of_lstm(part(k, places[0], count), j_part, part(n, places[2], count), h, ends, kept)

    found: Callable[..., None] = take_of_lstm if has_input_gate else take_of_gru
    return found


@cache
def _loop(has_input_gate: bool, short: bool) -> Callable[..., None]:
    """All steps of all blocks."""
    from kerneltune.running.jit import njit, prange

    take = _step(has_input_gate, short)
    number = 4 if has_input_gate else 3

    @njit(parallel=True, error_model="numpy")
    def scan(
        arrays: tuple[Stored, ...],
        hidden: Stored,
        strides: Places,
        state: Floats,
        resets: Flags,
        reverse: bool,
        block: int,
    ) -> None:
        batch, steps = resets.shape
        channels = state.shape[1]
        blocks = (channels + block - 1) // block
        for job in prange(batch * blocks):
            row, first = job // blocks, job % blocks * block
            h = state[row, first : min(first + block, channels)]
            places = np.empty(number, np.int64)
            for i in range(steps):
                step = steps - 1 - i if reverse else i
                for array in range(number):
                    places[array] = row * strides[array, 0] + step * strides[array, 1] + first
                take(arrays, places, h, hidden, not resets[row, step])

    compiled: Callable[..., None] = scan
    return compiled
