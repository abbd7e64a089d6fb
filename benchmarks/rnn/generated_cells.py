"""Structs of cells by hand beside what is generated, on this machine's GPU: code, registers, bits, times.

    python benchmarks/rnn/generated_cells.py --out generated.json           in some 2 minutes
    python benchmarks/rnn/generated_cells.py --only slstm --seconds 60
    python benchmarks/rnn/generated_cells.py --compile --gpu h100_sxm       without a GPU: no bits, no times

Each row is a shipped cell that has a header beside its equations, a strategy and a pass. Both kernels have
the tiling that the solver chooses for each. They are compared with float64, and with each other: whether all
outputs that both have are the same bits. Times are medians of rounds in turns. A row is good if the generated
kernel is right, takes at most 1.01 times the other one's time and at most 4 registers more. A header is worth
having if a row takes 1.03 times as long or more without it. Exit code 1: one is wrong.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))
from environment import environment
from machine_code import sections
from variant_times import SEED, timed_case

from kerneltune.compiling.compile import Compiled, Compiler
from kerneltune.compiling.cubin_cache import CubinCache
from kerneltune.errors import KernelTuneError
from kerneltune.inputs.descriptions import ENDING, discover
from kerneltune.inputs.hardware import load_profile
from kerneltune.inputs.problem import Problem
from kerneltune.inputs.request import Request
from kerneltune.inputs.scan_descriptions import FAMILY, discover_scans
from kerneltune.inputs.scan_problem import ScanProblem
from kerneltune.messages import Built
from kerneltune.pipeline.tilings import order_of
from kerneltune.running.any_case import AnyCase
from kerneltune.running.case import random_case
from kerneltune.running.scan_case import random_scan
from kerneltune.tiling.space import TilingSpace

KERNELS = discover()
SHAPES = {"block": (12, 64, 16), "cluster": (3, 256, 16), "grid": (1, 768, 16), "streamed": (1, 2048, 16)}
SHAPES |= {"warpgroup": (1, 768, 256)}
SCANS = discover_scans()
SCAN_SHAPES = {
    "look_back": (8, 4096, 512),
    "sequential": (64, 1024, 512),
    "look_back large": (4, 16384, 1536),
}
PASSES = ("forward", "training", "backward")
STEPS, VERIFIED_STEPS = 512, 12
ROUNDS, TIMED, WARM_UP = 5, 10, 3
MOST_TIME, MOST_REGISTERS = 1.01, 4


@dataclass
class Row:
    """A comparison; of each pair of numbers what is written by hand is the first."""

    cell: str
    strategy: str
    direction: str
    dtype: str
    registers: tuple[int, int] = (0, 0)
    code_bytes: tuple[int, int] = (0, 0)
    same_code: bool = False
    same_bits: bool | None = None
    errors: tuple[str, ...] = ()
    milliseconds: tuple[float, float] | None = None
    problem: str = ""

    @property
    def ratio(self) -> float | None:
        """The generated kernel's time over the other one's."""
        return self.milliseconds and self.milliseconds[1] / self.milliseconds[0]

    @property
    def is_good(self) -> bool:
        """Whether the generated kernel is as good."""
        more = self.registers[1] - self.registers[0]
        return not self.problem and more <= MOST_REGISTERS and (self.ratio or 1.0) <= MOST_TIME

    def __str__(self) -> str:
        times = "" if self.milliseconds is None else "  {:.4f} {:.4f} ms".format(*self.milliseconds)
        ratio = "" if self.ratio is None else f" = {self.ratio:.3f}"
        flags = f"code {'same' if self.same_code else 'differs'}"
        flags += "" if self.same_bits is None else f", bits {'same' if self.same_bits else 'differ'}"
        name = f"{self.cell} {self.strategy} {self.direction} {self.dtype}"
        mark = "" if self.is_good else "  <--"
        registers = "{} {} registers".format(*self.registers)
        return f"{name:44} {registers}, {flags}{times}{ratio}{mark} {self.problem}"


def compared_cells(only: Sequence[str]) -> list[Path]:
    """The equations of the cells that have a header."""
    found = [path.with_suffix(ENDING) for path in sorted(KERNELS.root.rglob("cells/*.cuh"))]
    return [path for path in found if not only or path.stem in only]


def problem_of(row: Row, cell: str) -> Request:
    """The row's request."""
    if row.strategy in SCAN_SHAPES:
        return ScanProblem(cell, *SCAN_SHAPES[row.strategy], row.dtype, row.direction)
    heads, dim, batch = SHAPES[row.strategy]
    return Problem(cell, heads, dim, batch, row.dtype, STEPS, row.direction)


def compile_pair(row: Row, gpu: str, cache: Path) -> tuple[Compiled, Compiled]:
    """The cell with its header and the same file alone."""
    profile, scans = load_profile(gpu), row.strategy in SCAN_SHAPES
    kernels = SCANS if scans else KERNELS
    compiler = Compiler(kernels, profile, cache=CubinCache(cache))
    alone = cache / f"{row.cell}{ENDING}"
    shipped = kernels.root / ("scan/cells" if scans else "cells") / alone.name
    alone.write_text(shipped.read_text(encoding="utf-8"), encoding="utf-8")
    made = []
    for name in (row.cell, str(alone)):
        space = TilingSpace(problem_of(row, name), profile, kernels, row.strategy.split()[0])
        made.append(compiler.compile(space.best()))
    codes = [sections(one.cubin) for one in made]
    texts = [next(value for name, value in code.items() if name.startswith(".text")) for code in codes]
    row.registers = (made[0].report.registers, made[1].report.registers)
    row.code_bytes = (texts[0][0], texts[1][0])
    row.same_code = texts[0] == texts[1]
    return made[0], made[1]


