"""A stack of `kerneltune.torch.fused` in torch's own operations, for gradients of gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch.nn import functional

from kerneltune.torch.fused_layer import Layer, Parameters, weights_of
from kerneltune.torch.fused_rows import BatchRows, Even, Ragged, keeping
from kerneltune.torch.native import native_recurrence
from kerneltune.torch.ragged import Dense, Layout, Tokens, at_end
from kerneltune.torch.sizes import kind_of

States = tuple[torch.Tensor, ...]


def layout_of(rows: BatchRows) -> Layout:
    """The rows as layers that run natively have them."""
    if isinstance(rows, Even):
        return Dense(rows.batch)
    assert isinstance(rows, Ragged)
    device, count = rows.places.device, rows.directions
    batch = torch.cat([torch.full((one.steps,), one.batch, device=device) for one in rows.blocks])
    ahead = batch.cumsum(0) - batch
    at = rows.places.view(-1, count)[:, 0] // count
    step = torch.searchsorted(ahead, at, right=True) - 1
    row = at - ahead[step]
    return Tokens.of(step, row, torch.bincount(row, minlength=rows.batch), len(batch), rows.batch)


def stack_again(
    layer: Layer, layers: int, layout: Layout, given: int, masks: Sequence[torch.Tensor | None], scale: float
) -> Callable[..., States]:
    """A stack of `kerneltune.torch.fused` in torch's own operations.

    Args:
        layer: The sizes of each layer.
        layers: Their number.
        layout: How its rows lie.
        given: How many states are given.
        masks: What dropout kept ahead of each layer, or None.
        scale: By what it multiplied that.

    Returns:
        From the input, the given states and all parameters to the output and the last states.
    """
    count = layer.directions * layer.parameters

    def run(data: torch.Tensor, *tensors: torch.Tensor) -> States:
        lasts = []
        for k in range(layers):
            mask = masks[k]
            if mask is not None:
                data = data * mask * scale
            mine = tensors[given + k * count : given + (k + 1) * count]
            at = slice(k * layer.directions, (k + 1) * layer.directions)
            data, last = _layer_again(layer, layout, data, tuple(one[at] for one in tensors[:given]), mine)
            lasts.append(last)
        return (data, *torch.cat(lasts, dim=1).unbind(0))

    return run


def _layer_again(
    layer: Layer, layout: Layout, data: torch.Tensor, start: States, parameters: Parameters
) -> tuple[torch.Tensor, torch.Tensor]:
    """The output, and the last states `[S, directions, B, units]`."""
    weights, ways = weights_of(layer, parameters, data.dtype), range(layer.directions)
    kept = keeping(layer, data.dtype, data.device)
    products = [
        layout.spread(functional.linear(data, weights.into[d], weights.into_bias[d]), kept, backward=bool(d))
        for d in ways
    ]
    heads = layer.directions * layer.heads
    product = torch.stack(products, dim=2).unflatten(3, (layer.heads, layer.dim, layer.gates)).flatten(2, 3)
    if start:  # each [directions, B, units]
        first = torch.stack([one.transpose(0, 1).reshape(-1, heads, layer.dim) for one in start])
    else:
        fills = [product.new_full((layout.rows, heads, layer.dim), float(one)) for one in layer.positive]
        first = torch.stack(fills)
    recurrent = weights.recurrent.view(heads, layer.gates, layer.dim, layer.dim)
    bias = weights.bias.view(heads, layer.gates, layer.dim)
    if weights.units is not None:
        bias = torch.cat([bias, weights.units], dim=1)
    output, last = native_recurrence(layer.cell, product, recurrent, bias, first)
    outputs, ends = [], []
    for d in ways:
        mine = slice(d * layer.heads, (d + 1) * layer.heads)
        flat, states = output[:, :, mine].flatten(2), [one[:, mine].flatten(1) for one in last]
        if layout.ends is not None and not kind_of(layer.cell).keeps_hidden:
            states[0] = at_end(flat, first[0, :, mine].flatten(1), layout.ends)
        outputs.append(layout.collect(flat, backward=bool(d)))
        ends.append(torch.stack(states))
    return torch.cat(outputs, dim=-1), torch.stack(ends, dim=1)
