"""Sequences of a batch that have lengths of their own: where their steps lie for kernels.

A kernel runs all rows of a batch over all steps. Behind the end of a row its gates are set so that the states
are kept bit for bit (an LSTM's f is 1 and i is 0, a GRU's z is 1), and no gradient comes from there. The
backward direction of a bidirectional layer reads each row from its own end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import torch

from kerneltune.errors import InputError

SATURATED_GATE = 3e4  # a gate this far from 0 is 0 or 1 to the last bit, in 16 bits, too


class Layout(Protocol):
    """How a layer's data become the steps and rows that a kernel runs over."""

    @property
    def rows(self) -> int:
        """Rows of the batch that kernels see."""

    @property
    def ends(self) -> torch.Tensor | None:
        """Steps of each row, or None where all have all."""

    def within(self, data: torch.Tensor) -> torch.Tensor:
        """The data with 0 behind a row's end: of a NaN there, gradients would have 0 · NaN."""

    def spread(self, product: torch.Tensor, kept: torch.Tensor, *, backward: bool) -> torch.Tensor:
        """Input products `[…, K]` as `[T, B, K]`, with `kept` behind a row's end."""

    def collect(self, output: torch.Tensor, *, backward: bool) -> torch.Tensor:
        """The inverse for outputs: `[T, B, K]` as the data are."""


@dataclass(frozen=True)
class Dense:
    """`[T, B, …]`, all rows of the same length."""

    rows: int
    ends: torch.Tensor | None = None

    def within(self, data: torch.Tensor) -> torch.Tensor:
        """As they are."""
        return data

    def spread(self, product: torch.Tensor, kept: torch.Tensor, *, backward: bool) -> torch.Tensor:
        """As they are, or the other way round."""
        return product.flip(0) if backward else product

    def collect(self, output: torch.Tensor, *, backward: bool) -> torch.Tensor:
        """As they are, or the other way round."""
        return output.flip(0) if backward else output


@dataclass(frozen=True)
class Masked:
    """`[T, B, …]` with lengths on the device, which are never read by the host; padding gives zeros."""

    rows: int
    ends: torch.Tensor
    inside: torch.Tensor  # [T, B, 1]
    mirrored: torch.Tensor  # [T, B, 1]: the step that lies as far from the row's end

    @staticmethod
    def of(lengths: torch.Tensor, steps: int, rows: int, device: torch.device) -> Masked:
        """The layout of rows of these lengths; raises `InputError` for a wrong shape."""
        lengths = torch.as_tensor(lengths, device=device)
        if lengths.shape != (rows,) or lengths.is_floating_point() or lengths.dtype == torch.bool:
            raise InputError(f"lengths are {rows} integers, one a row, not {list(lengths.shape)}")
        ends = lengths.to(torch.int64).clamp(0, steps)
        step = torch.arange(steps, device=device)[:, None]
        inside = step < ends
        mirrored = torch.where(inside, ends - 1 - step, step)
        return Masked(rows, ends, inside[..., None], mirrored[..., None])

    def within(self, data: torch.Tensor) -> torch.Tensor:
        """The data, and 0 behind a row's end."""
        return torch.where(self.inside, data, data.new_zeros(()))

    def _mirror(self, values: torch.Tensor) -> torch.Tensor:
        return values.gather(0, self.mirrored.expand(*self.mirrored.shape[:2], values.shape[-1]))

    def spread(self, product: torch.Tensor, kept: torch.Tensor, *, backward: bool) -> torch.Tensor:
        """The steps inside the rows, each row from its own end where the direction is backward."""
        if backward:
            product = self._mirror(product)
        return torch.where(self.inside, product, kept)

    def collect(self, output: torch.Tensor, *, backward: bool) -> torch.Tensor:
        """The outputs at their steps, zeros behind a row's end."""
        output = torch.where(self.inside, output, output.new_zeros(()))
        return self._mirror(output) if backward else output


