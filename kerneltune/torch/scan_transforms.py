"""Scans and diagonal cells under `torch.func`: derivatives, and vmap.

A mapped dimension joins the batch of a scan and the channels of a diagonal cell, whose weights may be mapped,
too. Where what is not by channel is mapped, each element is computed by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.autograd.function import FunctionCtx

from kerneltune.torch.diagonal import backward_operator as diagonal_backward
from kerneltune.torch.diagonal import operator as diagonal
from kerneltune.torch.native import differentiates_twice
from kerneltune.torch.scan import backward_operator as scan_backward
from kerneltune.torch.scan import operator as scan
from kerneltune.torch.scan_options import Family, Options, Plain, Results, gradients, joined, parted, remember


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


def _register(
    operator: Any,
    where: tuple[int | None, ...],
    results: tuple[int | None, ...],
    boundaries: int | None = None,
) -> None:
    """Tell torch how an operator is mapped.

    Args:
        operator: The operator.
        where: With which dimension of each argument the mapped one is joined; None for what cannot be mapped
            by that, and goes along as it is.
        results: The same for the results, the first for all that are more; None for what is repeated.
        boundaries: The argument that, where it is given, keeps elements apart.
    """

    def rule(info: Any, dims: tuple[Any, ...], *arguments: Any) -> Any:
        size = info.batch_size
        apart = any(at is None and dim is not None for at, dim in zip(where, dims, strict=True))
        if apart or (boundaries is not None and arguments[boundaries] is not None):
            return _each(operator, info, dims, arguments)
        found = operator(
            *(
                value if at is None else _folded(value, dim, size, at)
                for value, dim, at in zip(arguments, dims, where, strict=True)
            )
        )
        places = [*results[:1] * (len(found) - len(results)), *results]
        parts = [
            one.expand(size, -1).clone() if at is None else _parted(one, size, at)
            for one, at in zip(found, places, strict=True)
        ]
        at_results = [at or 0 for at in places]
        return (parts, at_results) if isinstance(found, list) else (tuple(parts), tuple(at_results))

    operator.register_vmap(rule)


_register(scan, (None, 0, 0, 0, 0, None, None), (0, 0), boundaries=5)
_register(scan_backward, (None, *[0] * 7, None, None), (0,), boundaries=8)
_register(diagonal, (None, 2, 1, 2, *[None] * 5), (2, 2, 3, None))
_register(diagonal_backward, (None, 2, 1, 3, 2, 2, *[None] * 4), (2, 1))


def transformed(
    family: Family, cell: str, inputs: Sequence[torch.Tensor], options: Options
) -> tuple[torch.Tensor, ...]:
    """A family's operator while transforms are active."""
    if differentiates_twice():
        return family.native(cell, list(inputs), options)
    plain, tensors = parted(options)
    found: Results = _Transformed.apply(family, cell, plain, *tensors, *inputs)
    return found


class _Transformed(torch.autograd.Function):  # type: ignore[misc] # torch has no types here
    """An operator for transforms, which refuse derivatives registered with an operator."""

    generate_vmap_rule = True

    @staticmethod
    def forward(family: Family, cell: str, plain: Plain, *tensors: Any) -> Results:
        """The operator."""
        inputs, options = joined(plain, tensors)
        return family.forward(cell, inputs, options)

    @staticmethod
    def setup_context(ctx: FunctionCtx, inputs: tuple[Any, ...], output: Results) -> None:
        """Keep what the backward pass reads."""
        ctx.family, cell, plain, *tensors = inputs
        ctx.mark_non_differentiable(*output[2:])
        remember(ctx, cell, *joined(plain, tensors), output[ctx.family.kept])

    @staticmethod
    @torch.no_grad()  # type: ignore[untyped-decorator] # who asks for more runs natively
    def backward(ctx: FunctionCtx, *by: torch.Tensor) -> tuple[object, ...]:
        """Gradients by all arguments."""
        found = gradients(ctx, ctx.family, by[:2])
        return (None, None, None, found.by_initial, None, None, None, found.by_weights, *found.by_inputs)
