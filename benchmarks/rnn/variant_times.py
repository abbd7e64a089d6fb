"""Times variants of one request on this machine's GPU: the child process of backward_variants.py.

The kernels are known to be right. Their input is made without a reference and uploaded once.
"""

from __future__ import annotations

import fcntl
import json
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from kerneltune.inputs.descriptions import discover
from kerneltune.inputs.problem import Problem
from kerneltune.messages import Built
from kerneltune.pipeline.tilings import order_of
from kerneltune.running.case import LayerCase, random_case
from kerneltune.tiling.candidate import Candidate

VERIFIED_STEPS = 12
DRAWN_ROWS = 8  # batch rows of the input that is timed; the others are the same
WARM_UP = 3
TIMED = 10  # launches of a variant in a round
ROUNDS = 2
SEED = 3
# Which axes of an array are time and batch rows.
AXES: dict[str, tuple[int | None, int]] = {
    "input": (0, 1),
    "output_gradient": (0, 1),
    "saved_values": (0, 1),
    "saved_states": (0, 1),
    "states": (1, 2),
    "last_gradient": (None, 1),
}


def main() -> None:
    """Answer the job on standard input by a line for each variant and round."""
    about = json.load(sys.stdin)
    ends = time.monotonic() + about["seconds"]
    case = timed_case(Candidate.from_json(about["variants"][0]["candidate"]).problem)
    with open(about["lock"], "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # one process at a time measures
        time_variants(backend_with(case), about["variants"], ends)


def time_variants(backend: Any, variants: Sequence[dict[str, Any]], ends: float) -> None:
    """Print the median time of each variant in each round; rounds go to and fro."""
    found = [Candidate.from_json(variant["candidate"]) for variant in variants]
    for turn in range(ROUNDS):
        order = range(len(found)) if turn % 2 == 0 else reversed(range(len(found)))
        for number in order:
            if time.monotonic() > ends:
                return
            variant = variants[number]
            built = Built(cubin=Path(variant["cubin"]).read_bytes())
            loaded = backend.load(order_of(found[number], variant["cooperative"]), built)
            times = loaded.time(TIMED, flush=False, warm_up=WARM_UP)
            loaded.close()
            print(json.dumps({"variant": number, "milliseconds": statistics.median(times)}), flush=True)


def backend_with(case: LayerCase) -> Any:
    """This machine's GPU with a case, whose input all kernels share."""
    from kerneltune.measuring.tiling_backend import TilingBackend

    backend = TilingBackend(discover())
    backend.use(case)
    return backend


def timed_case(problem: Problem) -> LayerCase:
    """Input of a short sequence of few batch rows, again and again until it has the problem's size.

    It has no reference.
    """
    few = replace(problem, steps=min(VERIFIED_STEPS, problem.steps), batch=min(DRAWN_ROWS, problem.batch))
    case = random_case(few, discover().cell(problem.cell), SEED)
    inputs = {}
    for name, array in case.inputs.items():
        inputs[name] = array
        if name in AXES:
            in_time, in_rows = AXES[name]
            inputs[name] = longer(inputs[name], in_rows, problem.batch)
            if in_time is not None:  # states have one more than steps
                length = array.shape[in_time] - few.steps + problem.steps
                inputs[name] = longer(inputs[name], in_time, length)
    initial = longer(case.initial, 1, problem.batch)
    return replace(case, problem=problem, inputs=inputs, initial=initial, expected={})


def longer(array: Any, axis: int, length: int) -> Any:
    """The array with the entries of an axis again and again, up to a length."""
    return np.ascontiguousarray(array.take(np.arange(length) % array.shape[axis], axis=axis))


if __name__ == "__main__":
    main()
