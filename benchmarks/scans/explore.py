"""Many tilings of each request beside the solver's first choice: what the cost constants are fitted to.

    python benchmarks/scans/explore.py plan --out plan.json [--gpu h100_sxm] [--tilings 10] [--set more]
    python benchmarks/scans/explore.py compile --plan plan.json
    python benchmarks/scans/explore.py time --plan plan.json --out explored.json

The set "more" has float32, and cells of examples/cells.

`plan` needs no GPU: of every combination of a few numbers of a tiling it takes the best by the cost model,
and of these the first ones. `compile` fills the cache of machine code by many processes; `time` measures as
`measure.py` and `diagonal.py` do. `kerneltune fit --results explored.json` fits the constants to them.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import diagonal
import measure
from runs import Kernel, copy_rate, percent, write

from kerneltune.compiling.compile import Compiler
from kerneltune.errors import KernelTuneError
from kerneltune.inputs.hardware import load_profile
from kerneltune.inputs.scan_descriptions import discover_scans, is_nonlinear
from kerneltune.inputs.scan_problem import ScanProblem
from kerneltune.tiling.candidate import Candidate
from kerneltune.tiling.space import TilingSpace

# Numbers of which every combination is looked at; those that a strategy does not have are left out.
KINDS = ("keeps", "threads", "columns", "blocks_per_sm", "window", "bulk", "vector_bytes", "chunk_steps")
EXAMPLES = ("sru", "wkv", "lru", "qrnn")
LARGE = ((16, 16384, 128), (1, 65536, 1024), (4, 8192, 2048), (32, 2048, 2048))


def requests() -> Iterator[ScanProblem]:
    """What is explored."""
    for direction in ("forward", "backward"):
        for shape in LARGE:
            for cell in ("linear", "mingru", "minlstm"):
                yield ScanProblem(cell, *shape, "bf16", direction)
        for shape in (LARGE[0], LARGE[2], LARGE[3]):
            yield ScanProblem("linear", *shape, "fp32", direction)
        for shape in measure.SMALL:
            yield ScanProblem("linear", *shape, "bf16", direction)
    for shape in diagonal.SHAPES:
        for direction in ("forward", "backward"):
            for cell in ("diag_gru", "diag_lstm"):
                yield ScanProblem(cell, *shape, "bf16", direction)


def more_requests() -> Iterator[ScanProblem]:
    """Float32, and cells that are no shipped ones."""
    folder = Path(__file__).resolve().parents[2] / "examples" / "cells"
    for direction in ("forward", "backward"):
        for shape in ((8, 4096, 256), (64, 1024, 512), (1, 65536, 64)):
            for cell in ("diag_gru", "diag_lstm", "diag_slstm"):
                yield ScanProblem(cell, *shape, "fp32", direction)
        for shape in ((8, 4096, 256), (32, 2048, 2048)):
            for cell in ("mingru", "minlstm"):
                yield ScanProblem(cell, *shape, "fp32", direction)
            for name in EXAMPLES:
                yield ScanProblem(str(folder / f"{name}.cell"), *shape, "bf16", direction)


SETS = {"shipped": requests, "more": more_requests}


def planned(problem: ScanProblem, gpu: str, count: int) -> list[Candidate]:
    """The best of each kind of tiling, by the cost model; half of them the first, half drawn."""
    space = TilingSpace(problem, load_profile(gpu), discover_scans())
    kinds: dict[tuple[int, ...], Candidate] = {}
    for strategy in space.applicable():
        for candidate in space.of_strategy(strategy.name).candidates(10**6):
            values = {**candidate.values, **candidate.parameters}
            kind = (strategy.name, *(values.get(name, 0) for name in KINDS))
            if kind not in kinds:
                kinds[kind] = candidate
    ranked = sorted(kinds.values(), key=lambda candidate: candidate.cycles)
    near = [c for c in ranked[(count + 1) // 2 :] if c.cycles < 1.6 * ranked[0].cycles]
    drawn = random.Random(problem.label).sample(near, min(count // 2, len(near)))
    return ranked[: (count + 1) // 2] + sorted(drawn, key=lambda candidate: candidate.cycles)


def compiled(candidate: Candidate, defines: tuple[str, ...] = ()) -> Kernel | str:
    """A candidate's kernel, or why there is none."""
    kernels = discover_scans()
    try:
        found = Compiler(kernels, load_profile(candidate.gpu), defines=defines).compile(candidate)
    except KernelTuneError as error:
        return str(error)
    cooperative = kernels.for_pass(candidate.problem.direction).strategy(candidate.strategy).spec.cooperative
    return Kernel({**candidate.to_json(), "report": found.report.to_json()}, found.cubin, cooperative)


