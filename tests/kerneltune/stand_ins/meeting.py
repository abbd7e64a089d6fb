"""Processes that wait for each other: what does not go on at the same time never meets."""

from __future__ import annotations

import os
import time
from pathlib import Path

PATIENCE = 60.0  # seconds


def met(name: str) -> bool:
    """Whether all come that the folder KERNELTUNE_TEST_MEETING expects; True for who is not expected."""
    place = os.environ.get("KERNELTUNE_TEST_MEETING")
    if not place or not Path(place, "expected", name).exists():
        return True
    Path(place, "here", name).touch()
    ends = time.monotonic() + PATIENCE
    while not everyone(Path(place)):
        if time.monotonic() > ends:
            return False
        time.sleep(0.005)
    return True


def everyone(place: Path) -> bool:
    """Whether all who are expected have come."""
    return set(os.listdir(place / "expected")) == set(os.listdir(place / "here"))


def invite(place: Path, *names: str) -> None:
    """Prepare a meeting of these."""
    for folder in ("expected", "here"):
        (place / folder).mkdir(parents=True)
    for name in names:
        (place / "expected" / name).touch()
