"""A process that computes a block of a reference.

It reads its job from standard input and reports the end.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from kerneltune.inputs.descriptions import discover
from kerneltune.inputs.problem import Problem
from kerneltune.messages import BlockOrder, Done, required
from kerneltune.running.case_files import create_array, open_array
from kerneltune.running.case_maker import partial
from kerneltune.running.child_output import private_stdout, say
from kerneltune.running.lifeline import follow_parent
from kerneltune.running.reference import SUMS, Block, expected_shapes, fill, made_inputs


def main() -> None:
    """Compute the block; an exception ends the process, and the parent shows its text."""
    follow_parent()
    answers = private_stdout()
    order = required(sys.stdin.readline(), BlockOrder)
    fields: dict[str, Any] = order.problem
    folder, problem = Path(order.folder), Problem(**fields)
    block = Block(order.heads, order.rows)
    cell = discover(Path(order.kernels_root)).cell(problem.cell)
    own = block.of_problem(problem)
    names = ["input", "recurrent", "bias", "initial", *(["weights"] if cell.spec.weights else [])]
    if problem.direction == "backward":
        names += ["output_gradient", "last_gradient"]
    arrays = {name: block.of(name, open_array(folder, name)) for name in names}
    out = {}
    for name in [*made_inputs(problem, cell), *expected_shapes(problem, cell)]:
        if name in SUMS:
            shape = expected_shapes(own, cell)[name]
            out[name] = create_array(folder, partial(name, order.number), shape, np.dtype(np.float64))
        else:
            out[name] = block.of(name, open_array(folder, name, write=True))
    fill(own, cell, arrays, out)
    say(answers, Done())


if __name__ == "__main__":
    main()
