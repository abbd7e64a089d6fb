"""Scans and diagonal cells by kernels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import gcd
from typing import ClassVar

import jax
import jax.numpy as jnp

from kerneltune.compiling.scan_arguments import INPUTS, OUTPUTS
from kerneltune.inputs.descriptions import Cell
from kerneltune.inputs.scan_descriptions import discover_scans, is_nonlinear
from kerneltune.inputs.scan_problem import WIDEST_VECTOR, ScanProblem
from kerneltune.jax import scan_native
from kerneltune.jax.differentiable import DTYPES, Arrays, Places, launched, mapped
from kerneltune.running.diagonal_reference import CHECKPOINT_STEPS
from kerneltune.running.scan_arrays import state_width, widths_of

# By the batch; where weights, which have no batch, are mapped, by the channels.
_OF_STEPS: Places = {
    **dict.fromkeys(("input", "hidden"), (0, 2)),
    "weights": (None, 1),
    "by_row": (0, 2),
    **dict.fromkeys(("lengths", "resets"), (0, None)),
}
_LINEAR: Places = {**_OF_STEPS, **dict.fromkeys(("initial", "last"), (0, 1))}
_DIAGONAL: Places = {**_OF_STEPS, **dict.fromkeys(("initial", "last"), (1, 2)), "checkpoints": (2, 3)}


@dataclass(frozen=True)
class ScanPasses:
    """Those of a scan or diagonal cell.

    Attributes:
        cell: The cell.
        reverse: Whether the first step is the last that counts.
        marks: `lengths` and `resets`, those that are given.
    """

    cell: str
    reverse: bool = False
    marks: tuple[str, ...] = ()
    results: ClassVar[tuple[str, str]] = ("hidden", "last")

    @property
    def about(self) -> Cell:
        """The cell's description."""
        return discover_scans().cell(self.cell)

    @property
    def nonlinear(self) -> bool:
        """Whether it is a diagonal cell."""
        return is_nonlinear(self.about)

    @property
    def arrays(self) -> tuple[str, ...]:
        """The inputs, the weights of a diagonal cell, the first states."""
        return ("input",) * len(self.about.spec.gates) + ("weights",) * self.nonlinear + ("initial",)

    @property
    def kept(self) -> tuple[str, ...]:
        """States, or h."""
        return ("checkpoints",) if self.nonlinear else ("hidden",)

    @property
    def places(self) -> Places:
        """Where a mapped dimension goes."""
        return _DIAGONAL if self.nonlinear else _LINEAR

    def native(self, *arrays: jax.Array) -> Arrays:
        """In JAX's own operations."""
        count = len(self.about.spec.gates)
        inputs, initial = arrays[:count], arrays[len(self.arrays) - 1]
        marks = scan_native.Marks(**dict(zip(self.marks, arrays[len(self.arrays) :], strict=True)))
        if self.nonlinear:
            return scan_native.diagonal(
                self.cell, inputs, arrays[count], initial, marks, reverse=self.reverse
            )
        return scan_native.linear(self.cell, inputs, initial, marks, reverse=self.reverse)

    def forward(self, *arrays: jax.Array) -> Arrays:
        """By the forward kernel."""
        return _forward(self, "forward")(*arrays)

    def training(self, *arrays: jax.Array) -> Arrays:
        """By the kernel that keeps states, if there is one."""
        if self.nonlinear:
            return _forward(self, "training")(*arrays)
        hidden, last = _forward(self, "forward")(*arrays)
        return hidden, last, hidden

    def backward(self, *arrays: jax.Array) -> Arrays:
        """By the backward kernel, and a sum over rows for weights."""
        *by_inputs, by_initial = _backward(self)(*arrays)
        if not self.nonlinear:
            return *by_inputs, by_initial
        return *by_inputs[:-1], by_inputs[-1].sum(0), by_initial


@cache
def _forward(passes: ScanPasses, direction: str) -> Callable[..., Arrays]:
    """H, the last states and, for training, the states before every 16th step."""
    kept = ("checkpoints",) if direction == "training" else ()

    def run(*arrays: jax.Array) -> Arrays:
        given = _named(passes, arrays)
        first = arrays[len(passes.about.spec.gates) - 1]  # as wide as h
        last = given["initial"].shape
        wanted = {
            "output0": jax.ShapeDtypeStruct(first.shape, first.dtype),
            "final_state": jax.ShapeDtypeStruct(last, jnp.float32),
        }
        if kept:
            tiles = -(-first.shape[1] // CHECKPOINT_STEPS)
            wanted["checkpoints"] = jax.ShapeDtypeStruct((tiles, *last), jnp.float32)
        made = [*wanted]
        if passes.nonlinear:
            wanted["repaired"] = jax.ShapeDtypeStruct((4,), jnp.int32)
        found = launched(_problem(passes, direction, arrays[0]), given, wanted)
        return tuple(found[name] for name in made)

    return mapped(run, (*passes.arrays, *passes.marks), (*passes.results, *kept), passes.places)


@cache
def _backward(passes: ScanPasses) -> Callable[..., Arrays]:
    """Gradients by the inputs, by the weights from each row, and by the first states."""
    nonlinear, count = passes.nonlinear, len(passes.about.spec.gates)
    names = (*passes.arrays, *passes.marks, *passes.kept, *passes.results)

    def run(*arrays: jax.Array) -> Arrays:
        *others, kept, by_hidden, by_last = arrays
        given = _named(passes, others)
        initial = given.pop("initial")
        given |= {"gradient": by_hidden, "initial": by_last, "checkpoints" if nonlinear else "hidden": kept}
        wanted = {
            name: jax.ShapeDtypeStruct(one.shape, one.dtype)
            for name, one in zip(OUTPUTS, others[:count], strict=False)
        }
        if nonlinear:
            rows = others[0].shape[0], *given["weights"].shape
            wanted["weight_gradient"] = jax.ShapeDtypeStruct(rows, jnp.float32)
        else:
            given["first_hidden"] = initial
        wanted["final_state"] = jax.ShapeDtypeStruct(by_last.shape, jnp.float32)
        found = launched(_problem(passes, "backward", others[0]), given, wanted)
        return tuple(found[name] for name in wanted)

    results = ("input",) * count + ("by_row",) * nonlinear + ("initial",)
    return mapped(run, names, results, passes.places)


def _named(passes: ScanPasses, arrays: tuple[jax.Array, ...] | list[jax.Array]) -> dict[str, jax.Array]:
    """Arrays and marks by the names of the kernel's arguments."""
    count = len(passes.about.spec.gates)
    others = (*passes.arrays, *passes.marks)[count:]
    return dict(zip((*INPUTS[:count], *others), arrays, strict=True))


def _problem(passes: ScanPasses, direction: str, first: jax.Array) -> ScanProblem:
    batch, steps, numbers = first.shape
    bytes_of_step = numbers * first.dtype.itemsize
    pairs = state_width(passes.about) > 1
    return ScanProblem(
        *(passes.cell, batch, steps, numbers // widths_of(passes.about)[0], DTYPES[str(first.dtype)]),
        direction=direction,
        reverse=passes.reverse,
        lengths="lengths" in passes.marks,
        resets="resets" in passes.marks,
        alignment=WIDEST_VECTOR if pairs else gcd(WIDEST_VECTOR, bytes_of_step),
    )
