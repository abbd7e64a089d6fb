"""Cells of equations without R: scans."""

from __future__ import annotations

from functools import cache, cached_property
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import msgspec

from kerneltune.errors import InputError
from kerneltune.inputs.equation_cell import KNOWN, EquationCell, shipped
from kerneltune.inputs.scan_descriptions import ScanCell, ScanCellSpec


class ScanEquationCell(EquationCell, ScanCell):
    """A cell of equations in which a unit sees its own states only."""

    @cached_property
    def _known(self) -> dict[str, Any]:
        """The description: of a shipped cell as its file has it, of any other one derived."""
        found: dict[str, Any] | None = shipped().get(self.key)
        return self.described_scan() if found is None else found

    def described_scan(self) -> dict[str, Any]:
        """The description, as the file of shipped cells has it."""
        return {
            "spec": msgspec.to_builtins(self._derived_spec()),
            "nonlinear": self.derivation.coefficients is None and not self.derivation.array_links,
            "constants": self._derived_constants(),
            "carried": self._derived_carried(),
        }

    @cached_property
    def spec(self) -> ScanCellSpec:
        """The description that other cells have in `cell.yaml`."""
        return msgspec.convert(self._known["spec"], ScanCellSpec)

    def _derived_spec(self) -> ScanCellSpec:
        from kerneltune.cells.cuda import STRUCT
        from kerneltune.cells.linear import factors_of
        from kerneltune.cells.scan_cuda import gradient_inputs
        from kerneltune.cells.structure import SCAN_GATES

        equations, name = self.derivation.equations, self.text_source.name
        arrays = equations.input_arrays
        if len(arrays) > SCAN_GATES:
            raise InputError(
                f"{name}: no gate has R h, and scans read at most {SCAN_GATES} gates, not {len(arrays)}"
            )
        coefficients, links = self.derivation.coefficients, self.derivation.array_links
        factors = (
            coefficients.factors if coefficients else factors_of(links.numbers) if links else frozenset()
        )
        return ScanCellSpec(
            name=self.name,
            summary=equations.summary,
            gates=tuple(one.name for one in arrays),
            states=tuple(one.name for one in equations.state_arrays),
            widths=tuple(one.width for one in arrays) if links else (),
            state_width=equations.state_arrays[0].width if links else 1,
            weights=equations.weights,
            positive=equations.positive,
            learnable=tuple((one, equations.options[one]) for one in equations.learnable),
            recurrent_gain=equations.gain,
            computes=coefficients.computes if coefficients else not links,
            gradient_inputs=gradient_inputs(self.derivation) if coefficients or links else None,
            coefficients=tuple(
                one.name for one in arrays if not factors.isdisjoint(range(one.first, one.first + one.width))
            ),
            cell_struct=self.override.struct if self.override else STRUCT,
        )

    @property
    def nonlinear(self) -> bool:
        """Whether the cell has a step of its own, and is not h' = a h + b."""
        return bool(self._known["nonlinear"])

    def constants(self) -> dict[str, int]:
        """The constants of the cell in a constraint file."""
        return {**super().constants(), **self._known["constants"]}

    def _derived_constants(self) -> dict[str, int]:
        """Those that no other scan has, or not so."""
        links, arrays = self.derivation.links, self.derivation.array_links
        if arrays is not None:
            return {"link_numbers": len(arrays.numbers) + len(arrays.b)}
        if links is None:
            return {}
        numbers = len(links.numbers) + len(links.carried)
        return {"linked": 1, "link_numbers": numbers, "carried": len(links.carried)}

    @property
    def carried(self) -> tuple[int, ...]:
        """The numbers of the states that a step reads."""
        return tuple(self._known["carried"])

    def _derived_carried(self) -> tuple[int, ...]:
        from kerneltune.cells.structure import Structure

        equations = self.derivation.equations
        if equations.has_arrays:
            return (0,)
        return tuple(map(equations.states.index, Structure(equations).carried))

    def declaration(self, root: Path) -> str:
        """The CUDA struct."""
        if self.override:
            return self.override.declaration
        from kerneltune.cells.scan_cuda import scan_struct_of

        return scan_struct_of(self.derivation)

    def reference_module(self) -> ModuleType:
        """The float64 reference."""
        from kerneltune.cells.scan_reference import DerivedScanReference

        found = DerivedScanReference(self.derivation)
        if not self.derivation.equations.has_arrays:
            return cast("ModuleType", found)  # it has a module's functions
        from kerneltune.cells.array_reference import ArrayReference

        return cast("ModuleType", ArrayReference(found))


@cache
def scan_of(key: str) -> ScanEquationCell:
    """The cell of this key as a scan."""
    return ScanEquationCell.like(KNOWN[key])


def scan_in(path: Path) -> ScanEquationCell:
    """The cell in a file; nothing of it is derived."""
    return scan_of(EquationCell.of_file(path).key)
