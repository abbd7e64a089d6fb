"""Stacks of layers as one differentiable operation: least time of the host, no step of a row that is over.

W x, the recurrences and all gradients are queued without autograd in between. `kerneltune.torch.stack` has
the general way, which this one agrees with.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from kerneltune.errors import InputError
from kerneltune.torch.fused_layer import Layer, Weights, gradients_of, refuse_second_derivatives, weights_of
from kerneltune.torch.fused_rows import Block, Even, Rows
from kerneltune.torch.launching import Launcher, launcher
from kerneltune.torch.lengths import Lengths
from kerneltune.torch.operators import problem_of, readable, spec_of
from kerneltune.torch.staggered import SideBySide, Staggered, chunk_of
from kerneltune.torch.staggered import run as run_staggered

if TYPE_CHECKING:
    from kerneltune.torch.stack import Kind, Sizes, Stack

States = tuple[torch.Tensor, ...]
MOST_HELD = 2**31  # bytes of all layers' gradients by W x, or h, that layers side by side hold at once
ROWS = 16  # fewest of a block: fewer take no less time
LAUNCH = 1e-4  # seconds that a further launch of both passes takes, of the host or of the GPU
Saved = dict[str, torch.Tensor]


@dataclass(frozen=True)
class _Plan:
    """A call: a layer's sizes, the number of layers, dropout, how many states are given, and where."""

    layer: Layer
    layers: int
    dropout: float
    given: int
    rows: Rows
    runs_on: Launcher


@dataclass(frozen=True)
class _Ran:
    """What a layer's backward pass reads."""

    data: torch.Tensor
    weights: Weights
    states: torch.Tensor
    saved: Saved
    mask: torch.Tensor | None


@lru_cache(maxsize=256)
def layer_of(kind: Kind, sizes: Sizes, tf32: bool) -> Layer:
    """The sizes of each layer of a stack."""
    return Layer(
        kind.cell,
        tuple(name == "n" for name in kind.states),
        kind.keeps,
        sizes.heads,
        sizes.head_dim,
        len(kind.gates),
        sizes.directions,
        sizes.bias,
        spec_of(kind.cell).separate_gradients,
        tf32,
    )


def takes(stack: Stack) -> bool:
    """Whether `run` can run this stack on kernels."""
    sizes = stack.sizes
    plain = not (sizes.proj_size or sizes.recurrent_dropout or sizes.layer_norm or sizes.zoneout)
    return plain and not sizes.head_dim % 8 and not torch._C._are_functorch_transforms_active()


def run(stack: Stack, data: torch.Tensor, rows: Rows, states: States | None) -> tuple[torch.Tensor, States]:
    """As `Stack.run`; `states` may be None for the default.

    Args:
        stack: The stack.
        data: The input, as `rows` has it.
        rows: How the batch's rows lie.
        states: The states before the first step, each `[L * directions, B, width]`.
    """
    sizes = stack.sizes
    if states is None and sizes.learned_initial:
        states = stack.first_states(rows.batch, data)
    given = states or ()
    names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh") if sizes.bias else ("weight_ih", "weight_hh")
    own = stack._parameters
    parameters = []
    for end in stack._ends():
        for name in names:
            found = own.get(name + end)
            parameters.append(found if found is not None else getattr(stack, name + end))
    layer = layer_of(stack.kind, sizes, bool(torch.backends.cudnn.allow_tf32))
    dropout = sizes.dropout if stack.training else 0.0
    plan = _Plan(layer, sizes.num_layers, dropout, len(given), rows, launcher())
    device = data.device.type
    if not torch.is_autocast_enabled(device):
        if parameters[0].dtype != data.dtype:
            raise InputError(f"the input is {data.dtype}, but the layer's weights are {parameters[0].dtype}")
        return _run(plan, data, (*given, *parameters))
    wanted = torch.get_autocast_dtype(device)  # gradients by parameters are cast back by autograd
    with torch.autocast(device, enabled=False):
        return _run(plan, data.to(wanted), (*(one.to(wanted) for one in given), *parameters))


