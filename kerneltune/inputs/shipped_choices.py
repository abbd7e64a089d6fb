"""Writes `kernels/cells/saved.json`, the choice of what training saves of each shipped cell.

python -m kerneltune.inputs.shipped_choices
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kerneltune.cells.derivation import Derivation
from kerneltune.cells.equations import read_equations
from kerneltune.inputs.descriptions import ENDING
from kerneltune.inputs.equation_cell import CHOICES, EquationCell
from kerneltune.inputs.folders import data_folder


def choices(folder: Path) -> dict[str, Any]:
    """The choice of each cell of a folder by its key, made anew."""
    cells = [EquationCell.of_file(path) for path in sorted(folder.glob(f"*{ENDING}"))]
    made = {cell.key: Derivation(read_equations(cell.name, cell.text_source)) for cell in cells}
    return {key: one.saved.to_json(one.equations.graph.nodes) for key, one in made.items()}


def main() -> None:
    """Write the file."""
    folder = data_folder("kernels") / "cells"
    (folder / CHOICES).write_text(json.dumps(choices(folder), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
