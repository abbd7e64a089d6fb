"""A layer of `kerneltune.torch.fused`: its sizes, weights in the kernels' order, gradients in torch's.

Kernels have the gates of a unit side by side, torch has gate after gate.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from kerneltune.torch.operators import readable
from kerneltune.torch.products import multiply

Parameters = tuple[torch.Tensor, ...]


@dataclass(frozen=True)
class Layer:
    """A layer's sizes.

    Attributes:
        cell: The cell's name.
        positive: For each state, whether it begins with 1.
        keeps: What keeps the states behind a row's end; see `kerneltune.torch.sizes.Kind`.
        heads: Heads of one direction.
        dim: Units of a head.
        gates: Gates of a unit.
        directions: 1 or 2.
        bias: Whether there are biases.
        separate: Whether the two biases act apart, as a GRU's do.
        tf32: Whether float32 products may be computed in TF32.
        sums: Of each weight of a unit, where its gradient comes from; see `CellSpec.weight_sums`.
    """

    cell: str
    positive: tuple[bool, ...]
    keeps: tuple[int, ...] | None
    heads: int
    dim: int
    gates: int
    directions: int
    bias: bool
    separate: bool
    tf32: bool
    sums: tuple[tuple[int, int, bool], ...] = ()

    @property
    def options(self) -> tuple[str, float, float, bool, bool]:
        """As the operators have them."""
        return self.cell, 0.0, 0.0, False, self.tf32

    @property
    def units(self) -> int:
        """Units of one direction."""
        return self.heads * self.dim

    @property
    def width(self) -> int:
        """Values of W x in one direction."""
        return self.units * self.gates

    @property
    def parameters(self) -> int:
        """Number of parameters of one direction."""
        return (4 if self.bias else 2) + bool(self.sums)

    def by_units(self, rows: torch.Tensor) -> torch.Tensor:
        """Rows of a matrix from torch's order to the gates of a unit side by side."""
        return rows.view(self.gates, self.units, -1).transpose(0, 1).reshape(self.width, -1)

    def by_gates(self, rows: torch.Tensor) -> torch.Tensor:
        """The inverse of `by_units`."""
        return rows.view(self.units, self.gates, -1).transpose(0, 1).reshape(self.width, -1)

    def rows_by_gates(self, rows: torch.Tensor) -> torch.Tensor:
        """The columns of `[M, units * gates]` gate after gate, as torch has rows of weights."""
        return rows.reshape(-1, self.units, self.gates).transpose(1, 2).flatten(1)

    def by_head(self, rows: torch.Tensor) -> torch.Tensor:
        """Rows in torch's order as `[H, G, D, …]`; for one head, they are."""
        if self.heads == 1:
            return rows
        return rows.view(self.gates, self.heads, self.dim, *rows.shape[1:]).transpose(0, 1).flatten(0, 2)


@dataclass(frozen=True)
class Weights:
    """A layer's weights as kernels have them.

    Attributes:
        into: W of each direction, `[units * gates, input]`; the gates of a unit side by side, or `by_gate`.
        into_bias: What is added to W x in each direction, or None where R's bias has it, too.
        recurrent: R of all directions' heads, `[H, G, D, D]` as `[H * G * D, D]`.
        bias: `[H, G, D]` as `[H * G * D]`.
        by_gate: Whether rows of W are in torch's order, gate after gate, and W x is put in order.
        units: The weights of single units, `[H, P, D]` of all directions' heads, or None.
    """

    into: list[torch.Tensor]
    into_bias: list[torch.Tensor | None]
    recurrent: torch.Tensor
    bias: torch.Tensor
    by_gate: bool = False
    units: torch.Tensor | None = None

    @property
    def of_units(self) -> dict[str, torch.Tensor]:
        """The weights of single units by the name of the kernels' argument, if there are any."""
        return {} if self.units is None else {"weights": self.units}