def _run(plan: _Plan, data: torch.Tensor, tensors: States) -> tuple[torch.Tensor, States]:
    layer, shape = plan.layer, data.shape[:2]
    training = torch.is_grad_enabled() and (data.requires_grad or any(one.requires_grad for one in tensors))
    plain = isinstance(plan.rows, Even) and plan.layers > 1 and layer.directions == 1 and not plan.dropout
    if plain and (chunk := chunk_for(layer, plan.layers, shape, data.dtype, training)):
        side = Staggered(layer, plan.layers, shape[0], shape[1], chunk, plan.runs_on)
        if training:
            output, *last = SideBySide.apply(side, plan.given, data, *tensors)
            return output, tuple(last)
        return run_staggered(side, plan.given, data, tensors, training=False)[:2]
    if training:
        output, *last = _Fused.apply(plan, data, *tensors)
        return output, tuple(last)
    output, last, _ = _run_layers(plan, data, tensors, training=False)
    return output, last


@lru_cache(maxsize=4096)
def chunk_for(layer: Layer, layers: int, shape: tuple[int, int], dtype: torch.dtype, training: bool) -> int:
    """Steps of a chunk where layers run side by side; 0 where they run one after another."""

    def seconds(side: int) -> float:
        return _step_seconds(layer, side, shape[1], dtype, training)

    held = shape[0] * shape[1] * layers * (layer.width if training else layer.units) * dtype.itemsize
    if held > MOST_HELD:
        return 0
    return chunk_of(shape[0], layers, training, seconds)


def _step_seconds(layer: Layer, side: int, batch: int, dtype: torch.dtype, training: bool) -> float:
    """What a step takes of all passes, by the cost model, of so many layers side by side."""
    heads = side * layer.directions * layer.heads, layer.dim
    problems = [
        problem_of(name, (1, batch, *heads), dtype, layer.options)
        for name in (("training", "backward") if training else ("forward",))
    ]
    return sum(launcher().step_seconds(problem) for problem in problems)


def _run_layers(
    plan: _Plan, data: torch.Tensor, tensors: States, *, training: bool
) -> tuple[torch.Tensor, States, list[_Ran]]:
    """Queue the forward pass of all layers."""
    layer, rows, lasts, kept = plan.layer, plan.rows, [], []
    given, parameters = tensors[: plan.given], tensors[plan.given :]
    count = layer.directions * layer.parameters
    for k in range(plan.layers):
        mask = None
        if k and plan.dropout:
            data, mask = torch.native_dropout(data, plan.dropout, True)
        weights = weights_of(layer, parameters[k * count : (k + 1) * count], data.dtype)
        at = slice(k * layer.directions, (k + 1) * layer.directions)
        start = tuple(state[at] for state in given)
        product = rows.product(layer, data, weights.into, weights.into_bias)
        states, saved = _forward(plan, product, weights, start, training)
        if training:
            kept.append(_Ran(data, weights, states, saved, mask))
        data = rows.output(layer, states)
        lasts.append(rows.lasts(layer, states))
    last = lasts[0] if len(lasts) == 1 else torch.cat(lasts, dim=1)
    return data, last.unbind(0), kept


def _cut(whole: torch.Tensor, at: int, rows: int) -> torch.Tensor:
    """So many rows of a tensor, from one on."""
    return whole if len(whole) == rows else whole.narrow(0, at, rows)


def _forward(
    plan: _Plan, product: torch.Tensor, weights: Weights, start: States, training: bool
) -> tuple[torch.Tensor, Saved]:
    """Queue a layer's recurrence: the states of all blocks, and what the backward pass reads."""
    layer, blocks = plan.layer, plan.rows.blocks
    spec, count, last = spec_of(layer.cell), len(layer.positive), blocks[-1]
    heads = layer.directions * layer.heads, layer.dim
    floats = last.floats_at + (last.steps + 1) * last.batch
    states = product.new_empty((last.states_at + count * (last.steps + 1) * last.batch, *heads))
    saved = {}
    if training and spec.saved_values:
        shape = (last.at + last.steps * last.batch, *heads, spec.saved_values)
        saved["saved_values"] = product.new_empty(shape)
    if training and spec.saved_states:
        saved["saved_states"] = product.new_empty((floats, *heads, spec.saved_states), dtype=torch.float32)
    before = None
    for block in blocks:
        steps, batch = block.steps, block.batch
        mine = _cut(states, block.states_at, count * (steps + 1) * batch)
        by_step = mine.view(count, steps + 1, batch, *heads)
        if before is None:
            _begin(layer, by_step[:, 0], start)
        else:
            by_step[:, 0] = before[:, -1, :batch]
        tensors = {
            "input": _cut(product, block.at, steps * batch),
            "recurrent": weights.recurrent,
            "bias": weights.bias,
            "states": mine,
            **_saved_of(saved, block),
        }
        shape = (steps, batch, *heads)
        problem = problem_of("training" if training else "forward", shape, product.dtype, layer.options)
        plan.runs_on.launch(problem, tensors)
        before = by_step
    return states, saved


