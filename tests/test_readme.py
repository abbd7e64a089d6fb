"""The README's first command prints what the README shows; its first half is about the solver alone."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
INDENTED = re.compile(r"(?:^    .*\n|^\n(?=    ))+", re.MULTILINE)


def first_target() -> tuple[str, list[str]]:
    """The name and the recipe of the Makefile's first target."""
    found = re.search(r"^(\w+):.*\n((?:\t.*\n)+)", MAKEFILE, re.MULTILINE)
    assert found
    return found[1], [line.strip() for line in found[2].splitlines()]


def expanded(line: str) -> str:
    """A line of a recipe as make echoes it."""
    values = dict(re.findall(r"^(\w+) [:?]?= (.*)$", MAKEFILE, re.MULTILINE))
    while "$(" in line:
        line = re.sub(r"\$\((\w+)\)", lambda name: values[name[1]], line)
    return line


def output_of(line: str) -> list[str]:
    """The lines that a command of the recipe prints, with its echo."""
    program, *arguments = shlex.split(line)
    command = Path(program).name
    called = f"from constrint_commands import {command}; {command}()"
    done = subprocess.run(
        [sys.executable, "-c", called, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr
    return [line, *(one.rstrip() for one in done.stdout.splitlines())]


def test_the_first_command_prints_what_is_shown() -> None:
    name, recipe = first_target()
    assert re.search(rf"\n    make {name} .*\n    make test ", README)
    printed = [one for line in recipe for one in output_of(expanded(line))]
    known = {*printed}
    shown = [[line[4:].rstrip() for line in found[0].splitlines()] for found in INDENTED.finditer(README)]
    parts = [[line for line in part if line and line != "…"] for part in shown]
    parts = [part for part in parts if part[0] in known]
    assert len(parts) == 2, "the model's part, and the kernel's"
    rest = iter(printed)
    missing = [line for part in parts for line in part if line not in rest]
    assert missing == []
    assert any("solve" in line for line in parts[0])
    assert any(line.startswith("strategy") for line in parts[1])


def test_the_model_of_the_first_command_is_shown() -> None:
    assert f"```\n{(ROOT / 'examples' / 'workshop.constrint').read_text('utf-8')}```" in README


def test_readers_of_the_solver_meet_no_recurrent_networks() -> None:
    lines = README.splitlines()
    half = lines[: lines.index("## kerneltune")]
    assert len(half) >= 60
    assert [line for line in half if re.search(r"(?i)lstm|gru\b|recurren|rnn|tensor", line)] == []


def test_the_cell_in_python_runs() -> None:
    """On a CPU, with torch."""
    pytest.importorskip("torch")
    (program,) = re.findall(r"```python\n(import torch\n.*?)```", README, re.DOTALL)
    program += "print(output.shape, layer.weight_unit_l1.grad.abs().sum() > 0)"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=240
    )
    assert done.stdout == "torch.Size([35, 16, 768]) tensor(True)\n", done.stderr
