"""How the rows of a batch lie for `kerneltune.torch.fused`: all of one length, or each of its own.

Kernels run over blocks of steps and rows. Rows of their own lengths are sorted, and a block has only the rows
that are not over at its begin. Within a block, the gates of a row that is over keep its states.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from kerneltune.torch.fused_layer import Layer, product_of
from kerneltune.torch.ragged import FAR

Reads = list[tuple[torch.Tensor, torch.Tensor]]
Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Block:
    """Steps that one launch runs over.

    Attributes:
        steps: Their number.
        batch: Rows.
        at: Rows of W x ahead of it in all blocks: steps times rows.
        floats_at: Rows of the saved states ahead of it, which have a step more.
        states_at: Rows of the states ahead of it, which have that step more for each state.
    """

    steps: int
    batch: int
    at: int = 0
    floats_at: int = 0
    states_at: int = 0

    def following(self, steps: int, batch: int, states: int) -> Block:
        """The next block."""
        floats = (self.steps + 1) * self.batch
        return Block(
            steps,
            batch,
            self.at + self.steps * self.batch,
            self.floats_at + floats,
            self.states_at + states * floats,
        )


class Rows(Protocol):
    """Between a layer's data and the arrays of kernels."""

    @property
    def blocks(self) -> tuple[Block, ...]:
        """What kernels run over."""

    @property
    def batch(self) -> int:
        """Rows of the batch."""

    @property
    def last_is_outside(self) -> bool:
        """Whether the last h is that after the last block, not one within."""

    def product(
        self, layer: Layer, data: torch.Tensor, into: list[torch.Tensor], bias: list[torch.Tensor | None]
    ) -> torch.Tensor:
        """W x of all blocks: a row for each step and row."""

    def output(self, layer: Layer, states: torch.Tensor) -> torch.Tensor:
        """H as the data lie, from the states of all blocks."""

    def lasts(self, layer: Layer, states: torch.Tensor) -> torch.Tensor:
        """The states after each row's last step, `[S, directions, B, units]`."""

    def by_hidden(
        self, layer: Layer, by_output: torch.Tensor | None, by_last: torch.Tensor | None, like: torch.Tensor
    ) -> torch.Tensor:
        """The gradient by h of all blocks, from that by the output, and by the last h if it lies inside."""

    def products(self, layer: Layer, gradient: torch.Tensor) -> list[torch.Tensor]:
        """The gradient by W x of each direction, `[M, units * gates]`, as the data lie."""

    def read(self, layer: Layer, data: torch.Tensor, states: torch.Tensor) -> Reads:
        """Each direction's x and h before each step, `[M, …]`, in the order of `products`."""

    def by_data(
        self, products: list[torch.Tensor], into: list[torch.Tensor], like: torch.Tensor
    ) -> torch.Tensor:
        """The gradient by x."""


@dataclass(frozen=True)
class Even:
    """`[T, B, …]`, all rows of the same length."""

    blocks: tuple[Block, ...]

    last_is_outside = True

    @property
    def batch(self) -> int:
        """Rows of the batch."""
        return self.blocks[0].batch

    @staticmethod
    def of(steps: int, batch: int) -> Even:
        """So many steps and rows."""
        return Even((Block(steps, batch),))

    def product(
        self, layer: Layer, data: torch.Tensor, into: list[torch.Tensor], bias: list[torch.Tensor | None]
    ) -> torch.Tensor:
        """One product each direction; the backward one reads x from its end."""
        rows = self.blocks[0].steps * self.blocks[0].batch
        if layer.directions == 1:
            return product_of(data.reshape(rows, -1), into[0], bias[0])
        found = data.new_empty((rows, 2, layer.width))
        for d, one in enumerate((data, data.flip(0))):
            flat = one.reshape(rows, -1)
            added = bias[d]
            if added is None:
                torch.mm(flat, into[d].t(), out=found[:, d])
            else:
                torch.addmm(added, flat, into[d].t(), out=found[:, d])
        return found

    def _hidden(self, layer: Layer, states: torch.Tensor, first: int) -> torch.Tensor:
        """H of all steps from one on, `[T * B, directions, units]`."""
        block = self.blocks[0]
        found = states.narrow(0, first * block.batch, block.steps * block.batch)
        return found.view(-1, layer.directions, layer.units)

    def output(self, layer: Layer, states: torch.Tensor) -> torch.Tensor:
        """A view, or both directions side by side."""
        block = self.blocks[0]
        hidden = self._hidden(layer, states, 1)
        if layer.directions == 1:
            return hidden.view(block.steps, block.batch, layer.units)
        ways = hidden.view(block.steps, block.batch, 2, layer.units).unbind(2)
        return torch.cat([ways[0], ways[1].flip(0)], dim=-1)

    def lasts(self, layer: Layer, states: torch.Tensor) -> torch.Tensor:
        """A view."""
        block = self.blocks[0]
        shape = (len(layer.positive), block.steps + 1, block.batch, layer.directions, layer.units)
        return states.view(shape)[:, -1].transpose(1, 2)

    def by_hidden(
        self, layer: Layer, by_output: torch.Tensor | None, by_last: torch.Tensor | None, like: torch.Tensor
    ) -> torch.Tensor:
        """As it is, or the other way round."""
        block = self.blocks[0]
        if by_output is None:
            return like.new_zeros((block.steps, block.batch, layer.directions * layer.units))
        if layer.directions == 1:
            return by_output
        ways = by_output.unflatten(-1, (2, layer.units)).unbind(2)
        return torch.cat([ways[0], ways[1].flip(0)], dim=2)

    def products(self, layer: Layer, gradient: torch.Tensor) -> list[torch.Tensor]:
        """Views."""
        return list(gradient.view(-1, layer.directions, layer.width).unbind(1))

    def read(self, layer: Layer, data: torch.Tensor, states: torch.Tensor) -> Reads:
        """Views, but x from its end for the backward direction."""
        hidden = self._hidden(layer, states, 0).unbind(1)
        ways = (data, data.flip(0)) if layer.directions == 2 else (data,)
        return [(one.reshape(len(h), -1), h) for one, h in zip(ways, hidden, strict=True)]

    def by_data(
        self, products: list[torch.Tensor], into: list[torch.Tensor], like: torch.Tensor
    ) -> torch.Tensor:
        """One product each direction."""
        found = torch.mm(products[0], into[0]).view(like.shape)
        if len(products) == 1:
            return found
        return found + torch.mm(products[1], into[1]).view(like.shape).flip(0)


