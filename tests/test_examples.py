"""The example programs print what they say, and none is longer than the same in CPMpy."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
PROGRAMS = sorted((EXAMPLES / "programs").glob("*.py"))
BESIDE = sorted((EXAMPLES / "cpmpy").glob("*.py"))
PRINTED = "# > "  # begins a line that the program prints


def lines_of(path: Path) -> list[str]:
    """Lines of code: without empty lines, comments, and the docstring."""
    text = re.sub(r'\A""".*?"""', "", path.read_text("utf-8"), flags=re.S)
    return [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_prints_what_it_says(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = path.read_text("utf-8")
    expected = [line.removeprefix(PRINTED) for line in text.splitlines() if line.startswith(PRINTED)]
    assert expected
    runpy.run_path(str(path), run_name="__main__")
    assert [line.rstrip() for line in capsys.readouterr().out.splitlines() if line.strip()] == expected


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_the_list_of_programs_says_what_each_shows(path: Path) -> None:
    shown = path.read_text("utf-8").partition('"""')[2].partition('."""')[0]
    row = f"| [{path.stem}](programs/{path.name}) | {shown} |"
    assert row in (EXAMPLES / "README.md").read_text("utf-8")


@pytest.mark.parametrize("path", BESIDE, ids=lambda path: path.stem)
def test_the_same_in_cpmpy_finds_the_same_and_is_not_shorter(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ours = EXAMPLES / "programs" / path.name
    runpy.run_path(str(path), run_name="__main__")
    numbers = re.findall(r"-?\d+", capsys.readouterr().out)
    printed = [line for line in ours.read_text("utf-8").splitlines() if line.startswith(PRINTED)]
    assert len(lines_of(ours)) <= len(lines_of(path))
    assert numbers[0] in re.findall(r"-?\d+", printed[0])
