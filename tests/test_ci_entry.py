"""The script that CI runs calls the command that the README names for the tests, and passes its result on.

Workflows call what is in the repository.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
NEEDED = ("bash", "dirname", "env", "timeout")


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder of programs, the only one on the path, and a note of the calls of stand-ins."""
    for name in NEEDED:
        found = shutil.which(name)
        assert found
        (tmp_path / name).symlink_to(found)
    return tmp_path


def stand_in(tools: Path, name: str, result: int = 0) -> None:
    """A program that notes how it is called, and where."""
    path = tools / name
    path.write_text(f'#!/bin/sh\necho "$PWD {name} $*" >> {tools}/calls\nexit {result}\n', "utf-8")
    path.chmod(0o755)


def run(tools: Path, **more: str) -> tuple[int, list[str]]:
    done = subprocess.run([ROOT / ".ci" / "run"], cwd=tools, env={"PATH": str(tools), **more})
    return done.returncode, (tools / "calls").read_text("utf-8").splitlines()


@pytest.mark.parametrize("result", [0, 7])
def test_ci_runs_the_tests_of_the_readme_and_passes_their_result_on(tools: Path, result: int) -> None:
    stand_in(tools, "chromium")
    stand_in(tools, "make", result)
    assert run(tools) == (result, [f"{ROOT} make test"])
    assert "\n    make test " in (ROOT / "README.md").read_text("utf-8")


@pytest.mark.parametrize("result", [0, 100])
def test_a_browser_is_installed_where_that_is_possible(tools: Path, result: int) -> None:
    stand_in(tools, "apt-get", result)
    stand_in(tools, "make")
    code, calls = run(tools)
    assert code == 0
    assert calls[0] == f"{ROOT} apt-get update -qq"
    assert calls[-1] == f"{ROOT} make test"


def test_a_wheel_of_pytorch_that_is_at_hand_is_installed(tools: Path) -> None:
    stand_in(tools, "chromium")
    stand_in(tools, "make")
    wheels = tools / "wheels"
    wheels.mkdir()
    assert run(tools, PIP_FIND_LINKS=str(wheels))[1] == [f"{ROOT} make test"]
    wheel = wheels / "torch-2.0+cpu-any.whl"
    wheel.write_text("")
    (tools / "calls").unlink()
    code, calls = run(tools, PIP_FIND_LINKS=str(wheels))
    assert (code, calls) == (0, [f"{ROOT} make torch TORCH={wheel}", f"{ROOT} make test"])


def commands() -> Iterator[str]:
    """What the steps of all workflows run."""
    for path in sorted((ROOT / ".github" / "workflows").glob("*.yml")):
        for job in yaml.safe_load(path.read_text("utf-8"))["jobs"].values():
            yield from (step["run"] for step in job["steps"] if "run" in step)


def test_workflows_call_what_is_here() -> None:
    text = "\n".join(commands())
    makefile = (ROOT / "Makefile").read_text("utf-8").replace("$(VENV)", ".venv")
    targets = set(re.findall(r"\bmake ([\w./-]+)", text))
    assert {"lint", "test", "docs"} <= targets
    assert [name for name in sorted(targets) if not re.search(rf"^{re.escape(name)}:", makefile, re.M)] == []
    files = set(re.findall(r"(?<![\w/])(?:\.ci|tests)/[\w./]*\w", text))
    assert {".ci/package", ".ci/kernels", ".ci/fuzz", ".ci/smoke.py", "tests/core.txt"} <= files
    assert [name for name in sorted(files) if not (ROOT / name).exists()] == []


def test_the_core_of_tests_is_there() -> None:
    names = (ROOT / "tests" / "core.txt").read_text("utf-8").split()
    assert [name for name in names if not (ROOT / name).exists()] == []
