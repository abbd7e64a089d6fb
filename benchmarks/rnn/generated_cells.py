"""Cells of equations beside the same cells in CUDA, on this machine's GPU: code, registers, bits, times.

    python benchmarks/rnn/generated_cells.py --out generated.json           in some 3 minutes
    python benchmarks/rnn/generated_cells.py --only slstm --seconds 60
    python benchmarks/rnn/generated_cells.py --compile --gpu h100_sxm       without a GPU: no bits, no times

Each row is a cell, a strategy and a pass. Both kernels have the tiling that the solver chooses for each. They
are compared with float64, and with each other: whether all outputs that both have are the same bits. Times
are medians of rounds in turns. A row is good if the generated kernel is right, takes at most 1.01 times the
other one's time and at most 4 registers more. Exit code 1: one is wrong.
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
from kerneltune.messages import Built
from kerneltune.pipeline.tilings import order_of
from kerneltune.running.case import LayerCase, random_case
from kerneltune.tiling.space import TilingSpace

KERNELS = discover()
SHAPES = {"block": (12, 64, 16), "cluster": (3, 256, 16), "grid": (1, 768, 16), "streamed": (1, 2048, 16)}
SHAPES |= {"warpgroup": (1, 768, 256)}
PASSES = ("forward", "training", "backward")
STEPS, VERIFIED_STEPS = 512, 12
ROUNDS, TIMED, WARM_UP = 5, 10, 3
MOST_TIME, MOST_REGISTERS = 1.01, 4


@dataclass
class Row:
    """A comparison; of each pair of numbers the cell in CUDA is the first."""

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
        return f"{name:38} {registers}, {flags}{times}{ratio}{mark} {self.problem}"


def compared_cells(only: Sequence[str]) -> list[str]:
    """The cells that are there in both forms."""
    found = [path.stem for path in sorted((KERNELS.root / "cells").glob(f"*{ENDING}"))]
    both = [name for name in found if (KERNELS.root / "cells" / name).is_dir()]
    return [name for name in both if not only or name in only]


def compile_pair(row: Row, gpu: str, cache: Path) -> tuple[Compiled, Compiled]:
    """The cell in CUDA and that of equations."""
    profile = load_profile(gpu)
    compiler = Compiler(KERNELS, profile, cache=CubinCache(cache))
    heads, dim, batch = SHAPES[row.strategy]
    names = row.cell, str(KERNELS.root / "cells" / f"{row.cell}{ENDING}")
    made = []
    for name in names:
        problem = Problem(name, heads, dim, batch, row.dtype, STEPS, row.direction)
        made.append(compiler.compile(TilingSpace(problem, profile, KERNELS, row.strategy).best()))
    codes = [sections(one.cubin) for one in made]
    texts = [next(value for name, value in code.items() if name.startswith(".text")) for code in codes]
    row.registers = (made[0].report.registers, made[1].report.registers)
    row.code_bytes = (texts[0][0], texts[1][0])
    row.same_code = texts[0] == texts[1]
    return made[0], made[1]


def outputs_of(backend: Any, compiled: Compiled, case: LayerCase, row: Row) -> dict[str, Any]:
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
    strategies = KERNELS.for_pass(row.direction).strategies
    order = order_of(compiled.candidate, strategies[row.strategy].spec.cooperative)
    return backend.load(order, Built(cubin=compiled.cubin))


def short(compiled: Compiled) -> Compiled:
    """The same kernel for few steps."""
    problem = replace(compiled.candidate.problem, steps=VERIFIED_STEPS)
    return replace(compiled, candidate=replace(compiled.candidate, problem=problem))


def compare(row: Row, backend: Any, pair: tuple[Compiled, Compiled]) -> None:
    """Fill in bits and times."""
    found = []
    for compiled in map(short, pair):
        problem = compiled.candidate.problem
        case = random_case(problem, KERNELS.cell(problem.cell), SEED)
        found.append(outputs_of(backend, compiled, case, row))
    common = [name for name in found[0] if name in found[1] and found[0][name].shape == found[1][name].shape]
    row.same_bits = all(found[0][n].tobytes() == found[1][n].tobytes() for n in common)
    times: list[list[float]] = [[], []]
    for turn in range(ROUNDS):
        for number in (0, 1) if turn % 2 == 0 else (1, 0):
            compiled = pair[number]
            backend.use(timed_case(compiled.candidate.problem))
            loaded = loaded_of(backend, compiled, row)
            times[number].append(statistics.median(loaded.time(TIMED, flush=False, warm_up=WARM_UP)))
            loaded.close()
    row.milliseconds = statistics.median(times[0]), statistics.median(times[1])


def rows_of(cells: Sequence[str]) -> list[Row]:
    """The rows: bf16 all, and float32 of the block strategy."""
    found = [Row(c, s, d, "bf16") for c in cells for s in SHAPES for d in PASSES]
    return found + [Row(c, "block", d, "fp32") for c in cells for d in PASSES]


def run(options: argparse.Namespace) -> list[Row]:
    """All rows, until the time is over."""
    backend, ends = None, time.monotonic() + options.seconds
    if not options.compile:
        from kerneltune.measuring.tiling_backend import TilingBackend

        backend = TilingBackend(KERNELS)
    done = []
    with tempfile.TemporaryDirectory() as cache:
        for row in rows_of(compared_cells(options.only)):
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
    parser.add_argument("--seconds", type=float, default=480.0)
    parser.add_argument("--gpu", default="h100_sxm")
    parser.add_argument("--compile", action="store_true", help="compile only")
    options = parser.parse_args()
    rows = run(options)
    if options.out:
        about = {} if options.compile else environment()
        described = [{**asdict(row), "ratio": row.ratio, "good": row.is_good} for row in rows]
        options.out.write_text(json.dumps({"environment": about, "rows": described}, indent=1))
    print(f"{sum(row.is_good for row in rows)} of {len(rows)} rows are as good as the cell in CUDA")
    sys.exit(any(row.problem.startswith("WRONG") for row in rows))


if __name__ == "__main__":
    main()
