"""Kernel Tuner's observers: base classes, and those that kerneltune's own measurements stand for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class BenchmarkObserver:
    """An observer of each run that is timed, in the measuring process."""

    def before_start(self) -> None:
        """Called before a run."""

    def after_finish(self) -> None:
        """Called after a run."""

    def get_results(self) -> dict[str, Any]:
        """The values of a configuration by name."""
        raise NotImplementedError


class OutputObserver(BenchmarkObserver):
    """An observer of a configuration's outputs, in the process that tunes."""

    def process_output(self, answer: Any, output: Sequence[Any]) -> None:
        """Called with the answers and the outputs, in the order of the arguments."""
        raise NotImplementedError


class PrologueObserver(BenchmarkObserver):
    """An observer of a run of its own, before those that are timed."""

    apart = True
