"""Tune the requests of the README's table and of other cells, to judge the model's first choices.

    python benchmarks/rnn/tune_all.py --store trials.sqlite --seconds 540 --out tuned.json
    kerneltune report --store trials.sqlite
    kerneltune fit --gpu h100_sxm --store trials.sqlite

Processes compile the best tilings of each request ahead; the requests are then timed one by one on this
machine's GPU. The store keeps everything, so the same command resumes an interrupted run; no request starts
that would not end in time. Exit codes: 0 everything is timed, 3 something is left.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from concurrent.futures import TimeoutError as NotInTimeError
from multiprocessing import active_children, get_context
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from environment import environment

from kerneltune.compiling.compile import Compiler
from kerneltune.compiling.feedback import settle
from kerneltune.errors import CompilationError, KernelTuneError
from kerneltune.inputs.descriptions import discover
from kerneltune.inputs.hardware import load_profile
from kerneltune.inputs.problem import Problem
from kerneltune.measuring.measure import tiling_plan
from kerneltune.pipeline.stages import MEASURING_CHILD
from kerneltune.pipeline.tilings import require_gpu
from kerneltune.tiling.space import TilingSpace
from kerneltune.tuning.report import make_report
from kerneltune.tuning.store import Store
from kerneltune.tuning.tuner import TuneOptions, tune, wanted

LEFT = 3  # exit code
REQUEST_SECONDS = 45.0  # for one request
SHAPES = (
    *((heads, dim, 16) for heads, dim in ((12, 64), (1, 768), (1, 1024), (3, 256), (1, 512), (6, 128))),
    *((1, 2048, 16), (12, 64, 64), (1, 768, 64), (48, 16, 16), (24, 32, 16)),
)
CELL_SHAPES = ((12, 64, 16), (3, 256, 16), (1, 768, 16))


def requests(steps: int) -> Iterator[Problem]:
    """The requests, the most important first."""
    for direction in ("forward", "backward", "training"):
        for heads, dim, batch in SHAPES:
            yield Problem("lstm", heads, dim, batch, "bf16", steps, direction)
    for cell in ("gru", "slstm", "elman"):
        for heads, dim, batch in CELL_SHAPES:
            for direction in ("forward", "backward"):
                yield Problem(cell, heads, dim, batch, "bf16", steps, direction)


def space_of(problem: Problem, gpu: str) -> TilingSpace:
    return TilingSpace(problem, load_profile(gpu), discover())


def compile_ahead(problem: Problem, gpu: str, options: TuneOptions) -> int:
    """Compile a request's candidates into the cache, in another process; returns their number."""
    space = space_of(problem, gpu)
    compiler = Compiler(space.kernels, space.profile)
    found = wanted(settle(space, compiler).space, options)
    for candidate in found:
        try:
            compiler.compile(candidate)
        except CompilationError:
            continue  # tune finds and reports the same problem
    return len(found)


def tune_all(
    problems: Sequence[Problem],
    gpu: str,
    store: Store,
    options: TuneOptions,
    *,
    seconds: float,
    workers: int,
    child: Sequence[str] = MEASURING_CHILD,
    clock: Callable[[], float] = time.monotonic,
) -> tuple[int, list[str]]:
    """Tune as many requests as time allows; returns how many are left, and the errors."""
    end = clock() + seconds
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"))
    failures: list[str] = []
    done = 0
    try:
        ahead = [(problem, pool.submit(compile_ahead, problem, gpu, options)) for problem in problems]
        for problem, compiled in ahead:
            left = end - clock() - REQUEST_SECONDS
            if left < 0 or not in_time(compiled, left):
                break
            try:
                compiled.result()
                found = tune(
                    space_of(problem, gpu),
                    Compiler(discover(), load_profile(gpu)),
                    store,
                    options,
                    child=child,
                )
            except (KernelTuneError, BrokenExecutor) as error:
                failures.append(f"{problem.label}: {error}")
            else:
                choice = found.first_choice
                shown = found.ranked[0].sentence if found.ranked else "nothing passed"
                said = f"first choice {choice.rank} of {choice.of}, {choice.loss:+.1%}" if choice else ""
                print(f"{problem.label}: {shown} {said}", flush=True)
                failures += [f"{problem.label}: left out: {reason}" for reason in found.left_out]
                failures += [
                    f"{problem.label}: {trial.failure}" for trial in found.trials if not trial.passed
                ]
            done += 1
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in active_children():
            process.kill()
    return len(problems) - done, failures


def in_time(future: Future[int], seconds: float) -> bool:
    try:
        future.exception(timeout=seconds)
    except NotInTimeError:
        return False
    return True


def main(arguments: Sequence[str] | None = None, child: Sequence[str] = MEASURING_CHILD) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--gpu", default="h100_sxm", help="profile")
    parser.add_argument("--store", type=Path, required=True, help="sqlite file of the trials")
    parser.add_argument(
        "--seconds", type=float, default=540.0, help="after which no request begins that could outlast it"
    )
    parser.add_argument("--requests", type=int, default=None, help="only so many, the most important ones")
    parser.add_argument(
        "--top", type=int, default=20, help="tilings of each request, the fastest by the model first"
    )
    parser.add_argument("--each", type=int, default=2, help="of every strategy besides")
    parser.add_argument("--steps", type=int, default=512)
    parser.add_argument("--runs", type=int, default=2, help="runs whose bits must agree")
    parser.add_argument("--timed", type=int, default=15, help="launches to time")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 2, help="processes that compile")
    parser.add_argument("--out", type=Path, default=None, help="JSON file of the report")
    options = parser.parse_args(arguments)
    plan, seed = tiling_plan(options.runs, options.timed), int.from_bytes(os.urandom(4), "little")
    chosen = TuneOptions(options.top, options.each, plan=plan, seed=seed)
    problems = list(requests(options.steps))[: options.requests]
    try:
        require_gpu(load_profile(options.gpu), child=child)
        store = Store(options.store)
        left, failures = tune_all(
            problems,
            options.gpu,
            store,
            chosen,
            seconds=options.seconds,
            workers=options.workers,
            child=child,
        )
        report = make_report(store.tilings(options.gpu), options.top)
    except KernelTuneError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    for failure in failures:
        print(failure, file=sys.stderr)
    if options.out is not None:
        data = {"environment": environment("pycuda", "numpy"), "failures": failures, **report.to_json()}
        options.out.write_text(json.dumps(data, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    if report.mean_loss is not None:
        print(
            f"the first choice is the fastest in {report.first_is_fastest} of {report.compared} requests, "
            f"on average {report.mean_loss:.1%} slower, at worst {report.worst_loss:.1%}; "
            f"residual {report.residual}"
        )
    print(f"{left} of {len(problems)} requests are left")
    return LEFT if left else 0


if __name__ == "__main__":
    sys.exit(main())
