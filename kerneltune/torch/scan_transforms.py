"""Scans and diagonal cells under `torch.func`: derivatives, and vmap.

A mapped dimension joins the batch of a scan and the channels of a diagonal cell, whose weights may be mapped,
too. Where what is not by channel is mapped, each element is computed by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from kerneltune.torch.diagonal import backward_operator as diagonal_backward
from kerneltune.torch.diagonal import operator as diagonal
from kerneltune.torch.scan import backward_operator as scan_backward
from kerneltune.torch.scan import operator as scan


def _folded(value: Any, dims: Any, size: int, where: int) -> Any:
    """A tensor, or each of a list, with the mapped dimension joined with the one at `where`."""
    if isinstance(value, list):
        return [_folded(one, dim, size, where) for one, dim in zip(value, dims, strict=True)]
    if value is None:
        return None
    if dims is None:
        wide = value.unsqueeze(where).expand(*value.shape[:where], size, *value.shape[where:])
    else:
        wide = value.movedim(dims, where)
    return wide.flatten(where, where + 1).contiguous()


def _parted(value: torch.Tensor, size: int, where: int) -> torch.Tensor:
    return value.unflatten(where, (size, value.shape[where] // size))


def _one(value: Any, dims: Any, at: int) -> Any:
    if isinstance(value, list):
        return [_one(one, dim, at) for one, dim in zip(value, dims, strict=True)]
    return value if dims is None else value.select(dims, at)


def _each(operator: Callable[..., Any], info: Any, dims: tuple[Any, ...], arguments: tuple[Any, ...]) -> Any:
    """Element by element; results are mapped at 0."""
    pairs = list(zip(arguments, dims, strict=True))
    found = [operator(*(_one(value, dim, i) for value, dim in pairs)) for i in range(info.batch_size)]
    stacked = [torch.stack(parts) for parts in zip(*found, strict=True)]
    if isinstance(found[0], list):
        return stacked, [0] * len(stacked)
    return tuple(stacked), (0,) * len(stacked)


def _scan(info: Any, dims: tuple[Any, ...], *arguments: Any) -> Any:
    cell, inputs, initial, lengths, resets, boundaries, reverse = arguments
    if boundaries is not None:
        return _each(scan, info, dims, arguments)
    size = info.batch_size
    folded = [
        _folded(value, dim, size, 0)
        for value, dim in zip((inputs, initial, lengths, resets), dims[1:5], strict=True)
    ]
    hidden, last = scan(cell, *folded, None, reverse)
    return (_parted(hidden, size, 0), _parted(last, size, 0)), (0, 0)


def _scan_backward(info: Any, dims: tuple[Any, ...], *arguments: Any) -> Any:
    cell, *tensors, boundaries, reverse = arguments
    if boundaries is not None:
        return _each(scan_backward, info, dims, arguments)
    size = info.batch_size
    folded = [_folded(value, dim, size, 0) for value, dim in zip(tensors, dims[1:-2], strict=True)]
    found = scan_backward(cell, *folded, None, reverse)
    return [_parted(one, size, 0) for one in found], [0] * len(found)


def _diagonal(info: Any, dims: tuple[Any, ...], *arguments: Any) -> Any:
    cell, inputs, weights, initial, lengths, resets, *rest = arguments
    if dims[4] is not None or dims[5] is not None:
        return _each(diagonal, info, dims, arguments)
    size = info.batch_size
    folded = (
        _folded(inputs, dims[1], size, 2),
        _folded(weights, dims[2], size, 1),
        _folded(initial, dims[3], size, 2),
    )
    hidden, last, kept, repaired = diagonal(cell, *folded, lengths, resets, *rest)
    parts = _parted(hidden, size, 2), _parted(last, size, 2), _parted(kept, size, 3)
    return (*parts, repaired.expand(size, -1).clone()), (2, 2, 3, 0)


def _diagonal_backward(info: Any, dims: tuple[Any, ...], *arguments: Any) -> Any:
    cell, *tensors, lengths, resets, reverse, strategy = arguments
    if dims[6] is not None or dims[7] is not None:
        return _each(diagonal_backward, info, dims, arguments)
    size, places = info.batch_size, (2, 1, 3, 2, 2)
    folded = [
        _folded(value, dim, size, where) for value, dim, where in zip(tensors, dims[1:6], places, strict=True)
    ]
    found = diagonal_backward(cell, *folded, lengths, resets, reverse, strategy)
    at = [*[2] * (len(found) - 1), 1]
    return [_parted(one, size, where) for one, where in zip(found, at, strict=True)], at


scan.register_vmap(_scan)
scan_backward.register_vmap(_scan_backward)
diagonal.register_vmap(_diagonal)
diagonal_backward.register_vmap(_diagonal_backward)


class TransformedScan(torch.autograd.Function):  # type: ignore[misc] # torch has no types here
    """`kerneltune::scan` for transforms, which refuse derivatives registered with an operator."""

    generate_vmap_rule = True

    @staticmethod
    def forward(
        cell: str,
        reverse: bool,
        initial: Any,
        lengths: Any,
        resets: Any,
        boundaries: Any,
        *inputs: torch.Tensor,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The operator."""
        found: tuple[torch.Tensor, torch.Tensor] = scan(
            cell, list(inputs), initial, lengths, resets, boundaries, reverse
        )
        return found

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[torch.Tensor, ...]) -> None:
        """Keep what the backward pass reads."""
        cell, reverse, *others = inputs
        ctx.cell, ctx.reverse, ctx.count = cell, reverse, len(others) - 4
        ctx.save_for_backward(*others[:4], *others[4:], output[0])

    @staticmethod
    @torch.no_grad()  # type: ignore[untyped-decorator] # who asks for more runs natively
    def backward(ctx: Any, by_hidden: torch.Tensor, by_last: torch.Tensor) -> tuple[Any, ...]:
        """Gradients by all arguments."""
        initial, lengths, resets, boundaries, *read, hidden = ctx.saved_tensors
        found = scan_backward(
            *(ctx.cell, read, hidden, by_hidden, by_last.float().contiguous()),
            *(initial, lengths, resets, boundaries, ctx.reverse),
        )
        by_initial = None if initial is None else found[ctx.count]
        return (None, None, by_initial, None, None, None, *found[: ctx.count])


