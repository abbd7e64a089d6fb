"""The contenders of peers.py: implementations of a recurrent layer, and their timing. Needs torch."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from flashrnn_library import built_layer
from sweeps import COMPILED, CUDNN, FLASHRNN, LOOP, OURS, OURS_WITH_INPUT, Shape, Unit

from kerneltune.errors import KernelTuneError
from kerneltune.torch import HeadwiseRNN, Launcher, recurrence

TYPES = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}
WARM_UP = 3  # calls; a compiled loop is recompiled in the second
SLOW_CALL = 0.05  # seconds to queue a call, from which on fewer calls are timed
FEW = 3
MOST_SLEPT = 0.25  # seconds
CLOCK = 2e9  # cycles per second, roughly


class ContextLostError(Exception):
    """The GPU's context is unusable: the process must end."""


@dataclass(frozen=True)
class Layer:
    """A layer on random input: its forward pass, and the tensors that need gradients."""

    forward: Callable[[], torch.Tensor]
    inputs: list[torch.Tensor]


@dataclass(frozen=True)
class Timing:
    """Milliseconds of a call: between GPU events, by the host's clock including queueing, and by do_bench.

    Triton's `do_bench` is what a caller sees: events around each call, with no queue ahead of it and L2
    cleared. It is None on a CPU.
    """

    gpu: float
    host: float
    call: float | None = None


def measured(unit: Unit, count: int, device: str = "cuda", runs_on: Launcher | None = None) -> dict[str, Any]:
    """Times of a unit: forward pass for inference, forward and backward for training; None with a reason."""
    found: dict[str, Any] = {"forward": None, "both": None}
    notes = []
    layer: Layer | None = None
    try:
        layer = made(unit, device, runs_on)
    except (KernelTuneError, RuntimeError) as error:
        notes.append(said(error))
    for name, prepare in (("forward", inference), ("both", training)):
        if layer is None:
            break
        try:
            timing = timed(prepare(layer), count, device)
            found |= {name: round(timing.gpu, 4), f"{name}_host": round(timing.host, 4)}
            if timing.call is not None:
                found[f"{name}_call"] = round(timing.call, 4)
        except (KernelTuneError, RuntimeError) as error:
            notes.append(f"{name}: {said(error)}")
            still_works(device, error)
    if notes:
        found["note"] = "; ".join(notes)
    return found


def made(unit: Unit, device: str, runs_on: Launcher | None) -> Layer:
    shape = unit.shape
    if unit.who in (OURS, OURS_WITH_INPUT):
        return ours(shape, device, runs_on, with_input=unit.who == OURS_WITH_INPUT)
    if unit.who == CUDNN:
        return library(shape, device)
    if unit.who == FLASHRNN:
        return Layer(*built_layer(shape, device))
    if unit.who == COMPILED:
        torch.compiler.reset()  # after several shapes it would silently run uncompiled
        return loop(shape, device, torch.compile(lstm_step))
    assert unit.who == LOOP, unit.who
    return loop(shape, device, lstm_step)


def inference(layer: Layer) -> Callable[[], object]:
    def run() -> None:
        with torch.no_grad():
            layer.forward()

    return run


def training(layer: Layer) -> Callable[[], object]:
    with torch.no_grad():
        gradient = torch.randn_like(layer.forward())

    def run() -> None:
        torch.autograd.grad(layer.forward(), layer.inputs, gradient)

    return run


def ours(shape: Shape, device: str, runs_on: Launcher | None, *, with_input: bool) -> Layer:
    dtype, features = TYPES[shape.dtype], shape.heads * shape.dim
    layer = HeadwiseRNN(shape.cell, features, shape.heads, shape.dim, runs_on=runs_on).to(device, dtype)
    if with_input:
        x = torch.randn((shape.steps, shape.batch, features), device=device, dtype=dtype, requires_grad=True)
        return Layer(lambda: layer(x)[0], [x, *layer.parameters()])
    start = layer.initial(shape.batch)
    sizes = (shape.steps, shape.batch, shape.heads, shape.dim, len(layer.spec.gates))
    product = torch.randn(sizes, device=device, dtype=dtype, requires_grad=True)
    weights = (layer.recurrent, layer.bias)
    return Layer(
        lambda: recurrence(shape.cell, product, *weights, start, runs_on=runs_on)[0], [product, *weights]
    )


