"""The cells in torch's own operations: for second derivatives, for what kernels lack, and where none runs.

`native_recurrence` computes what `kerneltune.torch.recurrence` does, step by step, on any device and in any
floating-point type. 16-bit inputs are computed in float32, with h rounded after each step, as kernels do.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import torch
from torch.nn import functional

from kerneltune.errors import InputError
from kerneltune.torch.equations import step_of

States = tuple[torch.Tensor, ...]
_FORCED: ContextVar[bool] = ContextVar("native", default=False)
_said: set[str] = set()


@contextmanager
def native() -> Iterator[None]:
    """Within it, layers run in torch's own operations, on any device: slower, but differentiable twice."""
    token = _FORCED.set(True)
    try:
        yield
    finally:
        _FORCED.reset(token)


def is_native() -> bool:
    """Whether `native` is in force here."""
    return _FORCED.get()


def say_once(reason: str) -> None:
    """Warn that layers run in torch's own operations, once for each reason."""
    if reason not in _said:
        _said.add(reason)
        warnings.warn(f"{reason}: recurrent layers run in torch's own operations", stacklevel=3)


def differentiable_gradients(
    run: Callable[..., States], inputs: Sequence[torch.Tensor], gradients: Sequence[torch.Tensor | None]
) -> list[torch.Tensor | None]:
    """Gradients by the inputs, as functions of the inputs and of the gradients that come in.

    Args:
        run: The pass in torch's own operations, from the inputs to its results.
        inputs: They.
        gradients: By the results; None for 0.
    """
    say_once("kernels give no gradients of gradients, which create_graph=True asks for")
    with torch.enable_grad():
        # Views, so that a path from one input to another is not taken for one through the pass.
        given = [one.view_as(one) for one in inputs]
        pairs = [(one, by) for one, by in zip(run(*given), gradients, strict=True) if by is not None]
        wanted = [one for one in given if one.requires_grad]
        results = [one for one, _ in pairs if one.requires_grad]
        by = [by for one, by in pairs if one.requires_grad]
        if not wanted or not results:
            return [None] * len(given)
        found = iter(torch.autograd.grad(results, wanted, by, create_graph=True, allow_unused=True))
        return [next(found) if one.requires_grad else None for one in given]


def differentiates_twice() -> bool:
    """Whether transforms of torch.func ask for more than kernels and numba have: jvp, or two gradients."""
    kinds = [one.key() for one in torch._C._functorch.get_interpreter_stack() or ()]
    types = torch._C._functorch.TransformType
    return kinds.count(types.Grad) > 1 or types.Jvp in kinds


@dataclass(frozen=True)
class Norms:
    """Layer normalisation inside a recurrent layer (Ba, Kiros and Hinton 2016): gains and biases.

    Attributes:
        recurrent: Of R h over all gates and units, each `[H, D, G]`.
        cell: Of c before its tanh, each `[H, D]`; None for cells without c.
    """

    recurrent: tuple[torch.Tensor, torch.Tensor]
    cell: tuple[torch.Tensor, torch.Tensor] | None


@dataclass(frozen=True)
class Extras:
    """Operations of the steps besides the cell's own equations.

    Attributes:
        forward_clip: Bound of h after each step; 0 for none.
        gate_gradient_clip: Bound of each gate's gradient; 0 for none.
        cut_recurrent_gradient: No gradient passes through R h.
        zoneout: Probability that a unit keeps its states at a step (Krueger et al. 2017).
        training: Whether zoneout draws; otherwise the expected states are taken.
        norms: Layer normalisation, or None.
    """

    forward_clip: float = 0.0
    gate_gradient_clip: float = 0.0
    cut_recurrent_gradient: bool = False
    zoneout: float = 0.0
    training: bool = False
    norms: Norms | None = None


_PLAIN = Extras()


def native_recurrence(
    cell: str,
    input_product: torch.Tensor,
    recurrent: torch.Tensor,
    bias: torch.Tensor,
    initial: torch.Tensor,
    *,
    extras: Extras = _PLAIN,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Run a recurrent layer step by step; arguments and results are `kerneltune.torch.recurrence`'s."""
    step, weights = _step_of(cell), None
    if step is None:
        raise InputError(f"cell '{cell}' runs on a GPU alone: it has no equations")
    kept = input_product.dtype
    wide = torch.float32 if kept in (torch.float16, torch.bfloat16) else kept
    product, start = input_product.to(wide), initial.to(wide)
    heads, gates, dim, _ = recurrent.shape
    if bias.shape[1] > gates:  # the weights of single units stand behind the biases
        bias, weights = bias[:, :gates], bias[:, gates:].to(wide)
    stacked = recurrent.to(wide).permute(0, 3, 2, 1).reshape(heads, dim, dim * gates)
    added = bias.to(wide).transpose(1, 2)  # [H, D, G]
    states: States = tuple(start)
    outputs = []
    for x in product.unbind(0):
        before = states[0].detach() if extras.cut_recurrent_gradient else states[0]
        raw = torch.bmm(before.transpose(0, 1), stacked).transpose(0, 1).reshape(x.shape)
        if extras.norms:
            raw = _normalised(raw, *extras.norms.recurrent)
        gated = _clipped(raw + added, extras)
        states = _after(states, step(x, gated, weights, states, extras), extras)
        if kept != wide:
            states = (states[0].to(kept).to(wide), *states[1:])
        outputs.append(states[0])
    return torch.stack(outputs).to(kept), torch.stack(states).to(kept)


def _after(before: States, states: States, extras: Extras) -> States:
    """The states of a step, with h bounded and with zoneout."""
    bound = extras.forward_clip
    if bound:
        h = states[0]
        states = (torch.where(h.abs() >= bound, h.detach().clamp(-bound, bound), h), *states[1:])
    if not extras.zoneout:
        return states
    if not extras.training:
        return tuple(torch.lerp(new, old, extras.zoneout) for old, new in zip(before, states, strict=True))
    drawn = [torch.rand_like(new) < extras.zoneout for new in states]
    return tuple(torch.where(k, old, new) for k, old, new in zip(drawn, before, states, strict=True))


def _clipped(gates: torch.Tensor, extras: Extras) -> torch.Tensor:
    bound = extras.gate_gradient_clip
    if bound and gates.requires_grad:
        gates.register_hook(lambda gradient: gradient.clamp(-bound, bound))
    return gates


def _normalised(values: torch.Tensor, gain: torch.Tensor, shift: torch.Tensor) -> torch.Tensor:
    shape = list(values.shape[1:])
    return functional.layer_norm(values, shape, gain.to(values.dtype), shift.to(values.dtype))


def _normalised_lstm(
    x: torch.Tensor, r: torch.Tensor, states: States, gain: torch.Tensor, shift: torch.Tensor
) -> States:
    i, f, z, o = (x + r).unbind(-1)
    c = torch.sigmoid(f) * states[1] + torch.sigmoid(i) * torch.tanh(z)
    return torch.sigmoid(o) * torch.tanh(_normalised(c, gain, shift)), c


def _step_of(cell: str) -> Callable[..., States] | None:
    """A step, of the cell's equations; layers may normalise an LSTM's c in it."""
    derived = step_of(cell)
    if derived is None:
        return None

    def step(
        x: torch.Tensor, gated: torch.Tensor, weights: torch.Tensor | None, states: States, extras: Extras
    ) -> States:
        if extras.norms and extras.norms.cell:
            return _normalised_lstm(x, gated, states, *extras.norms.cell)
        return derived(x, gated, weights, states)

    return step


def has_native(cell: str) -> bool:
    """Whether a cell runs natively."""
    return step_of(cell) is not None