@dataclass(frozen=True)
class Ragged:
    """`[N, …]`: the steps of rows that have lengths of their own.

    Attributes:
        blocks: What kernels run over.
        source: The step's number of each place of W x in all blocks, N where a row is over, by direction.
        places: The inverse: where each step and direction lies in W x.
        moves: Where h before, and after, each step and direction lies in the states of all blocks; None for
            one block, where `places` holds for them, too.
        ends: Where each state, direction and row lies at the row's end.
        end_places: Where each direction and row has its last step in W x.
    """

    last_is_outside = False
    blocks: tuple[Block, ...]
    batch: int
    source: torch.Tensor
    places: torch.Tensor
    moves: tuple[torch.Tensor, torch.Tensor] | None
    ends: torch.Tensor
    end_places: torch.Tensor

    def product(
        self, layer: Layer, data: torch.Tensor, into: list[torch.Tensor], bias: list[torch.Tensor | None]
    ) -> torch.Tensor:
        """One product over the steps that there are, put to their places."""
        count = layer.directions
        found = data.new_empty((len(data) + 1, count, layer.width))
        for d in range(count):
            added, rows = bias[d], found[:-1, d]
            if added is None:
                torch.mm(data, into[d].t(), out=rows)
            else:
                torch.addmm(added, data, into[d].t(), out=rows)
        found[-1].copy_(keeping(layer, data).expand(count, -1))
        placed = found.view(-1, layer.width).index_select(0, self.source)
        return placed.view(-1, count * layer.width)

    def output(self, layer: Layer, states: torch.Tensor) -> torch.Tensor:
        """The steps that there are."""
        found = self._hidden(layer, states, 1)
        return found.view(-1, layer.directions * layer.units)

    def _hidden(self, layer: Layer, states: torch.Tensor, after: int) -> torch.Tensor:
        """H before or after each step and direction."""
        if self.moves is not None:
            return states.view(-1, layer.units).index_select(0, self.moves[after])
        block = self.blocks[0]
        within = states.narrow(0, after * block.batch, block.steps * block.batch)
        return within.view(-1, layer.units).index_select(0, self.places)

    def lasts(self, layer: Layer, states: torch.Tensor) -> torch.Tensor:
        """Each row's at its own end."""
        found = states.view(-1, layer.units).index_select(0, self.ends)
        return found.view(len(layer.positive), layer.directions, -1, layer.units)

    def by_hidden(
        self, layer: Layer, by_output: torch.Tensor | None, by_last: torch.Tensor | None, like: torch.Tensor
    ) -> torch.Tensor:
        """0 where rows are over."""
        found = like.new_zeros((len(self.source), layer.units))
        if by_output is not None:
            found.index_copy_(0, self.places, by_output.reshape(-1, layer.units))
        if by_last is not None:
            found.index_add_(0, self.end_places, by_last.reshape(-1, layer.units).to(found.dtype))
        return found

    def products(self, layer: Layer, gradient: torch.Tensor) -> list[torch.Tensor]:
        """Those of the steps that there are."""
        found = gradient.view(-1, layer.width).index_select(0, self.places)
        return list(found.view(-1, layer.directions, layer.width).unbind(1))

    def read(self, layer: Layer, data: torch.Tensor, states: torch.Tensor) -> Reads:
        """Both directions read the same x."""
        found = self._hidden(layer, states, 0).view(-1, layer.directions, layer.units)
        return [(data, hidden) for hidden in found.unbind(1)]

    def by_data(
        self, products: list[torch.Tensor], into: list[torch.Tensor], like: torch.Tensor
    ) -> torch.Tensor:
        """The directions' sum."""
        found = torch.mm(products[0], into[0])
        return found if len(products) == 1 else torch.addmm(found, products[1], into[1])