def library(shape: Shape, device: str) -> Layer:
    """torch.nn's own layer, cuDNN's on a GPU; it includes the input product."""
    kind = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU, "elman": torch.nn.RNN}[shape.cell]
    layer = kind(shape.dim, shape.dim).to(device, TYPES[shape.dtype])
    layer.flatten_parameters()
    sizes = (shape.steps, shape.batch, shape.dim)
    x = torch.randn(sizes, device=device, dtype=TYPES[shape.dtype], requires_grad=True)
    return Layer(lambda: layer(x)[0], [x, *layer.parameters()])


def lstm_step(
    product: torch.Tensor, r: torch.Tensor, bias: torch.Tensor, h: torch.Tensor, c: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """A step in plain PyTorch: product [B, H, 4, D], r [H, 4 D, D], bias [H, 4, D], h and c [B, H, D]."""
    gates = product + bias + torch.einsum("bhk,hgk->bhg", h, r).view(product.shape)
    i, f, z, o = gates.unbind(2)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(z)
    return torch.sigmoid(o) * torch.tanh(c), c


def loop(shape: Shape, device: str, step: Callable[..., tuple[torch.Tensor, torch.Tensor]]) -> Layer:
    rows, dim = (shape.batch, shape.heads), shape.dim
    options: Any = {"device": device, "dtype": TYPES[shape.dtype]}
    product = torch.randn((shape.steps, *rows, 4, dim), **options, requires_grad=True)
    r = (torch.randn((shape.heads, 4 * dim, dim), **options) / dim**0.5).requires_grad_()
    bias = torch.zeros((shape.heads, 4, dim), **options, requires_grad=True)

    def forward() -> torch.Tensor:
        h = c = product.new_zeros((*rows, dim))
        outputs = []
        for one in product.unbind():
            h, c = step(one, r, bias, h, c)
            outputs.append(h)
        return torch.stack(outputs)

    return Layer(forward, [product, r, bias])


def timed(do: Callable[[], object], count: int, device: str) -> Timing:
    """The median of ``count`` calls; the GPU sleeps until they are queued, so it never waits for the host.

    Calls that take long to queue (loops of thousands of kernels) are repeated less often, and run while they
    are queued.
    """
    for call in range(WARM_UP):
        began = time.perf_counter()
        do()
        if call and time.perf_counter() - began > SLOW_CALL:
            break
    synchronize(device)
    queued = -time.perf_counter()
    do()
    queued += time.perf_counter()
    synchronize(device)
    if device == "cpu" or queued > SLOW_CALL:
        alone = statistics.median(one_by_one(do, FEW, device))
        return Timing(alone, alone)
    host = sum(one_by_one(do, 1, device, count)) / count
    marks = [
        (torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(count)
    ]
    torch.cuda._sleep(round(CLOCK * min(MOST_SLEPT, 1.5 * count * queued)))
    for before, after in marks:
        before.record()
        do()
        after.record()
    torch.cuda.synchronize()
    alone = statistics.median(before.elapsed_time(after) for before, after in marks)
    return Timing(alone, host, called(do))


def called(do: Callable[[], object]) -> float:
    """Milliseconds of a call by Triton's do_bench, the median."""
    from triton.testing import do_bench

    return float(do_bench(do, return_mode="median"))


def one_by_one(do: Callable[[], object], times: int, device: str, calls: int = 1) -> list[float]:
    """Milliseconds of ``calls`` calls by the host's clock, from an idle GPU to an idle GPU, repeated."""
    found = []
    for _ in range(times):
        started = time.perf_counter()
        for _ in range(calls):
            do()
        synchronize(device)
        found.append(1e3 * (time.perf_counter() - started))
    return found


def synchronize(device: str) -> None:
    if device != "cpu":
        torch.cuda.synchronize()


def still_works(device: str, error: Exception) -> None:
    """Raise `ContextLostError` if the error has destroyed the context."""
    try:
        synchronize(device)
        if device != "cpu":
            torch.cuda.empty_cache()
    except RuntimeError:
        raise ContextLostError(said(error)) from error


def said(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
