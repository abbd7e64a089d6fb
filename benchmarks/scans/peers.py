"""Peers of the scans: accelerated-scan, fla's hgrn, associative scans of torch and jax, log space.

    python benchmarks/scans/peers.py accelerated [--shapes 2]     # rows as JSON, one a line

`measure.py --peers` runs each peer so, in a process of its own and within a limit of time: a peer that does
not come back, or takes the GPU with it, costs no other row.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

SHAPES = (
    (16, 16384, 128),
    (1, 65536, 1024),
    (4, 8192, 2048),
    (32, 2048, 2048),
    (8, 65536, 1536),
    (1, 2**20, 1024),
)
WIDE = {"jax", "torch", "log"}  # keep several copies of all numbers, or compile for long: smaller shapes only
PEERS = ("accelerated", "accelerated_warp", "fla", "log", "jax", "torch")
Row = dict[str, Any]


def measured(rate: float, seconds: float, log: Path) -> list[Row]:
    """Rows of all peers; `rate` is a copy's, in GB/s, and `seconds` the limit of each peer."""
    rows: list[Row] = []
    for peer in PEERS:
        started = time.monotonic()
        with log.open("ab") as errors:
            process = subprocess.Popen(
                [sys.executable, __file__, peer], stdout=subprocess.PIPE, stderr=errors, text=True
            )
            try:
                text, _ = process.communicate(timeout=seconds)
            except subprocess.TimeoutExpired:
                process.kill()
                text, _ = process.communicate()
                rows.append({"peer": peer, "failed": f"did not come back within {seconds:.0f} s"})
        found = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
        for row in found:
            rated(row, rate)
            print(row, flush=True)
        rows += found
        print(f"{peer}: {time.monotonic() - started:.0f} s", flush=True)
    return rows


def rated(row: Row, rate: float) -> None:
    """Adds what the least bytes of a forward pass take at a copy's rate, in percent of its time."""
    if "forward" in row:
        elements = row["shape"][0] * row["shape"][1] * row["shape"][2]
        least = (12 if row["dtype"] == "float32" else 6) * elements
        row["percent"] = round(least / rate / 1e4 / row["forward"], 1)


def by_torch(
    name: str,
    shape: tuple[int, int, int],
    dtype: Any,
    run: Callable[[Any, Any], Any],
    *,
    transposed: bool = False,
    both: bool = True,
) -> Row:
    """Median times of a function of a and b, [B, T, C] or transposed [B, C, T]."""
    import torch
    from triton.testing import do_bench

    batch, steps, channels = shape
    sizes = (batch, channels, steps) if transposed else shape
    row: Row = {"peer": name, "shape": shape, "dtype": str(dtype).removeprefix("torch.")}
    try:
        a = torch.rand(sizes, device="cuda", dtype=dtype)
        b = torch.randn(sizes, device="cuda", dtype=dtype)
        with torch.no_grad():
            row["forward"] = do_bench(lambda: run(a, b), warmup=5, rep=30, return_mode="median")
        if both:
            a.requires_grad_()
            b.requires_grad_()
            weight = torch.randn(sizes, device="cuda", dtype=dtype)

            def passes() -> None:
                a.grad = b.grad = None
                run(a, b).backward(weight)

            row["both"] = do_bench(passes, warmup=5, rep=30, return_mode="median")
    except Exception as error:  # a peer that cannot take a shape says so in its own classes
        row["failed"] = f"{type(error).__name__}: {error}"[:200]
    return row


def by_jax(shape: tuple[int, int, int]) -> Row:
    """`jax.lax.associative_scan` in float32: the median of ten calls, each waited for."""
    row: Row = {"peer": "jax associative_scan", "shape": shape, "dtype": "float32"}
    try:
        import jax

        a = jax.random.uniform(jax.random.key(0), shape)
        b = jax.random.normal(jax.random.key(1), shape)

        def joined(left: Any, right: Any) -> Any:
            return left[0] * right[0], right[0] * left[1] + right[1]

        run = jax.jit(lambda a, b: jax.lax.associative_scan(joined, (a, b), axis=1)[1])
        run(a, b).block_until_ready()
        times = []
        for _ in range(10):
            begin = time.perf_counter()
            run(a, b).block_until_ready()
            times.append(1e3 * (time.perf_counter() - begin))
        row["forward"] = median(times)
    except Exception as error:  # what jax does not have or cannot do, in its own classes
        row["failed"] = f"{type(error).__name__}: {error}"[:200]
    return row


def compiled_scan() -> Callable[[Any, Any], Any]:
    """`torch.associative_scan`, by pointwise code that inductor makes."""
    import torch
    from torch._higher_order_ops import associative_scan

    def joined(left: Any, right: Any) -> Any:
        return left[0] * right[0], right[0] * left[1] + right[1]

    def run(a: Any, b: Any) -> Any:
        return associative_scan(joined, (a, b), 1, combine_mode="pointwise")[1]

    torch._dynamo.reset()
    found: Callable[[Any, Any], Any] = torch.compile(run)
    return found


def log_space(a: Any, b: Any) -> Any:
    """The scan of Heinsen (2023) in log space, b taken as positive."""
    passed = a.log().cumsum(1)
    return (passed + ((b.abs() + 1e-9).log() - passed).logcumsumexp(1)).exp()


def row_of(peer: str, shape: tuple[int, int, int]) -> Row:
    """The row of a peer and a shape."""
    if peer == "jax":
        return by_jax(shape)
    import torch

    if peer == "accelerated":
        from accelerated_scan.scalar import scan

        return by_torch("accelerated-scan, Triton, [B, C, T]", shape, torch.float32, scan, transposed=True)
    if peer == "accelerated_warp":
        from accelerated_scan.warp import scan

        return by_torch("accelerated-scan, warp, [B, C, T]", shape, torch.float32, scan, transposed=True)
    if peer == "fla":
        from fla.ops.hgrn import chunk_hgrn

        return by_torch("fla hgrn, chunk", shape, torch.bfloat16, lambda a, b: chunk_hgrn(b, a)[0])
    if peer == "log":
        return by_torch("log space", shape, torch.float32, log_space)
    name = "torch associative_scan, compiled"
    return by_torch(name, shape, torch.float32, compiled_scan(), both=False)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("peers", choices=PEERS, nargs="+")
    parser.add_argument("--shapes", type=int, default=len(SHAPES), help="how many of the shapes")
    options = parser.parse_args()
    shapes: Sequence[tuple[int, int, int]] = SHAPES[: options.shapes]
    for peer in options.peers:
        for shape in shapes:
            if peer not in WIDE or shape[0] * shape[1] * shape[2] <= 2**27:
                print(json.dumps(row_of(peer, shape)), flush=True)


if __name__ == "__main__":
    main()
