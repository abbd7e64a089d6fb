"""The recurrence that layers are made of: a differentiable function over all steps.

On a GPU tilings are solved and kernels compiled at the first call with a new shape, and kept. Elsewhere, and
within `kerneltune.torch.native()`, it runs in torch's own operations.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch.autograd.function import FunctionCtx

from kerneltune.errors import InputError
from kerneltune.inputs.descriptions import CellSpec, Kernels, discover
from kerneltune.inputs.equation_cell import EquationCell, named
from kerneltune.inputs.problem import Problem
from kerneltune.torch.launching import Launcher, launcher
from kerneltune.torch.native import (
    Extras,
    differentiable_gradients,
    differentiates_twice,
    has_native,
    native_recurrence,
)
from kerneltune.torch.operators import (
    DTYPES,
    check,
    launch_backward,
    launch_forward,
    parameter_gradients,
    problem_of,
    readable,
    spec_of,
    takes_kernels,
    weights_of,
)
from kerneltune.torch.precision import autocast_of_cell
from kerneltune.torch.transforms import Transformed

__all__ = ["parameter_gradients", "recurrence"]


def recurrence(
    cell: str | EquationCell,
    input_product: torch.Tensor,
    recurrent: torch.Tensor,
    bias: torch.Tensor,
    initial: torch.Tensor,
    *,
    weights: torch.Tensor | None = None,
    forward_clip: float = 0.0,
    gate_gradient_clip: float = 0.0,
    cut_recurrent_gradient: bool = False,
    tf32: bool = False,
    runs_on: Launcher | None = None,
    again: Callable[[], torch.Tensor] | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Run a recurrent layer over all steps; gradients flow to all tensors.

    Args:
        cell: Name of the cell, such as "lstm"; the file of its equations, or a `kerneltune.Cell`.
        input_product: W x, `[T, B, H, D, G]`: the gates of a unit side by side.
        recurrent: R, `[H, G, D, D]`; row = output unit.
        bias: `[H, G, D]`, added to R h.
        initial: The states before the first step, `[S, B, H, D]`.
        weights: Of cells with weights of single units, such as peepholes, those: `[H, P, D]`.
        forward_clip: Bound of h after each step, rounded to the dtype; 0 for none. No gradient passes through
            an h that reached it.
        gate_gradient_clip: Bound of each gate's gradient; 0 for none.
        cut_recurrent_gradient: No gradient passes through R h.
        tf32: Whether products of float32 tensors may be computed in TF32.
        runs_on: What launches kernels; by default, this machine's GPU.
        again: Computes the input product once more, where gradients of gradients are asked for; it is not
            kept for them, unless it is a leaf.

    Returns:
        h after each step, `[T, B, H, D]`, and the states after the last step, `[S, B, H, D]`, in the dtype of
        the inputs; under autocast in autocast's. Raises `InputError` for tensors that do not fit each other.
    """
    cell = named(cell)
    if weights is not None:  # operators take both as one tensor
        bias = torch.cat([bias, weights], dim=1)
    tensors = _as_autocast(cell, input_product, recurrent, bias, initial)
    options = (cell, forward_clip, gate_gradient_clip, cut_recurrent_gradient, tf32)
    # Within the operation this cannot be asked: gradients are always off there.
    training = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)
    if torch.compiler.is_compiling() and runs_on is None:
        found = torch.ops.kerneltune.recurrence(*tensors, *options, training)
        return found[0], found[1]
    spec = spec_of(cell) if runs_on is None else _kernels_of(runs_on).cell(cell).spec
    check(spec, *tensors)
    if runs_on is None:
        transformed = torch._C._are_functorch_transforms_active()
        if (
            not takes_kernels(tensors[0])
            or not tensors[0].numel()
            or (transformed and differentiates_twice())
        ):
            extras = Extras(forward_clip, gate_gradient_clip, cut_recurrent_gradient)
            return native_recurrence(cell, *tensors, extras=extras)
        if transformed:
            found = Transformed.apply(*tensors, *options, True)
            return found[0], found[1]
        runs_on = launcher()
    elif tensors[0].dtype not in DTYPES:
        raise InputError(f"{tensors[0].dtype} is not supported: {', '.join(map(str, DTYPES))} are")
    shape, dtype = tensors[0].shape, tensors[0].dtype
    parts = tuple(readable(tensor) for tensor in tensors)
    problem = problem_of("training" if training else "forward", shape, dtype, options)
    if not training:
        states, _saved = launch_forward(problem, spec, runs_on, parts)
        return states[0, 1:], states[:, -1]
    backward = problem_of("backward", shape, dtype, options)
    if again is None and input_product.is_leaf:
        again = partial(torch.Tensor.view_as, input_product, input_product)
    output, last = _Recurrence.apply(problem, backward, spec, runs_on, (options, again), *parts)
    return output, last


def _as_autocast(cell: str, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return tuple(tensor.to(autocast_of_cell(tensor, cell) or tensor.dtype) for tensor in tensors)


def _kernels_of(runs_on: Launcher) -> Kernels:
    return getattr(runs_on, "kernels", None) or discover()


class _Recurrence(torch.autograd.Function):  # type: ignore[misc] # torch has no types here
    """The forward and the backward kernel as one differentiable operation, whose results are views."""

    @staticmethod
    def forward(
        ctx: FunctionCtx,
        problem: Problem,
        backward: Problem,
        spec: CellSpec,
        runs_on: Launcher,
        rest: tuple[object, ...],
        *tensors: torch.Tensor,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        states, saved = launch_forward(problem, spec, runs_on, tensors)
        ctx.problem, ctx.spec, ctx.runs_on, ctx.saved_names = backward, spec, runs_on, list(saved)
        ctx.options, ctx.again = rest
        ctx.save_for_backward(*tensors[1:], states, *saved.values())
        return states[0, 1:], states[:, -1]

    @staticmethod
    def backward(
        ctx: FunctionCtx, output_gradient: torch.Tensor, last_gradient: torch.Tensor
    ) -> tuple[torch.Tensor | None, ...]:
        recurrent, bias, initial, states, *values = ctx.saved_tensors
        if torch.is_grad_enabled():  # what follows is differentiated, too
            by = output_gradient, last_gradient
            return (*[None] * 5, *_differentiable(ctx, (recurrent, bias, initial), by))
        given = {"recurrent": recurrent, "states": states, **weights_of(ctx.spec, bias)}
        given.update(zip(ctx.saved_names, values, strict=True))
        gradients = output_gradient, last_gradient
        found = launch_backward(ctx.problem, ctx.spec, ctx.runs_on, gradients, given)
        return (*[None] * 5, *found)


def _differentiable(
    ctx: FunctionCtx, rest: tuple[torch.Tensor, ...], by: tuple[torch.Tensor, ...]
) -> list[object]:
    """Gradients by all four tensors that can be differentiated once more."""
    if ctx.again is None or not has_native(ctx.options[0]):
        raise InputError(
            "kernels give no gradients of gradients: leave create_graph=True out, or run the layer "
            "within kerneltune.torch.native()"
        )
    cell, forward_clip, gate_clip, cut, _ = ctx.options
    extras = Extras(forward_clip, gate_clip, cut)
    with torch.enable_grad():
        product = ctx.again().to(rest[0].dtype)
    run = partial(native_recurrence, cell, extras=extras)
    return differentiable_gradients(run, (product, *rest), by)
