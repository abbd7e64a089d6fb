"""The recurrence under `torch.func`: its derivative, and vmap.

A mapped dimension joins the batch, or the heads where R is mapped, too.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.autograd.function import FunctionCtx

from kerneltune.torch import operators


def _at(tensor: torch.Tensor, mapped: int | None, size: int, where: int) -> torch.Tensor:
    """The tensor with the mapped dimension at `where`, expanded if it has none."""
    if mapped is None:
        return tensor.unsqueeze(where).expand(*tensor.shape[:where], size, *tensor.shape[where:])
    return tensor.movedim(mapped, where)


def _joined(tensor: torch.Tensor, mapped: int | None, size: int, where: int) -> torch.Tensor:
    """The mapped dimension joined with the one that follows `where`."""
    return _at(tensor, mapped, size, where).flatten(where, where + 1)


def _parted(tensor: torch.Tensor, size: int, where: int) -> tuple[torch.Tensor, int]:
    """The inverse of `_joined`, and where the mapped dimension is; empty tensors get one of their own."""
    if not tensor.numel():
        return tensor.unsqueeze(0).expand(size, *tensor.shape), 0
    return tensor.unflatten(where, (size, -1)), where


def _forward(info: Any, dims: tuple[Any, ...], *arguments: Any) -> tuple[Any, Any]:
    size, (product, recurrent, bias, initial, *options) = info.batch_size, arguments
    by_heads = dims[1] is not None or dims[2] is not None
    if by_heads:
        recurrent = _joined(recurrent, dims[1], size, 0)
        bias = _joined(bias, dims[2], size, 0)
    at = 2 if by_heads else 1  # of h; the states have a dimension more in front
    found = torch.ops.kerneltune.recurrence(
        _joined(product, dims[0], size, at), recurrent, bias, _joined(initial, dims[3], size, at), *options
    )
    natively = found[2].dim() == 4
    places = (at, at, at if natively else at + 1, at, at)
    parted = [_parted(part, size, where) for part, where in zip(found, places, strict=True)]
    return tuple(part for part, _ in parted), tuple(where for _, where in parted)


def _backward(info: Any, dims: tuple[Any, ...], *arguments: Any) -> tuple[Any, Any]:
    size = info.batch_size
    by_output, by_last, recurrent, bias, states, values, floats, *options = arguments
    natively = states.dim() - (dims[4] is not None) == 4
    places = (2, 2, 0, 0, 2 if natively else 3, 2, 2)
    tensors = (by_output, by_last, recurrent, bias, states, values, floats)
    joined = []
    for tensor, mapped, where in zip(tensors, dims, places, strict=False):
        if tensor.numel():
            joined.append(_joined(tensor, mapped, size, where))
        else:
            joined.append(tensor if mapped is None else tensor.select(mapped, 0))
    found = torch.ops.kerneltune.recurrence_backward(*joined, *options)
    parted = [_parted(part, size, where) for part, where in zip(found, (2, 0, 0, 2), strict=True)]
    return tuple(part for part, _ in parted), tuple(where for _, where in parted)


class Transformed(torch.autograd.Function):  # type: ignore[misc] # torch has no types here
    """`kerneltune::recurrence` for transforms, which refuse derivatives registered with an operator."""

    generate_vmap_rule = True

    @staticmethod
    def forward(*arguments: Any) -> tuple[torch.Tensor, ...]:
        """The operator; its arguments."""
        found: tuple[torch.Tensor, ...] = torch.ops.kerneltune.recurrence(*arguments)
        return found

    @staticmethod
    def setup_context(ctx: FunctionCtx, inputs: tuple[object, ...], output: tuple[torch.Tensor, ...]) -> None:
        """Keep what the backward pass reads."""
        operators.keep(ctx, inputs, output)
        ctx.mark_non_differentiable(*output[2:])

    @staticmethod
    def backward(ctx: FunctionCtx, *gradients: torch.Tensor) -> tuple[object, ...]:
        """Gradients by all arguments."""
        return operators.differentiated(ctx, *gradients)


def register() -> None:
    """Let vmap see both operators."""
    library = operators._LIBRARY
    torch.library.register_vmap("kerneltune::recurrence", _forward, lib=library)
    torch.library.register_vmap("kerneltune::recurrence_backward", _backward, lib=library)


register()
