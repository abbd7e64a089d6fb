"""One HTML page about the trials of a kernel: no network, no server, everything drawn from data inside it."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from importlib.resources import files

from kerneltune.errors import InputError
from kerneltune.inputs.hardware import HardwareProfile
from kerneltune.pipeline.trial import TIME, Trial
from kerneltune.reporting.summary import TunedSummary
from kerneltune.tuning.goals import MAXIMISED

UNITS = {TIME: "ms", "energy": "J", "gflops": "GFLOP/s", "gbs": "GB/s"}
_PLACE = "/*data*/null"


@dataclass(frozen=True)
class Roof:
    """The peak rates of a device.

    Attributes:
        bandwidth: Of its memory, GB/s.
        warps: Warps an SM holds.
        registers: Registers of an SM.
        shared: Bytes of shared memory of an SM.
    """

    bandwidth: float
    warps: int
    registers: int
    shared: int

    @staticmethod
    def of(profile: HardwareProfile) -> Roof:
        """Of a profile."""
        warps = profile.max_threads_per_sm // profile.warp_size
        return Roof(profile.memory_bandwidth_gbs, warps, profile.registers_per_sm, profile.smem_per_sm)


def page_of(tuned: TunedSummary, objective: str = TIME, roof: Roof | None = None) -> str:
    """The page's text.

    Args:
        tuned: The trials.
        objective: What counts.
        roof: What the device can do at most, for the roofline and the resources; None if it is not known.

    Raises:
        InputError: No trial has the objective.
    """
    if not tuned.ranked(objective):
        known = sorted({name for trial in tuned.trials for name in trial.objectives})
        said = f"it has {', '.join(known)}" if known else "none of its trials passed"
        raise InputError(f"{tuned.title} has no objective '{objective}': {said}")
    template = files("kerneltune.reporting").joinpath("templates/report.html").read_text(encoding="utf-8")
    return template.replace(_PLACE, _embedded(_data(tuned, objective, roof)), 1)


def _embedded(data: dict[str, object]) -> str:
    """JSON that may stand in a script: no text of it can end the script."""
    text = json.dumps(_finite(data), separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _finite(value: object) -> object:
    """The data with null for what is no number of JSON: infinite predictions, or a time of nan."""
    if isinstance(value, dict):
        return {name: _finite(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _data(tuned: TunedSummary, objective: str, roof: Roof | None) -> dict[str, object]:
    """The data that the page's script draws, ready for JSON.

    `last` is the time of the last trial; `identities` counts the versions of kernel, arguments and way of
    measuring that the trials come from. `at` of a trial has its values in the order of `parameters`.
    """
    names: list[str] = []
    for trial in tuned.trials:
        names += [name for name in trial.configuration if name not in names]
    return {
        "title": tuned.title,
        "kernel": tuned.kernel,
        "last": tuned.last,
        "objective": objective,
        "unit": UNITS.get(objective, ""),
        "maximised": objective in MAXIMISED,
        "parameters": names,
        "identities": tuned.identities,
        "trials": [_row(trial, objective, names) for trial in tuned.trials],
        "roof": None if roof is None else dict(roof.__dict__),
    }


def _row(trial: Trial, objective: str, names: list[str]) -> dict[str, object]:
    finite = {name: one for name, one in trial.objectives.items() if math.isfinite(one)}
    return {
        "at": [trial.configuration.get(name) for name in names],
        "value": finite.get(objective),
        "failure": trial.failure,
        "objectives": finite,
        "resources": trial.resources,
        "predicted": trial.predicted,
        "spread": trial.spread,
        "error": trial.relative_error,
        "compile": round(trial.compile_seconds, 4),
    }
