"""Runs layers and scans of `kerneltune.torch`, both passes, under compute-sanitizer.

    python benchmarks/rnn/sanitized.py --out sanitized.json

Each group of cases (a strategy, or the ways in which rows lie) is a process of its own under each tool:
memcheck, racecheck, initcheck. A group is run without a tool first, which compiles its kernels. initcheck
does not see what cuBLAS writes through the bulk copy engine, so matrix products are sums of products there.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import partial
from pathlib import Path
from typing import Any

import sanitizer

TOOLS = ("memcheck", "racecheck", "initcheck")
LAYERS = ("block", "cluster", "grid", "streamed", "warpgroup")
SCANS = ("look_back", "sequential", "overlap")
GROUPS = (*LAYERS, "rows", "stacks", *SCANS)
SECONDS = 170.0  # of a group under a tool


def main() -> int:
    """The table; 1 where anything was found."""
    parser = argparse.ArgumentParser(description="layers and scans under compute-sanitizer")
    parser.add_argument("--out", type=Path, default=None, help="file for the findings")
    parser.add_argument("--only", default=",".join(GROUPS), help="groups, separated by commas")
    parser.add_argument("--tools", default=",".join(TOOLS), help="tools, separated by commas")
    parser.add_argument("--workers", type=int, default=4, help="processes beside one another")
    parser.add_argument("--child", choices=GROUPS, default=None, help="run this group here")
    options = parser.parse_args()
    if options.child:
        run_group(options.child)
        return 0
    groups, tools = options.only.split(","), options.tools.split(",")
    rows: list[dict[str, Any]] = []
    with (
        tempfile.TemporaryDirectory(prefix="sanitized-") as folder,
        ThreadPoolExecutor(options.workers) as pool,
    ):
        jobs = [pool.submit(finding, group, tool, Path(folder)) for tool in tools for group in groups]
        for job in as_completed(jobs):
            row = job.result()
            rows.append(row)
            print(
                f"{row['group']:10} {row['tool']:10} {row['cases']:4} cases {row['errors']} errors",
                flush=True,
            )
            if options.out:
                options.out.write_text(json.dumps(rows, indent=1))
    return int(any(row["errors"] != 0 for row in rows))


def finding(group: str, tool: str, folder: Path) -> dict[str, Any]:
    """A group under a tool."""
    log = folder / f"{group}.{tool}.log"
    child = [sys.executable, str(Path(__file__)), "--child", group]
    environment = {
        **os.environ,
        "KERNELTUNE_GRAPHS": "0",
        "KERNELTUNE_CACHE_DIR": str(folder / tool),
        "PYTORCH_NO_CUDA_MEMORY_CACHING": "1",  # else reads beyond an array stay within torch's block
        "KERNELTUNE_SANITIZED": " ".join(sanitizer.DEFINES.get(tool, ())),
        "KERNELTUNE_PLAIN_PRODUCTS": "1" if tool == "initcheck" else "",
    }
    begun = time.perf_counter()
    warm = subprocess.run(("timeout", "300", *child), env=environment, capture_output=True, text=True)
    command = sanitizer.command(tool, child, log, SECONDS)
    found = subprocess.run(command, env=environment, capture_output=True, text=True)
    result = sanitizer.read(tool, log)
    text = log.read_text(errors="replace") if log.is_file() else ""
    ran = [line for line in found.stdout.splitlines() if line.startswith("case ")]
    failed = [one.stderr[-1500:] for one in (warm, found) if one.returncode]
    return {
        "group": group,
        "tool": tool,
        "cases": len(ran),
        "errors": None if failed else result.errors,
        "seconds": round(time.perf_counter() - begun, 1),
        "failed": failed,
        "text": text[:20000],
        "ran": ran,
    }


def run_group(group: str) -> None:
    """All cases of a group, each once forward and backward."""
    import torch

    from kerneltune.compiling import compile as compiling
    from kerneltune.errors import InfeasibleError

    macros = tuple(os.environ.get("KERNELTUNE_SANITIZED", "").split())
    compiling.Compiler = partial(compiling.Compiler, lines=True, defines=macros)  # type: ignore[misc,assignment]
    if os.environ.get("KERNELTUNE_PLAIN_PRODUCTS"):
        plain_products()
    torch.manual_seed(0)
    for name, case in cases(group):
        try:
            output = case()
            output.float().sum().backward()
            torch.cuda.synchronize()
            print("case", name, flush=True)
        except InfeasibleError:
            print("none", name, flush=True)


def plain_products() -> None:
    """Let torch's matrix products be sums of products, by kernels that initcheck follows."""
    import torch
    from torch.nn import functional

    def product(left: Any, right: Any, out: Any = None) -> Any:
        found = (left.unsqueeze(-1) * right.unsqueeze(-3)).sum(-2)
        return found if out is None else out.copy_(found)

    def added(bias: Any, left: Any, right: Any, out: Any = None) -> Any:
        found = bias + product(left, right)
        return found if out is None else out.copy_(found)

    torch.mm = torch.bmm = torch.matmul = product
    torch.addmm = torch.baddbmm = added
    functional.linear = lambda x, weight, bias=None: (
        product(x, weight.t()) if bias is None else added(bias, x, weight.t())
    )


def cases(group: str) -> Iterator[tuple[str, Callable[[], Any]]]:
    """The cases of a group by name."""
    if group in SCANS:
        yield from scan_cases(group)
    elif group == "rows":
        yield from row_cases()
    elif group == "stacks":
        yield from stack_cases()
    else:
        yield from layer_cases(group)


