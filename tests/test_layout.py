"""The layout of tests mirrors the code: a folder of tests for each layer."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OTHER = {
    "constrint": {"model", "oracles", "fuzz"},
    "kerneltune": {"layers", "stand_ins", "benchmarks"},
}
"""Folders of tests that have no folder of code with their name."""


@pytest.mark.parametrize("package", sorted(OTHER))
def test_every_folder_of_tests_has_its_layer(package: str) -> None:
    folders = {path.parent.relative_to(ROOT / "tests" / package) for path in _tests(package)}
    layers = {path.parent.relative_to(ROOT / package) for path in (ROOT / package).rglob("*.py")}
    assert Path() not in folders  # a test stands in the folder of its layer
    assert folders - layers <= {Path(name) for name in OTHER[package]}


def test_no_two_files_of_tests_have_one_name() -> None:
    names = [path.name for package in OTHER for path in _tests(package)]
    assert sorted(names) == sorted(set(names))


def _tests(package: str) -> list[Path]:
    return [*(ROOT / "tests" / package).rglob("test_*.py")]