@dataclass(frozen=True)
class Tokens:
    """`[N, …]`: the steps of all rows without padding, in any order."""

    rows: int
    steps: int
    ends: torch.Tensor
    places: torch.Tensor  # [N]: step * rows + row of each
    mirrored: torch.Tensor  # [N]: the same, counted from the row's end

    @staticmethod
    def packed(batch_sizes: torch.Tensor, device: torch.device) -> Tokens:
        """The layout of a `PackedSequence`, whose rows are sorted by decreasing length."""
        steps, rows, total = len(batch_sizes), int(batch_sizes[0]), int(batch_sizes.sum())
        running = batch_sizes.to(device, non_blocking=True)  # the one copy; all else is computed there
        step = torch.repeat_interleave(torch.arange(steps, device=device), running, output_size=total)
        row = torch.arange(total, device=device) - (running.cumsum(0) - running)[step]
        ends = (torch.arange(rows, device=device)[:, None] < running).sum(1)
        return Tokens.of(step, row, ends, steps, rows)

    @staticmethod
    def joined(bounds: torch.Tensor, total: int, device: torch.device) -> Tokens:
        """The layout of sequences one after another, with boundaries as `checked_bounds` gives them."""
        ends = bounds.diff()
        longest, rows = int(ends.max()), len(ends)
        moved = bounds.to(device, non_blocking=True)
        row = torch.repeat_interleave(torch.arange(rows, device=device), moved.diff(), output_size=total)
        step = torch.arange(total, device=device) - moved[row]
        return Tokens.of(step, row, moved.diff(), longest, rows)

    @staticmethod
    def of(step: torch.Tensor, row: torch.Tensor, ends: torch.Tensor, steps: int, rows: int) -> Tokens:
        """The layout of steps that are each a step of a row."""
        return Tokens(rows, steps, ends, step * rows + row, (ends[row] - 1 - step) * rows + row)

    def within(self, data: torch.Tensor) -> torch.Tensor:
        """As they are: nothing lies behind a row's end."""
        return data

    def spread(self, product: torch.Tensor, kept: torch.Tensor, *, backward: bool) -> torch.Tensor:
        """The steps at their places, `kept` elsewhere."""
        shape = (self.steps * self.rows, product.shape[-1])
        places = self.mirrored if backward else self.places
        full = kept.to(product.dtype).expand(shape).clone().index_copy(0, places, product)
        return full.view(self.steps, self.rows, -1)

    def collect(self, output: torch.Tensor, *, backward: bool) -> torch.Tensor:
        """The outputs of the steps that are there."""
        return output.reshape(self.steps * self.rows, -1)[self.mirrored if backward else self.places]


def checked_bounds(boundaries: torch.Tensor, total: int) -> torch.Tensor:
    """`cu_seqlens` as attention kernels have them, on the host; raises `InputError` for others."""
    bounds = torch.as_tensor(boundaries).to("cpu", torch.int64)
    if bounds.dim() != 1 or len(bounds) < 2 or int(bounds[0]) or int(bounds[-1]) != total:
        raise InputError(
            f"cu_seqlens begins with 0 and ends with the number of steps in all, {total}: "
            f"{bounds.flatten()[:1].tolist()} … {bounds.flatten()[-1:].tolist()}"
        )
    if bool((bounds.diff() < 0).any()):
        raise InputError("cu_seqlens must not decrease")
    return bounds


def at_end(output: torch.Tensor, initial: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
    """The h at each row's own last step, `[B, …]`; the initial one for a row without steps.

    Args:
        output: h after each step, `[T, B, …]`.
        initial: h before the first step, `[B, …]`.
        ends: Steps of each row, `[B]`.
    """
    rows = torch.arange(ends.shape[0], device=output.device)
    found = output[(ends - 1).clamp(min=0), rows]
    return torch.where((ends > 0).view(-1, *[1] * (found.dim() - 1)), found, initial)


def by_parts(
    run: Callable[[slice, torch.Tensor], tuple[torch.Tensor, torch.Tensor]],
    steps: int,
    start: torch.Tensor,
    ends: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    """A recurrence that halts wherever a row ends, for cells whose states no input keeps.

    Args:
        run: The recurrence of some steps from the states before them.
        steps: Their number in all.
        start: The states before the first step, `[S, B, H, D]`.
        ends: Steps of each row, `[B]`, which the host reads.

    Returns:
        The output, and the states after each row's own last step.
    """
    outputs, states, last, begin = [], start, start, 0
    for end in sorted({*ends.tolist(), steps} - {0}):
        output, states = run(slice(begin, end), states)
        last = torch.where((ends == end)[:, None, None], states, last)
        outputs.append(output)
        begin = end
    return torch.cat(outputs), last
