"""The arrays of a launch of a diagonal cell, beside those that every scan has."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kerneltune.compiling.scan_arguments import INPUTS, OUTPUTS
from kerneltune.inputs.scan_descriptions import ScanCell
from kerneltune.inputs.scan_problem import ScanProblem
from kerneltune.running.case import Output
from kerneltune.running.diagonal_reference import CHECKPOINT_STEPS, DiagonalInputs, backward, forward
from kerneltune.running.reference import Arrays, Shape
from kerneltune.running.scan_arrays import COMPARED, About, ComparedPart, first_state, sample, wide
from kerneltune.running.verify import Pair

FLOAT = np.dtype(np.float32)


def drawn_shapes(problem: ScanProblem, cell: ScanCell) -> About:
    """Shapes and types of states and weights, which are drawn."""
    states = len(cell.spec.states), problem.batch, problem.channels
    weights = len(cell.spec.weights), problem.channels
    found: About = {"weights": (weights, FLOAT)} if cell.spec.weights else {}
    for name in {first_state(problem), "initial"}:
        found[name] = states, FLOAT
    return found


def draw(cell: ScanCell, random: np.random.Generator, arrays: Arrays, names: About) -> None:
    """Fill them: states of unit variance, positive ones from 0.5 on; weights of the cell's gain."""
    for name in sorted(names):
        arrays[name][...] = random.standard_normal(arrays[name].shape, dtype=np.float32)
    if cell.spec.weights:
        arrays["weights"][...] *= np.float32(cell.spec.recurrent_gain)
        for number, (_, value) in enumerate(reversed(cell.spec.learnable)):  # the last ones
            arrays["weights"][-1 - number] = value
    # Backward, "initial" is the gradient by the last states, and the first states have a name of their own.
    (states,) = names.keys() - {"weights", "initial"} or {"initial"}
    for number, name in enumerate(cell.spec.states):
        if name in cell.spec.positive:
            arrays[states][number] = 0.5 + np.abs(arrays[states][number])


def made_shapes(problem: ScanProblem, cell: ScanCell) -> About:
    """Shapes and types of the inputs that the reference makes."""
    return {"checkpoints": (_kept(problem, cell), FLOAT)} if problem.direction == "backward" else {}


def expected_shapes(problem: ScanProblem, cell: ScanCell, part: ComparedPart = COMPARED) -> dict[str, Shape]:
    """Shapes of the float64 arrays with which a sample of the outputs is compared."""
    rows, channels = sample(problem, part)
    count = len(range(problem.batch)[rows]), len(range(problem.channels)[channels])
    states, weights = len(cell.spec.states), len(cell.spec.weights)
    shape = count[0], problem.steps, count[1]
    if problem.direction == "backward":
        gates = zip(OUTPUTS, cell.spec.gates, strict=False)
        last = {"by_initial": (states, *count), "by_weights": (count[0], weights, count[1])}
        return {**{f"by_{name}": shape for name, _ in gates}, **last}
    found: dict[str, Shape] = {"after": shape, "last": (states, *count)}
    if problem.direction == "training":
        found["kept"] = (*_kept(problem, cell)[:2], *count)
    return found


def outputs(problem: ScanProblem, cell: ScanCell) -> dict[str, Output]:
    """Arrays that a launch writes besides those of shape [B, T, D]."""
    states = Output((len(cell.spec.states), problem.batch, problem.channels), FLOAT)
    found = {"final_state": states, "repaired": Output((4,), np.dtype(np.int32))}
    if problem.direction == "training":
        found["checkpoints"] = Output(_kept(problem, cell), FLOAT)
    if problem.direction == "backward" and cell.spec.weights:
        found["weight_gradient"] = Output((problem.batch, len(cell.spec.weights), problem.channels), FLOAT)
    return found


def fill(
    problem: ScanProblem, cell: ScanCell, arrays: Arrays, out: Arrays, part: ComparedPart = COMPARED
) -> None:
    """Compute all that `made_shapes` and `expected_shapes` name."""
    module = cell.reference_module()
    rows, channels = sample(problem, part)
    inputs = inputs_of(problem, arrays, rows, channels)
    if problem.direction != "backward":
        found = forward(module, inputs)
        out["after"][...], out["last"][...] = found.hidden, found.last
        if problem.direction == "training":
            out["kept"][...] = found.kept
        return
    whole = inputs_of(problem, arrays, slice(None), slice(None))
    out["checkpoints"][...] = forward(module, whole).kept
    gradient = wide(arrays["gradient"][rows, :, channels], problem.dtype)
    last = arrays["initial"][:, rows, channels].astype(np.float64)
    by_input, out["by_initial"][...], out["by_weights"][...] = backward(module, inputs, gradient, last)
    for name, array in zip(OUTPUTS, by_input, strict=False):
        out[f"by_{name}"][...] = array


def inputs_of(problem: ScanProblem, arrays: Arrays, rows: slice, channels: slice) -> DiagonalInputs:
    """Inputs of the reference for some rows and channels."""
    lengths = arrays.get("lengths", np.full(problem.batch, problem.steps, np.int32))
    resets = arrays.get("resets", np.zeros((problem.batch, problem.steps), np.uint8))
    weights = arrays.get("weights", np.empty((0, problem.channels), np.float32))
    return DiagonalInputs(
        tuple(wide(arrays[name][rows, :, channels], problem.dtype) for name in INPUTS if name in arrays),
        weights[:, channels].astype(np.float64),
        arrays[first_state(problem)][:, rows, channels].astype(np.float64),
        lengths[rows],
        resets[rows].astype(bool),
        problem.reverse,
    )


def state_pairs(
    problem: ScanProblem, cell: ScanCell, results: Arrays, expected: Arrays, part: ComparedPart = COMPARED
) -> Iterator[Pair]:
    """States, and gradients by weights, beside what was expected; each state on its own."""
    rows, channels = sample(problem, part)
    last = "by_initial" if problem.direction == "backward" else "last"
    for found, wanted in zip(results["final_state"], expected[last], strict=True):
        yield [(found[rows, channels].astype(np.float64), wanted)]
    if problem.direction == "training":
        for state in cell.carried:
            found = results["checkpoints"][:, state, rows, channels].astype(np.float64)
            yield [(found, expected["kept"][:, state])]
    if problem.direction == "backward":
        for weight in range(expected["by_weights"].shape[1]):
            found = results["weight_gradient"][rows, weight, channels].astype(np.float64)
            yield [(found, expected["by_weights"][:, weight])]


def unwritten(results: Arrays) -> int:
    """Numbers of those arrays that are none."""
    names = results.keys() & {"final_state", "checkpoints", "weight_gradient"}
    return sum(int(np.count_nonzero(np.isnan(results[name]))) for name in names)


def _kept(problem: ScanProblem, cell: ScanCell) -> Shape:
    return -(-problem.steps // CHECKPOINT_STEPS), len(cell.spec.states), problem.batch, problem.channels
