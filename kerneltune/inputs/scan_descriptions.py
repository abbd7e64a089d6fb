"""Strategies and cells of scans: the folders under ``kernels/scan``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, TypeGuard

from msgspec import Meta

from kerneltune.errors import nearest
from kerneltune.inputs.descriptions import (
    DESCRIPTIONS,
    ENDING,
    Cell,
    CellSpec,
    Kernels,
    read_cells,
    read_strategies,
)
from kerneltune.inputs.folders import data_folder

FAMILY = "scan"


class ScanCellSpec(CellSpec, frozen=True, kw_only=True):
    """A scan's cell (``cell.yaml``): its gates are the arrays that it reads."""

    computes: bool = False  # whether coefficients are dear enough to keep them
    chain: Annotated[int, Meta(ge=0)] = 0  # in CUDA: special functions one after the other between two states
    widths: tuple[Annotated[int, Meta(ge=1, le=4)], ...] = ()  # numbers of a channel in each input; 1 of all
    state_width: Annotated[int, Meta(ge=1, le=2)] = 1  # numbers of a channel in h
    gradient_inputs: Annotated[int, Meta(ge=0)] | None = None  # the first, which gradients depend on
    coefficients: tuple[str, ...] = ()  # inputs that h is multiplied with: what is drawn for them is below 1

    def disagreements(self) -> Iterator[tuple[str, str]]:
        """Besides a cell's: inputs without a width, and gradients of inputs that are not there."""
        yield from CellSpec.disagreements(self)
        if self.widths and len(self.widths) != len(self.gates):
            yield "widths", f"there are {len(self.widths)}, but {len(self.gates)} gates"
        for name in self.coefficients:
            if name not in self.gates:
                yield "coefficients", f"'{name}' is not a gate: {nearest(name, self.gates)}"
        if (self.gradient_inputs or 0) > len(self.gates):
            yield "gradient_inputs", f"is {self.gradient_inputs}: there are {len(self.gates)} gates"

    @property
    def input_widths(self) -> tuple[int, ...]:
        """Numbers of a channel in each input."""
        return self.widths or (1,) * len(self.gates)


@dataclass(frozen=True)
class ScanCell(Cell):
    """A scan's cell and where its files lie."""

    spec: ScanCellSpec

    def constants(self) -> dict[str, int]:
        """The constants of the cell in a constraint file."""
        widths, state = self.spec.input_widths, self.spec.state_width
        backward_reads = len(widths) if self.spec.gradient_inputs is None else self.spec.gradient_inputs
        return {
            "inputs": len(widths),
            "computes": int(self.spec.computes),
            "cell_states": len(self.spec.states),
            "weights": len(self.spec.weights),
            "nonlinear": int(self.nonlinear),
            "gradient_inputs": backward_reads,
            "state_width": state,
            "widest": max(*widths, state),
            "link_numbers": widths[0] + state if widths[0] > 1 else 2,
            "forward_reads": sum(widths),
            "backward_reads": sum(widths[:backward_reads]) + 2 * state,
            "backward_writes": sum(widths),
            "linked": 0,
            "carried": len(self.spec.states),
        }

    def work(self, exact: bool) -> dict[str, int]:
        """The cost of a step: of a cell in CUDA, a sigmoid for each input, and `chain` between states."""
        from kerneltune.cells.costs import EXACT, FAST

        costs = EXACT if exact else FAST
        step = int(self.spec.computes) * len(self.spec.gates) * costs["sigmoid"].work
        return {
            "step_work": step,
            "gradient_work": step + 8 * len(self.spec.gates),
            "step_latency": 1 + self.spec.chain * costs["sigmoid"].latency,
            "gradient_latency": 4,
            "step_live": 8 * int(self.spec.computes),
            "gradient_live": 8,
        }

    @property
    def carried(self) -> tuple[int, ...]:
        """The numbers of the states that a step reads: of the others, what is kept of them does not count."""
        return tuple(range(len(self.spec.states)))

    @property
    def nonlinear(self) -> bool:
        """Whether the cell has a step of its own, and is not linear in its state."""
        return bool(self.spec.weights)


@cache
def discover_scans(root: Path | None = None) -> Kernels:
    """Read the descriptions of all strategies and cells below ``scan``.

    A cell is a file ``cells/<cell>.cell`` or a folder ``cells/<cell>/``. If it has both, the folder counts.
    """
    root = root or data_folder("kernels")
    forward, backward = (read_strategies(root / FAMILY, *names) for names in DESCRIPTIONS.items())
    cells: dict[str, Cell] = {
        spec.name: ScanCell(spec, folder) for spec, folder in read_cells(root / FAMILY, ScanCellSpec)
    }
    for path in sorted((root / FAMILY).glob(f"cells/*{ENDING}")):
        if path.stem not in cells:
            from kerneltune.inputs.scan_equation_cell import scan_in

            cells[path.stem] = scan_in(path)
    return Kernels(root, forward, dict(sorted(cells.items())), backward)


def linear_cells(root: Path | None = None) -> dict[str, Cell]:
    """The cells that are linear in their state: h' = a h + b."""
    return {name: cell for name, cell in discover_scans(root).cells.items() if not is_nonlinear(cell)}


def is_nonlinear(cell: Cell) -> TypeGuard[ScanCell]:
    """Whether a cell is a scan's with a step of its own."""
    return isinstance(cell, ScanCell) and cell.nonlinear
