"""Recurrent layers beside their peers, in one run: cuDNN through torch.nn, plain and compiled PyTorch loops.

    python benchmarks/rnn/peers.py --sweep cudnn,heads,batch,steps,large --out results.json

Times are medians of launches between CUDA events, in ms; "with W x" includes the input projection of H * D
features. FlashRNN's times (fused, bf16, without W x) were measured on another day on the same kind of GPU.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch.nn import functional

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from environment import environment

from kerneltune.errors import KernelTuneError
from kerneltune.torch import RNN, recurrence

TYPES = {"bf16": torch.bfloat16, "fp16": torch.float16}
# FlashRNN 1.0.5 fused, LSTM, T = 1024, bf16, H100 SXM: forward, forward + backward, ms by (heads, D, batch).
FLASHRNN = {
    (12, 64, 16): (2.753, 7.740),
    (6, 128, 16): (2.884, 8.175),
    (3, 256, 16): (3.392, 9.488),
    (1, 512, 16): (3.518, 10.495),
    (1, 768, 16): (4.556, 12.857),
    (1, 1024, 16): (6.279, 15.813),
    (1, 2048, 16): (25.07, 42.48),
    (12, 64, 64): (5.595, 19.308),
    (1, 768, 64): (15.205, 43.953),
}


@dataclass(frozen=True)
class Shape:
    """One row of a sweep."""

    sweep: str
    cell: str
    heads: int
    dim: int
    batch: int
    steps: int
    dtype: str


@dataclass
class Row:
    """Times of one shape in ms: (forward, forward + backward) by who ran it; None where it could not."""

    shape: Shape
    times: dict[str, tuple[float, float] | None]
    notes: list[str]


def shapes(sweeps: list[str]) -> Iterator[Shape]:
    for sweep in sweeps:
        if sweep == "cudnn":
            for dim in (256, 512, 768, 1024):
                for batch in (16, 64):
                    yield Shape(sweep, "lstm", 1, dim, batch, 1024, "fp16")
            yield Shape(sweep, "gru", 1, 512, 16, 1024, "fp16")
        elif sweep == "heads":
            for heads, dim in ((48, 16), (24, 32), (12, 64), (6, 128), (3, 256), (2, 384), (1, 768)):
                yield Shape(sweep, "lstm", heads, dim, 16, 1024, "bf16")
        elif sweep == "batch":
            for heads, dim in ((12, 64), (1, 768)):
                for batch in (2, 4, 8, 16, 32, 64, 128, 256):
                    yield Shape(sweep, "lstm", heads, dim, batch, 1024, "bf16")
        elif sweep == "steps":
            for heads, dim in ((12, 64), (1, 768)):
                for steps in (256, 512, 1024, 2048):
                    yield Shape(sweep, "lstm", heads, dim, 16, steps, "bf16")
        elif sweep == "large":
            for dim in (512, 1024, 2048, 4096, 8192):
                yield Shape(sweep, "lstm", 1, dim, 16, 1024, "bf16")
        elif sweep == "cells":
            for cell in ("lstm", "gru", "slstm", "elman"):
                for heads, dim in ((12, 64), (3, 256), (1, 768)):
                    yield Shape(sweep, cell, heads, dim, 16, 1024, "bf16")
        else:
            raise SystemExit(f"unknown sweep {sweep}")


def milliseconds(do: Callable[[], object], count: int) -> float:
    for _ in range(3 if count > 5 else 1):
        do()
    marks = [
        (torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(count)
    ]
    for before, after in marks:
        before.record()
        do()
        after.record()
    torch.cuda.synchronize()
    return statistics.median(before.elapsed_time(after) for before, after in marks)


def both(forward: Callable[[], torch.Tensor], inputs: list[torch.Tensor], count: int) -> tuple[float, float]:
    """Time of the forward pass for inference, and of forward and backward for training."""
    with torch.no_grad():
        output = forward()
        alone = milliseconds(forward, count)
    gradient = torch.randn_like(output)
    del output

    def train() -> None:
        torch.autograd.grad(forward(), inputs, gradient)

    return round(alone, 4), round(milliseconds(train, count), 4)


def ours(shape: Shape, count: int) -> Iterator[tuple[str, Callable[[], tuple[float, float]]]]:
    dtype = TYPES[shape.dtype]
    layer = RNN(shape.cell, shape.heads * shape.dim, shape.heads, shape.dim).cuda().to(dtype)
    gates = len(layer.spec.gates)
    start = layer.initial(shape.batch)

    def alone() -> tuple[float, float]:
        product = torch.randn(
            (shape.steps, shape.batch, shape.heads, shape.dim, gates), device="cuda", dtype=dtype
        ).requires_grad_()
        return both(
            lambda: recurrence(shape.cell, product, layer.recurrent, layer.bias, start)[0],
            [product, layer.recurrent, layer.bias],
            count,
        )

    def whole() -> tuple[float, float]:
        x = torch.randn((shape.steps, shape.batch, shape.heads * shape.dim), device="cuda", dtype=dtype)
        x.requires_grad_()
        return both(lambda: layer(x)[0], [x, *layer.parameters()], count)

    yield "ours", alone
    yield "ours with W x", whole


def cudnn(shape: Shape, count: int) -> tuple[float, float]:
    kind = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU, "elman": torch.nn.RNN}[shape.cell]
    layer = kind(shape.dim, shape.dim).cuda().to(TYPES[shape.dtype])
    x = torch.randn((shape.steps, shape.batch, shape.dim), device="cuda", dtype=TYPES[shape.dtype])
    x.requires_grad_()
    return both(lambda: layer(x)[0], [x, *layer.parameters()], count)


def lstm_step(
    product: torch.Tensor, r: torch.Tensor, h: torch.Tensor, c: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """One step of an LSTM in plain PyTorch; product [B, H, 4, D], r [H, 4 D, D], h and c [B, H, D]."""
    gates = product + torch.einsum("bhk,hgk->bhg", h, r).view(product.shape)
    i, f, z, o = gates.unbind(2)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(z)
    return torch.sigmoid(o) * torch.tanh(c), c


def loop(
    shape: Shape, step: Callable[..., tuple[torch.Tensor, torch.Tensor]], count: int
) -> tuple[float, float]:
    dtype = TYPES[shape.dtype]
    rows = (shape.batch, shape.heads)
    product = torch.randn((shape.steps, *rows, 4, shape.dim), device="cuda", dtype=dtype).requires_grad_()
    r = (torch.randn((shape.heads, 4 * shape.dim, shape.dim), device="cuda") / shape.dim**0.5).to(dtype)
    r.requires_grad_()

    def forward() -> torch.Tensor:
        h = c = product.new_zeros((*rows, shape.dim))
        outputs = []
        for one in product.unbind():
            h, c = step(one, r, h, c)
            outputs.append(h)
        return torch.stack(outputs)

    return both(forward, [product, r], count)


def runners(
    shape: Shape, peers: list[str], count: int
) -> Iterator[tuple[str, Callable[[], tuple[float, float]]]]:
    yield from ours(shape, count)
    if "cudnn" in peers and shape.heads == 1 and shape.cell != "slstm":
        yield "cuDNN with W x", lambda: cudnn(shape, count)
    if "loop" in peers and shape.cell == "lstm":
        yield "PyTorch loop", lambda: loop(shape, lstm_step, 2)
    if "compiled" in peers and shape.cell == "lstm":
        yield "compiled loop", lambda: loop(shape, torch.compile(lstm_step), 2)


def measured(shape: Shape, peers: list[str], count: int) -> Row:
    row = Row(shape, {}, [])
    for name, run in runners(shape, peers, count):
        try:
            row.times[name] = run()
        except (KernelTuneError, RuntimeError) as error:
            row.times[name] = None
            row.notes.append(f"{name}: {str(error).splitlines()[0][:160]}")
        torch.cuda.empty_cache()
    return row


def line(row: Row) -> str:
    shape = row.shape
    parts = [
        f"{shape.sweep} {shape.cell} {shape.heads}x{shape.dim} B={shape.batch} T={shape.steps} {shape.dtype}:"
    ]
    mine = row.times.get("ours")
    with_x = row.times.get("ours with W x")
    for name, times in row.times.items():
        if times is None:
            parts.append(f"{name} -;")
            continue
        own = with_x if "W x" in name else mine
        ratio = (
            f" ({times[0] / own[0]:.2f}x {times[1] / own[1]:.2f}x)"
            if own and not name.startswith("ours")
            else ""
        )
        parts.append(f"{name} {times[0]:.3f} {times[1]:.3f}{ratio};")
    known = FLASHRNN.get((shape.heads, shape.dim, shape.batch))
    if known and mine and shape.steps == 1024 and shape.dtype == "bf16" and shape.cell == "lstm":
        parts.append(f"FlashRNN ({known[0] / mine[0]:.2f}x {known[1] / mine[1]:.2f}x)")
    return " ".join([*parts, *row.notes])


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sweep", default="cudnn,heads", help="cudnn, heads, batch, steps, large, cells")
    parser.add_argument("--peers", default="cudnn,loop", help="of cudnn, loop, compiled")
    parser.add_argument("--count", type=int, default=20, help="launches to time")
    parser.add_argument("--out", type=Path, default=None, help="JSON file")
    options = parser.parse_args()
    functional.linear(*(torch.zeros(8, 8, device="cuda") for _ in range(2)))  # starts cuBLAS
    rows = []
    for shape in shapes(options.sweep.split(",")):
        rows.append(measured(shape, options.peers.split(","), options.count))
        print(line(rows[-1]), flush=True)
        if options.out is not None:
            data = {
                "environment": environment("torch", "numpy"),
                "gpu": torch.cuda.get_device_name(),
                "cudnn": torch.backends.cudnn.version(),
                "rows": [asdict(row) for row in rows],
            }
            options.out.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
