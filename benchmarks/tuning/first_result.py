"""How long the first result takes, beside the compilation that it waits for.

    python benchmarks/tuning/first_result.py [--only transpose layer_norm …] [--seeds 3] [--out FILE.json]
    python benchmarks/tuning/first_result.py --pretended 0.3 1 3 [--workers 2 16]

On a GPU, each example is tuned until its first result, with nothing kept of earlier compilations, in a
process for each run. Without a GPU, `--pretended` takes processes that compile for so many seconds of
processor time and measure nothing. A row has, in seconds since the call of `tune`: when the first order was
given, when the measuring process and the first machine code were ready, when the first result came; and
ratios of the first result, counted from the first order, to the compile time that the compiler's process
measured, and to that of the same compilation with nothing beside it (`alone`). References are left out, since
computing them on the host may take longer than all the rest; `--verified` has them.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import fields
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks"), str(ROOT / "examples" / "tuning")]
sys.path.insert(0, str(ROOT / "tests" / "kerneltune" / "stand_ins"))

from environment import environment  # noqa: E402

CUDA = ("matmul", "hotspot", "reduction", "transpose", "stencil")
TRITON = ("softmax", "attention", "layer_norm")
BURNING = """
import sys, time
from kerneltune.messages import Built, Order, required
from kerneltune.running.child_output import private_stdout, say
answers = private_stdout()
for line in sys.stdin:
    required(line, Order)
    started, until = time.perf_counter(), time.process_time() + {seconds}
    while time.process_time() < until:
        pass
    say(answers, Built(registers=32, seconds=time.perf_counter() - started))
"""


class Reached(Exception):
    """The first result is there."""


class Moments:
    """When parts of a run were ready, in seconds since the call."""

    def __init__(self) -> None:
        self.started = time.perf_counter()
        self.found: dict[str, float] = {}

    def note(self, what: str) -> None:
        self.found.setdefault(what, round(time.perf_counter() - self.started, 4))

    def watch(self) -> None:
        """Note the moments of the stages."""
        from kerneltune.pipeline import run, stages
        from kerneltune.running.children import Child

        starting, compiling, searching = Child.start, stages.compiled, run.Pipeline.run

        def started(child: Any) -> None:
            starting(child)
            if child.facts is not None:
                self.note("measuring_ready")

        def compiled(child: Any, order: Any, timeout: float) -> Any:
            self.note("compiling_began")
            built = compiling(child, order, timeout)
            self.note("compiled")
            return built

        def searched(pipeline: Any, budget: Any) -> Any:
            self.note("searching")
            return searching(pipeline, budget)

        Child.start, stages.compiled, run.Pipeline.run = started, compiled, searched  # type: ignore


def one(name: str, seed: int, verified: bool) -> dict[str, Any]:
    """The first result of an example, in this process."""
    moments = Moments()
    first: dict[str, Any] = {}

    def notice(trial: Any, progress: Any) -> None:
        if trial.passed and not first:
            moments.note("first_result")
            first.update(compile_seconds=trial.compile_seconds, configuration=trial.configuration)
            raise Reached

    with tempfile.TemporaryDirectory() as folder:
        given: dict[str, Any] = {"store": Path(folder) / "s", "seed": seed, "notice": notice, "finalists": 0}
        try:
            if name in TRITON:
                module: Any = __import__(name)
                module.reference = module.reference if verified else None
                moments.started = time.perf_counter()
                moments.watch()
                module.tuned(**given)
            else:
                _tuned_folder(ROOT / "examples" / "tuning" / name, moments, given, verified)
        except Reached:
            pass
    if name in CUDA:
        first["alone"] = _alone(ROOT / "examples" / "tuning" / name, first["configuration"])
    return row(name, moments.found, first)


def _alone(folder: Path, configuration: dict[str, Any]) -> float:
    """The compile time of a configuration with nothing beside it: the second, when NVRTC is loaded."""
    from kerneltune.compiling.nvrtc import compile_job, job_of
    from kerneltune.sources.folder import read_folder
    from kerneltune.tuning.tune import profile_for

    described = read_folder(folder, with_arrays=False).description
    job = job_of(described.kernel(profile_for(described, None)).order(configuration))
    return [compile_job(job, None).seconds for _ in range(2)][1]


def _tuned_folder(folder: Path, moments: Moments, given: dict[str, Any], verified: bool) -> None:
    """As `kerneltune tune FOLDER` does it, from the moment when the folder's arrays are drawn."""
    from kerneltune.sources.folder import read_folder
    from kerneltune.tuning.tune import tune

    read = read_folder(folder)
    own = read.description
    described = {one.name: getattr(own, one.name) for one in fields(own) if one.name != "source"}
    moments.started = time.perf_counter()
    moments.watch()
    more = {**described, **read.search, **given}
    tune(own.source, reference=read.reference if verified else None, tolerance=read.tolerance, **more)


