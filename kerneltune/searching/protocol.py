"""The protocol of search strategies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

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


@runtime_checkable
class Predicting(Strategy, Protocol):
    """A strategy that expects something of a configuration before it is tried."""

    def predicted(self, configuration: Configuration) -> float | None:
        """The cost that it expected; None if it has no model, or did not ask for the configuration."""


def prediction(strategy: Strategy, configuration: Configuration) -> float | None:
    """A strategy's prediction for a configuration; None of one that predicts nothing."""
    return strategy.predicted(configuration) if isinstance(strategy, Predicting) else None
