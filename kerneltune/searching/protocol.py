"""The protocol of search strategies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

Configuration = dict[str, int | float | str | bool]


@dataclass(frozen=True)
class Outcome:
    """The outcome of a configuration, told to a strategy.

    Attributes:
        configuration: The configuration.
        objectives: What was measured; empty on failure.
        failure: Why there is no measurement.
        compile_seconds: Time of the compilation.
        run_seconds: Time of the runs.
        resources: What the compiler reported: registers, shared memory, spills.
    """

    configuration: Configuration
    objectives: dict[str, float]
    failure: str | None = None
    compile_seconds: float = 0.0
    run_seconds: float = 0.0
    resources: Mapping[str, int] = field(default_factory=dict)


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
