"""A stack as one operator, for torch.compile: it runs and is replayed as plain calls are.

`kerneltune::stack` gives fresh tensors. The results that its backward pass reads stay behind under a number,
which travels with the compiled code's own as a tensor, the ticket: what lies under it goes when the ticket
does. Where nothing lies there any more, or weights lie elsewhere by then, the forward pass runs again.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import torch
from torch.autograd.function import FunctionCtx
from torch.utils.weak import WeakTensorKeyDictionary

from kerneltune.torch import fused
from kerneltune.torch.fused import Calls, held_by, runs_once
from kerneltune.torch.fused_passes import Passes, States
from kerneltune.torch.fused_rows import Even
from kerneltune.torch.precision import autocast_of_cell, rnn_takes_tf32
from kerneltune.torch.replay import Call, Hold, place_of
from kerneltune.torch.sizes import Sizes, kind_of

if TYPE_CHECKING:
    from kerneltune.torch.stack import Stack

_Given = tuple[list[torch.Tensor], list[torch.Tensor]]
_OPTIONS = "str cell, int heads, int layers, bool bidirectional, float dropout"
_UNSAFE = getattr(torch.Tag, "cudagraph_unsafe", None)  # not in older torch
_IS_SPLIT = _UNSAFE is not None
_LIBRARY = torch.library.Library("kerneltune", "FRAGMENT")
_TAGS = () if _UNSAFE is None else (_UNSAFE, torch.Tag.nondeterministic_seeded)  # dropout draws
_LIBRARY.define(
    f"stack(Tensor data, Tensor[] given, Tensor[] parameters, {_OPTIONS}, bool training)"
    " -> (Tensor, Tensor[], Tensor)",
    tags=_TAGS,
)
_LIBRARY.define(
    "stack_backward(Tensor? by, Tensor?[] by_last, Tensor ticket, Tensor data, Tensor[] given,"
    f" Tensor[] parameters, {_OPTIONS}, bool by_data) -> Tensor[]",
    tags=_TAGS,
)


@dataclass
class _Kept:
    """The rest of a forward pass, for its backward pass: a slot that it holds, or tensors."""

    passes: Passes
    left: Hold | Any
    addresses: list[int]  # of the parameters


_CALLS: WeakTensorKeyDictionary = WeakTensorKeyDictionary()  # by a stack's first parameter
_KEPT: dict[int, _Kept] = {}
_NUMBERS = itertools.count(1)


@lru_cache(maxsize=256)
def _sizes(features: int, units: int, heads: int, layers: int, bidirectional: bool, bias: bool) -> Sizes:
    return Sizes(features, units, num_layers=layers, heads=heads, bidirectional=bidirectional, bias=bias)


def takes(stack: Stack, data: torch.Tensor) -> bool:
    """Whether a call of this stack on kernels is compiled now, not exported, and can be this operator."""
    if stack.kind.weights or stack.kind.learnable:
        return False
    return _IS_SPLIT and torch.compiler.is_dynamo_compiling() and data.numel() > 0 and fused.takes(stack)


def run(stack: Stack, data: torch.Tensor, states: States) -> tuple[torch.Tensor, States]:
    """As `Stack.run` for `[T, B, input_size]`, traced; `states` may be empty for the default."""
    sizes = stack.sizes
    parameters = [getattr(stack, name) for name in stack.parameter_names()]
    wanted = autocast_of_cell(data, stack.kind.cell)
    data = data if wanted is None else data.to(wanted)
    dropout = sizes.dropout if stack.training else 0.0
    training = torch.is_grad_enabled() and any(one.requires_grad for one in (data, *states, *parameters))
    options = stack.kind.cell, sizes.heads, sizes.num_layers, sizes.bidirectional, dropout
    output, last, _ = torch.ops.kerneltune.stack(data, list(states), parameters, *options, training)
    return output, tuple(last)


def _forward(
    data: torch.Tensor, given: list[torch.Tensor], parameters: list[torch.Tensor], *options: Any
) -> tuple[torch.Tensor, list[torch.Tensor], torch.Tensor]:
    *rest, training = options
    with _plainly(data):
        passes, held = _begun(data, (given, parameters), tuple(rest), training)
        if held is not None:
            output, last = held.slot.forward(data, tuple(given))
            left: Any = held
        else:
            # Compiled code may use the memory of inputs and results again: what stays behind has its own.
            mine = data.clone(memory_format=torch.contiguous_format) if training else data
            output, stacked, left = passes.forward(mine, (*given, *parameters), training=training)
            output = output.clone(memory_format=torch.contiguous_format)
            last = tuple(one.clone(memory_format=torch.contiguous_format) for one in stacked.unbind(0))
    return output, list(last), _ticket(passes, left, parameters) if training else torch.tensor(0)


def _begun(
    data: torch.Tensor, tensors: _Given, options: tuple[object, ...], training: bool
) -> tuple[Passes, Hold | None]:
    """How a call runs, and the slot in which it is replayed, if it is."""
    given, parameters = tuple(tensors[0]), tuple(tensors[1])
    calls = _calls_of(parameters)
    forms = [(one.shape, one.dtype, one.device) for one in (data, *given)]
    key = (place_of(data), options, training, rnn_takes_tf32(), *forms)
    held = calls.replays.again(key, parameters)
    if held is not None:
        return held.slot.passes, held
    passes = _passes(data, (given, parameters), options, training)
    return passes, held_by(calls, Call(passes, data, given, parameters, training, _fits, key))


def _calls_of(parameters: States) -> Calls:
    found: Calls | None = _CALLS.get(parameters[0])
    if found is None:
        found = _CALLS[parameters[0]] = Calls()
    return found


def _passes(
    data: torch.Tensor, tensors: tuple[States, States], options: tuple[Any, ...], training: bool
) -> Passes:
    """How a call runs, replayed or not."""
    given, parameters = tensors
    cell, heads, layers, bidirectional, dropout = options
    calls = _calls_of(parameters)
    units = parameters[1].shape[0] // len(kind_of(cell).gates)
    bias = len(parameters) == 4 * layers * (1 + bidirectional)
    sizes = _sizes(data.shape[-1], units, heads, layers, bidirectional, bias)
    plan = calls.plan(kind_of(cell), sizes, Even.of(*data.shape[:2]), dropout, len(given))
    return calls.passes(plan, data, training)


def _fits() -> None:
    """Nothing: tensors are checked where the call is traced."""


def _ticket(passes: Passes, left: object, parameters: list[torch.Tensor]) -> torch.Tensor:
    """A tensor with the number under which this stays as long as the tensor does."""
    number = next(_NUMBERS)
    addresses = [one.data_ptr() for one in parameters]
    _KEPT[number] = _Kept(passes, left, addresses)
    made = torch.tensor(number)
    weakref.finalize(made, _KEPT.pop, number, None)
    return made


def _backward(
    by: torch.Tensor | None,
    by_last: list[torch.Tensor | None],
    ticket: torch.Tensor,
    data: torch.Tensor,
    given: list[torch.Tensor],
    parameters: list[torch.Tensor],
    *options: Any,
) -> list[torch.Tensor]:
    *rest, by_data = options
    number = int(ticket)
    kept = _KEPT.get(number)
    with _plainly(data):
        if kept is None or kept.addresses != [one.data_ptr() for one in parameters]:
            kept = _again(data, (given, parameters), tuple(rest))
        if isinstance(kept.left, Hold):
            found = kept.left.slot.backward(by, tuple(by_last), by_data=by_data)
        else:
            found = kept.passes.backward(kept.left, by, tuple(by_last), by_data=by_data)
    if runs_once():
        _KEPT.pop(number, None)
        if isinstance(kept.left, Hold):
            kept.left.release()
    return _fresh(found, (data, *given, *parameters))


def _fresh(found: list[torch.Tensor | None], like: tuple[torch.Tensor, ...]) -> list[torch.Tensor]:
    """Gradients of the types that they are by, in memory of their own, which compiled code may use again."""
    made: list[torch.Tensor] = []
    seen: set[int] = set()
    for one, other in zip(found, like, strict=True):
        one = other.new_empty(0) if one is None else one.to(other.dtype).contiguous()
        where = one.untyped_storage().data_ptr()
        made.append(one.clone() if where in seen and where else one)
        seen.add(where)
    return made


def _again(data: torch.Tensor, tensors: _Given, options: tuple[object, ...]) -> _Kept:
    """The forward pass anew."""
    if options[-1]:
        raise RuntimeError(
            "the backward pass of a compiled stack with dropout needs its forward pass, which is gone: "
            "weights moved meanwhile, or the graph was run backward before without retain_graph=True"
        )
    given, parameters = tuple(tensors[0]), tuple(tensors[1])
    passes = _passes(data, (given, parameters), options, training=True)
    *_, left = passes.forward(data, (*given, *parameters), training=True)
    return _Kept(passes, left, [])


@contextmanager
def _plainly(data: torch.Tensor) -> Iterator[None]:
    """Without autograd and autocast."""
    with torch.no_grad():
        if torch.is_autocast_enabled(data.device.type):
            with torch.autocast(data.device.type, enabled=False):
                yield
        else:
            yield


@torch.library.register_fake("kerneltune::stack", lib=_LIBRARY)  # type: ignore[untyped-decorator]
def _(
    data: torch.Tensor, given: list[torch.Tensor], parameters: list[torch.Tensor], *options: Any
) -> tuple[torch.Tensor, list[torch.Tensor], torch.Tensor]:
    cell, _, layers, bidirectional, *_ = options
    directions, kind = 1 + bidirectional, kind_of(cell)
    units, (steps, batch, _) = parameters[1].shape[0] // len(kind.gates), data.shape
    last = [data.new_empty((layers * directions, batch, units)) for _ in kind.states]
    number = torch.empty((), dtype=torch.int64, device="cpu")
    return data.new_empty((steps, batch, directions * units)), last, number


@torch.library.register_fake("kerneltune::stack_backward", lib=_LIBRARY)  # type: ignore[untyped-decorator]
def _(
    by: torch.Tensor | None,
    by_last: list[torch.Tensor | None],
    ticket: torch.Tensor,
    data: torch.Tensor,
    given: list[torch.Tensor],
    parameters: list[torch.Tensor],
    *options: Any,
) -> list[torch.Tensor]:
    first = data.new_empty(data.shape) if options[-1] else data.new_empty(0)
    return [first, *(one.new_empty(one.shape) for one in (*given, *parameters))]


def _keep(ctx: Any, inputs: tuple[Any, ...], output: tuple[Any, ...]) -> None:
    data, given, parameters, *options, _ = inputs
    ctx.counts, ctx.options, ctx.by_data = (len(given), len(parameters)), options, data.requires_grad
    ctx.set_materialize_grads(False)
    ctx.save_for_backward(output[2], data, *given, *parameters)


def _differentiated(
    ctx: FunctionCtx, by: torch.Tensor | None, by_last: list[torch.Tensor | None], _: object
) -> tuple[object, ...]:
    ticket, data, *rest = ctx.saved_tensors
    given, parameters = rest[: ctx.counts[0]], rest[ctx.counts[0] :]
    first, *others = torch.ops.kerneltune.stack_backward(
        by, by_last, ticket, data, given, parameters, *ctx.options, ctx.by_data
    )
    found = first if ctx.by_data else None, others[: ctx.counts[0]], others[ctx.counts[0] :]
    return (*found, *[None] * (len(ctx.options) + 1))


_LIBRARY.impl("stack", _forward, "CompositeExplicitAutograd")
_LIBRARY.impl("stack_backward", _backward, "CompositeExplicitAutograd")
torch.library.register_autograd("kerneltune::stack", _differentiated, setup_context=_keep, lib=_LIBRARY)
