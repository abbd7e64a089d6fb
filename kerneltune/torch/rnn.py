"""Recurrent layers for PyTorch, and the operation that they are made of.

On a GPU alone: tilings are solved and kernels compiled at the first call with a new shape, and kept.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
from torch.nn import functional

from kerneltune.errors import InputError, nearest
from kerneltune.inputs.descriptions import CellSpec, Kernels, discover
from kerneltune.inputs.problem import Problem
from kerneltune.torch.launching import Launcher, launcher

_DTYPES = {torch.bfloat16: "bf16", torch.float16: "fp16", torch.float32: "fp32"}
_OPTIONS = ("forward_clip", "gate_gradient_clip", "cut_recurrent_gradient")
_ALIGNED = 16  # bytes that kernels read at once


def recurrence(
    cell: str,
    input_product: torch.Tensor,
    recurrent: torch.Tensor,
    bias: torch.Tensor,
    initial: torch.Tensor,
    *,
    forward_clip: float = 0.0,
    gate_gradient_clip: float = 0.0,
    cut_recurrent_gradient: bool = False,
    runs_on: Launcher | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Run a recurrent layer over all steps; gradients flow to all four tensors.

    Args:
        cell: Name of the cell, such as "lstm".
        input_product: W x, `[T, B, H, D, G]`: the gates of a unit side by side.
        recurrent: R, `[H, G, D, D]`; row = output unit.
        bias: `[H, G, D]`, added to R h.
        initial: The states before the first step, `[S, B, H, D]`.
        forward_clip: Bound of h after each step, rounded to the dtype; 0 for none. No gradient passes through
            an h that reached it.
        gate_gradient_clip: Bound of each gate's gradient; 0 for none.
        cut_recurrent_gradient: No gradient passes through R h.
        runs_on: What launches kernels; by default, this machine's GPU.

    Returns:
        h after each step, `[T, B, H, D]`, and the states after the last step, `[S, B, H, D]`, in the dtype of
        the inputs. Raises `InputError` for tensors that do not fit each other.
    """
    runs_on = runs_on or launcher()
    spec = _kernels_of(runs_on).cell(cell).spec
    problem = replace(_problem(spec, input_product, recurrent, bias, initial), forward_clip=forward_clip)
    backward = replace(
        problem,
        direction="backward",
        gate_gradient_clip=gate_gradient_clip,
        cut_recurrent_gradient=cut_recurrent_gradient,
    )
    tensors = (input_product, recurrent, bias, initial)
    # Within the operation this cannot be asked: gradients are always off there.
    if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors):
        problem = replace(problem, direction="training")
    parts = [_readable(tensor) for tensor in tensors]
    output, last = _Recurrence.apply(problem, backward, spec, runs_on, *parts)
    return output, last


