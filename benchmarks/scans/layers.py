"""Whole layers, projections included, one sequence: minGRU and minLSTM of D = 1024 at growing T, forward.

    python benchmarks/scans/layers.py --out gpu.json              # bf16, a captured graph
    python benchmarks/scans/layers.py --out cpu.json --cpu        # two threads: by scan, and step by step
    python benchmarks/scans/layers.py --table gpu.json cpu.json   # the table of the manual

"Step by step" calls the layer on one step at a time, as a model that generates text does; beyond 512 steps,
512 of them are measured. The figures beside them are those of the blog post that the table is after; it
states neither widths nor dtypes.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from environment import environment

STEPS = (256, 1024, 4096, 16384, 65536)
WIDTH = 1024
THREADS = 2
AT_MOST = 512  # steps that are taken one by one
# Milliseconds of the blog post, by steps: on its GPU by scan; on its CPU, in sequence and by scan.
BLOG_GPU = {
    "MinGRU": (25.8, 92.1, 340.0, 1333.0, 5330.0),
    "MinLSTM": (22.0, 107.8, 431.5, 1694.0, 6710.0),
}
BLOG_IN_SEQUENCE, BLOG_CPU_SCAN = {256: 634.0}, {65536: 10989.0}


def on_gpu(layer: Any, steps: int) -> float:
    """Median milliseconds of a captured graph's replays."""
    import torch
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


def on_cpu(layer: Any, steps: int, dtype: Any) -> float:
    """Median milliseconds of three calls after one."""
    import torch

    x = torch.randn(1, steps, WIDTH, dtype=dtype)
    times = []
    with torch.no_grad():
        for _ in range(4):
            begin = time.perf_counter()
            layer(x)
            times.append(1e3 * (time.perf_counter() - begin))
    return median(times[1:])


def in_sequence(layer: Any, steps: int) -> float:
    """Milliseconds of one step at a time, `steps` times."""
    import torch

    count = min(steps, AT_MOST)
    x = torch.randn(1, count, WIDTH)
    with torch.no_grad():
        _, state = layer(x[:, :1])
        begin = time.perf_counter()
        for step in range(count):
            _, state = layer(x[:, step : step + 1], state)
    return 1e3 * (time.perf_counter() - begin) * steps / count


def rows_on_gpu() -> list[dict[str, Any]]:
    """By both layers and all T."""
    import torch

    from kerneltune.torch import MinGRU, MinLSTM

    rows = []
    for kind in (MinGRU, MinLSTM):
        layer = kind(WIDTH, WIDTH).to("cuda", torch.bfloat16)
        for steps in STEPS:
            rows.append(row_of(kind, steps, "gpu", "bfloat16", on_gpu(layer, steps)))
    return rows


def rows_on_cpu() -> list[dict[str, Any]]:
    """By both layers and all T, in bf16 and float32 by scan, and in float32 step by step."""
    import numba
    import torch

    from kerneltune.torch import MinGRU, MinLSTM

    torch.set_num_threads(THREADS)
    numba.set_num_threads(THREADS)
    rows = []
    for kind in (MinGRU, MinLSTM):
        for dtype in (torch.bfloat16, torch.float32):
            layer = kind(WIDTH, WIDTH).to(dtype)
            name = str(dtype).removeprefix("torch.")
            rows += [row_of(kind, steps, "cpu scan", name, on_cpu(layer, steps, dtype)) for steps in STEPS]
        rows += [
            row_of(kind, steps, "cpu in sequence", "float32", in_sequence(layer, steps)) for steps in STEPS
        ]
    return rows


def row_of(kind: Any, steps: int, way: str, dtype: str, milliseconds: float) -> dict[str, Any]:
    """A row, printed."""
    row = {"layer": kind.__name__, "steps": steps, "width": WIDTH, "way": way, "dtype": dtype}
    row["milliseconds"] = milliseconds
    print(row, flush=True)
    return row


def table(paths: list[Path]) -> str:
    """Milliseconds by layer and T, in Markdown."""
    rows = [row for path in paths for row in json.loads(path.read_text(encoding="utf-8"))["rows"]]
    known = {(r["layer"], r["steps"], r["way"], r["dtype"]): r["milliseconds"] for r in rows}
    ways = [
        ("GPU, bf16", "gpu", "bfloat16"),
        ("two cores, scan, bf16", "cpu scan", "bfloat16"),
        ("two cores, scan, fp32", "cpu scan", "float32"),
        ("two cores, step by step, fp32", "cpu in sequence", "float32"),
    ]
    lines = [
        f"| layer, T | {' | '.join(name for name, *_ in ways)} | blog: GPU | blog: CPU |",
        f"|{'---|' * (len(ways) + 3)}",
    ]
    for layer, blog in BLOG_GPU.items():
        for steps, theirs in zip(STEPS, blog, strict=True):
            found = [known.get((layer, steps, way, dtype)) for _, way, dtype in ways]
            cells = ["–" if ms is None else f"{ms:.3f}" if ms < 10 else f"{ms:,.0f}" for ms in found]
            cpu = []
            if layer == "MinGRU" and steps in BLOG_IN_SEQUENCE:
                cpu.append(f"in sequence {BLOG_IN_SEQUENCE[steps]:,.0f}")
            if layer == "MinGRU" and steps in BLOG_CPU_SCAN:
                cpu.append(f"scan {BLOG_CPU_SCAN[steps]:,.0f}")
            lines.append(
                f"| {layer}, {steps:,} | {' | '.join(cells)} | {theirs:,g} | {', '.join(cpu) or '–'} |"
            )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, help="the JSON file to write")
    parser.add_argument("--cpu", action="store_true", help="on the CPU, not on the GPU")
    parser.add_argument("--table", type=Path, nargs="*", help="print the table of these results")
    options = parser.parse_args()
    if options.table:
        print(table(options.table))
        return
    import torch

    rows = rows_on_cpu() if options.cpu else rows_on_gpu()
    machine = f"CPU, {THREADS} threads" if options.cpu else torch.cuda.get_device_name()
    result = {"machine": machine, **environment("torch", "numba"), "rows": rows}
    result["command"] = " ".join(["python", *sys.argv])
    options.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
