"""Launches of scans by the float64 references, on the memory that XLA gives on the CPU."""

# mypy: disable-error-code="union-attr"
from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from kerneltune.inputs.scan_descriptions import discover_scans, is_nonlinear
from kerneltune.jax.target import KernelCall
from kerneltune.running import diagonal_reference, scan_reference
from kerneltune.running.scan_arrays import state_width, widths_of

TYPES = {"lengths": ctypes.c_int32, "repaired": ctypes.c_int32, "resets": ctypes.c_uint8}


class ScanLaunches:
    """What the GPU would do; notes the requests."""

    def __init__(self) -> None:
        self.requests: list[Any] = []

    def launch(self, text: str, places: dict[str, int], stream: int) -> None:
        """Fill the results."""
        problem = KernelCall.of(text).problem
        self.requests.append(problem)
        about = discover_scans().cell(problem.cell)
        shapes = shapes_of(problem, about)
        arrays = {name: array(place, shapes[name], TYPES.get(name)) for name, place in places.items()}
        wide = {name: one.astype(np.float64) for name, one in arrays.items()}
        steps, batch = problem.steps, problem.batch
        lengths = arrays["lengths"] if problem.lengths else np.full(batch, steps, np.int32)
        resets = arrays["resets"] != 0 if problem.resets else np.zeros((batch, steps), bool)
        read = tuple(wide[f"input{k}"] for k in range(len(widths_of(about))))
        backward = problem.direction == "backward"
        if is_nonlinear(about):
            initial = wide["checkpoints"][0] if backward else wide["initial"]
            inputs = diagonal_reference.DiagonalInputs(
                read, wide["weights"], initial, lengths, resets, problem.reverse
            )
            self._diagonal(about.reference_module(), inputs, arrays, wide, backward)
        else:
            initial = wide["first_hidden" if backward else "initial"]
            inputs = scan_reference.ScanInputs(read, initial, lengths, resets, problem.reverse)  # type: ignore[assignment]
            self._linear(about.reference_module(), inputs, arrays, wide, backward)

    def _diagonal(self, module: Any, inputs: Any, arrays: Any, wide: Any, backward: bool) -> None:
        if backward:
            found = diagonal_reference.backward(module, inputs, wide["gradient"], wide["initial"])
            by_inputs, arrays["final_state"][...], arrays["weight_gradient"][...] = found
            for k, one in enumerate(by_inputs):
                arrays[f"output{k}"][...] = one
            return
        hidden, last, kept = diagonal_reference.forward(module, inputs)
        arrays["output0"][...], arrays["final_state"][...] = hidden, last
        if "checkpoints" in arrays:
            arrays["checkpoints"][...] = kept

    def _linear(self, module: Any, inputs: Any, arrays: Any, wide: Any, backward: bool) -> None:
        if backward:
            given = wide["gradient"], wide["initial"], wide["hidden"]
            by_inputs, arrays["final_state"][...] = scan_reference.backward(module, inputs, *given)
            for k, one in enumerate(by_inputs):
                arrays[f"output{k}"][...] = one
            return
        arrays["output0"][...], arrays["final_state"][...] = scan_reference.forward(module, inputs)


def shapes_of(problem: Any, about: Any) -> dict[str, tuple[int, ...]]:
    """Of the arrays, as `kernels/scan/common/arguments.cuh` has them."""
    batch, steps, channels = problem.batch, problem.steps, problem.channels
    widths, width = widths_of(about), state_width(about)
    of_steps = batch, steps, channels * width
    states: tuple[int, ...] = (batch, channels * width)
    found: dict[str, tuple[int, ...]] = {}
    if is_nonlinear(about):
        states = len(about.spec.states), batch, channels
        weights = about.constants()["weights"], channels
        tiles = -(-steps // diagonal_reference.CHECKPOINT_STEPS)
        found = {"weights": weights, "weight_gradient": (batch, *weights), "checkpoints": (tiles, *states)}
    found |= {f"input{k}": (batch, steps, channels * one) for k, one in enumerate(widths)}
    found |= {"output0": of_steps} if problem.direction != "backward" else {}
    if problem.direction == "backward":
        found |= {f"output{k}": (batch, steps, channels * one) for k, one in enumerate(widths)}
    found |= dict.fromkeys(("hidden", "gradient"), of_steps)
    found |= dict.fromkeys(("initial", "first_hidden", "final_state"), states)
    return {**found, "lengths": (batch,), "resets": (batch, steps), "repaired": (4,), "workspace": (16,)}


def array(place: int, shape: tuple[int, ...], kind: Any) -> Any:
    """Numbers at an address."""
    count = int(np.prod(shape))
    return np.ctypeslib.as_array(((kind or ctypes.c_float) * count).from_address(place)).reshape(shape)
