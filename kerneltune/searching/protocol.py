"""The protocol of search strategies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

Configuration = dict[str, int | float | str | bool]


@dataclass(frozen=True)
class Outcome:
    """The outcome of a configuration, told to a strategy; ``objectives`` is empty on failure."""

    configuration: Configuration
    objectives: dict[str, float]
    failure: str | None = None
    compile_seconds: float = 0.0
    run_seconds: float = 0.0


class Strategy(Protocol):
    """A search over a space."""

    def ask(self, count: int) -> list[Configuration]:
        """New valid configurations, fewer or none when done."""

    def tell(self, outcome: Outcome) -> None:
        """The outcome of a configuration."""
