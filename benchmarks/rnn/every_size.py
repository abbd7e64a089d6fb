"""One layer beside torch.nn's at drawn sizes in every dtype, by a caller's clock on a GPU.

    python benchmarks/rnn/every_size.py --seed 1 --out results.json [--seconds 250] [--dtypes bf16 fp32]

Sizes are drawn from all of D in 64 … 4096, B in 1 … 1024 and T in 16 … 1024, LSTM, GRU and RNN, up to a
number of multiplications. "tf32" is float32 as torch has it by default for cuDNN, "fp32" is with
`torch.backends.cudnn.allow_tf32 = False`. Each time is the median of calls that end with a synchronisation;
both layers are measured in turns. The ratio is cuDNN's time by ours.
"""

from __future__ import annotations

import argparse
import json
import math
import random
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
from kerneltune.inputs.problem import Problem
from kerneltune.torch.launching import prepare

DIMS = (64, 128, 256, 512, 768, 1024, 1536, 2048, 3072, 4096)
BATCHES, STEPS = (1, 4, 16, 32, 64, 128, 256, 512, 1024), (16, 64, 128, 256, 512, 1024)
KINDS = ("LSTM", "GRU", "RNN")
DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16, "tf32": torch.float32, "fp32": torch.float32}
CELLS = {"LSTM": "lstm", "GRU": "gru", "RNN": "elman"}
MOST = 2**37  # multiplications of a forward pass: 0.1 to 1 s
MOST_VALUES = 2**28  # of an output: both layers and all gradients fit 80 GB


def drawn(draw: random.Random, dtypes: list[str]) -> dict[str, Any]:
    """A size that is not too large for the time."""
    while True:
        size = {
            "kind": draw.choice(KINDS),
            "dtype": draw.choice(dtypes),
            "dim": draw.choice(DIMS),
            "batch": draw.choice(BATCHES),
            "steps": draw.choice(STEPS),
        }
        rows = size["batch"] * size["steps"]
        if 8 * rows * size["dim"] ** 2 <= MOST and rows * size["dim"] * 4 <= MOST_VALUES:
            return size


def problem_of(size: dict[str, Any]) -> Problem:
    """The request of a size's layer."""
    return Problem(CELLS[size["kind"]], 1, size["dim"], size["batch"], size["dtype"], size["steps"])


def calls(layer: torch.nn.Module, x: torch.Tensor, by: torch.Tensor) -> dict[str, Callable[[], object]]:
    """A forward pass in inference mode, and a training step's both passes."""

    def forward() -> None:
        with torch.no_grad():
            layer(x)

    def both() -> None:
        layer.zero_grad(set_to_none=True)
        x.grad = None
        layer(x)[0].backward(by)

    return {"forward": forward, "both": both}


def milliseconds(call: Callable[[], object]) -> float:
    """Of one call that ends with a synchronisation."""
    begin = time.perf_counter()
    call()
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) * 1e3


def measured(size: dict[str, Any]) -> dict[str, Any]:
    """Both layers' times and their greatest difference, by torch's greatest value."""
    torch.backends.cudnn.allow_tf32 = size["dtype"] != "fp32"
    torch.manual_seed(0)
    dtype, dim = DTYPES[size["dtype"]], size["dim"]
    theirs = getattr(torch.nn, size["kind"])(dim, dim, device="cuda", dtype=dtype)
    mine = getattr(ours, size["kind"])(dim, dim, device="cuda", dtype=dtype)
    mine.load_state_dict(theirs.state_dict())
    x = torch.randn(size["steps"], size["batch"], dim, device="cuda", dtype=dtype, requires_grad=True)
    by = torch.randn(size["steps"], size["batch"], dim, device="cuda", dtype=dtype) / dim
    pair = calls(theirs, x, by), calls(mine, x, by)
    row = dict(size)
    with torch.no_grad():
        row["difference"] = float((theirs(x)[0] - mine(x)[0]).abs().max())
    gradients = []
    for layer, one in zip((theirs, mine), pair, strict=True):
        one["both"]()
        gradients.append(layer.weight_hh_l0.grad.float())
    row["gradient_difference"] = float((gradients[0] - gradients[1]).norm() / gradients[0].norm())
    del gradients
    for name in ("forward", "both"):
        for one in pair * 4:  # loads, records
            milliseconds(one[name])
        turns = max(3, min(25, int(400 / max(milliseconds(one[name]) for one in pair))))
        times = [[milliseconds(one[name]) for one in pair] for _ in range(turns)]
        cudnn, own = (statistics.median(column) for column in zip(*times, strict=True))
        row |= {f"{name}_cudnn": cudnn, f"{name}": own, f"{name}_ratio": cudnn / own}
    return row


def summary(rows: list[dict[str, Any]]) -> list[str]:
    """Geometric means and the worst rows of each dtype."""
    lines = []
    for dtype in DTYPES:
        mine = [row for row in rows if row["dtype"] == dtype]
        for name in ("forward", "both") if mine else ():
            ratios = sorted((row[f"{name}_ratio"], index) for index, row in enumerate(mine))
            mean = math.exp(sum(math.log(ratio) for ratio, _ in ratios) / len(ratios))
            below = sum(ratio < 1 for ratio, _ in ratios)
            lines.append(f"{dtype} {name}: {len(mine)} sizes, {mean:.2f} times, {below} below 1")
            for ratio, index in ratios[:4]:
                row = mine[index]
                size = "{kind} {dim} B={batch} T={steps}".format(**row)
                lines.append(f"    {ratio:.2f} {size}: {row[f'{name}_cudnn']:.3f} and {row[name]:.3f} ms")
    return lines


def main() -> None:
    """Draw, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=200)
    parser.add_argument("--dtypes", nargs="+", choices=DTYPES, default=list(DTYPES))
    parser.add_argument("--ahead", type=int, default=120, help="sizes whose kernels are compiled at once")
    arguments = parser.parse_args()
    end = time.monotonic() + arguments.seconds
    draw, rows = random.Random(arguments.seed), []
    while time.monotonic() < end:
        sizes = [drawn(draw, arguments.dtypes) for _ in range(arguments.ahead)]
        prepare([problem_of(size) for size in sizes])
        for size in sizes:
            if time.monotonic() > end:
                break
            rows.append(measured(size))
            torch.cuda.empty_cache()
        found = {"environment": environment(), "seed": arguments.seed, "rows": rows}
        arguments.out.write_text(json.dumps(found, indent=1) + "\n")
    print("\n".join(summary(rows)))


if __name__ == "__main__":
    main()
