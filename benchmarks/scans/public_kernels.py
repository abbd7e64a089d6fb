"""Cells of equations beside public kernels of the same cell, on this machine's GPU: results and times.

    python benchmarks/scans/public_kernels.py --out public.json [--shapes 8x4096x512] [--only wkv]

- RWKV-4's WKV (`examples/cells/wkv.cell`) beside `fused_recurrent_rwkv4` of fla;
- HGRN's gates, h' = exp(g) h + x, beside `chunk_hgrn` and `fused_recurrent_hgrn` of fla;
- the linear recurrence beside the Triton kernel of accelerated-scan, whose rows are [B, C, T].

Times are those of the pass forward and of both passes. Wheels: flash-linear-attention, fla-core, einops and
accelerated-scan. A peer that is not installed or fails has a row that says so. Both sides get the same
numbers; the exit code is 1 if h or a gradient differs by more than the tolerance, relative to its norm.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from environment import environment

ROOT = Path(__file__).resolve().parents[2]
PEERS = ("fla-core", "flash-linear-attention", "accelerated-scan")
SHAPES = ("8x4096x512", "4x16384x1024")
TOLERANCE = {"bfloat16": 2e-2, "float32": 1e-3}
Run = Callable[..., Any]
Row = dict[str, Any]


@dataclass(frozen=True)
class Contest:
    """One cell, as it is run here and by others.

    Attributes:
        dtype: Of the arrays.
        draw: The arrays of a shape, by torch and a device.
        own: h of them, computed here.
        others: The same by peers, which are imported when they are run.
    """

    dtype: str
    draw: Callable[[Any, tuple[int, int, int], str], list[Any]]
    own: Run
    others: dict[str, Run]


def wkv_arrays(torch: Any, shape: tuple[int, int, int], device: str) -> list[Any]:
    """k, v [B, T, C], and the weights w and u of each channel in float32."""
    k, v = (torch.randn(shape, device=device) for _ in range(2))
    w, u = (torch.randn(shape[2], device=device) for _ in range(2))
    return [k, v, w, u]


@cache
def wkv_cell() -> Any:
    """The shipped example, read once."""
    from kerneltune import Cell

    return Cell.of_file(ROOT / "examples" / "cells" / "wkv.cell")


@cache
def hgrn_cell() -> Any:
    """HGRN's equation, read once."""
    from kerneltune import Cell

    return Cell("hgrn", gates="g x", states="h", equations="h' = exp(W.g) * h + W.x")


def wkv_own(k: Any, v: Any, w: Any, u: Any) -> Any:
    """By the cell of equations, from a = 0, b = 1 and q = 0."""
    import torch

    from kerneltune.torch import diagonal

    first = torch.zeros(4, k.shape[0], k.shape[2], device=k.device)
    first[2] = 1.0
    return diagonal(wkv_cell(), k, v, weights=torch.stack([w, u]), initial=first)[0]


def wkv_fla(k: Any, v: Any, w: Any, u: Any) -> Any:
    """By fla, from the same state."""
    import torch
    from fla.ops.rwkv4 import fused_recurrent_rwkv4

    first = torch.zeros(k.shape[0], 3, 1, k.shape[2], device=k.device)
    first[:, 1] = 1.0
    return fused_recurrent_rwkv4(w, u, k, v, first)[0]


def hgrn_arrays(torch: Any, shape: tuple[int, int, int], device: str) -> list[Any]:
    """The gates in logarithms, and the inputs."""
    g = torch.nn.functional.logsigmoid(torch.randn(shape, device=device) + 2.0)
    return [g, torch.randn(shape, device=device)]


def hgrn_own(g: Any, x: Any) -> Any:
    """By its equation."""
    from kerneltune.torch import scan

    return scan(hgrn_cell(), g, x)[0]


def hgrn_chunk(g: Any, x: Any) -> Any:
    """By fla in chunks."""
    from fla.ops.hgrn import chunk_hgrn

    return chunk_hgrn(x, g)[0]


def hgrn_recurrent(g: Any, x: Any) -> Any:
    """By fla in order."""
    from fla.ops.hgrn import fused_recurrent_hgrn

    return fused_recurrent_hgrn(x, g)[0]


def linear_arrays(torch: Any, shape: tuple[int, int, int], device: str) -> list[Any]:
    """a below 1, and b."""
    return [torch.rand(shape, device=device), torch.randn(shape, device=device)]


def linear_own(a: Any, b: Any) -> Any:
    """By `linear_recurrence`."""
    from kerneltune.torch import linear_recurrence

    return linear_recurrence(a, b)[0]


