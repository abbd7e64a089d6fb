"""The layout: files and functions of bounded length, and a folder of tests for each layer."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OTHER = {
    "constrint": {"model", "oracles", "fuzz"},
    "kerneltune": {"layers", "stand_ins", "benchmarks"},
}
"""Folders of tests that have no folder of code with their name."""
SOURCES = ("constrint", "kerneltune", "kernels", "tests", "benchmarks", "examples", "docs")
ENDINGS = {".py", ".cu", ".cuh", ".cpp", ".h", ".lark", ".js"}
LONGEST_FILE = 400
LONGEST_FUNCTION = 60


def test_files_are_short() -> None:
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in _sources()}
    assert len(lengths) > 600
    assert [path.relative_to(ROOT) for path, length in lengths.items() if length > LONGEST_FILE] == []


def test_functions_are_short() -> None:
    found = [place for path in _sources() if path.suffix == ".py" for place in _long_functions(path)]
    assert found == []


def _sources() -> Iterator[Path]:
    """The files that people write; not what they are made into."""
    for folder in SOURCES:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in ENDINGS and "_build" not in path.parts:
                yield path


def _long_functions(path: Path) -> Iterator[str]:
    """Functions of too many lines, without their docstrings."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0]
            is_doc = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
            doc = (first.end_lineno or 0) - first.lineno + 1 if is_doc else 0
            length = (node.end_lineno or 0) - node.lineno + 1 - doc
            if length > LONGEST_FUNCTION:
                yield f"{path.relative_to(ROOT)}:{node.lineno} {node.name}: {length} lines"


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