def warm_milliseconds(bench: Any, kernel: Kernel) -> float:
    """Of a launch among many, one behind the other, that find code and small arrays in L2."""
    import torch

    from kerneltune.compiling.scan_arguments import packed_scan
    from kerneltune.running.launch import ExtendedKernel

    candidate = Candidate.from_json(kernel.data)
    loaded = ExtendedKernel(kernel.cubin, candidate, cooperative=kernel.cooperative)
    workspace = torch.zeros(max(candidate.workspace, 16), dtype=torch.uint8, device="cuda")
    tensors = {**bench.tensors, **(bench.outputs if isinstance(bench.outputs, dict) else {})}
    arguments = packed_scan(
        bench.problem, {n: t.data_ptr() for n, t in {**tensors, "workspace": workspace}.items()}
    )

    class Stream:
        handle = torch.cuda.current_stream().cuda_stream

    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    for launch in range(60):
        if launch == 20:
            begin.record()
        loaded.launch(arguments, Stream)
    end.record()
    torch.cuda.synchronize()
    loaded.unload()
    return float(begin.elapsed_time(end)) / 40


def all_compiled(candidates: list[Candidate], workers: int, defines: tuple[str, ...]) -> list[Kernel | str]:
    """Their kernels, or why there are none."""
    started = time.time()
    with ProcessPoolExecutor(workers) as pool:
        kernels = list(pool.map(partial(compiled, defines=defines), candidates, chunksize=4))
    print(f"{len(kernels)} kernels made in {time.time() - started:.0f} s", flush=True)
    return kernels


def timed(candidates: list[Candidate], workers: int, defines: tuple[str, ...], out: Path) -> None:
    """Measures a plan."""
    import torch

    kernels = all_compiled(candidates, workers, defines)
    rate, rows, bench = copy_rate(), [], None
    for candidate, kernel in zip(candidates, kernels, strict=True):
        problem = candidate.problem
        if isinstance(kernel, str):
            print(f"{problem.label}: {kernel[:150]}", flush=True)
            continue
        if bench is None or bench.problem != problem:
            bench = None
            torch.cuda.empty_cache()
            is_diagonal = is_nonlinear(discover_scans().cell(problem.cell))
            bench = diagonal.Bench(problem, 0.5) if is_diagonal else measure.Bench(problem)
        row = bench.run(kernel)
        small = problem.batch * problem.steps * problem.channels < 2**24
        row["warm_milliseconds"] = warm_milliseconds(bench, kernel) if small else None
        row["percent"] = percent(bench.least_bytes, rate, row["milliseconds"])
        row["predicted_milliseconds"] = candidate.cycles / candidate.boost_mhz / 1e3
        report = kernel.data["report"]
        row |= {"registers": report["registers"], "spills": report["spill_stores"]}
        rows.append({**candidate.to_json(), **row})
        print(line(rows[-1]), flush=True)
        write(out, rate, rows)


def line(row: dict[str, Any]) -> str:
    """One line of the table."""
    problem, chosen = row["problem"], {**row["values"], **row["parameters"]}
    label = (
        f"{problem['cell']} {problem['batch']}x{problem['steps']}x{problem['channels']} {problem['dtype']}"
    )
    names = ("keeps", "threads", "columns", "vector_bytes", "segment_steps", "tile_steps", "stages", "bulk")
    names = (*names, "window", "chunk_steps", "warm_steps", "blocks_per_sm")
    knobs = " ".join(f"{name[0]}{chosen[name]}" for name in names if name in chosen)
    wrong = "" if row["same_bits"] and not row["unwritten"] and row.get("error", 0) < 1e-2 else " WRONG"
    warm = "" if row["warm_milliseconds"] is None else f" warm {row['warm_milliseconds']:.4f}"
    return (
        f"{label} {problem['direction'][0]} {row['strategy'][:4]} [{knobs}] {row['milliseconds']:.4f}{warm} "
        f"({row['percent']}) predicted {row['predicted_milliseconds']:.4f} r{row['registers']}"
        f"s{row['spills']}{wrong}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("do", choices=("plan", "compile", "time"))
    parser.add_argument("--out", type=Path, help="the JSON file to write")
    parser.add_argument("--plan", type=Path, help="the plan to measure")
    parser.add_argument("--gpu", default="h100_sxm", help="the profile")
    parser.add_argument("--set", choices=tuple(SETS), default="shipped", help="what is planned")
    parser.add_argument("--tilings", type=int, default=10, help="of each request")
    parser.add_argument("--workers", type=int, default=14, help="processes that compile")
    parser.add_argument("--define", action="append", default=[], help="a macro of the kernels, NAME=VALUE")
    options = parser.parse_args()
    if options.do != "plan":
        plan = [Candidate.from_json(entry) for entry in json.loads(options.plan.read_text(encoding="utf-8"))]
        if options.do == "compile":
            all_compiled(plan, options.workers, tuple(options.define))
        else:
            timed(plan, options.workers, tuple(options.define), options.out)
        return
    asked = list(SETS[options.set]())
    found = [c.to_json() for problem in asked for c in planned(problem, options.gpu, options.tilings)]
    options.out.write_text(json.dumps(found) + "\n", encoding="utf-8")
    print(f"{len(found)} tilings of {len(asked)} requests")


if __name__ == "__main__":
    main()
