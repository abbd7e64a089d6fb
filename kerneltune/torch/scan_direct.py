"""Scans and diagonal cells called eagerly on a GPU: least time of the host.

Operators of `torch.library` let compilers, modes and transforms see a call, and take the host longer than the
kernel takes the GPU. Where none of these is at work, an autograd function launches instead.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch.autograd.function import FunctionCtx

from kerneltune.torch.scan_options import Family, Options, Plain, Results, gradients, joined, parted, remember

_PLAIN = (torch.Tensor, torch.nn.Parameter)


def is_direct(inputs: Sequence[torch.Tensor], options: Options) -> bool:
    """Whether nothing but autograd watches a call on a GPU."""
    if torch.compiler.is_compiling() or not inputs[0].is_cuda:
        return False
    if torch._C._len_torch_dispatch_stack() or torch._C._len_torch_function_stack():
        return False
    given = (*inputs, *options[:4], options.weights)
    return all(one is None or type(one) in _PLAIN for one in given)


def run(family: Family, cell: str, inputs: Sequence[torch.Tensor], options: Options) -> Results:
    """A family's operator, whose functions launch; gradients flow as theirs do."""
    plain, tensors = parted(options)
    if torch.is_grad_enabled() and any(one.requires_grad for one in (*inputs, *tensors) if one is not None):
        found: Results = _Direct.apply(family, cell, plain, *tensors, *inputs)
        return found
    return family.forward(cell, list(inputs), options)


class _Direct(torch.autograd.Function):  # type: ignore[misc] # torch has no types here
    """A family's functions as one differentiable operation."""

    @staticmethod
    def forward(
        ctx: FunctionCtx, family: Family, cell: str, plain: Plain, *tensors: torch.Tensor | None
    ) -> Results:
        """H after each step, and the last states."""
        inputs, options = joined(plain, tensors)
        found = family.forward(cell, inputs, options)
        remember(ctx, cell, inputs, options, found[family.kept])
        ctx.family, ctx.empty = family, (found[0].shape, found[1].shape)
        ctx.mark_non_differentiable(*found[2:])
        ctx.set_materialize_grads(False)
        return found

    @staticmethod
    def backward(ctx: FunctionCtx, *by: torch.Tensor | None) -> tuple[object, ...]:
        """Gradients by all arguments."""
        again, (by_hidden, by_last) = torch.is_grad_enabled(), by[:2]
        if by_hidden is None:
            by_hidden = ctx.saved_tensors[0].new_zeros(ctx.empty[0])
        if by_last is None and again:  # kernels take None for zeros
            by_last = by_hidden.new_zeros(ctx.empty[1], dtype=torch.float32)
        found = gradients(ctx, ctx.family, (by_hidden, by_last), again=again)
        return (None, None, None, found.by_initial, None, None, None, found.by_weights, *found.by_inputs)