def weights_of(layer: Layer, parameters: Parameters, dtype: torch.dtype, rows: int | None = None) -> Weights:
    """Weights from a layer's parameters, direction after direction in torch's order, cast to a type.

    Args:
        layer: Their layer.
        parameters: They.
        dtype: The type.
        rows: Rows of W x. Where they are fewer than columns of W, they are put in order instead of W.
    """
    if parameters[0].dtype != dtype:
        parameters = tuple(one.to(dtype) for one in parameters)
    count = layer.parameters
    each = [parameters[i : i + count] for i in range(0, len(parameters), count)]
    by_gate = layer.heads == 1 and rows is not None and rows < parameters[0].shape[1]
    into = [one[0] if by_gate else layer.by_units(one[0]) for one in each]
    into_bias: list[torch.Tensor | None] = [None] * len(each)
    if not layer.bias:
        bias = parameters[0].new_zeros(layer.directions * layer.width)
    elif layer.separate:
        into_bias = [layer.by_units(one[2]).flatten() for one in each]
        bias = _joined([layer.by_head(one[3]) for one in each])
    else:
        bias = _joined([layer.by_head(one[2] + one[3]) for one in each])
    recurrent = _joined([layer.by_head(one[1]) for one in each])
    units = None
    if layer.sums:
        units = readable(_joined([one[-1].unflatten(1, (layer.heads, -1)).transpose(0, 1) for one in each]))
    return Weights(into, into_bias, readable(recurrent), readable(bias), by_gate, units)


def _joined(parts: list[torch.Tensor]) -> torch.Tensor:
    return parts[0] if len(parts) == 1 else torch.cat(parts)


def product_of(
    layer: Layer, rows: torch.Tensor, weights: Weights, direction: int, out: torch.Tensor | None = None
) -> torch.Tensor:
    """W x of one direction with its bias, if it has one: `[M, units * gates]`."""
    into, bias = weights.into[direction], weights.into_bias[direction]
    if not weights.by_gate:
        return multiply(rows, into.t(), tf32=layer.tf32, add=bias, out=out)
    found = rows.new_empty((len(rows), layer.width)) if out is None else out
    ordered = multiply(rows, into.t(), tf32=layer.tf32).view(-1, layer.gates, layer.units).transpose(1, 2)
    target = found.unflatten(1, (layer.units, layer.gates))
    if bias is None:
        target.copy_(ordered)
    else:
        torch.add(ordered, bias.view(layer.units, layer.gates), out=target)
    return found


def gradients_of(
    layer: Layer,
    by_product: torch.Tensor,
    by_recurrent: torch.Tensor,
    read: tuple[torch.Tensor, torch.Tensor],
    *,
    by_gate: bool = False,
) -> list[torch.Tensor]:
    """Gradients by one direction's parameters, in torch's order.

    Args:
        layer: Its layer.
        by_product: By W x of each step and row, `[M, units * gates]`.
        by_recurrent: By R h + bias, likewise; the same tensor where both are equal.
        read: x and h before the step, `[M, input]` and `[M, units]`.
        by_gate: Whether rows of the first two are in torch's order.
    """
    data, hidden = read
    into = multiply(by_product.t(), data, tf32=layer.tf32)
    if layer.heads == 1:
        recurrent = multiply(by_recurrent.t(), hidden, tf32=layer.tf32)
    else:
        left = by_recurrent.unflatten(1, (layer.heads, -1)).permute(1, 2, 0)
        right = hidden.unflatten(1, (layer.heads, -1)).transpose(0, 1)
        found = multiply(left, right, tf32=layer.tf32)
        found = found.view(layer.heads, layer.dim, layer.gates, layer.dim)
        recurrent = found.permute(2, 0, 1, 3).reshape(layer.width, layer.dim)
    if not by_gate:
        into = layer.by_gates(into)
        recurrent = layer.by_gates(recurrent) if layer.heads == 1 else recurrent
    if not layer.bias:
        return [into, recurrent]
    bias = _summed(layer, by_recurrent, by_gate)
    return [into, recurrent, _summed(layer, by_product, by_gate) if layer.separate else bias, bias]


def _summed(layer: Layer, rows: torch.Tensor, by_gate: bool) -> torch.Tensor:
    """The sum of all rows, which torch adds up in float32, in torch's order."""
    if by_gate:
        return rows.sum(0)
    found = rows.new_empty((layer.gates, layer.units))
    torch.sum(rows.unflatten(1, (layer.units, layer.gates)).transpose(1, 2), 0, out=found)
    return found.view(-1)
