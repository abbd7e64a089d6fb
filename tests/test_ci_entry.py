"""The script that CI runs calls the command that the README names for the tests, and passes its result on."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("result", [0, 7])
def test_ci_runs_the_tests_of_the_readme_and_passes_their_result_on(tmp_path: Path, result: int) -> None:
    """A stand-in for `make` notes how it is called, and where."""
    make = tmp_path / "make"
    make.write_text(f'#!/bin/sh\necho "$PWD" "$@" >> {tmp_path}/calls\nexit {result}\n')
    make.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    run = subprocess.run([ROOT / ".ci" / "run"], cwd=tmp_path, env={**os.environ, "PATH": path})
    assert run.returncode == result
    assert (tmp_path / "calls").read_text() == f"{ROOT} test\n"
    assert "\n    make test " in (ROOT / "README.md").read_text()
