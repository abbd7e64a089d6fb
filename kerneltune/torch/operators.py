"""The recurrence as operators of `torch.library`: for torch.compile, export, vmap, autocast and torch.func.

`kerneltune::recurrence` gives fresh tensors that share no memory, so h is copied out of the states once.
Plain eager calls take `kerneltune.torch.rnn`'s autograd function, which returns views instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import torch
from torch.autograd.function import FunctionCtx

from kerneltune.errors import InputError
from kerneltune.inputs.descriptions import CellSpec
from kerneltune.inputs.problem import Problem
from kerneltune.torch.equations import recurrent_cell
from kerneltune.torch.launching import Launcher, launcher, request
from kerneltune.torch.native import Extras, is_native, native_recurrence, say_once
from kerneltune.torch.precision import autocast_of_cell

DTYPES = {torch.bfloat16: "bf16", torch.float16: "fp16", torch.float32: "fp32"}
_ALIGNED = 16  # bytes that kernels read at once
_OPTIONS = "str cell, float forward_clip, float gate_gradient_clip, bool cut_recurrent_gradient, bool tf32"
_LIBRARY = torch.library.Library("kerneltune", "FRAGMENT")
_LIBRARY.define(
    f"recurrence(Tensor product, Tensor recurrent, Tensor bias, Tensor initial, {_OPTIONS}, bool training)"
    " -> (Tensor, Tensor, Tensor, Tensor, Tensor)"
)
_LIBRARY.define(
    "recurrence_backward(Tensor by_output, Tensor by_last, Tensor recurrent, Tensor bias, Tensor states,"
    f" Tensor values, Tensor floats, {_OPTIONS}) -> (Tensor, Tensor, Tensor, Tensor)"
)


@cache
def spec_of(cell: str) -> CellSpec:
    """The description of a cell that is shipped."""
    return recurrent_cell(cell).spec


@cache
def _profiled() -> str | None:
    """Why this machine's GPU cannot be used, or None where it can."""
    try:
        launcher()
    except InputError as error:
        return str(error)
    return None


def kernels_take(device: str, dtype: torch.dtype) -> bool:
    """Whether kernels run on tensors of a device and type; not where `native` asks for torch's operations.

    The GPU needs a profile, and the kernels the type. If one is missing, a warning says so once.
    """
    if device != "cuda" or is_native():
        return False
    reason = _profiled() or (None if dtype in DTYPES else f"kernels do not know {dtype}")
    if reason:
        say_once(reason)
    return reason is None


kernels_take._dynamo_marked_constant = True  # type: ignore[attr-defined] # compiled code does not ask again


def takes_kernels(tensor: torch.Tensor) -> bool:
    """Whether kernels run on this tensor."""
    return bool(kernels_take(tensor.device.type, tensor.dtype))


def check(
    spec: CellSpec,
    input_product: torch.Tensor,
    recurrent: torch.Tensor,
    bias: torch.Tensor,
    initial: torch.Tensor,
) -> None:
    """Raise `InputError` for tensors that do not fit each other."""
    gates, states = len(spec.gates), len(spec.states)
    if input_product.dim() != 5 or input_product.shape[-1] != gates:
        raise InputError(
            f"the input product of {spec.name} is [T, B, H, D, {gates}], not {list(input_product.shape)}"
        )
    _, batch, heads, dim, _ = input_product.shape
    if not all(size for at, size in enumerate(input_product.shape) if at != 1):
        raise InputError(f"there must be at least one step, head and unit, not {list(input_product.shape)}")
    for name, tensor, shape in (
        ("recurrent", recurrent, (heads, gates, dim, dim)),
        ("bias", bias, (heads, gates + len(spec.weights), dim)),
        ("initial", initial, (states, batch, heads, dim)),
    ):
        if tensor.shape != shape:
            raise InputError(f"{name} of {spec.name} is {list(shape)} here, not {list(tensor.shape)}")
        if tensor.dtype != input_product.dtype or tensor.device != input_product.device:
            raise InputError(
                f"{name} is {tensor.dtype} on {tensor.device}, "
                f"but the input product is {input_product.dtype} on {input_product.device}"
            )


