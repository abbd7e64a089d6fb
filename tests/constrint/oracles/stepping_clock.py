"""A clock of which the tests know what it says."""

from __future__ import annotations


class Clock:
    """Moves on by a second whenever it is looked at."""

    def __init__(self) -> None:
        self.looks = 0

    def __call__(self) -> float:
        self.looks += 1
        return float(self.looks)