class TransformedDiagonal(torch.autograd.Function):  # type: ignore[misc] # torch has no types here
    """`kerneltune::diagonal` for transforms, likewise."""

    generate_vmap_rule = True

    @staticmethod
    def forward(
        cell: str,
        reverse: bool,
        strategy: str,
        weights: torch.Tensor,
        initial: Any,
        lengths: Any,
        resets: Any,
        *inputs: torch.Tensor,
    ) -> tuple[torch.Tensor, ...]:
        """The operator."""
        found: tuple[torch.Tensor, ...] = diagonal(
            cell, list(inputs), weights, initial, lengths, resets, reverse, strategy, True
        )
        return found

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[torch.Tensor, ...]) -> None:
        """Keep what the backward pass reads."""
        ctx.cell, ctx.reverse, ctx.strategy, weights, initial, lengths, resets, *read = inputs
        ctx.count, ctx.has_initial = len(read), initial is not None
        ctx.mark_non_differentiable(output[2], output[3])
        ctx.save_for_backward(weights, lengths, resets, output[2], *read)

    @staticmethod
    @torch.no_grad()  # type: ignore[untyped-decorator]
    def backward(ctx: Any, by_hidden: torch.Tensor, by_last: torch.Tensor, *_: Any) -> tuple[Any, ...]:
        """Gradients by all arguments."""
        weights, lengths, resets, kept, *read = ctx.saved_tensors
        found = diagonal_backward(
            *(ctx.cell, read, weights, kept, by_hidden, by_last.float(), lengths, resets),
            *(ctx.reverse, ctx.strategy),
        )
        by_initial = found[ctx.count] if ctx.has_initial else None
        return (None, None, None, found[ctx.count + 1], by_initial, None, None, *found[: ctx.count])
