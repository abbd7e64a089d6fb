"""The best known configuration of a kernel for a GPU and sizes, from the store."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kerneltune.errors import KernelTuneError
from kerneltune.inputs.hardware import load_profile
from kerneltune.pipeline.trial import TIME
from kerneltune.searching.protocol import Configuration
from kerneltune.tuning.store import Store, StoredTrial


@dataclass(frozen=True)
class KnownBest:
    """A stored configuration.

    Attributes:
        kernel: The kernel's name.
        configuration: The values of its parameters.
        device: The device that it was measured on.
        sizes: The sizes that it was measured at.
        time: Milliseconds of a run there.
        is_exact: Whether device and sizes are those that were asked for.
    """

    kernel: str
    configuration: Configuration
    device: str
    sizes: dict[str, int]
    time: float
    is_exact: bool

    @property
    def sentence(self) -> str:
        """Where it comes from."""
        sizes = ", ".join(f"{name}={value}" for name, value in self.sizes.items()) or "no sizes"
        how = "" if self.is_exact else " (the nearest that is known)"
        return f"{self.kernel} on {self.device}, {sizes}{how}: {self.time:.5g} ms"

    def to_json(self) -> dict[str, object]:
        """A JSON object."""
        return dict(self.__dict__)


def best_known(
    kernel: str,
    sizes: Mapping[str, int] | None = None,
    *,
    gpu: str | None = None,
    device: str | None = None,
    store: Path | str | None = None,
    objective: str = TIME,
) -> KnownBest | None:
    """The best configuration for a device and sizes; of the nearest sizes, then devices, where there is none.

    Args:
        kernel: The kernel's name.
        sizes: The sizes; None: any.
        gpu: A profile's name; its title names the device.
        device: The device's name; by default this machine's GPU, or any.
        store: The file of results.
        objective: What counts; the least.
    """
    wanted = device or _device_of(gpu)
    opened = Store(store)
    try:
        rows = [row for row in opened.rows(kernel) if row.trial.passed and objective in row.trial.objectives]
    finally:
        opened.close()
    if not rows:
        return None
    asked = None if sizes is None else dict(sizes)

    def rank(row: StoredTrial) -> tuple[bool, float, float]:
        other = wanted is not None and not same_device(row.device, wanted)
        return other, 0.0 if asked is None else distance(row.sizes, asked), row.trial.objectives[objective]

    row = min(rows, key=rank)
    other, far, _ = rank(row)
    time = row.trial.objectives.get(TIME, math.nan)
    exact = not other and not far and wanted is not None
    return KnownBest(kernel, row.trial.configuration, row.device, row.sizes, time, exact)


def same_device(one: str, other: str) -> bool:
    """Whether two names name one kind of device: a profile's title may be longer than the driver's name."""
    return one == other or other.startswith(one) or one.startswith(other)


def distance(one: Mapping[str, int], other: Mapping[str, int]) -> float:
    """How far sizes lie from others: the sum of the logarithms of their ratios."""
    if set(one) != set(other):
        return math.inf
    return sum(abs(math.log((abs(one[name]) + 1) / (abs(other[name]) + 1))) for name in one)


def _device_of(gpu: str | None) -> str | None:
    if gpu is not None:
        return load_profile(gpu).title
    from kerneltune.running.detect import detect

    try:
        return detect().facts.name
    except KernelTuneError:
        return None  # no GPU here: any device's result is better than none
