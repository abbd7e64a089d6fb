"""Cells of equations without R: scans."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import cast

from kerneltune.errors import InputError
from kerneltune.inputs.equation_cell import EquationCell
from kerneltune.inputs.scan_descriptions import ScanCell, ScanCellSpec

MOST_INPUTS = 4
"""The most arrays that a scan's kernels read (`kernels/scan/common/arguments.cuh`)."""


class ScanEquationCell(EquationCell, ScanCell):
    """A cell of equations in which a unit sees its own states only."""

    @cached_property
    def spec(self) -> ScanCellSpec:
        """The description that other cells have in `cell.yaml`."""
        from kerneltune.cells.cuda import STRUCT
        from kerneltune.cells.scan_cuda import chain

        equations, name = self.derivation.equations, self.text_source.name
        if not equations.weights:
            raise InputError(
                f"{name}: no gate has R h, and there are no weights: kernels of equations are those of "
                "recurrent cells, and of cells with weights of single units"
            )
        if len(equations.gates) > MOST_INPUTS:
            raise InputError(
                f"{name}: a cell without R h has at most {MOST_INPUTS} gates, not {len(equations.gates)}"
            )
        return ScanCellSpec(
            name=self.name,
            summary=equations.summary,
            gates=equations.gates,
            states=equations.states,
            weights=equations.weights,
            positive=equations.positive,
            recurrent_gain=equations.gain,
            computes=True,
            chain=chain(self.derivation),
            cell_struct=STRUCT,
        )

    def declaration(self, root: Path) -> str:
        """The CUDA struct."""
        from kerneltune.cells.scan_cuda import scan_struct_of

        return scan_struct_of(self.derivation)

    def reference_module(self) -> ModuleType:
        """The float64 reference: `step` and `backward`."""
        from kerneltune.cells.scan_reference import DerivedScanReference

        return cast("ModuleType", DerivedScanReference(self.derivation))  # it has a module's functions
