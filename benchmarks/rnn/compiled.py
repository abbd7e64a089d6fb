"""Compiled models beside called ones, on a GPU.

    python benchmarks/rnn/compiled.py --out compiled.json [--cells lstm,gru] [--dtype bf16]

Of stacks of layers, milliseconds of the forward pass and of both passes by a caller's clock: as they are
called, under torch.compile, under its mode reduce-overhead, and cuDNN's.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).parents[1]))
from environment import environment

import kerneltune.torch as ours

SHAPES = ((1, 64), (2, 256), (2, 1024), (4, 512))  # layers, units
STEPS, BATCH = 256, 16
DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}
CALLS, ROUNDS, FIRST = 20, 5, 5


def milliseconds(call: Callable[[], object]) -> float:
    """Of a call, the median of rounds, waiting at the end of each."""
    for _ in range(FIRST):
        call()
    found = []
    for _ in range(ROUNDS):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(CALLS):
            call()
        torch.cuda.synchronize()
        found.append(1e3 * (time.perf_counter() - begin) / CALLS)
    return statistics.median(found)


def times(layer: Any, x: torch.Tensor, way: Callable[[Any], Any]) -> dict[str, float]:
    """Forward without gradients, and both passes with fresh ones."""
    run, by = way(layer), torch.randn(*x.shape[:2], layer.hidden_size, device=x.device, dtype=x.dtype)

    def forward() -> None:
        with torch.no_grad():
            run(x)

    def both() -> None:
        layer.zero_grad(set_to_none=True)
        run(x)[0].backward(by)

    return {"forward": milliseconds(forward), "both": milliseconds(both)}


def main() -> None:
    """Measure all of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--cells", default="lstm,gru")
    parser.add_argument("--dtype", choices=DTYPES, default="bf16")
    arguments = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for cell in arguments.cells.split(","):
        for layers, units in SHAPES:
            make = {"lstm": (ours.LSTM, torch.nn.LSTM), "gru": (ours.GRU, torch.nn.GRU)}[cell]
            layer, peer = (one(units, units, layers).cuda().to(DTYPES[arguments.dtype]) for one in make)
            x = torch.randn(STEPS, BATCH, units, device="cuda", dtype=DTYPES[arguments.dtype])
            found = {
                "called": times(layer, x, lambda one: one),
                "compiled": times(layer, x, torch.compile),
                "reduce-overhead": times(layer, x, lambda one: torch.compile(one, mode="reduce-overhead")),
                "cudnn": times(peer, x, lambda one: one),
            }
            torch.compiler.reset()
            rows.append({"cell": cell, "layers": layers, "units": units, **found})
            text = ", ".join(f"{way} {one['forward']:.2f} · {one['both']:.2f}" for way, one in found.items())
            print(f"{cell} {layers}×{units}: {text} ms", flush=True)
    sizes = {"steps": STEPS, "batch": BATCH, "dtype": arguments.dtype}
    found = {"environment": environment(), **sizes, "rows": rows}
    arguments.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
