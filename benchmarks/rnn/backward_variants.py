"""Variants of the backward pass on this machine's GPU, one beside the other: right, repeatable, how fast.

    python benchmarks/rnn/backward_variants.py --out variants.json            in 110 s
    python benchmarks/rnn/backward_variants.py --only 1x768 --steps 1024      some shapes
    python benchmarks/rnn/backward_variants.py --emulated /tmp/emulated       right, on the CPU, small shapes

What is chosen by default; of the block and cluster strategies other depths of the ring, and stores apart or
together; of the strategy "warpgroup" other numbers of units, sizes of stages, and clusters. All are compiled
at the same time, one process per core. Each runs in a child process for a few steps and is compared with
float64; those that are right are timed on longer sequences, in two rounds, the second in reverse order. The
JSON is written during the run, a table last. Exit code 1: something is wrong or has no tiling.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))
from environment import environment
from variant_times import SEED, VERIFIED_STEPS

from kerneltune.compiling.compile import Compiler
from kerneltune.errors import KernelTuneError
from kerneltune.inputs.descriptions import discover
from kerneltune.inputs.hardware import load_profile
from kerneltune.inputs.problem import Problem
from kerneltune.measuring.measure import tiling_plan
from kerneltune.pipeline.stages import MEASURING_CHILD
from kerneltune.pipeline.tilings import CompiledTiling, require_gpu, run_tilings
from kerneltune.tiling.candidate import Candidate
from kerneltune.tiling.space import TilingSpace

EMULATOR = Path(__file__).resolve().parents[2] / "tests" / "kernels" / "emulator" / "runner.py"
TIMES = Path(__file__).resolve().parent / "variant_times.py"
TRIAL_SECONDS = 20.0  # time limit of a variant's verification
EMULATED_SECONDS = 240.0  # the same on the emulated GPU
VERIFYING_SHARE = 0.7  # of the time, after which no verification begins
REFERENCE_STEPS = 1024  # of the times in benchmarks/NOTES.md
# Cell, heads, head dimension, batch, pass
REQUESTS = (
    ("lstm", 1, 768, 256, "backward"),
    ("lstm", 1, 768, 64, "backward"),
    ("lstm", 1, 768, 128, "backward"),
    ("lstm", 1, 1024, 256, "backward"),
    ("lstm", 1, 1024, 128, "backward"),
    ("lstm", 1, 512, 256, "backward"),
    ("gru", 1, 768, 256, "backward"),
    ("lstm", 1, 1536, 128, "backward"),
    ("lstm", 3, 256, 256, "backward"),
    ("elman", 1, 1024, 256, "backward"),
    ("gru", 2, 512, 256, "backward"),
    ("gru", 12, 64, 16, "backward"),
    ("gru", 6, 128, 16, "backward"),
    ("lstm", 12, 64, 16, "backward"),
)
SMALL = (("lstm", 1, 32, 33, "backward"), ("gru", 2, 16, 5, "backward"))  # for the emulated GPU
FEWEST_ROWS = 33  # batch rows from which on the strategy "warpgroup" is tried: it computes 64


@dataclass
class Row:
    """A variant of a request: how it is compiled, whether it is right, its times."""

    problem: Problem
    variant: str
    candidate: Candidate | None = None
    cubin: bytes = b""
    cooperative: bool = False
    registers: int = 0
    failure: str | None = None
    error: float | None = None
    passed: bool = False
    rounds: list[float] = field(default_factory=list)  # median milliseconds of each

    @property
    def microseconds(self) -> float | None:
        """Of a step: the better round."""
        return min(self.rounds) * 1e3 / self.problem.steps if self.rounds else None

    def to_json(self) -> dict[str, Any]:
        """A JSON object with every field but the machine code."""
        return {
            "problem": self.problem.label,
            "steps": self.problem.steps,
            "variant": self.variant,
            "candidate": self.candidate and self.candidate.to_json(),
            "registers": self.registers,
            "failure": self.failure,
            "relative_error": self.error,
            "passed": self.passed,
            "milliseconds_of_rounds": self.rounds,
            "microseconds_per_step": self.microseconds,
        }


def main(arguments: Sequence[str] | None = None, child: Sequence[str] = MEASURING_CHILD) -> int:
    options = parsed(arguments)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", str(min(16, os.cpu_count() or 1)))
    started = time.monotonic()
    if options.emulated is not None:
        child = (sys.executable, str(EMULATOR), str(options.emulated), options.gpu)
    try:
        require_gpu(load_profile(options.gpu), child=child)
    except KernelTuneError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    problems = asked(options)
    workers = min(os.cpu_count() or 1, len(problems))
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        rows = [row for found in pool.map(compiled, problems, [options.gpu] * len(problems)) for row in found]
    print(f"{len(rows)} variants compiled in {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    emulated = options.emulated is not None
    until = math.inf if emulated else started + VERIFYING_SHARE * options.seconds
    verify(rows, child, options, until)
    print(f"verified at {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    if not emulated:
        left = options.seconds - (time.monotonic() - started)
        with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(len(problems)) as threads:
            own = [[row for row in rows if row.problem == problem] for problem in problems]
            list(threads.map(lambda some: measure(some, Path(scratch), left), own))
    write(options.out, rows)
    print(table(rows))
    return int(not rows or not all(row.passed for row in rows if row.candidate is not None))


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--gpu", default="h100_sxm")
    parser.add_argument("--only", default="", help="comma-separated HEADSxHEAD_DIM")
    parser.add_argument("--dtype", default="bf16")
    parser.add_argument("--steps", type=int, default=512, help="of the sequences that are timed")
    parser.add_argument("--seconds", type=float, default=110.0, help="no work begins later")
    parser.add_argument("--emulated", type=Path, help="verify small shapes on the CPU; folder of programs")
    parser.add_argument("--out", type=Path, default=None, help="JSON file")
    return parser.parse_args(arguments)


def asked(options: argparse.Namespace) -> list[Problem]:
    """The requests of the command line, with the steps that are timed."""
    requests = SMALL if options.emulated is not None else REQUESTS
    only = options.only.split(",") if options.only else [f"{r[1]}x{r[2]}" for r in requests]
    steps = 3 if options.emulated is not None else options.steps
    return [
        Problem(cell, heads, head_dim, batch, options.dtype, steps, direction)
        for cell, heads, head_dim, batch, direction in requests
        if f"{heads}x{head_dim}" in only
    ]


def variants(problem: Problem, gpu: str) -> Iterator[tuple[str, Candidate | None]]:
    """The variants of a request, the default first; None for those that do not fit."""
    space = TilingSpace(problem, load_profile(gpu), discover())
    best = space.best()
    yield "default", best
    if best.strategy == "warpgroup":
        others = [s for s in space.kernels.strategies.values() if s.name != "warpgroup"]
        found = [one for s in others if (one := space.best_with(s, {})) is not None]
        yield "without warpgroups", min(found, key=lambda one: one.microseconds_per_step, default=None)
    shipped = best.parameters.get("input_stages")
    if best.strategy in ("block", "cluster") and shipped:
        for stages in (4, 8, 16):
            if stages != shipped:
                yield f"default, ring of {stages}", with_stages(best, stages)
    if "stores_together" in best.parameters:
        other = 1 - best.parameters["stores_together"]
        yield f"default, stores {('apart', 'together')[other]}", changed(best, {"stores_together": other})
    if problem.direction == "backward" and problem.batch >= FEWEST_ROWS:
        yield from by_warpgroups(space)


def by_warpgroups(space: TilingSpace) -> Iterator[tuple[str, Candidate | None]]:
    """The strategy "warpgroup" as it would be chosen; then units of a block, sizes of stages, clusters."""
    strategy = space.kernels.strategy("warpgroup")
    asked: dict[str, dict[str, int]] = {"warpgroup": {}}
    for units in (16, 24, 32):
        for parts in (1, 2, 4):
            chosen = {"block_units": units, "stage_parts": parts, "cluster": 1}
            asked[f"warpgroup, {units} units, stages of {parts}"] = chosen
        chosen = {"block_units": units, "stage_parts": 2, "cluster": 2}
        asked[f"warpgroup, {units} units, clusters of 2"] = chosen
    seen: list[Mapping[str, int]] = []
    for name, chosen in asked.items():
        found = space.best_with(strategy, chosen)
        if found is not None and found.parameters not in seen:
            seen.append(found.parameters)
            yield name, found


def with_stages(candidate: Candidate, stages: int) -> Candidate:
    """The tiling with another number of stages in the ring of what was saved."""
    ring = candidate.values["ring_bytes"]
    other = ring // candidate.parameters["input_stages"] * stages
    memory = candidate.shared_memory - ring + other
    return changed(candidate, {"input_stages": stages, "ring_bytes": other, "shared_memory": memory})


def changed(candidate: Candidate, values: dict[str, int]) -> Candidate:
    """The tiling with other values, which its constraint file would not choose."""
    parameters = {name: values.get(name, value) for name, value in candidate.parameters.items()}
    return replace(candidate, parameters=parameters, values={**candidate.values, **values})


def compiled(problem: Problem, gpu: str) -> list[Row]:
    """Solve and compile a request's variants."""
    profile, kernels = load_profile(gpu), discover()
    compiler = Compiler(kernels, profile)
    rows = []
    for name, candidate in variants(problem, gpu):
        row = Row(problem, name, candidate)
        rows.append(row)
        if candidate is None or candidate.shared_memory > profile.smem_per_block_optin:
            row.candidate, row.failure = None, "it does not fit"
            continue
        try:
            made = compiler.compile(candidate)
        except KernelTuneError as error:
            row.failure = str(error)
            continue
        spec = kernels.for_pass(problem.direction).strategy(candidate.strategy).spec
        row.cubin, row.cooperative, row.registers = made.cubin, spec.cooperative, made.report.registers
        row.failure = "; ".join(made.report.broken_promises()) or None
    return rows


