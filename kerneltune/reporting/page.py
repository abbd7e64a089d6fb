"""One HTML page about the trials of a kernel: no network, no server, everything drawn from data inside it.

It is drawn by Observable Plot, which is bundled into the page (`library/`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from kerneltune.errors import InputError
from kerneltune.inputs.hardware import HardwareProfile
from kerneltune.pipeline.trial import TIME, Trial
from kerneltune.reporting.importance import importances, measures_of
from kerneltune.reporting.summary import UNITS, TunedSummary
from kerneltune.tuning.goals import MAXIMISED, Goals

DERIVED = ("gflops", "gbs")  # of the time: no front of their own
MOST_FRONTS = 3
SCRIPTS = ("report/common.js", "report/core.js", "report/charts.js", "report/relations.js")
# float32 multiply-adds of an SM in a cycle, by compute capability (CUDA C++ Programming Guide, arithmetic
# throughput).
LANES = {"7.0": 64, "7.2": 64, "7.5": 64, "8.0": 64, "8.6": 128, "8.7": 128, "8.9": 128, "9.0": 128}
LANES |= {"10.0": 128, "10.3": 128, "12.0": 128}


@dataclass(frozen=True)
class Roof:
    """The peak rates of a device.

    Attributes:
        bandwidth: Of its memory, GB/s.
        warps: Warps an SM holds.
        registers: Registers of an SM.
        shared: Bytes of shared memory of an SM.
        flops: GFLOP/s of float32 without tensor cores; None if they are not known.
    """

    bandwidth: float
    warps: int
    registers: int
    shared: int
    flops: float | None = None

    @staticmethod
    def of(profile: HardwareProfile) -> Roof:
        """Of a profile."""
        warps = profile.max_threads_per_sm // profile.warp_size
        lanes = LANES.get(profile.compute_capability)
        flops = None if lanes is None else 2e-3 * lanes * profile.sm_count * profile.boost_mhz
        bandwidth = float(profile.memory_bandwidth_gbs)
        return Roof(bandwidth, warps, profile.registers_per_sm, profile.smem_per_sm, flops)


def page_of(
    tuned: TunedSummary, objective: str = TIME, roof: Roof | None = None, beside: TunedSummary | None = None
) -> str:
    """The page's text.

    Args:
        tuned: The trials.
        objective: What counts.
        roof: What the device can do at most, for the roofline and the resources; None if it is not known.
        beside: The trials of another device or store, which are shown side by side.

    Raises:
        InputError: No trial has the objective.
    """
    for one in (tuned, beside):
        if one is not None and not one.ranked(objective):
            known = sorted({name for trial in one.trials for name in trial.objectives})
            said = f"it has {', '.join(known)}" if known else "none of its trials passed"
            raise InputError(f"{one.title} has no objective '{objective}': {said}")
    return filled(_data(tuned, objective, roof, beside), ("report/page.css",), SCRIPTS)


def filled(data: dict[str, object], styles: Sequence[str], scripts: Sequence[str]) -> str:
    """A page with its data, drawn by the templates with these names."""
    parts = {
        "/*style*/": "".join(_text(name) for name in styles),
        "/*library*/": _text("plot.min.js").replace("</script", "<\\/script"),
        "/*data*/null": _embedded(data),
        "/*script*/": "".join(_text(name) for name in scripts),
    }
    page = _text("report/page.html")
    for place, text in parts.items():
        page = page.replace(place, text, 1)
    return page


def _text(name: str) -> str:
    return files("kerneltune.reporting").joinpath("templates").joinpath(name).read_text(encoding="utf-8")


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


def _data(
    tuned: TunedSummary, objective: str, roof: Roof | None, beside: TunedSummary | None
) -> dict[str, object]:
    """The data that the page's script draws, ready for JSON.

    Of each series, `last` is the time of the last trial; `identities` counts the versions of kernel,
    arguments and way of measuring that the trials come from. `at` of a trial has its values in the order of
    `parameters`.
    """
    shown = [tuned] if beside is None else [tuned, beside]
    names = list(dict.fromkeys(n for one in shown for trial in one.trials for n in trial.configuration))
    weights = importances(tuned.trials, objective, names)
    return {
        "objective": objective,
        "unit": UNITS.get(objective, ""),
        "maximised": objective in MAXIMISED,
        "parameters": names,
        "series": [
            {
                "title": one.title,
                "last": one.last,
                "identities": one.identities,
                "trials": [_row(trial, objective, names) for trial in one.trials],
            }
            for one in shown
        ],
        "importance": weights,
        "measures": measures_of(weights),
        "fronts": _fronts(tuned.trials, objective),
        "roof": None if roof is None else dict(roof.__dict__),
    }


def _fronts(trials: Sequence[Trial], objective: str) -> list[dict[str, object]]:
    """The fronts of the objective with each other one that is measured by itself, by the trials' places."""
    others = dict.fromkeys(name for trial in trials for name in trial.objectives)
    wanted = [name for name in others if name != objective and name not in DERIVED]
    turns = {id(trial): turn for turn, trial in enumerate(trials)}
    found: list[dict[str, object]] = []
    for name in wanted[:MOST_FRONTS] if objective not in DERIVED else ():
        goals = Goals((objective, name), frozenset(MAXIMISED))
        both = [
            one for one in trials if all(math.isfinite(one.objectives.get(n, math.nan)) for n in goals.names)
        ]
        front = [turns[id(one)] for one in goals.front(both)]
        found.append({"name": name, "unit": UNITS.get(name, ""), "turns": front})
    return found


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
