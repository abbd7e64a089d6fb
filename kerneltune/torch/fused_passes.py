"""The passes of a stack, layer after layer: kernels queued on the current stream, without autograd.

`kerneltune.torch.fused` makes an operation of them that can be differentiated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import torch

from kerneltune.torch.fused_layer import Layer, Weights, gradients_of, weights_of
from kerneltune.torch.fused_rows import BatchRows, RowBlock
from kerneltune.torch.launching import Launcher
from kerneltune.torch.operators import problem_of, readable, spec_of, unit_gradients

States = tuple[torch.Tensor, ...]
Gradients = tuple["torch.Tensor | None", ...]  # a text: the manual is built without torch
Saved = dict[str, torch.Tensor]
_Parts = tuple[tuple[str, ...], bool, bool]


@dataclass(frozen=True)
class Ran:
    """Inputs of a layer's backward pass."""

    data: torch.Tensor
    weights: Weights
    states: torch.Tensor
    saved: Saved
    mask: torch.Tensor | None


class Passes(Protocol):
    """How a stack runs: `Plan`, or `kerneltune.torch.staggered.SideBySide`."""

    @property
    def layer(self) -> Layer:
        """The sizes of each layer."""

    @property
    def layers(self) -> int:
        """Their number."""

    @property
    def given(self) -> int:
        """How many states are given."""

    @property
    def rows(self) -> BatchRows:
        """How the rows lie."""

    def forward(
        self, data: torch.Tensor, tensors: States, *, training: bool
    ) -> tuple[torch.Tensor, torch.Tensor, Any]:
        """Queue the forward pass of all layers.

        Args:
            data: The input, as the rows lie.
            tensors: The given first states, and each layer's and direction's parameters in torch's order.
            training: Whether a backward pass may follow.

        Returns:
            The output, the last states `[S, L * directions, B, units]`, and what the backward pass reads.
        """

    def backward(
        self, kept: Any, by: torch.Tensor | None, by_last: Gradients, *, by_data: bool
    ) -> list[torch.Tensor | None]:
        """Queue the backward pass of all layers.

        Args:
            kept: What the forward pass left.
            by: The gradient by the output.
            by_last: Those by the last states.
            by_data: Whether the gradient by the input is wanted.

        Returns:
            Gradients by the input (None where it is not wanted), the first states and the parameters.
        """

    def parted(self, kept: Any) -> tuple[list[torch.Tensor], Any]:
        """All tensors that the backward pass reads, and what else `whole` needs."""

    def whole(self, tensors: States, rest: Any) -> Any:
        """The inverse of `parted`: what the backward pass reads."""


