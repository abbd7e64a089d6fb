"""Device memory of a request: the arrays of a launch, which do not depend on the tiling."""

from __future__ import annotations

from kerneltune.inputs.descriptions import Cell
from kerneltune.inputs.problem import Problem
from kerneltune.inputs.request import Request
from kerneltune.inputs.scan_problem import ScanProblem


def arrays_of(request: Request, cell: Cell) -> dict[str, int]:
    """Bytes of each array of a launch of any request."""
    return scan_arrays(request, cell) if isinstance(request, ScanProblem) else arrays(request, cell)


def scan_arrays(problem: ScanProblem, cell: Cell) -> dict[str, int]:
    """Bytes of a scan's arrays; backward writes a gradient by each input."""
    known = cell.constants()
    one = problem.batch * problem.steps * problem.channels * problem.dtype_bytes
    states = 4 * problem.rows_of_states * problem.channels * known["state_width"] * known["cell_states"]
    count = known["forward_reads"] + known["state_width"]
    if problem.direction == "backward":
        count = (
            known["backward_reads"] + known["backward_writes"] - known["nonlinear"]
        )  # or states instead of h
    found = {f"{count} arrays [B,T,D]": count * one, "states [B,D]": 3 * states}
    if known["nonlinear"]:
        kept = -(-problem.steps // 16) * states if problem.direction != "forward" else 0
        found["kept states [T/16,S,B,D]"] = kept
        found["weights and gradients by them"] = 4 * known["weights"] * problem.channels * (1 + problem.batch)
    return found


def arrays(problem: Problem, cell: Cell) -> dict[str, int]:
    """Bytes of each array of a launch, by its name and axes, without a strategy's workspace."""
    size, dim = problem.dtype_bytes, problem.head_dim
    gates, states = len(cell.spec.gates), len(cell.spec.states)
    units = problem.heads * dim
    row = problem.batch * units
    elements = problem.steps * row
    before = elements + row  # with the states before the first step
    of_forward = {
        "W x [T,B,H,D,G]": elements * gates * size,
        "states [S,T+1,B,H,D]": states * before * size,
        "R [H,G,D,D]": units * gates * dim * size,
        "bias [H,G,D]": units * gates * size,
    }
    weights = {"weights [H,P,D]": units * len(cell.spec.weights) * size} if cell.spec.weights else {}
    of_forward |= weights
    if problem.direction == "forward":
        return of_forward
    saved = {
        "saved values [T,B,H,D,V]": elements * cell.spec.saved_values * size,
        "saved states [T+1,B,H,D,F]": before * cell.spec.saved_states * 4,
    }
    if problem.direction == "training":
        return of_forward | saved
    return (
        saved
        | weights
        | {
            "states [S,T+1,B,H,D]": of_forward["states [S,T+1,B,H,D]"],
            "gradient by h [T,B,H,D]": elements * size,
            "gradients by W x and R h [T,B,H,D,G]": elements
            * gates
            * size
            * (1 + cell.spec.separate_gradients),
            "gradients by the last and first states [S,B,H,D]": 2 * states * row * size,
            "R [H,G,D,D]": of_forward["R [H,G,D,D]"],
        }
    )
