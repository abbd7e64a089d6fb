"""The kernels of a pass on this machine's GPU: right, repeatable, how fast, and how far from the cost model.

    python benchmarks/rnn/kernels.py --out results.json         the shapes of the README's table
    python benchmarks/rnn/kernels.py --top 4 --each-strategy    does the cost model rank well?
    python benchmarks/rnn/kernels.py --runs 100                 the same bits in 100 runs
    python benchmarks/rnn/kernels.py --correctness              T in 1, 2, 3, 1000 and B in 1, 7, 16, 40
    python benchmarks/rnn/kernels.py --pass backward            or training: forward, saving for backward

Every candidate is compiled, runs in a child process, is checked against the float64 reference on fresh random
input, and is timed with events. The table comes last, the JSON has everything.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import flashrnn_times
from environment import environment

from kerneltune.compiling.compile import Compiler
from kerneltune.compiling.feedback import settle
from kerneltune.errors import KernelTuneError
from kerneltune.inputs.descriptions import discover
from kerneltune.inputs.hardware import load_profile
from kerneltune.inputs.problem import PASSES, Problem
from kerneltune.measuring.measure import tiling_plan
from kerneltune.pipeline.tiling_trial import TilingTrial
from kerneltune.pipeline.tilings import CompiledTiling, require_gpu, run_tilings
from kerneltune.tiling.space import TilingSpace

SHAPES = "12x64,6x128,3x256,1x512,1x768,1x1024"
CORRECTNESS_STEPS = (1, 2, 3, 1000)
CORRECTNESS_BATCHES = (1, 7, 16, 40)


@dataclass(frozen=True)
class Request:
    """One row: a problem, and the seed of its input."""

    problem: Problem
    seed: int


def main() -> int:
    options = parsed_options()
    profile = load_profile(options.gpu)
    kernels = discover()
    try:
        require_gpu(profile)
    except KernelTuneError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    compiler = Compiler(kernels, profile, backend=options.compiler)
    tilings: list[CompiledTiling] = []
    failures: list[dict[str, str]] = []
    started = time.perf_counter()
    for request in requests(options):
        spaces = [TilingSpace(request.problem, profile, kernels, options.strategy)]
        if options.each_strategy:
            applicable = spaces[0].applicable()
            spaces = [TilingSpace(request.problem, profile, kernels, s.name) for s in applicable]
        for space in spaces:
            try:
                tilings += list(compiled_tilings(space, compiler, options.top, request.seed))
            except KernelTuneError as error:
                failures.append({"problem": request.problem.label, "failure": str(error)})
                print(f"{request.problem.label}: {error}", file=sys.stderr)
    print(f"{len(tilings)} candidates compiled in {time.perf_counter() - started:.1f} s", file=sys.stderr)
    trials: list[TilingTrial] = []
    plan = tiling_plan(options.runs, 0 if options.correctness else options.timed)
    for trial in run_tilings(tilings, kernels.root, plan, timeout=options.timeout):
        trials.append(trial)
        print(line(trial), file=sys.stderr, flush=True)
        write(options.out, trials, failures)
    write(options.out, trials, failures)
    print(table(trials))
    passed = sum(trial.passed for trial in trials)
    print(f"\n{passed} of {len(trials)} candidates passed, {len(failures)} requests without a tiling")
    return 0 if trials and passed == len(trials) and not failures else 1


def parsed_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--gpu", default="h100_sxm")
    parser.add_argument("--cell", default="lstm")
    parser.add_argument("--pass", dest="direction", default="forward", choices=PASSES)
    parser.add_argument("--shapes", default=SHAPES, help="comma-separated HEADSxHEAD_DIM")
    parser.add_argument("--batch", default="16", help="comma-separated")
    parser.add_argument("--steps", default="1024", help="comma-separated")
    parser.add_argument("--dtype", default="bf16")
    parser.add_argument("--strategy", default=None)
    parser.add_argument("--each-strategy", action="store_true", help="the best of every strategy, not of all")
    parser.add_argument("--top", type=int, default=1, help="how many candidates of a shape")
    parser.add_argument("--runs", type=int, default=3, help="runs whose bits must agree")
    parser.add_argument("--timed", type=int, default=30, help="launches to time")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--timeout", type=float, default=120.0)
    parser.add_argument("--compiler", default="nvrtc")
    parser.add_argument("--correctness", action="store_true", help="short and odd sizes, not timed")
    parser.add_argument("--out", type=Path, default=None, help="JSON file")
    return parser.parse_args()


def requests(options: argparse.Namespace) -> Iterator[Request]:
    steps = [int(word) for word in options.steps.split(",")]
    batches = [int(word) for word in options.batch.split(",")]
    if options.correctness:
        steps, batches = list(CORRECTNESS_STEPS), list(CORRECTNESS_BATCHES)
    for shape in options.shapes.split(","):
        heads, head_dim = (int(word) for word in shape.split("x"))
        for batch in batches:
            for count in steps:
                seed = int.from_bytes(os.urandom(4), "little") if options.seed is None else options.seed
                problem = Problem(
                    options.cell, heads, head_dim, batch, options.dtype, count, options.direction
                )
                yield Request(problem, seed)


def compiled_tilings(space: TilingSpace, compiler: Compiler, top: int, seed: int) -> Iterator[CompiledTiling]:
    settled = settle(space, compiler)
    for turn in settled.tightenings:
        print(f"{space.problem.label}: {turn.sentence}", file=sys.stderr)
    found = [settled.compiled]
    if top > 1:
        found = [compiler.compile(candidate) for candidate in settled.space.candidates(top)]
    for compiled in found:
        broken = compiled.report.broken_promises()
        if broken:
            print(f"{space.problem.label}: left out: {'; '.join(broken)}", file=sys.stderr)
            continue
        spec = space.kernels.strategy(compiled.candidate.strategy).spec
        yield CompiledTiling(compiled.candidate, compiled.cubin, spec.cooperative, seed)


def line(trial: TilingTrial) -> str:
    candidate = trial.candidate
    name = f"{candidate.problem.label} T={candidate.problem.steps} {candidate.strategy}"
    timing = f" {trial.time:.4f} ms" if trial.time else ""
    return f"{name}: {'ok' if trial.passed else 'FAILED'}: {trial.verdict},{timing}"


def table(trials: list[TilingTrial]) -> str:
    rows = [
        ("shape", "B", "T", "strategy", "error", "bits", "ms", "µs/step", "model", "ratio", "× FlashRNN", "")
    ]
    for trial in trials:
        problem = trial.candidate.problem
        head = (
            f"{problem.heads}x{problem.head_dim}",
            problem.batch,
            problem.steps,
            trial.candidate.strategy,
        )
        if not trial.passed:
            rows.append((*map(str, head), *[""] * 7, "FAILED"))
            continue
        peer = flashrnn_times.FUSED.get((problem.heads, problem.head_dim, problem.batch))
        known = (
            peer
            and trial.time
            and problem.direction == "forward"
            and flashrnn_times.comparable(trial.device, problem.cell, problem.steps, problem.dtype)
        )
        parameters = " ".join(f"{name}={value}" for name, value in trial.candidate.parameters.items())
        rows.append(
            (
                *map(str, head),
                f"{trial.relative_error or 0.0:.1e}",
                f"{trial.notes['runs']:.0f}",
                number(trial.time),
                number(trial.microseconds_per_step),
                number(trial.candidate.microseconds_per_step),
                number(trial.ratio),
                f"{peer[0] / trial.time:.2f}" if known else "",
                parameters,
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    return "\n".join(
        "  ".join([cell.rjust(width) for cell, width in zip(row, widths, strict=False)] + [row[-1]])
        for row in rows
    )


def number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def write(path: Path | None, trials: list[TilingTrial], failures: list[dict[str, str]]) -> None:
    if path is not None:
        data = {
            "environment": environment("pycuda", "cuda-bindings", "cuda-core", "nvidia-cuda-nvrtc", "numpy"),
            "outcomes": [trial.reported() for trial in trials],
            "without_tiling": failures,
        }
        path.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