def verify(rows: Sequence[Row], child: Sequence[str], options: argparse.Namespace, until: float) -> None:
    """Compare each variant with float64 on a short sequence; the same bits in three runs."""
    ready = [row for row in rows if row.candidate is not None and row.failure is None]
    tilings = [
        CompiledTiling(short(row.candidate), row.cubin, row.cooperative, SEED)
        for row in ready
        if row.candidate is not None
    ]
    limit = TRIAL_SECONDS if options.emulated is None else EMULATED_SECONDS
    trials = run_tilings(tilings, discover().root, tiling_plan(3, 0), timeout=limit, child=child)
    for row in ready:
        if time.monotonic() > until:
            row.failure = "not verified: no time was left"
            continue
        trial = next(trials)
        row.passed, row.failure, row.error = trial.passed, trial.failure, trial.relative_error
        write(options.out, rows)


def short(candidate: Candidate) -> Candidate:
    """The tiling for the steps that are verified: a kernel does not depend on their number."""
    steps = min(VERIFIED_STEPS, candidate.problem.steps)
    return replace(candidate, problem=replace(candidate.problem, steps=steps))


def measure(rows: Sequence[Row], folder: Path, seconds: float, program: Path = TIMES) -> None:
    """Time the variants of one request that are right, in a process of their own.

    The processes of all requests make their input at the same time and use the GPU in turn.
    """
    ready = [row for row in rows if row.passed and row.candidate is not None]
    if not ready or seconds <= 5:
        return
    name = "".join(letter if letter.isalnum() else "_" for letter in rows[0].problem.label)
    described = []
    for number, row in enumerate(ready):
        cubin = folder / f"{name}_{number}.cubin"
        cubin.write_bytes(row.cubin)
        candidate = row.candidate and row.candidate.to_json()
        described.append({"candidate": candidate, "cubin": str(cubin), "cooperative": row.cooperative})
    job = {"seconds": seconds, "lock": str(folder / "lock"), "variants": described}
    command = [sys.executable, str(program)]
    try:
        done = subprocess.run(
            command, input=json.dumps(job), capture_output=True, text=True, timeout=seconds + 10, check=False
        )
        said, why = done.stdout, done.stderr.strip()[-300:]
    except subprocess.TimeoutExpired as late:
        said, why = (late.stdout or b"").decode(), "no answer in time"
    for line in said.splitlines():
        found = json.loads(line)
        ready[found["variant"]].rounds.append(found["milliseconds"])
    for row in ready:
        if not row.rounds:
            row.failure = f"not timed: {why or 'no time was left'}"


