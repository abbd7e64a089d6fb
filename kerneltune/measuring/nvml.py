"""NVML readings of a GPU during measurements: clocks, temperature, power, throttling, energy."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from time import monotonic
from types import ModuleType

PERIOD = 0.25  # seconds between two readings: each takes some tenths of a millisecond and more
# Reasons that lower clocks under load: power cap, slowdowns by hardware, by heat, by the power supply.
THROTTLED = 0x4 | 0x8 | 0x20 | 0x40 | 0x80


class Gauge:
    """The state of one GPU; says nothing where NVML or its package is missing.

    Args:
        bus: The GPU's place on the bus; None: the first.
    """

    def __init__(self, bus: str | None = None) -> None:
        self._nvml: ModuleType | None = None
        self._last, self._state = -PERIOD, dict[str, float]()
        try:
            import pynvml

            nvml: ModuleType = pynvml
            nvml.nvmlInit()
            find = nvml.nvmlDeviceGetHandleByPciBusId
            self._device = nvml.nvmlDeviceGetHandleByIndex(0) if bus is None else find(bus.encode())
            self._nvml = nvml
        except Exception:  # no package, no driver, no such device: nothing is told
            return

    def __bool__(self) -> bool:
        return self._nvml is not None

    def state(self) -> dict[str, float]:
        """Clocks in MHz, degrees Celsius, watts, throttling; at most every quarter second anew."""
        if self._nvml is None or monotonic() - self._last < PERIOD:
            return self._state
        nvml = self._nvml
        device = self._device
        questions: dict[str, Callable[[], float]] = {
            "sm_mhz": lambda: nvml.nvmlDeviceGetClockInfo(device, nvml.NVML_CLOCK_SM),
            "memory_mhz": lambda: nvml.nvmlDeviceGetClockInfo(device, nvml.NVML_CLOCK_MEM),
            "celsius": lambda: nvml.nvmlDeviceGetTemperature(device, nvml.NVML_TEMPERATURE_GPU),
            "watts": lambda: nvml.nvmlDeviceGetPowerUsage(device) / 1e3,
            "throttled": lambda: int(
                bool(nvml.nvmlDeviceGetCurrentClocksThrottleReasons(device) & THROTTLED)
            ),
        }
        for name, ask in questions.items():
            with contextlib.suppress(Exception):  # boards differ in what they tell
                self._state[name] = ask()
        self._last = monotonic()
        return dict(self._state)

    def joules(self) -> float | None:
        """Energy since the driver was loaded; None where the board does not count it."""
        if self._nvml is None:
            return None
        try:
            return float(self._nvml.nvmlDeviceGetTotalEnergyConsumption(self._device)) / 1e3
        except Exception:  # an older board
            return None
