"""Fixtures for the tests of constrint: machine code compiled by other processes."""

from __future__ import annotations

import subprocess
import sys

import pytest

from constrint.engine import cache


@pytest.fixture(scope="session")
def filled() -> None:
    """Every part is on the disk, and what was not has been compiled by a process of its own."""
    for part in ("engine", "learn-sums", "learn", "jumps"):
        if not cache.is_filled(part):
            subprocess.run([sys.executable, "-m", "constrint.learning.compile_part", part], check=True)
        assert cache.is_filled(part)
    if not cache.is_filled("dispatch"):  # it was removed, and nobody needed it since
        code = "from constrint.engine.making import dispatch_twin; dispatch_twin()"
        subprocess.run([sys.executable, "-c", code], check=True)


class Clock:
    """Moves on by a second whenever it is looked at."""

    def __init__(self) -> None:
        self.looks = 0

    def __call__(self) -> float:
        self.looks += 1
        return float(self.looks)


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    for module in ("support.deadline", "search.solver"):
        monkeypatch.setattr(f"constrint.{module}.perf_counter", clock)
    return clock