def _readable(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor as kernels read it: contiguous, and beginning where wide reads may."""
    tensor = tensor.contiguous()
    return tensor.clone() if tensor.data_ptr() % _ALIGNED else tensor


def _kernels_of(runs_on: Launcher) -> Kernels:
    return getattr(runs_on, "kernels", None) or discover()


def _problem(
    spec: CellSpec,
    input_product: torch.Tensor,
    recurrent: torch.Tensor,
    bias: torch.Tensor,
    initial: torch.Tensor,
) -> Problem:
    gates, states = len(spec.gates), len(spec.states)
    if input_product.dim() != 5 or input_product.shape[-1] != gates:
        raise InputError(
            f"the input product of {spec.name} is [T, B, H, D, {gates}], not {list(input_product.shape)}"
        )
    steps, batch, heads, dim, _ = input_product.shape
    if 0 in input_product.shape:
        raise InputError(
            f"there must be at least one step, batch row, head and unit, not {list(input_product.shape)}"
        )
    wanted = {
        "recurrent": (recurrent, [heads, gates, dim, dim]),
        "bias": (bias, [heads, gates, dim]),
        "initial": (initial, [states, batch, heads, dim]),
    }
    for name, (tensor, shape) in wanted.items():
        if list(tensor.shape) != shape:
            raise InputError(f"{name} of {spec.name} is {shape} here, not {list(tensor.shape)}")
        if tensor.dtype != input_product.dtype or tensor.device != input_product.device:
            raise InputError(
                f"{name} is {tensor.dtype} on {tensor.device}, "
                f"but the input product is {input_product.dtype} on {input_product.device}"
            )
    if input_product.dtype not in _DTYPES:
        known = ", ".join(map(str, _DTYPES))
        raise InputError(f"{input_product.dtype} is not supported: {known} are")
    return Problem(spec.name, heads, dim, batch, _DTYPES[input_product.dtype], steps)


class _Recurrence(torch.autograd.Function):  # type: ignore[misc] # torch has no types here
    """The forward and the backward kernel as one differentiable operation."""

    @staticmethod
    def forward(
        ctx: Any,
        problem: Problem,
        backward: Problem,
        spec: CellSpec,
        runs_on: Launcher,
        input_product: torch.Tensor,
        recurrent: torch.Tensor,
        bias: torch.Tensor,
        initial: torch.Tensor,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        steps, batch, heads, dim = problem.steps, problem.batch, problem.heads, problem.head_dim
        states = input_product.new_empty((len(spec.states), steps + 1, batch, heads, dim))
        states[:, 0] = initial
        tensors = {"input": input_product, "recurrent": recurrent, "bias": bias, "states": states}
        saved: dict[str, torch.Tensor] = {}
        if problem.direction == "training":
            saved = _saved(spec, states)
        runs_on.launch(problem, {**tensors, **saved})
        ctx.problem, ctx.spec, ctx.runs_on, ctx.saved_names = backward, spec, runs_on, list(saved)
        ctx.save_for_backward(recurrent, states, *saved.values())
        return states[0, 1:], states[:, -1]

    @staticmethod
    def backward(
        ctx: Any, output_gradient: torch.Tensor, last_gradient: torch.Tensor
    ) -> tuple[torch.Tensor | None, ...]:
        if torch.is_grad_enabled():  # what follows is no function of the inputs to autograd
            raise InputError("gradients of gradients are not there: leave create_graph=True out")
        recurrent, states, *values = ctx.saved_tensors
        spec: CellSpec = ctx.spec
        shape = (*states[0, 1:].shape, len(spec.gates))
        by_input = states.new_empty(shape)
        by_recurrent = states.new_empty(shape) if spec.separate_gradients else by_input
        by_initial = torch.empty_like(states[:, 0], memory_format=torch.contiguous_format)
        tensors = {
            **dict(zip(ctx.saved_names, values, strict=True)),
            "states": states,
            "output_gradient": _readable(output_gradient.to(states.dtype)),
            "last_gradient": _readable(last_gradient.to(states.dtype)),
            "recurrent": recurrent,
            "input_gradient": by_input,
            "recurrent_gradient": by_recurrent,
            "initial_gradient": by_initial,
        }
        ctx.runs_on.launch(ctx.problem, tensors)
        by_r, by_bias = parameter_gradients(by_recurrent, states[0, :-1])
        return None, None, None, None, by_input, by_r, by_bias, by_initial


def _saved(spec: CellSpec, states: torch.Tensor) -> dict[str, torch.Tensor]:
    """Empty tensors for what the backward pass reads; see `kernels/common/arguments.cuh`."""
    _, times, *rest = states.shape
    found = {}
    if spec.saved_values:
        found["saved_values"] = states.new_empty((times - 1, *rest, spec.saved_values))
    if spec.saved_states:
        found["saved_states"] = states.new_empty((times, *rest, spec.saved_states), dtype=torch.float32)
    return found


def parameter_gradients(
    recurrent_gradient: torch.Tensor, hidden: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Gradients by R and bias: one matrix product a head over time and batch, and a sum.

    Args:
        recurrent_gradient: By R h + bias, `[T, B, H, D, G]`.
        hidden: h before each step, `[T, B, H, D]`.

    Returns:
        `[H, G, D, D]` and `[H, G, D]`.
    """
    _, _, heads, dim, gates = recurrent_gradient.shape
    left = recurrent_gradient.reshape(-1, heads, dim * gates).permute(1, 2, 0)
    right = hidden.reshape(-1, heads, dim).transpose(0, 1)
    by_r = torch.bmm(left, right).reshape(heads, dim, gates, dim).transpose(1, 2).contiguous()
    by_bias = recurrent_gradient.sum(dim=(0, 1), dtype=torch.float32).transpose(1, 2)
    return by_r, by_bias.to(recurrent_gradient.dtype).contiguous()


class RNN(torch.nn.Module):  # type: ignore[misc] # torch has no types here
    """A recurrent layer with its input projection.

    Args:
        cell: Name of the cell, such as "lstm", "gru", "slstm", "elman".
        input_size: Features of x.
        heads: Heads, which recur apart from one another.
        head_dim: Units of a head, a multiple of 8.
        options: As for `recurrence`: `forward_clip`, `gate_gradient_clip`, `cut_recurrent_gradient`.
        runs_on: What launches kernels; by default, this machine's GPU.

    Attributes:
        weight: W, `[H * D * G, input_size]`; its rows in the order of the input product.
        input_bias: Added to W x, `[H * D * G]`.
        recurrent: R, `[H, G, D, D]`.
        bias: Added to R h, `[H, G, D]`; for most cells the two biases act alike.
    """

    def __init__(
        self,
        cell: str,
        input_size: int,
        heads: int,
        head_dim: int,
        *,
        options: Mapping[str, Any] | None = None,
        runs_on: Launcher | None = None,
    ) -> None:
        super().__init__()
        self.cell = cell
        self.spec = discover().cell(cell).spec
        self.input_size, self.heads, self.head_dim = input_size, heads, head_dim
        self.options = dict(options or {})
        for name in self.options:
            if name not in _OPTIONS:
                raise InputError(f"unknown option '{name}': {nearest(name, _OPTIONS)}")
        self._runs_on = runs_on
        gates = len(self.spec.gates)
        bound = 1 / math.sqrt(head_dim)
        for name, shape in (
            ("weight", (heads * head_dim * gates, input_size)),
            ("input_bias", (heads * head_dim * gates,)),
            ("recurrent", (heads, gates, head_dim, head_dim)),
            ("bias", (heads, gates, head_dim)),
        ):
            values = torch.empty(shape).uniform_(-bound, bound)
            self.register_parameter(name, torch.nn.Parameter(values))

    def initial(self, batch: int) -> torch.Tensor:
        """The states before the first step, `[S, B, H, D]`: 0, but 1 for those that must be positive."""
        values = self.weight.new_zeros((len(self.spec.states), batch, self.heads, self.head_dim))
        for i, name in enumerate(self.spec.states):
            if name in self.spec.positive:
                values[i] = 1
        return values

    def forward(
        self, x: torch.Tensor, initial: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Run the layer.

        Args:
            x: `[T, B, input_size]`.
            initial: The states before the first step, `[S, B, H, D]`; see the method `initial`.

        Returns:
            h after each step, `[T, B, H * D]`, and the states after the last, `[S, B, H, D]`.
        """
        if x.dim() != 3 or x.shape[-1] != self.input_size:
            raise InputError(f"x is [T, B, {self.input_size}], not {list(x.shape)}")
        steps, batch, _ = x.shape
        product = functional.linear(x, self.weight, self.input_bias)
        product = product.view(steps, batch, self.heads, self.head_dim, len(self.spec.gates))
        start = self.initial(batch) if initial is None else initial
        output, last = recurrence(
            self.cell, product, self.recurrent, self.bias, start, **self.options, runs_on=self._runs_on
        )
        return output.reshape(steps, batch, self.heads * self.head_dim), last

    @staticmethod
    def from_torch(layer: torch.nn.Module, *, runs_on: Launcher | None = None) -> RNN:
        """The same layer as a torch.nn.LSTM, GRU or RNN of one layer and direction, in one head."""
        kinds = {torch.nn.LSTM: "lstm", torch.nn.GRU: "gru"}
        cell = kinds.get(type(layer))
        if isinstance(layer, torch.nn.RNN):
            cell = {"tanh": "elman", "relu": "elman_relu"}[layer.nonlinearity]
        if cell is None or layer.num_layers != 1 or layer.bidirectional or not layer.bias:
            raise InputError("from_torch takes an LSTM, GRU or RNN of one layer and direction, with biases")
        dim = layer.hidden_size
        made = RNN(cell, layer.input_size, 1, dim, runs_on=runs_on)
        gates = len(made.spec.gates)
        with torch.no_grad():
            # torch has gate after gate; here the gates of a unit lie side by side.
            made.weight.copy_(
                layer.weight_ih_l0.view(gates, dim, -1).transpose(0, 1).reshape(gates * dim, -1)
            )
            made.input_bias.copy_(layer.bias_ih_l0.view(gates, dim).t().reshape(-1))
            made.recurrent.copy_(layer.weight_hh_l0.view(1, gates, dim, dim))
            made.bias.copy_(layer.bias_hh_l0.view(1, gates, dim))
        made.to(layer.weight_ih_l0.device, layer.weight_ih_l0.dtype)
        return made
