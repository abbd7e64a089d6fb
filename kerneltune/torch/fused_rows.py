"""How the rows of a batch lie for `kerneltune.torch.fused`: all of one length, or each of its own.

Kernels run over blocks of steps and rows. Rows of their own lengths are sorted, and a block has only the rows
that are not over at its begin. Within a block, the gates of a row that is over keep its states.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import torch

from kerneltune.torch.fused_layer import Layer, Weights, product_of
from kerneltune.torch.products import multiply
from kerneltune.torch.ragged import SATURATED_GATE

Reads = list[tuple[torch.Tensor, torch.Tensor]]


@dataclass(frozen=True)
class RowBlock:
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

    def following(self, steps: int, batch: int, states: int) -> RowBlock:
        """The next block."""
        floats = (self.steps + 1) * self.batch
        return RowBlock(
            steps,
            batch,
            self.at + self.steps * self.batch,
            self.floats_at + floats,
            self.states_at + states * floats,
        )


class BatchRows(Protocol):
    """Between a layer's data and the arrays of kernels."""

    @property
    def blocks(self) -> tuple[RowBlock, ...]:
        """Blocks of rows that kernels run over."""

    @property
    def batch(self) -> int:
        """Rows of the batch."""

    @property
    def last_is_outside(self) -> bool:
        """Whether the last h is that after the last block, not one within."""

    def product(self, layer: Layer, data: torch.Tensor, weights: Weights) -> torch.Tensor:
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
        self, layer: Layer, products: list[torch.Tensor], into: list[torch.Tensor], like: torch.Tensor
    ) -> torch.Tensor:
        """The gradient by x."""


@dataclass(frozen=True, eq=False)
class Even:
    """`[T, B, …]`, all rows of the same length; one object for each size."""

    blocks: tuple[RowBlock, ...]

    last_is_outside = True

    @property
    def batch(self) -> int:
        """Rows of the batch."""
        return self.blocks[0].batch

    @staticmethod
    @lru_cache(maxsize=4096)
    def of(steps: int, batch: int) -> Even:
        """So many steps and rows."""
        return Even((RowBlock(steps, batch),))

    def product(self, layer: Layer, data: torch.Tensor, weights: Weights) -> torch.Tensor:
        """One product each direction; the backward one reads x from its end."""
        rows = self.blocks[0].steps * self.blocks[0].batch
        if layer.directions == 1:
            return product_of(layer, data.reshape(rows, -1), weights, 0)
        found = data.new_empty((rows, 2, layer.width))
        for d, one in enumerate((data, self._turned(data))):
            product_of(layer, one.reshape(rows, -1), weights, d, out=found[:, d])
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
        if layer.directions == 2:
            hidden = self._exchanged(hidden)
        return hidden.view(block.steps, block.batch, -1)

    def _exchanged(self, rows: torch.Tensor) -> torch.Tensor:
        """`[T * B, 2, units]` in the order of steps from that of kernels, or back: the latter way turned."""
        block = self.blocks[0]
        places = _constant(_both_ways, (block.steps, block.batch), rows.device)
        return rows.view(-1, rows.shape[-1]).index_select(0, places)

    def _turned(self, data: torch.Tensor) -> torch.Tensor:
        """`[T, …]` from its end."""
        return data.index_select(0, _constant(_from_end, (len(data),), data.device))

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
        return self._exchanged(by_output.reshape(-1, 2, layer.units))

    def products(self, layer: Layer, gradient: torch.Tensor) -> list[torch.Tensor]:
        """Views."""
        return list(gradient.view(-1, layer.directions, layer.width).unbind(1))

    def read(self, layer: Layer, data: torch.Tensor, states: torch.Tensor) -> Reads:
        """Views, but x from its end for the backward direction."""
        hidden = self._hidden(layer, states, 0).unbind(1)
        ways = (data, self._turned(data)) if layer.directions == 2 else (data,)
        return [(one.reshape(len(h), -1), h) for one, h in zip(ways, hidden, strict=True)]

    def by_data(
        self, layer: Layer, products: list[torch.Tensor], into: list[torch.Tensor], like: torch.Tensor
    ) -> torch.Tensor:
        """One product each direction."""
        found = [
            multiply(one, matrix, tf32=layer.tf32).view(like.shape)
            for one, matrix in zip(products, into, strict=True)
        ]
        return found[0] if len(found) == 1 else self._turned(found[1]).add_(found[0])


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
        directions: 1 or 2.
    """

    last_is_outside = False
    blocks: tuple[RowBlock, ...]
    batch: int
    source: torch.Tensor
    places: torch.Tensor
    moves: tuple[torch.Tensor, torch.Tensor] | None
    ends: torch.Tensor
    end_places: torch.Tensor
    directions: int

    def product(self, layer: Layer, data: torch.Tensor, weights: Weights) -> torch.Tensor:
        """One product over the steps that there are, put to their places."""
        count = layer.directions
        found = data.new_empty((len(data) + 1, count, layer.width))
        for d in range(count):
            product_of(layer, data, weights, d, out=found[:-1, d])
        found[-1].copy_(_constant(keeping, (layer, data.dtype), data.device).expand(count, -1))
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
        self, layer: Layer, products: list[torch.Tensor], into: list[torch.Tensor], like: torch.Tensor
    ) -> torch.Tensor:
        """The directions' sum."""
        found = multiply(products[0], into[0], tf32=layer.tf32)
        return found if len(products) == 1 else multiply(products[1], into[1], tf32=layer.tf32, add=found)


def _constant(
    made: Callable[..., torch.Tensor], about: tuple[object, ...], device: torch.device
) -> torch.Tensor:
    """The result of a function of hashable arguments, kept on the device for the next call."""
    if device.type == "cuda" and torch.cuda.is_current_stream_capturing():
        fresh: torch.Tensor = made(*about, device)  # memory of a graph is not kept
        return fresh
    return _kept(made, about, device)


@lru_cache(maxsize=64)
def _kept(made: Callable[..., object], about: tuple[object, ...], device: torch.device) -> torch.Tensor:
    found: torch.Tensor = made(*about, device)
    return found


def _from_end(count: int, device: torch.device) -> torch.Tensor:
    return torch.arange(count - 1, -1, -1, device=device)


def _both_ways(steps: int, batch: int, device: torch.device) -> torch.Tensor:
    places = torch.arange(steps * batch * 2, device=device).view(steps, batch, 2)
    return torch.stack([places[..., 0], places[..., 1].flip(0)], dim=2).view(-1)


def keeping(layer: Layer, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """W x that keeps the states of a row that is over, `[units * gates]`."""
    found = torch.zeros((layer.units, layer.gates), device=device, dtype=dtype)
    for gate, sign in enumerate(layer.keeps or ()):
        if sign:
            found[:, gate].fill_(sign * SATURATED_GATE)
    return found.view(-1)