def _saved_of(saved: Saved, block: Block) -> Saved:
    found = {}
    for name, whole in saved.items():
        at, steps = block.at, block.steps
        if name == "saved_states":
            at, steps = block.floats_at, steps + 1
        found[name] = _cut(whole, at, steps * block.batch)
    return found


def _begin(layer: Layer, first: torch.Tensor, start: States) -> None:
    """Fill the states before the first step, `[S, B, H, D]`."""
    if not start:
        first.zero_()
        if any(layer.positive):
            first[layer.positive.index(True)].fill_(1)
        return
    for mine, given in zip(first.unbind(0), start, strict=True):
        mine.view(len(mine), layer.directions, -1).copy_(given.transpose(0, 1))


class _Fused(torch.autograd.Function):  # type: ignore[misc] # torch has no types here
    """A stack: its input, its first states and each layer's and direction's parameters in torch's order."""

    @staticmethod
    def forward(
        ctx: Any, plan: _Plan, data: torch.Tensor, *tensors: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        """Run it."""
        output, last, kept = _run_layers(plan, data, tensors, training=True)
        ctx.plan = plan
        ctx.names = [(tuple(one.saved), one.mask is not None) for one in kept]
        ctx.set_materialize_grads(False)
        held: list[torch.Tensor] = []
        for one in kept:
            masks = () if one.mask is None else (one.mask,)
            held += [
                one.data,
                one.weights.recurrent,
                one.states,
                *one.weights.into,
                *one.saved.values(),
                *masks,
            ]
        ctx.save_for_backward(*held)
        return (output, *last)

    @staticmethod
    def backward(ctx: Any, by: torch.Tensor | None, *by_last: torch.Tensor | None) -> tuple[Any, ...]:
        """Gradients by the input, the first states and the parameters."""
        refuse_second_derivatives()
        plan: _Plan = ctx.plan
        layer = plan.layer
        parameters: list[torch.Tensor] = []
        starts: list[torch.Tensor] = []
        kept = _held(layer, ctx.names, ctx.saved_tensors)
        for k in reversed(range(plan.layers)):
            ran = kept[k]
            at = slice(k * layer.directions, (k + 1) * layer.directions)
            lasts = tuple(None if one is None else one[at] for one in by_last)
            by_product, by_recurrent, by_start = _backward(plan, ran, by, lasts)
            products = plan.rows.products(layer, by_product)
            recurrent = plan.rows.products(layer, by_recurrent) if layer.separate else products
            reads = plan.rows.read(layer, ran.data, ran.states)
            mine: list[torch.Tensor] = []
            for parts in zip(products, recurrent, reads, strict=True):
                mine += gradients_of(layer, *parts)
            parameters[:0] = mine
            starts.insert(0, by_start)
            if k or ctx.needs_input_grad[1]:
                by = plan.rows.by_data(products, ran.weights.into, ran.data)
                if ran.mask is not None:
                    scale = 1 / (1 - plan.dropout) if plan.dropout < 1 else 0.0
                    by = torch.ops.aten.native_dropout_backward(by, ran.mask, scale)
            else:
                by = None
        return (None, by, *(_by_given(layer, starts) if plan.given else ()), *parameters)


def _held(layer: Layer, names: list[Any], tensors: tuple[torch.Tensor, ...]) -> list[_Ran]:
    """The inverse of what the forward pass saved."""
    found, rest = [], list(tensors)
    for saved, masked in names:
        count = 3 + layer.directions + len(saved) + masked
        mine, rest = rest[:count], rest[count:]
        into = mine[3 : 3 + layer.directions]
        values = dict(zip(saved, mine[3 + layer.directions :], strict=False))
        weights = Weights(into, [], mine[1], mine[1])
        found.append(_Ran(mine[0], weights, mine[2], values, mine[-1] if masked else None))
    return found


def _backward(
    plan: _Plan, ran: _Ran, by: torch.Tensor | None, by_last: tuple[torch.Tensor | None, ...]
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Queue a layer's backward recurrence: gradients by W x, by R h + bias and by the first states."""
    layer, rows, blocks = plan.layer, plan.rows, plan.rows.blocks
    heads, last = (layer.directions * layer.heads, layer.dim), blocks[-1]
    states = ran.states
    shape = (last.at + last.steps * last.batch, *heads, layer.gates)
    gradient = states.new_empty(shape)
    by_recurrent = states.new_empty(shape) if layer.separate else gradient
    by_hidden = readable(rows.by_hidden(layer, by, by_last[0], states).to(states.dtype))
    by_hidden = by_hidden.view(shape[0], -1)
    after = states.new_zeros((len(layer.positive), blocks[0].batch, *heads))
    for state, one in enumerate(by_last):
        if one is not None and (state or rows.last_is_outside):
            after[state].view(rows.batch, layer.directions, -1).copy_(one.transpose(0, 1))
    initial: torch.Tensor | None = None
    for block in reversed(blocks):
        steps, batch = block.steps, block.batch
        following = after[:, :batch].contiguous()
        if initial is not None:
            following[:, : initial.shape[1]] = initial
        initial = torch.empty_like(following)
        tensors = {
            "recurrent": ran.weights.recurrent,
            "states": _cut(states, block.states_at, len(layer.positive) * (steps + 1) * batch),
            "output_gradient": _cut(by_hidden, block.at, steps * batch),
            "last_gradient": following,
            "input_gradient": _cut(gradient, block.at, steps * batch),
            "recurrent_gradient": _cut(by_recurrent, block.at, steps * batch),
            "initial_gradient": initial,
            **_saved_of(ran.saved, block),
        }
        problem = problem_of("backward", (steps, batch, *heads), states.dtype, layer.options)
        plan.runs_on.launch(problem, tensors)
    assert initial is not None
    return gradient, by_recurrent, initial


def _by_given(layer: Layer, starts: list[torch.Tensor]) -> list[torch.Tensor]:
    """Gradients by the first states, each `[L * directions, B, units]`, from each layer's `[S, B, H, D]`."""
    parted = [one.unflatten(2, (layer.directions, layer.heads)).flatten(3).transpose(1, 2) for one in starts]
    return list((parted[0] if len(parted) == 1 else torch.cat(parted, dim=1)).unbind(0))


def run_even(stack: Stack, data: torch.Tensor, states: States | None) -> tuple[torch.Tensor, States]:
    """As `run`, for `[T, B, input_size]`."""
    return run(stack, data, Even.of(data.shape[0], data.shape[1]), states)


def run_ragged(
    stack: Stack, data: torch.Tensor, lengths: Lengths, states: States | None
) -> tuple[torch.Tensor, States]:
    """As `run`, for `[N, input_size]`: the steps of rows that have lengths of their own."""
    layer = layer_of(stack.kind, stack.sizes, bool(torch.backends.cudnn.allow_tf32))

    def seconds(rows: int) -> float:
        return _step_seconds(layer, 1, rows, data.dtype, torch.is_grad_enabled())

    rows = lengths.placed(layer, cuts_of(lengths, seconds), data.device)
    return run(stack, data, rows, states)


def cuts_of(lengths: Lengths, seconds: Callable[[int], float]) -> list[tuple[int, int]]:
    """Steps and rows of the blocks that kernels run over.

    Rows that are over are left out from a step on at which half of them, or a quarter, … are, if that saves
    more than a launch takes.

    Args:
        lengths: The rows.
        seconds: What a step of so many rows takes.
    """
    running, steps, rows = lengths.running, int(lengths.ends.max()), len(lengths.ends)
    cuts, begun, fewer = [], 0, rows
    while running is not None and fewer > ROWS:
        fewer = -(-fewer // (2 * ROWS)) * ROWS
        at = int(np.searchsorted(-running, -fewer))  # the first step with no more rows than these
        if at > begun and (steps - at) * (seconds(rows) - seconds(fewer)) > LAUNCH:
            cuts.append((at - begun, rows))
            begun, rows = at, fewer
        elif at == begun > 0:
            rows = fewer
    return [*cuts, (steps - begun, rows)]
