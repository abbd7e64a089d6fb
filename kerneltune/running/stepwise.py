"""Kernels of strategies that launch once for each step, with a library's matrix product between launches.

Forward, a step's product R h comes before its launch. Backward, the launch gives the gates' gradients, and
their product with R is the gradient by h before the step.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kerneltune.compiling.arguments import STRUCTS, layout
from kerneltune.inputs.dtypes import DTYPES
from kerneltune.inputs.problem import Problem
from kerneltune.running.cublas import Product, Products
from kerneltune.running.launch import ExtendedKernel
from kerneltune.tiling.candidate import Candidate

Matrices = tuple[int, int, int]  # the addresses of A, B and C
ORDERING_BLOCKS = 1024  # least blocks that put R in order: any GPU's memory is busy; few rows have few blocks


def kernel_of(cubin: bytes, candidate: Candidate, *, cooperative: bool) -> ExtendedKernel:
    """A candidate's kernel in the current context, whatever its strategy."""
    if candidate.stepwise:
        return StepwiseKernel(cubin, candidate)
    return ExtendedKernel(cubin, candidate, cooperative=cooperative)


class StepwiseKernel(ExtendedKernel):
    """A kernel whose ``queue`` is a launch and a product for each step."""

    def __init__(self, cubin: bytes, candidate: Candidate) -> None:
        super().__init__(cubin, candidate, cooperative=False)
        self._schedule, self._blocks = Schedule.of(candidate), candidate.blocks
        self._products = Products(self._schedule.product, self._schedule.library_bytes)
        fields: Mapping[str, Any] = layout(STRUCTS[candidate.problem.direction]).fields or {}
        self._fields = {
            name: ("i" if kind[0].itemsize == 4 else "Q", kind[1]) for name, kind in fields.items()
        }

    def queue(self, stream: int) -> None:
        """Queue all steps of the arguments as they are, on the stream with this handle."""
        multiply, launch, step_at = self._products.queue, super().queue, self._fields["step"][1]
        blocks, steps = self._blocks, self._field("steps")
        with self._products.on(stream, self._field("workspace")):
            for action in self._schedule.actions(self._field):
                if isinstance(action, int):
                    struct.pack_into("i", self.arguments, step_at, action)
                    self._config.grid_x = max(blocks, ORDERING_BLOCKS) if action == steps else blocks
                    launch(stream)
                else:
                    multiply(*action)

    def _field(self, name: str) -> int:
        kind, offset = self._fields[name]
        found: int = struct.unpack_from(kind, self.arguments, offset)[0]
        return found


@dataclass(frozen=True)
class Schedule:
    """The launches and products of a pass, in order.

    Attributes:
        problem: The request.
        gates: Gates of a unit.
        separate: Whether the gradients by W x and by R h differ.
        library_bytes: Of the workspace, what is the library's; the strategy's own part follows.
    """

    problem: Problem
    gates: int
    separate: bool
    library_bytes: int

    @classmethod
    def of(cls, candidate: Candidate) -> Schedule:
        """That of a candidate."""
        assert isinstance(candidate.problem, Problem)  # scans have no such strategy
        given = candidate.parameters
        separate = bool(given.get("separate_gradients", 0))
        return cls(candidate.problem, given["gates"], separate, given["library_bytes"])

    @property
    def product(self) -> Product:
        """The product of a step.

        Forward R h of each head, `[H, B, G, D]`, from h as states have it, `[B, H, D]`; backward the gradient
        by h, `[H, B, D]`, from the gates' gradients, `[B, H, D, G]`, and R as `[H, D, G, D]`.
        """
        problem, dim, rows = self.problem, self.problem.head_dim, self.gates * self.problem.head_dim
        if problem.direction == "backward":
            return Product(
                transposed=(False, False),
                sizes=(dim, problem.batch, rows),
                leading=(dim, problem.heads * rows, dim),
                strides=(rows * dim, rows, problem.batch * dim),
                heads=problem.heads,
                dtype=problem.dtype,
                result="fp32",
            )
        return Product(
            transposed=(True, False),
            sizes=(rows, problem.batch, dim),
            leading=(dim, problem.heads * dim, rows),
            strides=(rows * dim, dim, problem.batch * rows),
            heads=problem.heads,
            dtype=problem.dtype,
            result=problem.dtype,
        )

    def actions(self, field: Callable[[str], int]) -> Iterator[int | Matrices]:
        """Launches, as the ``step`` of their arguments, and products.

        Args:
            field: The arguments' other fields: addresses and sizes.
        """
        if self.problem.direction == "backward":
            return self._backward(field)
        return self._forward(field)

    def _row(self) -> int:
        """Bytes of h of a step."""
        problem = self.problem
        return problem.batch * problem.heads * problem.head_dim * DTYPES[problem.dtype]

    def _forward(self, field: Callable[[str], int]) -> Iterator[int | Matrices]:
        hidden, row = field("states"), self._row()
        weights, sums = field("recurrent"), field("workspace") + self.library_bytes
        for step in range(field("steps")):
            yield weights, hidden + step * row, sums
            yield step

    def _backward(self, field: Callable[[str], int]) -> Iterator[int | Matrices]:
        problem, steps, row = self.problem, field("steps"), self.gates * self._row()
        weights = field("workspace") + self.library_bytes
        size = problem.heads * self.gates * problem.head_dim**2 * DTYPES[problem.dtype]
        products = weights + -(-size // 256) * 256
        gradients = field("recurrent_gradient" if self.separate else "input_gradient")
        multiplies = not problem.cut_recurrent_gradient
        if multiplies:
            yield steps  # puts R in order
        for step in range(steps - 1, -1, -1):
            yield step
            if multiplies:
                yield weights, gradients + step * row, products
        yield -1