def outputs_of(backend: Any, compiled: Compiled, case: AnyCase, row: Row) -> dict[str, Any]:
    """What a kernel writes; an error is added to the row."""
    backend.use(case)
    loaded = loaded_of(backend, compiled, row)
    try:
        loaded.run(0xFF)
        verdict = loaded.check()
        row.errors = (*row.errors, verdict.sentence)
        if not verdict.right:
            row.problem = f"WRONG: {verdict.sentence}"
        return {name: np.array(array) for name, array in loaded.read().items()}
    finally:
        loaded.close()


def loaded_of(backend: Any, compiled: Compiled, row: Row) -> Any:
    """A kernel on the GPU."""
    kernels = SCANS if row.strategy in SCAN_SHAPES else KERNELS
    strategy = kernels.for_pass(row.direction).strategy(compiled.candidate.strategy)
    order = order_of(compiled.candidate, strategy.spec.cooperative)
    return backend.load(order, Built(cubin=compiled.cubin))


def short(compiled: Compiled) -> Compiled:
    """The same kernel for few steps."""
    problem = compiled.candidate.problem
    if isinstance(problem, Problem):
        problem = replace(problem, steps=VERIFIED_STEPS)
    return replace(compiled, candidate=replace(compiled.candidate, problem=problem))


def compare(row: Row, backend: Any, pair: tuple[Compiled, Compiled]) -> None:
    """Fill in bits and times."""
    found = []
    for compiled in map(short, pair):
        problem = compiled.candidate.problem
        if isinstance(problem, ScanProblem):
            case: AnyCase = random_scan(problem, SCANS.cell(problem.cell), SEED)
        else:
            case = random_case(problem, KERNELS.cell(problem.cell), SEED)
        found.append(outputs_of(backend, compiled, case, row))
    common = [name for name in found[0] if name in found[1] and found[0][name].shape == found[1][name].shape]
    row.same_bits = all(found[0][n].tobytes() == found[1][n].tobytes() for n in common)
    times: list[list[float]] = [[], []]
    for turn in range(ROUNDS):
        for number in (0, 1) if turn % 2 == 0 else (1, 0):
            compiled = pair[number]
            problem = compiled.candidate.problem
            backend.use(timed_case(problem) if isinstance(problem, Problem) else case)
            loaded = loaded_of(backend, compiled, row)
            times[number].append(statistics.median(loaded.time(TIMED, flush=False, warm_up=WARM_UP)))
            loaded.close()
    row.milliseconds = statistics.median(times[0]), statistics.median(times[1])


def rows_of(cells: Sequence[Path]) -> list[Row]:
    """The rows: bf16 all, and float32 of scans and of the block strategy."""
    scans = [path.stem for path in cells if path.parent.parent.name == FAMILY]
    found = [
        Row(c, s, d, t)
        for t in ("bf16", "fp32")
        for c in scans
        for s in SCAN_SHAPES
        for d in ("forward", "backward")
    ]
    others = [path.stem for path in cells if path.parent.parent.name != FAMILY]
    found += [Row(c, s, d, "bf16") for c in others for s in SHAPES for d in PASSES]
    return found + [Row(c, "block", d, "fp32") for c in others for d in PASSES]


def run(options: argparse.Namespace) -> list[Row]:
    """All rows, until the time is over."""
    backend, ends = None, time.monotonic() + options.seconds
    if not options.compile:
        from kerneltune.measuring.tiling_backend import TilingBackend

        backend = TilingBackend(KERNELS)
    done = []
    with tempfile.TemporaryDirectory() as cache:
        rows = rows_of(compared_cells(options.only))
        for row in [row for row in rows if not options.dtypes or row.dtype in options.dtypes]:
            if time.monotonic() > ends:
                print("the time is over: the rows that follow were not tried")
                break
            try:
                pair = compile_pair(row, options.gpu, Path(cache))
                if backend is not None:
                    compare(row, backend, pair)
            except KernelTuneError as error:
                row.problem = str(error).splitlines()[0]
            print(row, flush=True)
            done.append(row)
    return done


def main() -> None:
    """Compare and write the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--dtypes", nargs="*", default=[])
    parser.add_argument("--seconds", type=float, default=480.0)
    parser.add_argument("--gpu", default="h100_sxm")
    parser.add_argument("--compile", action="store_true", help="compile only")
    options = parser.parse_args()
    rows = run(options)
    if options.out:
        about = {} if options.compile else environment()
        described = [{**asdict(row), "ratio": row.ratio, "good": row.is_good} for row in rows]
        options.out.write_text(json.dumps({"environment": about, "rows": described}, indent=1))
    print(f"{sum(row.is_good for row in rows)} of {len(rows)} rows are as good without a header")
    sys.exit(any(row.problem.startswith("WRONG") for row in rows))


if __name__ == "__main__":
    main()
