"""Writes `kernels/cells/derived.json`: descriptions of the shipped cells, and what their training saves.

It is run as `python -m kerneltune.inputs.shipped`.
"""

from __future__ import annotations

import json
from pathlib import Path

import msgspec

from kerneltune.cells.derivation import Derivation
from kerneltune.cells.equations import read_equations
from kerneltune.inputs.descriptions import ENDING
from kerneltune.inputs.equation_cell import DERIVED, EquationCell
from kerneltune.inputs.files import text_of
from kerneltune.inputs.folders import data_folder


def derived(folder: Path) -> dict[str, object]:
    """The contents of the file for a folder of cells, by the key of each cell, computed anew."""
    return dict(_of(path) for path in sorted(folder.glob(f"*{ENDING}")))


def _of(path: Path) -> tuple[str, dict[str, object]]:
    cell = EquationCell.of_text(path.stem, text_of(path), str(path))
    made = Derivation(read_equations(cell.name, cell.text_source))
    saved = made.saved.to_json(made.equations.graph.nodes)
    cell.__dict__["derivation"] = made  # which does not come from the file
    return cell.key, {"spec": msgspec.to_builtins(cell.described()), "saved": saved}


def main() -> None:
    """Write the file."""
    folder = data_folder("kernels") / "cells"
    (folder / DERIVED).write_text(json.dumps(derived(folder), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
