"""The notebooks of both products run as they are, without a GPU, and show what they find."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[1] / "examples" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
OUTPUTS = runpy.run_path(str(FOLDER / "outputs.py"))


def test_each_product_has_a_notebook() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["constrint", "kerneltune"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_its_cells_find(path: Path) -> None:
    notebook = json.loads(path.read_text("utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    cells: list[dict[str, Any]] = notebook["cells"]
    assert len({cell["id"] for cell in cells}) == len(cells)
    stored = [cell.get("outputs", []) for cell in cells]
    assert stored == OUTPUTS["run"](cells), "run python examples/notebooks/outputs.py"
    assert sum(map(bool, stored)) >= 4


def test_a_cell_that_fails_is_found() -> None:
    with pytest.raises(NameError):
        OUTPUTS["run"]([{"cell_type": "code", "source": ["nothing"]}])
