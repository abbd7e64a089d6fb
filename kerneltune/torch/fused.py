"""Layers whose rows all have the same length, as one differentiable operation each: least time of the host.

W x, the recurrence and all gradients are queued without autograd in between. `kerneltune.torch.stack` has the
general way, which this one agrees with.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch.nn import functional

from kerneltune.errors import InputError
from kerneltune.torch.launching import Launcher, launcher
from kerneltune.torch.operators import launch_backward, launch_forward, problem_of, readable, spec_of

if TYPE_CHECKING:
    from kerneltune.torch.stack import Stack

States = tuple[torch.Tensor, ...]


@dataclass(frozen=True)
class _Layer:
    """A layer's sizes.

    Attributes:
        cell: The cell's name.
        positive: For each state, whether it begins with 1.
        tf32: Whether float32 products may be computed in TF32.
    """

    cell: str
    positive: tuple[bool, ...]
    heads: int
    dim: int
    gates: int
    directions: int
    bias: bool
    tf32: bool

    @property
    def options(self) -> tuple[Any, ...]:
        """As the operators have them."""
        return self.cell, 0.0, 0.0, False, self.tf32

    def into(self, weight: torch.Tensor) -> torch.Tensor:
        """Rows from torch's order, gate after gate, to the gates of a unit side by side."""
        units = self.heads * self.dim
        return weight.view(self.gates, units, -1).transpose(0, 1).reshape(units * self.gates, -1)

    def out_of(self, gradient: torch.Tensor) -> torch.Tensor:
        """The inverse of `into`."""
        units = self.heads * self.dim
        return gradient.view(units, self.gates, -1).transpose(0, 1).reshape(units * self.gates, -1)

    def by_head(self, rows: torch.Tensor) -> torch.Tensor:
        """Rows in torch's order as `[H, G, D, …]`."""
        return rows.view(self.gates, self.heads, self.dim, *rows.shape[1:]).transpose(0, 1)

    def by_gate(self, gradient: torch.Tensor) -> torch.Tensor:
        """The inverse of `by_head`."""
        return gradient.transpose(0, 1).reshape(self.gates * self.heads * self.dim, *gradient.shape[3:])


@dataclass(frozen=True)
class _Ready:
    """A layer's weights as kernels have them; W and its bias for each direction."""

    into: list[torch.Tensor]
    into_bias: list[torch.Tensor | None]
    recurrent: torch.Tensor
    bias: torch.Tensor


def takes(stack: Stack, data: torch.Tensor) -> bool:
    """Whether `run` can run this stack on kernels."""
    sizes = stack.sizes
    plain = not (sizes.proj_size or sizes.recurrent_dropout or sizes.layer_norm or sizes.zoneout)
    return (
        plain
        and not sizes.head_dim % 8
        and not torch.is_autocast_enabled(data.device.type)
        and not torch._C._are_functorch_transforms_active()
    )


def run(stack: Stack, data: torch.Tensor, states: States | None) -> tuple[torch.Tensor, States]:
    """As `Stack.run` for rows of the same length; `states` may be None for the default."""
    sizes, kind = stack.sizes, stack.kind
    if states is None and sizes.learned_initial:
        states = stack.first_states(data.shape[1], data)
    layer = _Layer(
        kind.cell,
        tuple(name == "n" for name in kind.states),
        sizes.heads,
        sizes.head_dim,
        len(kind.gates),
        sizes.directions,
        sizes.bias,
        bool(torch.backends.cudnn.allow_tf32),
    )
    lasts = []
    for k in range(sizes.num_layers):
        if k and sizes.dropout:
            data = functional.dropout(data, sizes.dropout, stack.training)
        at = slice(k * sizes.directions, (k + 1) * sizes.directions)
        given = () if states is None else tuple(state[at] for state in states)
        data, last = _run_layer(stack, layer, k, data, given)
        lasts.append(last)
    joined = lasts[0] if len(lasts) == 1 else torch.cat(lasts, dim=1)
    return data, joined.unbind(0)


def _run_layer(
    stack: Stack, layer: _Layer, index: int, data: torch.Tensor, given: States
) -> tuple[torch.Tensor, torch.Tensor]:
    if not torch.is_grad_enabled():
        made = [stack.weights(index, d, layer.dim) for d in range(layer.directions)]
        ready = _Ready(
            [one.into for one in made],
            [one.into_bias for one in made],
            made[0].recurrent if len(made) == 1 else torch.cat([one.recurrent for one in made]),
            made[0].bias if len(made) == 1 else torch.cat([one.bias for one in made]),
        )
        states, _ = _forward(layer, ready, data, given, "forward", launcher())
        return _results(layer, states)
    ends = [stack.ending(index, d) for d in range(layer.directions)]
    names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh") if layer.bias else ("weight_ih", "weight_hh")
    parameters = [getattr(stack, name + end) for end in ends for name in names]
    output, last = _Fused.apply(layer, launcher(), data, len(given), *given, *parameters)
    return output, last


def _ready(layer: _Layer, parameters: tuple[torch.Tensor, ...]) -> _Ready:
    step = 4 if layer.bias else 2
    each = [parameters[i : i + step] for i in range(0, len(parameters), step)]
    recurrent = [layer.by_head(one[1]) for one in each]
    if layer.bias:
        bias = [layer.by_head(one[3]) for one in each]
    else:
        bias = [part.new_zeros(part.shape[:3]) for part in recurrent]
    return _Ready(
        [layer.into(one[0]) for one in each],
        [layer.into(one[2]).flatten() if layer.bias else None for one in each],
        readable(recurrent[0]) if len(each) == 1 else torch.cat(recurrent),
        readable(bias[0]) if len(each) == 1 else torch.cat(bias),
    )


