"""What is derived of the shipped cells, as it comes with them."""

from __future__ import annotations

import json
import subprocess
import sys

import msgspec

from kerneltune.cells.derivation import Derivation
from kerneltune.cells.equations import read_equations
from kerneltune.inputs.descriptions import discover
from kerneltune.inputs.equation_cell import EquationCell, shipped
from kerneltune.inputs.scan_descriptions import ScanCellSpec, discover_scans
from kerneltune.inputs.scan_equation_cell import ScanEquationCell
from kerneltune.inputs.shipped import derived


def test_the_file_has_what_is_derived() -> None:
    """`python -m kerneltune.inputs.shipped` writes it."""
    made = json.loads(json.dumps(derived(discover().root)))
    assert shipped() == made
    for key, about in made.items():
        name = key.partition("@")[0]
        if "nonlinear" in about:
            scan = discover_scans().cell(name)
            assert isinstance(scan, ScanEquationCell)
            assert scan.key == key
            assert scan.spec == msgspec.convert(about["spec"], ScanCellSpec)
            continue
        cell = discover().cell(name)
        if isinstance(cell, EquationCell):
            known = cell.derived().saved
            assert cell.derivation.choice == about.get("saved")
            assert (cell.override is None) == ("saved" in about)
            assert [str(one) for one in cell.derivation.saved.values] == [str(one) for one in known.values]
            assert (cell.spec, cell.derivation.saved.states) == (cell.described(), known.states)


def test_a_choice_of_another_graph_is_made_anew() -> None:
    cell = EquationCell.of_file(discover().root / "cells" / "gru.cell")
    stale = {**shipped()[cell.key]["saved"], "nodes": 3, "values": [0]}
    found = Derivation(read_equations(cell.name, cell.text_source), stale).saved
    assert len(found.values) == 4


def test_a_shipped_cell_is_described_without_deriving_it() -> None:
    code = (
        "import sys; from kerneltune.inputs.descriptions import discover; "
        "assert discover().cell('lstm').spec.saved_states == 1; "
        "print(sorted({'kerneltune.cells.derivation', 'constrint.model', 'sympy'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "[]\n"
