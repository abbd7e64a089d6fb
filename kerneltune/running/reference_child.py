"""A process that computes a block of a reference.

It reads its job from standard input and reports the end.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from kerneltune.inputs.descriptions import discover
from kerneltune.inputs.problem import Problem
from kerneltune.running.answers import private_stdout, say
from kerneltune.running.case_files import create_array, open_array
from kerneltune.running.case_maker import partial
from kerneltune.running.lifeline import follow_parent
from kerneltune.running.reference import SUMS, Block, expected_shapes, fill, made_inputs


def main() -> None:
    """Compute the block; an exception ends the process, and the parent shows its text."""
    follow_parent()
    answers = private_stdout()
    job = json.load(sys.stdin)
    folder, problem = Path(job["folder"]), Problem(**job["problem"])
    block = Block(tuple(job["heads"]), tuple(job["rows"]))
    cell = discover(Path(job["kernels_root"])).cell(problem.cell)
    own = block.of_problem(problem)
    names = ["input", "recurrent", "bias", "initial"]
    if problem.direction == "backward":
        names += ["output_gradient", "last_gradient"]
    arrays = {name: block.of(name, open_array(folder, name)) for name in names}
    out = {}
    for name in [*made_inputs(problem, cell), *expected_shapes(problem, cell)]:
        if name in SUMS:
            shape = expected_shapes(own, cell)[name]
            out[name] = create_array(folder, partial(name, job["number"]), shape, np.dtype(np.float64))
        else:
            out[name] = block.of(name, open_array(folder, name, write=True))
    fill(own, cell, arrays, out)
    say(answers, {"done": True})


if __name__ == "__main__":
    main()
