"""Device memory of a request: the arrays that a launch reads and writes, whatever its tiling."""

from __future__ import annotations

from kerneltune.kernel import Cell
from kerneltune.problem import Problem


def arrays(problem: Problem, cell: Cell) -> dict[str, int]:
    """Bytes of each array of a launch by its name and axes; a strategy's workspace comes on top."""
    size, dim = problem.dtype_bytes, problem.head_dim
    gates, states = len(cell.spec.gates), len(cell.spec.states)
    units = problem.heads * dim
    row = problem.batch * units
    return {
        "W x [T,B,H,D,G]": problem.steps * row * gates * size,
        "states [S,T+1,B,H,D]": states * (problem.steps + 1) * row * size,
        "R [H,G,D,D]": units * gates * dim * size,
        "bias [H,G,D]": units * gates * size,
    }