def keeping(layer: Layer, like: torch.Tensor) -> torch.Tensor:
    """W x that keeps the states of a row that is over, `[units * gates]`."""
    if like.is_cuda and torch.cuda.is_current_stream_capturing():  # memory of a graph is not kept
        return _keeping.__wrapped__(layer, like.device, like.dtype)
    return _keeping(layer, like.device, like.dtype)


@lru_cache(maxsize=64)
def _keeping(layer: Layer, device: torch.device, dtype: torch.dtype) -> torch.Tensor:
    found = torch.zeros((layer.units, layer.gates), device=device, dtype=dtype)
    for gate, sign in enumerate(layer.keeps):
        if sign:
            found[:, gate].fill_(sign * FAR)
    return found.view(-1)


@dataclass(frozen=True)
class Lengths:
    """Rows of their own lengths, on the host.

    Attributes:
        step: The step of each number among the data, `[N]`.
        row: Its row, `[N]`.
        ends: Steps of each row, `[B]`, at least 1.
        running: Rows that are not over at each step, `[T]`, where rows are sorted by decreasing length.
    """

    step: Numbers
    row: Numbers
    ends: Numbers
    running: Numbers | None = None

    @staticmethod
    def packed(batch_sizes: torch.Tensor) -> Lengths:
        """Of a `PackedSequence`."""
        sizes: Numbers = batch_sizes.numpy()
        count, rows = len(sizes), np.arange(sizes[0])
        step = np.repeat(np.arange(count), sizes)
        row = np.arange(len(step)) - (sizes.cumsum() - sizes)[step]
        return Lengths(step, row, count - np.searchsorted(sizes[::-1], rows, side="right"), sizes)

    @staticmethod
    def joined(bounds: torch.Tensor) -> Lengths | None:
        """Of sequences one after another, which begin at these numbers; None where one is empty."""
        starts: Numbers = bounds.numpy()
        ends = np.diff(starts)
        if not ends.all():
            return None
        row = np.repeat(np.arange(len(ends)), ends)
        return Lengths(np.arange(len(row)) - starts[row], row, ends)

    def placed(self, layer: Layer, cuts: list[tuple[int, int]], device: torch.device) -> Ragged:
        """The layout on a device, for blocks of these steps and rows."""
        blocks = _blocks(cuts, len(layer.positive))
        lengths = [block.steps for block in blocks]
        if len(blocks) == 1:
            batch: Any = blocks[0].batch
            place, ahead = np.arange(lengths[0]) * batch, None
        else:
            batch = np.repeat([block.batch for block in blocks], lengths)  # of the block of each step
            place = np.cumsum(batch) - batch
            ahead = np.repeat([block.states_at - block.at for block in blocks], lengths)
        count, last = layer.directions, self.ends - 1
        numbers, way = np.arange(len(self.step) * count).reshape(-1, count), np.arange(count)
        source = np.full((blocks[-1].at + blocks[-1].steps * blocks[-1].batch, count), numbers.size)
        source += way
        places, moves = np.empty_like(numbers), []
        for d in range(count):
            step = last[self.row] - self.step if d else self.step
            at = place[step] + self.row
            source[at, d] = numbers[:, d]
            places[:, d] = at * count + d
            if ahead is not None:
                before = places[:, d] + ahead[step] * count
                moves.append((before, before + batch[step] * count))
        parts = [source, places, *self._ends(layer, blocks, place)]
        parts += [np.stack(one, axis=1) for one in zip(*moves, strict=True)]
        source_, places_, ends, end_places, *rest = _moved([part.reshape(-1) for part in parts], device)
        held = (rest[0], rest[1]) if rest else None
        return Ragged(blocks, len(self.ends), source_, places_, held, ends, end_places)

    def _ends(self, layer: Layer, blocks: tuple[Block, ...], place: Numbers) -> list[Numbers]:
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


def _blocks(cuts: list[tuple[int, int]], states: int) -> tuple[Block, ...]:
    found = [Block(*cuts[0])]
    for steps, batch in cuts[1:]:
        found.append(found[-1].following(steps, batch, states))
    return tuple(found)


_CAPTURED: list[torch.Tensor] = []  # what graphs read again at each replay


def _moved(parts: list[Numbers], device: torch.device) -> tuple[torch.Tensor, ...]:
    """Arrays on a device, by one copy that nothing waits for."""
    whole = torch.from_numpy(np.concatenate(parts))
    if device.type == "cuda":
        whole = whole.pin_memory()
        if torch.cuda.is_current_stream_capturing():
            _CAPTURED.append(whole)
    moved: tuple[torch.Tensor, ...] = whole.to(device, non_blocking=True).split([len(one) for one in parts])
    return moved
