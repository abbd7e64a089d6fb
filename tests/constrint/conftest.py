"""Fixtures for the tests of constrint: machine code compiled by other processes."""

from __future__ import annotations

import subprocess
import sys

import pytest
from stepping_clock import Clock

from constrint.engine import cache


@pytest.fixture(scope="session")
def filled() -> None:
    """Every part is on the disk, and what was not has been compiled by a process of its own."""
    for part in ("engine", "learn", "jumps", "cuts"):
        if not cache.is_filled(part):
            subprocess.run([sys.executable, "-m", "constrint.learning.compile_part", part], check=True)
        assert cache.is_filled(part)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    for module in ("support.deadline", "search.call"):
        monkeypatch.setattr(f"constrint.{module}.perf_counter", clock)
    return clock