@dataclass(frozen=True, eq=False)
class Plan:
    """A call: a layer's sizes, the number of layers, dropout, how many states are given, and where."""

    layer: Layer
    layers: int
    dropout: float
    given: int
    rows: BatchRows
    runs_on: Launcher

    def forward(
        self, data: torch.Tensor, tensors: States, *, training: bool
    ) -> tuple[torch.Tensor, torch.Tensor, list[Ran]]:
        """Queue the forward pass, layer after layer."""
        layer, rows, lasts, kept = self.layer, self.rows, [], []
        given, parameters = tensors[: self.given], tensors[self.given :]
        count = layer.directions * layer.parameters
        for k in range(self.layers):
            mask = None
            if k and self.dropout:
                data, mask = torch.native_dropout(data, self.dropout, True)
            mine = parameters[k * count : (k + 1) * count]
            weights = weights_of(layer, mine, data.dtype, data.numel() // data.shape[-1])
            at = slice(k * layer.directions, (k + 1) * layer.directions)
            start = tuple(state[at] for state in given)
            product = rows.product(layer, data, weights)
            states, saved = _forward(self, product, weights, start, training)
            if training:
                kept.append(Ran(data, weights, states, saved, mask))
            data = rows.output(layer, states)
            lasts.append(rows.lasts(layer, states))
        last = lasts[0] if len(lasts) == 1 else torch.cat(lasts, dim=1)
        return data, last, kept

    def backward(
        self, kept: list[Ran], by: torch.Tensor | None, by_last: Gradients, *, by_data: bool
    ) -> list[torch.Tensor | None]:
        """Queue the backward pass, layer after layer."""
        layer = self.layer
        parameters: list[torch.Tensor] = []
        starts: list[torch.Tensor] = []
        for k in reversed(range(self.layers)):
            ran = kept[k]
            at = slice(k * layer.directions, (k + 1) * layer.directions)
            lasts = tuple(None if one is None else one[at] for one in by_last)
            by_product, by_recurrent, by_start = _backward(self, ran, by, lasts)
            products = self.rows.products(layer, by_product)
            recurrent = self.rows.products(layer, by_recurrent) if layer.separate else products
            by_gate = ran.weights.by_gate
            if by_gate:
                products = [layer.rows_by_gates(one) for one in products]
                recurrent = [layer.rows_by_gates(one) for one in recurrent] if layer.separate else products
            reads = self.rows.read(layer, ran.data, ran.states)
            units = self._by_units(ran, by_recurrent) if layer.sums else None
            mine: list[torch.Tensor] = []
            for d, parts in enumerate(zip(products, recurrent, reads, strict=True)):
                mine += gradients_of(layer, *parts, by_gate=by_gate)
                mine += [] if units is None else [units[:, d]]
            parameters[:0] = mine
            starts.insert(0, by_start)
            into = ran.weights.into
            by = self.rows.by_data(layer, products, into, ran.data) if k or by_data else None
            if by is not None and ran.mask is not None:
                scale = 1 / (1 - self.dropout) if self.dropout < 1 else 0.0
                by = torch.ops.aten.native_dropout_backward(by, ran.mask, scale)
        return [by, *(_by_given(layer, starts) if self.given else ()), *parameters]

    def _by_units(self, ran: Ran, by_recurrent: torch.Tensor) -> torch.Tensor:
        """The gradients by the weights of single units, `[P, directions, units]`."""
        layer, found = self.layer, []
        for block in self.rows.blocks:
            steps, batch = block.steps, block.batch
            rows, size = (steps + 1, batch, *by_recurrent.shape[1:3]), len(layer.positive)
            gradient = _cut(by_recurrent, block.at, steps * batch).unflatten(0, (steps, batch))
            states = _cut(ran.states, block.states_at, size * (steps + 1) * batch).view(size, *rows)
            saved = {
                name: one.view(*rows, -1)
                for name, one in _saved_of(ran.saved, block).items()
                if name == "saved_states"
            }
            found.append(unit_gradients(layer.sums, gradient, states[0], saved.get("saved_states")))
        summed = found[0] if len(found) == 1 else torch.stack(found).sum(0)
        return summed.transpose(0, 1).reshape(len(layer.sums), layer.directions, -1).to(ran.states.dtype)

    def parted(self, kept: list[Ran]) -> tuple[list[torch.Tensor], list[_Parts]]:
        """All tensors that the backward pass reads; of each layer saved names, if W is by gate, if masked."""
        tensors = []
        for one in kept:
            masks = [] if one.mask is None else [one.mask]
            weights = one.weights
            units = [] if weights.units is None else [weights.units]
            tensors += [one.data, weights.recurrent, one.states, *units, *weights.into]
            tensors += [*one.saved.values(), *masks]
        return tensors, [(tuple(one.saved), one.weights.by_gate, one.mask is not None) for one in kept]

    def whole(self, tensors: States, rest: list[_Parts]) -> list[Ran]:
        """The inverse of `parted`."""
        found, directions = [], self.layer.directions
        for saved, by_gate, masked in rest:
            ahead = 3 + bool(self.layer.sums)
            count = ahead + directions + len(saved) + masked
            mine, tensors = tensors[:count], tensors[count:]
            values = dict(zip(saved, mine[ahead + directions :], strict=False))
            units = mine[3] if self.layer.sums else None
            weights = Weights(list(mine[ahead : ahead + directions]), [], mine[1], mine[1], by_gate, units)
            found.append(Ran(mine[0], weights, mine[2], values, mine[-1] if masked else None))
        return found


def _cut(whole: torch.Tensor, at: int, rows: int) -> torch.Tensor:
    """So many rows of a tensor, from one on."""
    return whole if len(whole) == rows else whole.narrow(0, at, rows)


def _forward(
    plan: Plan, product: torch.Tensor, weights: Weights, start: States, training: bool
) -> tuple[torch.Tensor, Saved]:
    """Queue a layer's recurrence: the states of all blocks, and what the backward pass reads."""
    layer, blocks = plan.layer, plan.rows.blocks
    spec, count, last = spec_of(layer.cell), len(layer.positive), blocks[-1]
    heads = layer.directions * layer.heads, layer.dim
    floats = last.floats_at + (last.steps + 1) * last.batch
    states = product.new_empty((last.states_at + count * (last.steps + 1) * last.batch, *heads))
    saved = {}
    if training and spec.saved_values:
        shape = (last.at + last.steps * last.batch, *heads, spec.saved_values)
        saved["saved_values"] = product.new_empty(shape)
    if training and spec.saved_states:
        saved["saved_states"] = product.new_empty((floats, *heads, spec.saved_states), dtype=torch.float32)
    before = None
    for block in blocks:
        steps, batch = block.steps, block.batch
        mine = _cut(states, block.states_at, count * (steps + 1) * batch)
        by_step = mine.view(count, steps + 1, batch, *heads)
        if before is None:
            _begin(layer, by_step[:, 0], start)
        else:
            by_step[:, 0] = before[:, -1, :batch]
        tensors = {
            "input": _cut(product, block.at, steps * batch),
            "recurrent": weights.recurrent,
            "bias": weights.bias,
            "states": mine,
            **weights.of_units,
            **_saved_of(saved, block),
        }
        shape = (steps, batch, *heads)
        problem = problem_of("training" if training else "forward", shape, product.dtype, layer.options)
        plan.runs_on.launch(problem, tensors)
        before = by_step
    return states, saved


def _saved_of(saved: Saved, block: RowBlock) -> Saved:
    found = {}
    for name, whole in saved.items():
        at, steps = block.at, block.steps
        if name == "saved_states":
            at, steps = block.floats_at, steps + 1
        found[name] = _cut(whole, at, steps * block.batch)
    return found


def _begin(layer: Layer, first: torch.Tensor, start: States) -> None:
    """Fill the states before the first step, `[S, B, H, D]`."""
    if not start:
        first.zero_()
        for state, positive in zip(first, layer.positive, strict=True):
            if positive:
                state.fill_(1)
        return
    for mine, given in zip(first.unbind(0), start, strict=True):
        mine.view(len(mine), layer.directions, -1).copy_(given.transpose(0, 1))


def _backward(
    plan: Plan, ran: Ran, by: torch.Tensor | None, by_last: Gradients
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Queue a layer's backward recurrence: gradients by W x, by R h + bias and by the first states."""
    layer, rows, blocks = plan.layer, plan.rows, plan.rows.blocks
    heads, last = (layer.directions * layer.heads, layer.dim), blocks[-1]
    states = ran.states
    shape = (last.at + last.steps * last.batch, *heads, layer.gates)
    gradient = states.new_empty(shape)
    by_recurrent = states.new_empty(shape) if layer.separate else gradient
    by_hidden = readable(rows.by_hidden(layer, by, by_last[0], states).to(states.dtype))
    by_hidden = by_hidden.view(shape[0], -1)
    after = states.new_zeros((len(layer.positive), blocks[0].batch, *heads))
    for state, one in enumerate(by_last):
        if one is not None and (state or rows.last_is_outside):
            after[state].view(rows.batch, layer.directions, -1).copy_(one.transpose(0, 1))
    initial: torch.Tensor | None = None
    for block in reversed(blocks):
        steps, batch = block.steps, block.batch
        following = after[:, :batch].contiguous()
        if initial is not None:
            following[:, : initial.shape[1]] = initial
        initial = torch.empty_like(following)
        tensors = {
            "recurrent": ran.weights.recurrent,
            "states": _cut(states, block.states_at, len(layer.positive) * (steps + 1) * batch),
            "output_gradient": _cut(by_hidden, block.at, steps * batch),
            "last_gradient": following,
            "input_gradient": _cut(gradient, block.at, steps * batch),
            "recurrent_gradient": _cut(by_recurrent, block.at, steps * batch),
            "initial_gradient": initial,
            **ran.weights.of_units,
            **_saved_of(ran.saved, block),
        }
        problem = problem_of("backward", (steps, batch, *heads), states.dtype, layer.options)
        plan.runs_on.launch(problem, tensors)
    assert initial is not None
    return gradient, by_recurrent, initial


def _by_given(layer: Layer, starts: list[torch.Tensor]) -> list[torch.Tensor]:
    """Gradients by the first states, each `[L * directions, B, units]`, from each layer's `[S, B, H, D]`."""
    parted = [one.unflatten(2, (layer.directions, layer.heads)).flatten(3).transpose(1, 2) for one in starts]
    return list((parted[0] if len(parted) == 1 else torch.cat(parted, dim=1)).unbind(0))
