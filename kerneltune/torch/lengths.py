"""Rows of their own lengths: from a `PackedSequence` or boundaries to the places of `Ragged`, on the host."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray

from kerneltune.errors import InputError
from kerneltune.torch.fused_layer import Layer
from kerneltune.torch.fused_rows import Ragged, RowBlock

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Lengths:
    """Rows of their own lengths, on the host.

    Attributes:
        ends: Steps of each row, `[B]`, at least 1.
        running: Rows that are not over at each step, `[T]`, where rows are sorted by decreasing length and
            data lie step after step; None where they lie row after row.
    """

    ends: Numbers
    running: Numbers | None = None

    @staticmethod
    def packed(batch_sizes: torch.Tensor) -> Lengths:
        """Of a `PackedSequence`."""
        sizes: Numbers = batch_sizes.numpy().astype(np.int64, copy=False)
        return Lengths(len(sizes) - np.searchsorted(sizes[::-1], np.arange(sizes[0]), side="right"), sizes)

    @staticmethod
    def joined(bounds: torch.Tensor) -> Lengths | None:
        """Of sequences one after another, which begin at these numbers; None where one is empty."""
        ends = np.diff(bounds.numpy()).astype(np.int64, copy=False)
        return Lengths(ends) if ends.all() else None

    @property
    def key(self) -> tuple[bytes, bool]:
        """Cache key."""
        packed = self.running is not None
        return (self.ends if self.running is None else self.running).tobytes(), packed

    @staticmethod
    def of_key(key: tuple[bytes, bool]) -> Lengths:
        """The inverse of `key`."""
        found = np.frombuffer(key[0], dtype=np.int64)
        return Lengths.packed(torch.from_numpy(found.copy())) if key[1] else Lengths(found)

    @cached_property
    def steps_and_rows(self) -> tuple[Numbers, Numbers]:
        """The step and the row of each number among the data, `[N]`."""
        sizes = self.ends if self.running is None else self.running
        outer = np.repeat(np.arange(len(sizes)), sizes)
        inner = np.arange(len(outer)) - (sizes.cumsum() - sizes)[outer]
        return (inner, outer) if self.running is None else (outer, inner)

    def placed(self, layer: Layer, cuts: list[tuple[int, int]], device: torch.device) -> Ragged:
        """The layout on a device, for blocks of these steps and rows."""
        blocks = _blocks(cuts, len(layer.positive))
        if len(blocks) == 1 and layer.directions == 1 and self.running is not None:
            parts = self._simply(layer, blocks[0])
        else:
            parts = self._generally(layer, blocks)
        source, places, ends, end_places, *rest = _moved([part.reshape(-1) for part in parts], device)
        held = (rest[0], rest[1]) if rest else None
        return Ragged(
            blocks=blocks,
            batch=len(self.ends),
            source=source,
            places=places,
            moves=held,
            ends=ends,
            end_places=end_places,
            directions=layer.directions,
        )

    def _simply(self, layer: Layer, block: RowBlock) -> list[Numbers]:
        """One block and direction, which takes a fraction of the host's time."""
        assert self.running is not None
        inside = np.arange(block.batch) < self.running[:, None]
        places = np.flatnonzero(inside)
        source = np.full(inside.size, len(places))
        source[places] = np.arange(len(places))
        return [source, places, *self._ends(layer, (block,), np.arange(block.steps) * block.batch)]

    def _generally(self, layer: Layer, blocks: tuple[RowBlock, ...]) -> list[Numbers]:
        lengths = [block.steps for block in blocks]
        batch = np.repeat([block.batch for block in blocks], lengths)  # of the block of each step
        place = np.cumsum(batch) - batch
        ahead = np.repeat([block.states_at - block.at for block in blocks], lengths)
        steps, rows = self.steps_and_rows
        count, last = layer.directions, self.ends - 1
        numbers, way = np.arange(len(steps) * count).reshape(-1, count), np.arange(count)
        source = np.full((blocks[-1].at + blocks[-1].steps * blocks[-1].batch, count), numbers.size)
        source += way
        places, moves = np.empty_like(numbers), []
        for d in range(count):
            step = last[rows] - steps if d else steps
            at = place[step] + rows
            source[at, d] = numbers[:, d]
            places[:, d] = at * count + d
            before = places[:, d] + ahead[step] * count
            moves.append((before, before + batch[step] * count))
        parts = [source, places, *self._ends(layer, blocks, place)]
        if len(blocks) > 1:
            parts += [np.stack(one, axis=1) for one in zip(*moves, strict=True)]
        return parts

    def _ends(self, layer: Layer, blocks: tuple[RowBlock, ...], place: Numbers) -> list[Numbers]:
        """Where states lie at a row's end, h within its block and others behind it, and the last step."""
        count, rows, last = layer.directions, np.arange(len(self.ends)), self.ends - 1
        way = np.arange(count)[:, None]
        at_end = np.searchsorted(np.cumsum([block.steps for block in blocks]), last, side="right")
        final = place[last] + rows
        ahead = np.array([block.states_at - block.at + block.batch for block in blocks])
        found = [final + ahead[at_end]]
        for state in range(1, len(layer.positive)):
            base = [b.states_at + (state * (b.steps + 1) + b.steps) * b.batch for b in blocks]
            found.append(np.array(base)[at_end] + rows)
        return [np.stack(found)[:, None] * count + way, final * count + way]


def _blocks(cuts: list[tuple[int, int]], states: int) -> tuple[RowBlock, ...]:
    found = [RowBlock(*cuts[0])]
    for steps, batch in cuts[1:]:
        found.append(found[-1].following(steps, batch, states))
    return tuple(found)


def _moved(parts: list[Numbers], device: torch.device) -> tuple[torch.Tensor, ...]:
    """Arrays on a device, by one copy that nothing waits for."""
    whole = torch.from_numpy(np.concatenate(parts))
    if device.type == "cuda":
        if torch.cuda.is_current_stream_capturing():
            raise InputError(
                "a PackedSequence, cu_seqlens and reset are read by the host, so no CUDA graph records them: "
                "give lengths= on the GPU"
            )
        whole = whole.pin_memory()
    moved: tuple[torch.Tensor, ...] = whole.to(device, non_blocking=True).split([len(one) for one in parts])
    return moved