def row(name: str, found: dict[str, float], first: dict[str, Any]) -> dict[str, Any]:
    """The moments and ratios of a run."""
    took = found["first_result"] - found["compiling_began"]
    ratios = {}
    if first["compile_seconds"]:
        ratios["ratio"] = round(took / first["compile_seconds"], 3)
    if first.get("alone"):
        ratios["ratio_to_alone"] = round(took / first["alone"], 3)
    return {"name": name, **first, **ratios, **found}


def pretended(seconds: float, workers: int) -> dict[str, Any]:
    """The first result of a kernel whose compilation takes so long."""
    from pretended import MEASURE, tuned

    from kerneltune.pipeline.stages import Commands

    moments = Moments()
    moments.watch()
    compiler = (sys.executable, "-c", BURNING.format(seconds=seconds))
    first: dict[str, Any] = {"alone": seconds}

    def notice(trial: Any, progress: Any) -> None:
        first["compile_seconds"] = round(trial.compile_seconds, 4)
        moments.note("first_result")
        raise Reached

    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(Reached):
        tuned(
            Path(folder) / "s",
            params={"x": list(range(100)), "BLOCK": [64]},
            workers=workers,
            commands=Commands(compiler, MEASURE),
            reference=lambda a, c, n: 3 * a,
            notice=notice,
        )
    return row(f"pretended, {workers} compilers", moments.found, first)


def runs(options: argparse.Namespace) -> list[list[str]]:
    """The runs, each as the words of a process."""
    if options.pretended:
        return [
            ["--run-pretended", str(seconds), str(workers)]
            for seconds in options.pretended
            for workers in options.workers
            for _ in range(options.seeds)
        ]
    how = ["--verified"] if options.verified else []
    return [["--run", name, str(seed), *how] for name in options.only for seed in range(options.seeds)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", nargs="*", default=[*CUDA, *TRITON])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--pretended", nargs="*", type=float, help="seconds of pretended compilations")
    parser.add_argument("--workers", nargs="*", type=int, default=[os.cpu_count() or 1])
    parser.add_argument("--verified", action="store_true", help="with the examples' references")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--run", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--run-pretended", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        print(json.dumps(one(options.run[0], int(options.run[1]), options.verified)))
        return
    if options.run_pretended:
        print(json.dumps(pretended(float(options.run_pretended[0]), int(options.run_pretended[1]))))
        return
    rows = []
    for words in runs(options):
        with tempfile.TemporaryDirectory() as cache:  # nothing is kept of earlier compilations
            places = {"XDG_CACHE_HOME": cache, "TRITON_CACHE_DIR": f"{cache}/triton"}
            command = [sys.executable, __file__, *words]
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                env={**os.environ, **places},
                check=False,
                timeout=300,
            )
        if done.returncode:
            print(*words, "failed:", done.stderr.strip().splitlines()[-1:], flush=True)
            continue
        rows.append(json.loads(done.stdout.splitlines()[-1]))
        print(json.dumps(rows[-1]), flush=True)
    if options.out is not None:
        options.out.write_text(json.dumps({**environment(), "rows": rows}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
