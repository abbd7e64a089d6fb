"""Strategies and cells of scans: the folders under ``kernels/scan``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, TypeGuard

from pydantic import Field, StrictBool

from kerneltune.inputs.descriptions import DESCRIPTIONS, Cell, CellSpec, Kernels, read_cells, read_strategies
from kerneltune.inputs.folders import data_folder

FAMILY = "scan"


class ScanCellSpec(CellSpec):
    """A scan's cell (``cell.yaml``): its gates are the arrays that it reads."""

    computes: StrictBool = False  # whether coefficients are dear enough to keep them
    weights: tuple[str, ...] = ()  # of each channel; a cell that has some is not linear in its state
    chain: Annotated[int, Field(ge=0)] = 0  # special functions one after the other from a state to the next


@dataclass(frozen=True)
class ScanCell(Cell):
    """A scan's cell and where its files lie."""

    spec: ScanCellSpec

    def constants(self) -> dict[str, int]:
        """The names by which a constraint file knows the cell."""
        return {
            "inputs": len(self.spec.gates),
            "computes": int(self.spec.computes),
            "cell_states": len(self.spec.states),
            "weights": len(self.spec.weights),
            "nonlinear": int(self.nonlinear),
            "chain": self.spec.chain,
        }

    @property
    def nonlinear(self) -> bool:
        """Whether the cell has a step of its own, and is not linear in its state."""
        return bool(self.spec.weights)


@cache
def discover_scans(root: Path | None = None) -> Kernels:
    """Read the descriptions of all strategies and cells below ``scan``."""
    root = root or data_folder("kernels")
    forward, backward = (read_strategies(root / FAMILY, *names) for names in DESCRIPTIONS.items())
    cells: dict[str, Cell] = {
        spec.name: ScanCell(spec, folder) for spec, folder in read_cells(root / FAMILY, ScanCellSpec)
    }
    return Kernels(root, forward, cells, backward)


def linear_cells(root: Path | None = None) -> dict[str, Cell]:
    """The cells that are linear in their state: h' = a h + b."""
    return {name: cell for name, cell in discover_scans(root).cells.items() if not is_nonlinear(cell)}


def is_nonlinear(cell: Cell) -> TypeGuard[ScanCell]:
    """Whether a cell is a scan's with a step of its own."""
    return isinstance(cell, ScanCell) and cell.nonlinear
