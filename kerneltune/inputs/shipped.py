"""Writes `kernels/cells/derived.json`: descriptions of the shipped cells, and what their training saves.

It is run as `python -m kerneltune.inputs.shipped`.
"""

from __future__ import annotations

import json
from pathlib import Path

import msgspec

from kerneltune.inputs.descriptions import ENDING
from kerneltune.inputs.equation_cell import DERIVED, EquationCell
from kerneltune.inputs.folders import data_folder
from kerneltune.inputs.scan_descriptions import FAMILY
from kerneltune.inputs.scan_equation_cell import ScanEquationCell


def derived(root: Path) -> dict[str, object]:
    """The contents of the file for the cells below a folder, by the key of each cell, computed anew."""
    folders = root / "cells", root / FAMILY / "cells"
    return dict(_of(path) for folder in folders for path in sorted(folder.glob(f"*{ENDING}")))


def _of(path: Path) -> tuple[str, dict[str, object]]:
    cell = EquationCell.of_file(path)
    made = cell.derived()
    if not made.equations.recurs:
        return cell.key, {**ScanEquationCell.like(cell).described_scan(), "work": cell.counted()}
    saved = {} if made.written else {"saved": made.saved.to_json(made.equations.graph.nodes)}
    anew = EquationCell.of_texts(*cell.texts)
    anew.__dict__["derivation"] = made  # which does not come from the file
    return cell.key, {"spec": msgspec.to_builtins(anew.described()), **saved, "work": anew.counted()}


def main() -> None:
    """Write the file."""
    root = data_folder("kernels")
    text = json.dumps(derived(root), indent=1) + "\n"
    (root / "cells" / DERIVED).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