def _forward(
    layer: _Layer, ready: _Ready, data: torch.Tensor, given: States, direction: str, runs_on: Launcher
) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    steps, batch, _ = data.shape
    count, size = layer.directions, layer.heads * layer.dim * layer.gates
    product = data.new_empty((steps * batch, count, size))
    for d in range(count):
        rows = (data.flip(0) if d else data).reshape(steps * batch, -1)
        bias = ready.into_bias[d]
        if bias is None:
            torch.mm(rows, ready.into[d].t(), out=product[:, d])
        else:
            torch.addmm(bias, rows, ready.into[d].t(), out=product[:, d])
    heads = count * layer.heads
    shape = (steps, batch, heads, layer.dim, layer.gates)
    initial = data.new_zeros((len(layer.positive), batch, heads, layer.dim))
    for i, positive in enumerate(layer.positive):
        if given:
            whole = given[i].view(count, batch, layer.heads, layer.dim)
            initial[i].view(batch, count, layer.heads, layer.dim).copy_(whole.transpose(0, 1))
        elif positive:
            initial[i].fill_(1)
    problem = problem_of(direction, shape, data.dtype, layer.options)
    tensors = (product.view(shape), ready.recurrent, ready.bias, initial)
    return launch_forward(problem, spec_of(layer.cell), runs_on, tensors)


def _results(layer: _Layer, states: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """H after each step, `[T, B, directions * hidden]`, and the last states, `[S, directions, B, hidden]`."""
    hidden, last = states[0, 1:], states[:, -1]
    if layer.directions == 1:
        return hidden.flatten(2), last.flatten(2).unsqueeze(1)
    ways = hidden.unflatten(2, (layer.directions, -1)).flatten(3).unbind(2)
    ends = last.unflatten(2, (layer.directions, -1)).flatten(3).transpose(1, 2)
    return torch.cat([ways[0], ways[1].flip(0)], dim=-1), ends


class _Fused(torch.autograd.Function):  # type: ignore[misc] # torch has no types here
    """A layer: its input, its first states and its parameters, for each direction in torch's order."""

    @staticmethod
    def forward(
        ctx: Any, layer: _Layer, runs_on: Launcher, data: torch.Tensor, count: int, *tensors: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Run it."""
        ready = _ready(layer, tensors[count:])
        states, saved = _forward(layer, ready, data, tensors[:count], "training", runs_on)
        ctx.layer, ctx.runs_on, ctx.count, ctx.names = layer, runs_on, count, tuple(saved)
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(data, states, ready.recurrent, *ready.into, *saved.values())
        return _results(layer, states)

    @staticmethod
    def backward(ctx: Any, by_output: Any, by_last: Any) -> tuple[Any, ...]:
        """Gradients by the input, the first states and the parameters."""
        if torch.is_grad_enabled():
            raise InputError(
                "kernels give no gradients of gradients: leave create_graph=True out, or run the layer "
                "within kerneltune.torch.native()"
            )
        layer: _Layer = ctx.layer
        data, states, recurrent, *rest = ctx.saved_tensors
        into, saved = rest[: layer.directions], rest[layer.directions :]
        given = {
            "recurrent": readable(recurrent),
            "states": states,
            **dict(zip(ctx.names, saved, strict=True)),
        }
        problem = problem_of("backward", states[0, 1:].shape, states.dtype, layer.options)
        by = _by_output(layer, states, by_output), _by_last(layer, states, by_last)
        found = launch_backward(problem, spec_of(layer.cell), ctx.runs_on, by, given)
        by_data, parameters = _parameters(layer, data, into, found, ctx.needs_input_grad[2])
        starts: list[Any] = []
        if ctx.count:
            parted = found[3].unflatten(2, (layer.directions, layer.heads)).flatten(3).transpose(1, 2)
            starts = list(parted.unbind(0))
        return (None, None, by_data, None, *starts, *parameters)


def _by_output(layer: _Layer, states: torch.Tensor, by: torch.Tensor | None) -> torch.Tensor:
    hidden = states[0, 1:]
    if by is None:
        return torch.zeros_like(hidden)
    if layer.directions == 1:
        return by.reshape(hidden.shape)
    ways = by.unflatten(-1, (2, layer.heads, layer.dim)).unbind(2)
    return torch.cat([ways[0], ways[1].flip(0)], dim=2)


def _by_last(layer: _Layer, states: torch.Tensor, by: torch.Tensor | None) -> torch.Tensor:
    if by is None:
        return states.new_zeros(states[:, -1].shape)
    return by.transpose(1, 2).reshape(states[:, -1].shape)


def _parameters(
    layer: _Layer,
    data: torch.Tensor,
    into: list[torch.Tensor],
    found: tuple[torch.Tensor, ...],
    wants_data: bool,
) -> tuple[torch.Tensor | None, list[torch.Tensor]]:
    by_input, by_r, by_bias, _ = found
    flat = by_input.view(-1, layer.directions, into[0].shape[0])
    separate = spec_of(layer.cell).separate_gradients
    by_data: torch.Tensor | None = None
    gradients = []
    for d, weight in enumerate(into):
        mine = flat[:, d]
        rows = (data.flip(0) if d else data).reshape(len(mine), -1)
        heads = slice(d * layer.heads, (d + 1) * layer.heads)
        gradients += [layer.out_of(mine.t() @ rows), layer.by_gate(by_r[heads])]
        if layer.bias:
            by_rows = layer.by_gate(by_bias[heads])
            summed = mine.sum(0, dtype=torch.float32).to(by_rows.dtype) if separate else None
            gradients += [by_rows if summed is None else layer.out_of(summed).flatten(), by_rows]
        if wants_data:
            part = (mine @ weight).view(data.shape)
            by_data = part if by_data is None else by_data + part.flip(0)
    return by_data, gradients
