"""NVML's readings of a configuration: clocks, temperature, power, and the joules of a run."""

from __future__ import annotations

from collections.abc import Sequence

from kerneltune.errors import RunError, nearest
from kerneltune.kernel_tuner.observers import BenchmarkObserver
from kerneltune.measuring.nvml import Gauge

READINGS = {
    "temperature": "celsius",
    "core_freq": "sm_mhz",
    "mem_freq": "memory_mhz",
    "nvml_power": "watts",
}
"""Observables, and the names of the readings that stand for them."""
ENERGY = "nvml_energy"


class NVMLObserver(BenchmarkObserver):
    """Tells NVML's readings after the runs that are timed.

    Args:
        observables: Names of readings, and `nvml_energy`, which is measured over many runs.
        device: Not used: the first GPU is.
        continuous_duration: Seconds over which energy is measured.

    Raises:
        ValueError: A name is unknown.
    """

    def __init__(
        self, observables: Sequence[str], device: int = 0, *, continuous_duration: float = 1.0
    ) -> None:
        known = [*READINGS, ENERGY]
        for name in observables:
            if name not in known:
                raise ValueError(f"NVMLObserver knows no {name!r}: {nearest(name, known)}")
        self.given = {"observables": list(observables), "continuous_duration": float(continuous_duration)}
        self.observables, self.seconds = list(observables), float(continuous_duration)
        self._gauge: Gauge | None = None

    @property
    def energy_seconds(self) -> float:
        """Seconds over which energy is to be measured; 0 if it is not asked for."""
        return self.seconds if ENERGY in self.observables else 0.0

    def get_results(self) -> dict[str, float]:
        """The readings by name, without energy."""
        wanted = [name for name in self.observables if name != ENERGY]
        if not wanted:
            return {}
        self._gauge = self._gauge or Gauge()
        found = self._gauge.state()
        if not found:
            raise RunError("NVML gives no readings: pip install nvidia-ml-py, and an NVIDIA driver")
        return {name: found[READINGS[name]] for name in wanted if READINGS[name] in found}
