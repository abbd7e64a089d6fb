"""Summaries of the store: a row for each kernel on a device at some sizes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kerneltune.pipeline.trial import TIME, Trial
from kerneltune.tuning.goals import MAXIMISED
from kerneltune.tuning.store import StoredTrial

UNITS = {TIME: "ms", "energy": "J", "gflops": "GFLOP/s", "gbs": "GB/s"}
"""The units of objectives."""


@dataclass(frozen=True)
class TunedSummary:
    """The stored trials of a kernel on a device at some sizes.

    Attributes:
        kernel: The kernel's name.
        device: The device's name.
        sizes: The sizes.
        identities: How many versions of the kernel, its arguments or the way of measuring they come from.
        trials: The trials, the oldest first.
        last: When the last one was measured, UTC.
    """

    kernel: str
    device: str
    sizes: dict[str, int]
    identities: int
    trials: tuple[Trial, ...]
    last: str

    def ranked(self, objective: str = TIME) -> list[Trial]:
        """The trials that have an objective, the best first."""
        sign = -1 if objective in MAXIMISED else 1
        passed = [trial for trial in self.trials if trial.passed and objective in trial.objectives]
        return sorted(passed, key=lambda trial: sign * trial.objectives[objective])

    @property
    def failed(self) -> list[Trial]:
        """The trials without a measurement."""
        return [trial for trial in self.trials if not trial.passed]

    @property
    def title(self) -> str:
        """Kernel, device and sizes."""
        sizes = ", ".join(f"{name}={value}" for name, value in self.sizes.items())
        return f"{self.kernel} on {self.device}" + (f", {sizes}" if sizes else "")

    def to_json(self, objective: str = TIME) -> dict[str, object]:
        """A JSON object; trials the best first."""
        return {
            "kernel": self.kernel,
            "device": self.device,
            "sizes": self.sizes,
            "last": self.last,
            "objective": objective,
            "trials": [trial.to_json() for trial in self.ranked(objective)],
            "failed": [trial.to_json() for trial in self.failed],
        }


def summarised(rows: Iterable[StoredTrial]) -> list[TunedSummary]:
    """Stored rows gathered by kernel, device and sizes, in the order of their first trials."""
    groups: dict[tuple[str, str, tuple[tuple[str, int], ...]], list[StoredTrial]] = {}
    for row in rows:
        groups.setdefault((row.kernel, row.device, tuple(sorted(row.sizes.items()))), []).append(row)
    return [
        TunedSummary(
            kernel,
            device,
            dict(sizes),
            len({row.identity for row in found}),
            tuple(row.trial for row in found),
            max(row.measured for row in found),
        )
        for (kernel, device, sizes), found in groups.items()
    ]
