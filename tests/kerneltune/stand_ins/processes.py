"""Helpers for tests of processes."""

from __future__ import annotations

from pathlib import Path


def is_running(pid: int) -> bool:
    """Whether a process runs; one that has ended and was not waited for does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"


def children_of(pid: int) -> list[int]:
    """The processes that a process has started, and that run."""
    lists = Path(f"/proc/{pid}/task").glob("*/children")  # of each thread
    every = sorted({int(one) for path in lists for one in _read(path).split()})
    return [one for one in every if is_running(one)]


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:  # a thread that has ended
        return ""