def layer_cases(strategy: str) -> Iterator[tuple[str, Callable[[], Any]]]:
    """One layer by a strategy."""
    import torch

    import kerneltune.torch as ours
    from kerneltune.compiling.ready import supply_of

    mine = ours.launcher()
    mine._supplied = supply_of(mine.profile, mine.kernels, strategy)
    for kind in ("LSTM", "GRU", "RNN", "sLSTM"):
        for dtype in (torch.float16, torch.bfloat16, torch.float32):
            larger = ((128, 96, 2), (512, 16, 3)) if dtype == torch.float16 else ()
            for width, batch, steps in ((64, 5, 3), *larger):
                layer = getattr(ours, kind)(16, width).to("cuda", dtype)
                x = torch.randn(steps, batch, 16, device="cuda").to(dtype)
                name = f"{strategy} {kind} {dtype} {width} B{batch} T{steps}"
                yield name, lambda layer=layer, x=x: layer(x)[0]


def row_cases() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Rows of their own lengths, sequences, resets, given states, by what the solver chooses."""
    import torch

    import kerneltune.torch as ours

    x = torch.randn(37, 6, 16, device="cuda").half()
    ends = torch.tensor([37, 1, 0, 20, 5, 36], device="cuda")
    parts = [x[:end, row] for row, end in enumerate([37, 1, 9, 20, 5, 36])]
    packed = torch.nn.utils.rnn.pack_sequence(parts, enforce_sorted=False)
    bounds = torch.tensor([0, 5, 5, 20, 37])
    marks = torch.rand(37, 6, device="cuda") < 0.2
    for kind in ("LSTM", "GRU", "RNN", "sLSTM"):
        for options in ({"bidirectional": True}, {"heads": 2}, {"num_layers": 2}):
            layer = getattr(ours, kind)(16, 48, **options).cuda().half()
            name = f"{kind} {options}"
            yield f"{name} lengths", lambda layer=layer: layer(x, lengths=ends)[0]
            yield f"{name} packed", lambda layer=layer: layer(packed)[0].data
            yield f"{name} joined", lambda layer=layer: layer(x[:, 0], cu_seqlens=bounds)[0]
            yield f"{name} resets", lambda layer=layer: layer(x, reset=marks)[0]
            yield f"{name} one step", lambda layer=layer: layer(x[:1], layer(x)[1])[0]


def stack_cases() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Layers side by side, dropout, projections, sizes that are padded."""
    import torch

    import kerneltune.torch as ours
    from kerneltune.torch import fused

    fused.chunk_for = lambda layer, layers, shape, dtype, training: 32 if shape[0] % 32 == 0 else 0
    for kind in ("LSTM", "GRU", "RNN", "sLSTM"):
        for options in ({"num_layers": 3}, {"num_layers": 2, "dropout": 0.4}):
            layer = getattr(ours, kind)(16, 64, **options).cuda().half()
            x = torch.randn(96, 4, 16, device="cuda").half()
            yield f"{kind} {options} 96 steps", lambda layer=layer, x=x: layer(x)[0]
        layer = getattr(ours, kind)(16, 50).cuda().half()
        yield f"{kind} 50 units", lambda layer=layer: layer(torch.randn(9, 3, 16, device="cuda").half())[0]
    layer = ours.LSTM(16, 64, proj_size=24).cuda().half()
    yield "LSTM projection", lambda: layer(torch.randn(9, 3, 16, device="cuda").half())[0]


def scan_cases(strategy: str) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Scans and diagonal cells by a strategy."""
    import torch

    import kerneltune.torch as ours
    from kerneltune.inputs.scan_descriptions import discover_scans, is_nonlinear
    from kerneltune.running.scan_arrays import widths_of
    from kerneltune.torch import scan_launching

    mine = scan_launching.launcher(strategy)
    scan_launching.launcher = lambda *_: mine
    for cell, known in discover_scans().cells.items():
        nonlinear = is_nonlinear(known)
        if strategy == ("look_back" if nonlinear else "overlap"):
            continue  # there is none
        widths = [1] * len(known.spec.gates) if nonlinear else widths_of(known)
        for dtype in (torch.float32,) if strategy == "overlap" else (torch.float32, torch.bfloat16):
            for batch, steps, channels in ((2, 37, 12), (1, 700, 64)):
                made = [
                    (0.5 * torch.randn(batch, steps, channels * width, device="cuda"))
                    .to(dtype)
                    .requires_grad_()
                    for width in widths
                ]
                ends = torch.tensor([steps - 3] + [0] * (batch - 1), device="cuda")
                marks = torch.rand(batch, steps, device="cuda") < 0.1
                ways: list[dict[str, Any]] = [{}, {"reverse": True}, {"lengths": ends}, {"resets": marks}]
                if batch == 1 and not nonlinear:
                    ways.append({"cu_seqlens": torch.tensor([0, 9, 9, steps], device="cuda")})
                for way in ways:
                    name = f"{strategy} {cell} {dtype} {batch}x{steps}x{channels} {', '.join(way)}"
                    if nonlinear:
                        weights = 0.3 * torch.randn(known.constants()["weights"], channels, device="cuda")
                        more = {"parallel": strategy, "weights": weights, **way}
                        yield (
                            name,
                            lambda cell=cell, made=made, more=more: ours.diagonal(cell, *made, **more)[0],
                        )
                    else:
                        yield name, lambda cell=cell, made=made, way=way: ours.scan(cell, *made, **way)[0]


if __name__ == "__main__":
    raise SystemExit(main())
