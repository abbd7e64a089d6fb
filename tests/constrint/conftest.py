"""Fixtures for the tests of constrint: machine code compiled by other processes."""

from __future__ import annotations

import subprocess
import sys

import pytest

from constrint.engine import cache


@pytest.fixture(scope="session")
def filled() -> None:
    """Every part is on the disk, and what was not has been compiled by a process of its own."""
    for part in ("engine", "learn", "jumps"):
        if not cache.is_filled(part):
            subprocess.run([sys.executable, "-m", "constrint.learning.compile_part", part], check=True)
        assert cache.is_filled(part)


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
    for module in ("support.deadline", "search.call"):
        monkeypatch.setattr(f"constrint.{module}.perf_counter", clock)
    return clock
