"""Tiling files are formatted by `constrint fmt`, so that diffs show only real changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from constrint.frontends.text.format import format_text

TILINGS = sorted((Path(__file__).parents[2] / "kernels").rglob("*.constrint"))


@pytest.mark.parametrize("path", TILINGS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_tilings_are_formatted(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert format_text(text, filename=str(path)) == text, f"run: constrint fmt --write {path}"


def test_there_are_tilings() -> None:
    assert len(TILINGS) >= 3
