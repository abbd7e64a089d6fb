"""Whole layers, projections included, one sequence: minGRU and minLSTM of D = 1024 at growing T, forward.

python benchmarks/scans/layers.py --out layers.json [--cpu]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

import torch

from kerneltune.torch import MinGRU, MinLSTM

STEPS = (256, 1024, 4096, 16384, 65536)
WIDTH = 1024


def on_gpu(layer: Any, steps: int) -> float:
    """Median milliseconds of a captured graph's replays."""
    from triton.testing import do_bench

    x = torch.randn(1, steps, WIDTH, device="cuda", dtype=torch.bfloat16)
    with torch.no_grad():
        layer(x)
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            layer(x)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            layer(x)
    return float(do_bench(graph.replay, warmup=10, rep=50, return_mode="median"))


def on_cpu(layer: Any, steps: int) -> float:
    """Median milliseconds of three calls after one."""
    x = torch.randn(1, steps, WIDTH)
    times = []
    with torch.no_grad():
        for _ in range(4):
            begin = time.perf_counter()
            layer(x)
            times.append(1e3 * (time.perf_counter() - begin))
    return median(times[1:])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="the JSON file to write")
    parser.add_argument("--cpu", action="store_true", help="on the CPU in float32, not on the GPU in bf16")
    options = parser.parse_args()
    rows = []
    for kind in (MinGRU, MinLSTM):
        layer = kind(WIDTH, WIDTH)
        if not options.cpu:
            layer = layer.to("cuda", torch.bfloat16)
        for steps in STEPS:
            row = {"layer": kind.__name__, "steps": steps, "width": WIDTH}
            row["milliseconds"] = (on_cpu if options.cpu else on_gpu)(layer, steps)
            rows.append(row)
            print(row, flush=True)
    machine = f"CPU, {torch.get_num_threads()} threads" if options.cpu else torch.cuda.get_device_name()
    result = {
        "machine": machine,
        "date": datetime.now(UTC).date().isoformat(),
        "versions": {"torch": torch.__version__},
        "command": " ".join(["python", *sys.argv]),
        "rows": rows,
    }
    options.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
