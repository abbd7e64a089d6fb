"""The weights of all layers of a stack at once, for `kerneltune.torch.staggered`, and gradients by them."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from kerneltune.torch.fused_layer import Layer, Parameters
from kerneltune.torch.operators import readable
from kerneltune.torch.products import multiply


@dataclass(frozen=True)
class Stacked:
    """Weights as kernels have them.

    Attributes:
        first: W of the first layer, `[units * gates, input]`.
        others: W of the others, `[L - 1, units * gates, units]`.
        into_bias: What is added to W x, `[L, units * gates]`, or None where R's bias has it, too.
        recurrent: R, `[L * H, G, D, D]` as `[L * H * G * D, D]`.
        bias: `[L * H, G, D]` as `[L * H * G * D]`.
    """

    first: torch.Tensor
    others: torch.Tensor
    into_bias: torch.Tensor | None
    recurrent: torch.Tensor
    bias: torch.Tensor


def stacked_weights(layer: Layer, parameters: Parameters, dtype: torch.dtype) -> Stacked:
    """Weights from the parameters of all layers, in torch's order, cast to a type."""
    count = layer.parameters
    into, recurrent, *biases = (parameters[i::count] for i in range(count))
    others = torch.stack(into[1:]).to(dtype)
    into_bias = None
    if layer.bias:
        bias = torch.cat([layer.by_head(one) for one in biases[1]]).to(dtype)
        if layer.separate:
            into_bias = _by_units(layer, torch.stack(biases[0]).to(dtype))
        else:
            bias += torch.cat([layer.by_head(one) for one in biases[0]])
    else:
        bias = others.new_zeros(len(into) * layer.width)
    joined = torch.cat([layer.by_head(one) for one in recurrent]).to(dtype)
    first = layer.by_units(into[0].to(dtype))
    return Stacked(first, _by_units(layer, others), into_bias, readable(joined), readable(bias))


def _by_units(layer: Layer, rows: torch.Tensor) -> torch.Tensor:
    """`[L, gates * units, …]` in torch's order, with the gates of a unit side by side."""
    return rows.unflatten(1, (layer.gates, layer.units)).transpose(1, 2).flatten(1, 2)


def _by_gates(layer: Layer, rows: torch.Tensor) -> torch.Tensor:
    """The inverse."""
    return rows.unflatten(1, (layer.units, layer.gates)).transpose(1, 2).flatten(1, 2)


def stacked_gradients(
    layer: Layer,
    by_product: torch.Tensor,
    by_recurrent: torch.Tensor,
    read: tuple[torch.Tensor, torch.Tensor],
    hidden: torch.Tensor,
) -> list[torch.Tensor]:
    """Gradients by the parameters of all layers, in torch's order.

    Args:
        layer: The sizes of each layer.
        by_product: By W x, `[L, M, units * gates]`.
        by_recurrent: By R h + bias, likewise; the same tensor where both are equal.
        read: X of the first layer, `[M, input]`, and of the others, `[L - 1, M, units]`.
        hidden: H before each step, `[L, M, units]`.
    """
    layers = len(by_product)
    first = layer.by_gates(multiply(by_product[0].t(), read[0], tf32=layer.tf32))
    others = _by_gates(layer, multiply(by_product[1:].transpose(1, 2), read[1], tf32=layer.tf32))
    into = [first, *others.unbind(0)]
    if layer.heads == 1:
        recurrent = _by_gates(layer, multiply(by_recurrent.transpose(1, 2), hidden, tf32=layer.tf32))
    else:
        left = by_recurrent.unflatten(2, (layer.heads, -1)).permute(0, 2, 3, 1)
        right = hidden.unflatten(2, (layer.heads, -1)).transpose(1, 2)
        product = multiply(left.flatten(0, 1), right.flatten(0, 1), tf32=layer.tf32)
        found = product.unflatten(0, (layers, -1)).unflatten(2, (layer.dim, layer.gates))
        recurrent = found.permute(0, 3, 1, 2, 4).reshape(layers, layer.width, layer.dim)
    groups = [into, list(recurrent.unbind(0))]
    if layer.bias:
        bias = _summed(layer, by_recurrent)
        groups += [_summed(layer, by_product) if layer.separate else bias, bias]
    return [one for each in zip(*groups, strict=True) for one in each]


def _summed(layer: Layer, rows: torch.Tensor) -> list[torch.Tensor]:
    """The sum of all rows of each layer, which torch adds up in float32, in torch's order."""
    found = rows.new_empty((len(rows), layer.gates, layer.units))
    torch.sum(rows.unflatten(2, (layer.units, layer.gates)).transpose(2, 3), 1, out=found)
    return list(found.flatten(1).unbind(0))