def readable(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor as kernels read it: contiguous, and beginning where wide reads may."""
    tensor = tensor.contiguous()
    return tensor.clone() if tensor.data_ptr() % _ALIGNED else tensor


def problem_of(
    direction: str, product_shape: torch.Size | tuple[int, ...], dtype: torch.dtype, options: tuple[Any, ...]
) -> Problem:
    """The request for one pass; `options` as the operators have them."""
    cell, forward_clip, gate_clip, cut, tf32 = options
    steps, batch, heads, dim = product_shape[:4]
    name = "tf32" if tf32 and dtype == torch.float32 else DTYPES[dtype]
    made: Problem = request(cell, heads, dim, batch, name, steps, direction)
    if direction == "backward" and (gate_clip or cut):
        made = replace(made, gate_gradient_clip=gate_clip, cut_recurrent_gradient=cut)
    return replace(made, forward_clip=forward_clip) if forward_clip else made


def launch_forward(
    problem: Problem, spec: CellSpec, runs_on: Launcher, tensors: tuple[torch.Tensor, ...]
) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """Queue the forward pass: all states, `[S, T + 1, B, H, D]`, and what the backward pass reads."""
    product, recurrent, bias, initial = tensors
    shape = (len(spec.states), problem.steps + 1, problem.batch, problem.heads, problem.head_dim)
    states = product.new_empty(shape)
    states[:, 0] = initial
    saved = saved_of(spec, states) if problem.direction == "training" else {}
    given = {"input": product, "recurrent": recurrent, "bias": bias, "states": states}
    if spec.weights:
        given |= {"bias": readable(bias[:, : len(spec.gates)]), **weights_of(spec, bias)}
    runs_on.launch(problem, {**given, **saved})
    return states, saved


def weights_of(spec: CellSpec, bias: torch.Tensor) -> dict[str, torch.Tensor]:
    """The weights of single units, which stand behind the biases."""
    return {"weights": readable(bias[:, len(spec.gates) :])} if spec.weights else {}


def saved_of(spec: CellSpec, states: torch.Tensor) -> dict[str, torch.Tensor]:
    """Empty tensors for what the backward pass reads; see `kernels/common/arguments.cuh`."""
    _, times, *rest = states.shape
    found = {}
    if spec.saved_values:
        found["saved_values"] = states.new_empty((times - 1, *rest, spec.saved_values))
    if spec.saved_states:
        found["saved_states"] = states.new_empty((times, *rest, spec.saved_states), dtype=torch.float32)
    return found


def launch_backward(
    problem: Problem,
    spec: CellSpec,
    runs_on: Launcher,
    gradients: tuple[torch.Tensor, torch.Tensor],
    given: dict[str, torch.Tensor],
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Queue the backward pass: gradients by the input product, R, the bias and the first states.

    Args:
        problem: The request for the pass.
        spec: The cell.
        runs_on: What launches.
        gradients: By h after each step and by the last states.
        given: "recurrent", "states" and what the forward pass saved.
    """
    states = given["states"]
    shape = (*states[0, 1:].shape, len(spec.gates))
    by_input = states.new_empty(shape)
    by_recurrent = states.new_empty(shape) if spec.separate_gradients else by_input
    by_initial = torch.empty_like(states[:, 0], memory_format=torch.contiguous_format)
    tensors = {
        **given,
        "output_gradient": readable(gradients[0].to(states.dtype)),
        "last_gradient": readable(gradients[1].to(states.dtype)),
        "input_gradient": by_input,
        "recurrent_gradient": by_recurrent,
        "initial_gradient": by_initial,
    }
    runs_on.launch(problem, tensors)
    by_r, by_bias = parameter_gradients(by_recurrent, states[0, :-1])
    if spec.weights:
        by_units = unit_gradients(spec.weight_sums, by_recurrent, states[0], given.get("saved_states"))
        by_bias = torch.cat([by_bias, by_units.to(by_bias.dtype)], dim=1)
    return by_input, by_r, by_bias, by_initial


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


def unit_gradients(
    sums: Sequence[tuple[int, int, bool]],
    by_recurrent: torch.Tensor,
    hidden: torch.Tensor,
    saved: torch.Tensor | None,
) -> torch.Tensor:
    """Gradients by the weights of single units, `[H, P, D]`: sums of a gate's gradients times a state.

    Args:
        sums: Of each weight the gate, the state, and whether it is that after the step.
        by_recurrent: By R h + bias, `[T, B, H, D, G]`.
        hidden: h, `[T + 1, B, H, D]`.
        saved: The other states that the forward pass saved, `[T + 1, B, H, D, S]` in float32.
    """
    found = []
    for gate, state, is_after in sums:
        kept = hidden.float() if saved is None or not state else saved[..., state - 1]
        times = kept[1:] if is_after else kept[:-1]
        found.append((by_recurrent[..., gate] * times).sum(dim=(0, 1)))  # in float32, as times is
    return torch.stack(found, dim=1)


def _extras(options: tuple[Any, ...]) -> Extras:
    _, forward_clip, gate_clip, cut, _ = options
    return Extras(forward_clip, gate_clip, cut)


def _forward(
    product: torch.Tensor, recurrent: torch.Tensor, bias: torch.Tensor, initial: torch.Tensor, *options: Any
) -> tuple[torch.Tensor, ...]:
    """The operator. Natively it keeps the input product and the first states for its backward pass."""
    check(spec_of(options[0]), product, recurrent, bias, initial)
    *options, training = options  # type: ignore[assignment]
    options = tuple(options)
    if not takes_kernels(product) or not product.numel():
        with torch.no_grad():
            output, last = native_recurrence(
                options[0], product, recurrent, bias, initial, extras=_extras(options)
            )
        kept = initial.clone(memory_format=torch.contiguous_format)
        values = product.clone(memory_format=torch.contiguous_format) if training else product.new_empty(0)
        return output, last, kept, values, product.new_empty(0)
    spec = spec_of(options[0])
    problem = problem_of("training" if training else "forward", product.shape, product.dtype, options)
    readables = tuple(readable(part) for part in (product, recurrent, bias, initial))
    states, saved = launch_forward(problem, spec, launcher(), readables)
    values = saved.get("saved_values", product.new_empty(0))
    floats = saved.get("saved_states", product.new_empty(0))
    return states[0, 1:].clone(), states[:, -1].clone(), states, values, floats


@torch.library.register_fake("kerneltune::recurrence", lib=_LIBRARY)  # type: ignore[untyped-decorator]
def _(
    product: torch.Tensor, recurrent: torch.Tensor, bias: torch.Tensor, initial: torch.Tensor, *options: Any
) -> tuple[torch.Tensor, ...]:
    cell, training = options[0], options[-1]
    spec = spec_of(cell)
    check(spec, product, recurrent, bias, initial)
    steps, batch, heads, dim, _ = product.shape
    count = len(spec.states)
    output = product.new_empty((steps, batch, heads, dim))
    last = product.new_empty((count, batch, heads, dim))
    nothing = product.new_empty(0)
    if not takes_kernels(product) or not product.numel():
        values = product.new_empty(product.shape) if training else nothing
        return output, last, initial.new_empty(initial.shape), values, product.new_empty(0)
    states = product.new_empty((count, steps + 1, batch, heads, dim))
    saved = saved_of(spec, states) if training else {}
    return (
        output,
        last,
        states,
        saved.get("saved_values", nothing),
        saved.get("saved_states", product.new_empty(0)),
    )


def _backward(
    by_output: torch.Tensor,
    by_last: torch.Tensor,
    recurrent: torch.Tensor,
    bias: torch.Tensor,
    states: torch.Tensor,
    values: torch.Tensor,
    floats: torch.Tensor,
    *options: Any,
) -> tuple[torch.Tensor, ...]:
    if states.dim() == 4:  # natively: the first states, and the input product
        with torch.enable_grad():
            parts = [part.detach().requires_grad_() for part in (values, recurrent, bias, states)]
            output, last = native_recurrence(options[0], *parts, extras=_extras(options))
            found = torch.autograd.grad((output, last), parts, (by_output, by_last))
        return tuple(part.contiguous() for part in found)
    spec = spec_of(options[0])
    problem = problem_of("backward", by_output.shape, states.dtype, options)
    given = {"recurrent": readable(recurrent), "states": readable(states)}  # vmap gives views
    given |= weights_of(spec, bias)
    if spec.saved_values:
        given["saved_values"] = readable(values)
    if spec.saved_states:
        given["saved_states"] = readable(floats)
    return launch_backward(problem, spec, launcher(), (by_output, by_last), given)


@torch.library.register_fake("kerneltune::recurrence_backward", lib=_LIBRARY)  # type: ignore[untyped-decorator]
def _(
    by_output: torch.Tensor,
    by_last: torch.Tensor,
    recurrent: torch.Tensor,
    bias: torch.Tensor,
    states: torch.Tensor,
    values: torch.Tensor,
    floats: torch.Tensor,
    *options: Any,
) -> tuple[torch.Tensor, ...]:
    gates = len(spec_of(options[0]).gates)
    return (
        states.new_empty((*by_output.shape, gates)),
        recurrent.new_empty(recurrent.shape),
        bias.new_empty(bias.shape),
        states.new_empty(by_last.shape),
    )


_LIBRARY.impl("recurrence", _forward, "CompositeExplicitAutograd")
_LIBRARY.impl("recurrence_backward", _backward, "CompositeExplicitAutograd")


def keep(ctx: FunctionCtx, inputs: tuple[object, ...], output: tuple[torch.Tensor, ...]) -> None:
    """Keep what the backward pass of `kerneltune::recurrence` reads."""
    _, recurrent, bias, _, *options = inputs
    ctx.options = options[:-1]
    ctx.save_for_backward(recurrent, bias, *output[2:])


def differentiated(
    ctx: FunctionCtx, by_output: torch.Tensor, by_last: torch.Tensor, *_: object
) -> tuple[object, ...]:
    """Gradients by all arguments of `kerneltune::recurrence`."""
    found = torch.ops.kerneltune.recurrence_backward(by_output, by_last, *ctx.saved_tensors, *ctx.options)
    return (*found, *[None] * (len(ctx.options) + 1))


torch.library.register_autograd("kerneltune::recurrence", differentiated, setup_context=keep, lib=_LIBRARY)


def _autocast(device: str) -> object:
    """Casts as torch casts for cuDNN's recurrent networks: all tensors to autocast's type."""
    key = torch._C.DispatchKeySet(getattr(torch._C.DispatchKey, f"Autocast{device.upper()}"))

    def cast(*arguments: Any) -> Any:
        wanted = [autocast_of_cell(part, arguments[4]) or part.dtype for part in arguments[:4]]
        with torch._C._ExcludeDispatchKeyGuard(key):
            parts = [part.to(dtype) for part, dtype in zip(arguments[:4], wanted, strict=True)]
            return torch.ops.kerneltune.recurrence(*parts, *arguments[4:])

    return cast


_LIBRARY.impl("recurrence", _autocast("cuda"), "AutocastCUDA")
_LIBRARY.impl("recurrence", _autocast("cpu"), "AutocastCPU")
