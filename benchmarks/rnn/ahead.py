"""Compiles the kernels that peers.py will launch into the cubin cache, with one process per core.

    python benchmarks/rnn/ahead.py --sweep table,cudnn,heads

Without it, peers.py compiles one kernel at a time while the GPU waits. Needs no GPU.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from sweeps import SWEEPS, Shape, words_of

from kerneltune.compiling.compile import Compiler
from kerneltune.compiling.feedback import settle
from kerneltune.errors import KernelTuneError
from kerneltune.inputs.descriptions import discover
from kerneltune.inputs.hardware import load_profile
from kerneltune.inputs.problem import PASSES, Problem
from kerneltune.tiling.space import TilingSpace


def problems(sweeps: list[str]) -> list[Problem]:
    """The problems of the sweeps, each once: the tiling does not depend on the number of steps."""
    shapes: list[Shape] = [shape for sweep in sweeps for shape in SWEEPS[sweep]()]
    found = {
        Problem(s.cell, s.heads, s.dim, s.batch, s.dtype, 1024, direction): None
        for s in shapes
        for direction in PASSES
    }
    return list(found)


def compiled(problem: Problem, gpu: str) -> str | None:
    """Compile a problem's kernel; returns the reason if there is none."""
    kernels, profile = discover(), load_profile(gpu)
    try:
        settle(TilingSpace(problem, profile, kernels), Compiler(kernels, profile))
    except KernelTuneError as error:
        return f"{problem.label}: {error}"
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    every = ", ".join(SWEEPS)
    parser.add_argument("--sweep", type=words_of(SWEEPS), default=list(SWEEPS), help=f"of {every}")
    parser.add_argument(
        "--gpu", default="h100_sxm", help="a profile's name, or the path of a profile's YAML file"
    )
    options = parser.parse_args()
    try:
        load_profile(options.gpu)
    except KernelTuneError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    started = time.monotonic()
    wanted = problems(options.sweep)
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        refused = [why for why in pool.map(compiled, wanted, [options.gpu] * len(wanted)) if why]
    print(f"{len(wanted) - len(refused)} kernels in {time.monotonic() - started:.0f} s", *refused, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