def linear_accelerated(a: Any, b: Any) -> Any:
    """By accelerated-scan; its rows are made contiguous here, but not in what is timed."""
    from accelerated_scan.scalar import scan

    return scan(a, b)


CONTESTS = {
    "wkv": Contest("bfloat16", wkv_arrays, wkv_own, {"fla fused_recurrent_rwkv4": wkv_fla}),
    "hgrn": Contest(
        "bfloat16",
        hgrn_arrays,
        hgrn_own,
        {"fla chunk_hgrn": hgrn_chunk, "fla fused_recurrent_hgrn": hgrn_recurrent},
    ),
    "linear": Contest(
        "float32", linear_arrays, linear_own, {"accelerated-scan Triton [B, C, T]": linear_accelerated}
    ),
}
TRANSPOSED = {"accelerated-scan Triton [B, C, T]"}


def relative(found: Any, expected: Any) -> float:
    """The difference's norm over the expected one's."""
    return float((found.double() - expected.double()).norm() / (expected.double().norm() + 1e-30))


def both_passes(run: Run, arrays: Sequence[Any], weight: Any) -> list[Any]:
    """h and the gradients by the arrays, for the loss sum(weight h)."""
    given = [one.detach().clone().requires_grad_() for one in arrays]
    hidden = run(*given)
    hidden.backward(weight)
    return [hidden.detach(), *(one.grad for one in given)]


def timed(run: Run, arrays: Sequence[Any], weight: Any) -> Row:
    """Median milliseconds of the pass forward and of both."""
    import torch
    from triton.testing import do_bench

    given = [one.detach().clone().requires_grad_() for one in arrays]
    fixed = [one.detach() for one in given]
    with torch.no_grad():
        forward = do_bench(lambda: run(*fixed), warmup=5, rep=30, return_mode="median")

    def passes() -> None:
        for one in given:
            one.grad = None
        run(*given).backward(weight)

    return {"forward": forward, "both": do_bench(passes, warmup=5, rep=30, return_mode="median")}


def turned(arrays: Sequence[Any]) -> list[Any]:
    """Arrays of three dimensions with steps last."""
    return [one.transpose(1, 2).contiguous() if one.dim() == 3 else one for one in arrays]


def rows_of(name: str, shape: tuple[int, int, int]) -> list[Row]:
    """A row of this project and one of each peer."""
    import torch

    contest = CONTESTS[name]
    torch.manual_seed(34)
    dtype = getattr(torch, contest.dtype)
    arrays = [one.to(dtype) if one.dim() == 3 else one for one in contest.draw(torch, shape, "cuda")]
    weight = torch.randn(shape, device="cuda").to(dtype)
    about: Row = {"cell": name, "shape": list(shape), "dtype": contest.dtype}
    expected = both_passes(contest.own, arrays, weight)
    rows = [{**about, "by": "kerneltune", **timed(contest.own, arrays, weight)}]
    for by, run in contest.others.items():
        row: Row = {**about, "by": by}
        try:
            there, by_hidden = (turned(arrays), *turned([weight])) if by in TRANSPOSED else (arrays, weight)
            found = both_passes(run, there, by_hidden)
            found = turned(found) if by in TRANSPOSED else found
            row["differs"] = max(relative(one, other) for one, other in zip(found, expected, strict=True))
            row["right"] = row["differs"] <= TOLERANCE[contest.dtype]
            row |= timed(run, there, by_hidden)
        except Exception as error:  # a peer that is absent, or cannot take a shape, in its own classes
            row["failed"] = f"{type(error).__name__}: {error}"[:200]
        rows.append(row)
    return rows


def said(row: Row) -> str:
    """A line of the table."""
    about = f"{row['cell']:8} {'x'.join(map(str, row['shape'])):14} {row['by']:36}"
    if "failed" in row:
        return f"{about} {row['failed']}"
    differs = f" differs by {row['differs']:.1e}" if "differs" in row else ""
    verdict = "" if row.get("right", True) else " WRONG"
    return f"{about} {row['forward']:9.4f} {row['both']:9.4f} ms{differs}{verdict}"


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="the JSON file to write")
    parser.add_argument("--shapes", nargs="+", default=list(SHAPES), help="rows x steps x channels")
    parser.add_argument("--only", nargs="+", choices=CONTESTS, default=list(CONTESTS))
    options = parser.parse_args()
    rows: list[Row] = []
    for name in options.only:
        for text in options.shapes:
            batch, steps, channels = map(int, text.split("x"))
            for row in rows_of(name, (batch, steps, channels)):
                rows.append(row)
                print(said(row), flush=True)
            found = {"environment": environment("torch", "triton", *PEERS), "rows": rows}
            options.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    sys.exit(not all(row.get("right", True) for row in rows))


if __name__ == "__main__":
    main()