def write(path: Path | None, rows: Sequence[Row]) -> None:
    """The JSON so far."""
    if path is None:
        return
    data = {
        "environment": environment("pycuda", "cuda-bindings", "cuda-core", "nvidia-cuda-nvrtc", "numpy"),
        "rows": [row.to_json() for row in rows],
    }
    path.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def table(rows: Sequence[Row]) -> str:
    """A line for each variant; times at 1024 steps, and how often the default's fits into them."""
    head = f"{'variant':36} {'strategy':10} {'reg':>3} {'error':>8} {'µs/step':>8} {'ms, T=1024':>10} default"
    lines: list[str] = []
    base: float | None = None
    for number, row in enumerate(rows):
        if number == 0 or row.problem != rows[number - 1].problem:
            lines += ["", row.problem.label, head]
            base = row.microseconds
        strategy = row.candidate.strategy if row.candidate else ""
        error = f"{row.error:.1e}" if row.error is not None else ""
        line = f"{row.variant:36} {strategy:10} {row.registers:3} {error:>8}"
        if row.microseconds is not None:
            line += f" {row.microseconds:8.3f} {row.microseconds * REFERENCE_STEPS / 1e3:10.3f}"
            line += f" {base / row.microseconds:7.2f}×" if base else ""
        if row.failure:
            line += f"  {'' if row.passed else 'FAILED: '}{' '.join(row.failure.split())[:120]}"
        lines.append(line)
    return "\n".join(lines).lstrip("\n")


if __name__ == "__main__":
    sys.exit(main())
