"""The order of trials: what ends at the same time ends in the order of its start."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

from kerneltune.messages import Built
from kerneltune.pipeline.run import Budget, Pipeline
from kerneltune.pipeline.trial import Trial
from kerneltune.searching.protocol import Configuration, Outcome

COUNT = 24


class AtOnce:
    """A stage whose work is done as soon as it is given: the pipeline always sees several ends together."""

    slots, depth, workers = 4, 8, 8

    def submit(self, *given: Any) -> Future[Any]:
        done: Future[Any] = Future()
        done.set_result(Built())
        return done

    def close(self) -> None:
        pass


class InTurn:
    def __init__(self) -> None:
        self.left = [{"x": number} for number in range(COUNT)]
        self.told: list[int] = []

    def ask(self, count: int) -> list[Configuration]:
        given, self.left = self.left[:count], self.left[count:]
        return given  # type: ignore[return-value]

    def tell(self, outcome: Outcome) -> None:
        self.told.append(outcome.configuration["x"])  # type: ignore[arg-type]


class Plain:
    """Work and memory: configurations are orders, nothing is kept."""

    compiles = True

    def order(self, configuration: Configuration) -> dict[str, Any]:
        return dict(configuration)

    def refused(self, order: dict[str, Any], built: Any) -> str | None:
        return None

    def trial(self, order: dict[str, Any], built: Any, answer: Any) -> Trial:
        return Trial(dict(order), {"time": 1.0 + order["x"]})

    def find(self, configuration: Configuration) -> Trial | None:
        return None

    def add(self, trial: Trial) -> None:
        pass


def test_what_ends_together_ends_as_it_began() -> None:
    for compilers in (None, AtOnce()):
        search = InTurn()
        progress = Pipeline(Plain(), search, Plain(), compilers, AtOnce()).run(Budget())  # type: ignore[arg-type]
        assert [trial.configuration["x"] for trial in progress.trials] == list(range(COUNT))
        assert search.told == list(range(COUNT))
