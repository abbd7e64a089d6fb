"""Stacks of layers as one differentiable operation: least time of the host, no step of a row that is over.

W x, the recurrences and all gradients are queued without autograd in between. `kerneltune.torch.stack` has
the general way, which this one agrees with.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import lru_cache, partial
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch.autograd.function import FunctionCtx

from kerneltune.torch.again import layout_of, stack_again
from kerneltune.torch.fused_layer import Layer
from kerneltune.torch.fused_passes import Passes, Plan, States
from kerneltune.torch.fused_rows import BatchRows, Even
from kerneltune.torch.launching import launcher
from kerneltune.torch.lengths import Lengths
from kerneltune.torch.native import differentiable_gradients, is_native
from kerneltune.torch.operators import problem_of, spec_of
from kerneltune.torch.precision import autocast_dtype, autocast_of_cell, rnn_takes_tf32
from kerneltune.torch.replay import PLAIN, Call, Hold, Replays, place_of
from kerneltune.torch.staggered import SideBySide, Staggered, chunk_of

if TYPE_CHECKING:
    from kerneltune.torch.sizes import Kind, Sizes
    from kerneltune.torch.stack import Stack

MOST_HELD = 2**31  # bytes of all layers' gradients by W x, or h, that layers side by side hold at once
ROWS = 16  # fewest of a block: fewer take no less time
MOST_REPLAYED = 0.01  # seconds of the GPU; beyond, the time of the host does not matter
MOST_PLANS = 4096  # of a stack
MOST_KEPT = 2**17  # steps of all rows whose places are kept for the next layer
LAUNCH = 1e-4  # seconds that a further launch of both passes takes, of the host or of the GPU
_keeps_graph = getattr(torch._C._autograd, "_get_current_graph_task_keep_graph", None)  # not in older torch


@lru_cache(maxsize=256)
def layer_of(kind: Kind, sizes: Sizes, tf32: bool) -> Layer:
    """The sizes of each layer of a stack."""
    return Layer(
        cell=kind.cell,
        positive=tuple(name in kind.positive for name in kind.states),
        keeps=kind.keeps,
        heads=sizes.heads,
        dim=sizes.head_dim,
        gates=len(kind.gates),
        directions=sizes.directions,
        bias=sizes.bias,
        separate=spec_of(kind.cell).separate_gradients,
        tf32=tf32,
        sums=spec_of(kind.cell).weight_sums,
    )


class Calls:
    """Data that calls of a stack share.

    Attributes:
        names: Those of each layer's and direction's parameters, if they are asked for by name.
        replays: Where short calls are replayed.
    """

    def __init__(self, names: tuple[str, ...] = ()) -> None:
        self.names = names
        self.replays = Replays()
        self._plans: dict[Hashable, Plan] = {}
        self._passes: dict[Hashable, Passes] = {}

    def plan(self, kind: Kind, sizes: Sizes, rows: BatchRows, dropout: float, given: int) -> Plan:
        """How a call runs; the same one for calls that are alike."""
        tf32 = rnn_takes_tf32()
        key = rows, dropout, given, tf32, kind.cell, sizes
        found = self._plans.get(key) if isinstance(rows, Even) else None
        if found is None:
            layer = layer_of(kind, sizes, tf32)
            found = Plan(layer, sizes.num_layers, dropout, given, rows, launcher())
            if isinstance(rows, Even):
                if len(self._plans) >= MOST_PLANS:
                    self._plans = {}
                self._plans[key] = found
        return found

    def passes(self, plan: Plan, data: torch.Tensor, training: bool) -> Passes:
        """How its passes run: layers side by side, or one after another; likewise."""
        side_by_side = plan.layers > 1 and plan.layer.directions == 1 and not plan.layer.sums
        if not side_by_side or plan.dropout or not isinstance(plan.rows, Even):
            return plan
        key = plan, data.dtype, training
        found = self._passes.get(key)
        if found is None:
            steps, batch = data.shape[:2]
            chunk = chunk_for(plan.layer, plan.layers, (steps, batch), data.dtype, training)
            found = plan
            if chunk:
                side = Staggered(plan.layer, plan.layers, steps, batch, chunk, plan.runs_on)
                found = SideBySide(side, plan.given)
            if len(self._passes) >= MOST_PLANS:
                self._passes = {}
            self._passes[key] = found
        return found


_CALLS: WeakKeyDictionary[Stack, Calls] = WeakKeyDictionary()


def _calls_of(stack: Stack) -> Calls:
    found = _CALLS.get(stack)
    return _CALLS.setdefault(stack, Calls(stack.parameter_names())) if found is None else found


def takes(stack: Stack) -> bool:
    """Whether `run` can run this stack on kernels."""
    sizes = stack.sizes
    plain = not (sizes.proj_size or sizes.recurrent_dropout or sizes.layer_norm or sizes.zoneout)
    plain = plain and not (stack.options or stack.runs_on or stack.kind.learnable)
    return plain and not sizes.head_dim % 8 and not torch._C._are_functorch_transforms_active()


def run(
    stack: Stack, data: torch.Tensor, rows: BatchRows, states: States | None
) -> tuple[torch.Tensor, States]:
    """As `Stack.run`; `states` may be None for the default.

    Args:
        stack: The stack.
        data: The input, as `rows` has it.
        rows: How the batch's rows lie.
        states: The states before the first step, each `[L * directions, B, width]`.
    """
    sizes, calls = stack.sizes, _calls_of(stack)
    if states is None and sizes.learned_initial:
        states = stack.first_states(rows.batch, data)
    given, own = states or (), stack._parameters
    parameters = [
        found if (found := own.get(name)) is not None else getattr(stack, name) for name in calls.names
    ]
    dropout = sizes.dropout if stack.training else 0.0
    plan = calls.plan(stack.kind, sizes, rows, dropout, len(given))
    tensors, wanted = (*given, *parameters), autocast_of_cell(data, stack.kind.cell)
    fits = partial(stack.check_fits, data, given, casts=wanted is not None)
    if wanted is not None:  # weights are cast where they are put in order
        with torch.autocast(data.device.type, enabled=False):
            return _run(calls, plan, data.to(wanted), tensors, fits)
    key = _key(stack, data, states, _is_training(data, tensors)) if isinstance(rows, Even) else None
    return _run(calls, plan, data, tensors, fits, key)


def repeated(stack: Stack, data: torch.Tensor, states: States | None) -> tuple[torch.Tensor, States] | None:
    """As `run_even`, for a call that is replayed as one like it was before; None for any other.

    It asks of a call what can differ from that one, so that the host takes least time: one step of a stream
    takes the GPU no longer than the host.
    """
    if torch.compiler.is_compiling() or (calls := _CALLS.get(stack)) is None:
        return None
    own, given = stack._parameters, states or ()
    parameters = tuple([one for name in calls.names if (one := own.get(name)) is not None])
    training = _is_training(data, (*given, *parameters))
    if len(parameters) < len(calls.names) or (key := _key(stack, data, states, training)) is None:
        return None
    held = calls.replays.again(key, parameters)
    return None if held is None else _replay(held, data, given, parameters, training)


def _key(stack: Stack, data: torch.Tensor, states: States | None, training: bool) -> Hashable | None:
    """Whatever decides how an even call is replayed besides its parameters; None if it is asked anew."""
    if torch._C._are_functorch_transforms_active() or is_native():
        return None
    if autocast_dtype(data) is not None or (states is None and stack.sizes.learned_initial):
        return None
    place, given = place_of(data), states or ()
    if place is None or any(type(one) not in PLAIN for one in given):
        return None
    forms = [(one.shape, one.dtype, one.device) for one in (data, *given)]
    return place, stack.kind.cell, stack.sizes, stack.training, training, rnn_takes_tf32(), *forms


def _is_training(data: torch.Tensor, tensors: States) -> bool:
    """Whether a backward pass may follow."""
    if not torch.is_grad_enabled():
        return False
    return any(one.requires_grad for one in (data, *tensors))


def _run(
    calls: Calls,
    plan: Plan,
    data: torch.Tensor,
    tensors: States,
    fits: Callable[[], None],
    key: Hashable | None = None,
) -> tuple[torch.Tensor, States]:
    training = _is_training(data, tensors)
    passes = calls.passes(plan, data, training)
    given, parameters = tensors[: plan.given], tensors[plan.given :]
    held = held_by(calls, Call(passes, data, given, parameters, training, fits, key))
    if held is not None:
        return _replay(held, data, given, parameters, training)
    fits()
    if training:
        output, *last = _Queued.apply(passes, data, *tensors)
        return output, tuple(last)
    output, stacked, _ = passes.forward(data, tensors, training=False)
    return output, stacked.unbind(0)


def held_by(calls: Calls, call: Call) -> Hold | None:
    """Where this call is replayed, if it is one of those that are."""
    passes, data = call.passes, call.data
    if isinstance(passes, Plan) and (passes.dropout or not isinstance(passes.rows, Even)):
        return None

    def brief() -> bool:
        step = _step_seconds(passes.layer, 1, data.shape[1], data.dtype, call.training)
        return bool(step * data.shape[0] * passes.layers <= MOST_REPLAYED)

    return calls.replays.hold(call, brief)


def _replay(
    held: Hold, data: torch.Tensor, given: States, parameters: States, training: bool
) -> tuple[torch.Tensor, States]:
    if not training:
        return held.slot.forward(data, given)
    output, *last = _Replayed.apply(held, len(given), data, *given, *parameters)
    return output, tuple(last)


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
    """The time of a step of all passes by the cost model, for so many layers side by side."""
    heads = side * layer.directions * layer.heads, layer.dim
    problems = [
        problem_of(name, (1, batch, *heads), dtype, layer.options)
        for name in (("training", "backward") if training else ("forward",))
    ]
    return sum(launcher().step_seconds(problem) for problem in problems)


class _Queued(torch.autograd.Function):  # type: ignore[misc] # torch has no types here
    """A stack: its input, its first states and each layer's and direction's parameters in torch's order."""

    @staticmethod
    def forward(
        ctx: FunctionCtx, passes: Passes, data: torch.Tensor, *tensors: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        """Run it."""
        output, last, kept = passes.forward(data, tensors, training=True)
        held, ctx.rest = passes.parted(kept)
        ctx.passes, ctx.count = passes, 1 + len(tensors)
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(data, *tensors, *held)
        return (output, *last.unbind(0))

    @staticmethod
    def backward(
        ctx: FunctionCtx, by: torch.Tensor | None, *by_last: torch.Tensor | None
    ) -> tuple[object, ...]:
        """Gradients by the input, the first states and the parameters."""
        saved = ctx.saved_tensors  # read once: checkpoints compute them at each reading
        inputs, kept = saved[: ctx.count], ctx.passes.whole(saved[ctx.count :], ctx.rest)
        if torch.is_grad_enabled():  # what follows is differentiated, too
            masks = [one.mask for one in kept] if isinstance(ctx.passes, Plan) else None
            return (None, *differentiable_gradients(_again(ctx.passes, masks), inputs, (by, *by_last)))
        return (None, *ctx.passes.backward(kept, by, by_last, by_data=ctx.needs_input_grad[1]))


def runs_once() -> bool:
    """Whether the backward pass that runs now is known to be the last one of its graph."""
    return _keeps_graph is not None and not _keeps_graph()


class _Replayed(torch.autograd.Function):  # type: ignore[misc] # torch has no types here
    """The same out of a slot, which it takes until its backward pass has run or nobody can ask for it."""

    @staticmethod
    def forward(
        ctx: FunctionCtx, held: Hold, given: int, data: torch.Tensor, *tensors: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        """Run it."""
        ctx.held = held
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(data, *tensors)  # torch refuses a backward pass where they have changed
        output, last = held.slot.forward(data, tensors[:given])
        return (output, *last)

    @staticmethod
    def backward(
        ctx: FunctionCtx, by: torch.Tensor | None, *by_last: torch.Tensor | None
    ) -> tuple[object, ...]:
        """Gradients by the input, the first states and the parameters."""
        inputs = ctx.saved_tensors  # raises where they have changed, or were freed by a backward pass
        if torch.is_grad_enabled():  # what follows is differentiated, too
            run = _again(ctx.held.slot.passes, None)
            return (None, None, *differentiable_gradients(run, inputs, (by, *by_last)))
        found = ctx.held.slot.backward(by, by_last, by_data=ctx.needs_input_grad[2])
        if runs_once():
            ctx.held.release()  # else it goes with the node
        return (None, None, *found)


def _again(passes: Passes, masks: list[torch.Tensor | None] | None) -> Callable[..., States]:
    """The forward pass in torch's own operations, with the dropout that it drew."""
    dropout = passes.dropout if isinstance(passes, Plan) else 0.0
    layout = layout_of(passes.rows)
    scale = 1 / (1 - dropout) if dropout < 1 else 0.0
    return stack_again(
        passes.layer, passes.layers, layout, passes.given, masks or [None] * passes.layers, scale
    )


def run_even(stack: Stack, data: torch.Tensor, states: States | None) -> tuple[torch.Tensor, States]:
    """As `run`, for `[T, B, input_size]`."""
    return run(stack, data, Even.of(data.shape[0], data.shape[1]), states)


def run_ragged(
    stack: Stack, data: torch.Tensor, lengths: Lengths, states: States | None
) -> tuple[torch.Tensor, States]:
    """As `run`, for `[N, input_size]`: the steps of rows that have lengths of their own."""
    layer = layer_of(stack.kind, stack.sizes, rnn_takes_tf32())
    training, device = torch.is_grad_enabled(), data.device
    if len(data) > MOST_KEPT or (data.is_cuda and torch.cuda.is_current_stream_capturing()):
        rows = _placed(lengths, layer, data.dtype, device, training)
    else:
        stream = torch._C._cuda_getCurrentRawStream(device.index) if data.is_cuda else 0
        rows = _kept_places(lengths.key, layer, data.dtype, device, training, stream)
    return run(stack, data, rows, states)


def _placed(
    lengths: Lengths, layer: Layer, dtype: torch.dtype, device: torch.device, training: bool
) -> BatchRows:
    cuts = cuts_of(lengths, lambda rows: _step_seconds(layer, 1, rows, dtype, training))
    return lengths.placed(layer, cuts, device)


@lru_cache(maxsize=8)
def _kept_places(
    key: tuple[bytes, bool],
    layer: Layer,
    dtype: torch.dtype,
    device: torch.device,
    training: bool,
    stream: int,
) -> BatchRows:
    """The same, kept for layers that get the same lengths on the same stream one after another."""
    return _placed(Lengths.of_key(key), layer, dtype, device, training)


def cuts_of(lengths: Lengths, seconds: Callable[[int], float]) -> list[tuple[int, int]]:
    """Steps and rows of the blocks that kernels run over.

    Rows that are over are left out from a step on at which half of them, or a quarter, … are, if that saves
    more than a launch takes.

    Args:
        lengths: The rows.
        seconds: What a step of so many rows takes.
    """
    running, steps, rows = lengths.running, int(np.max(lengths.ends)), len(lengths.ends)
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
