"""The spaces that the replay benchmark searches: recorded cache files, and synthetic surfaces."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import surfaces

from constrint.tuning.spaces import Space, from_tune_params
from kerneltune.inputs.hardware import load_profile
from kerneltune.searching.launched import LaunchModel
from kerneltune.sources.folder import read_folder
from kerneltune.tuning.searches import launch_of

WITHIN = 1.05  # of the least time


@dataclass
class Problem:
    """A space, whose every configuration has a time, or NaN where it fails."""

    name: str
    origin: str  # "recorded" or "synthetic"
    role: str  # "steered" or "held out"
    space: Space
    times: np.ndarray  # by number
    restriction: Callable[[dict[str, object]], bool] | None = None  # in place of the space's
    model: Callable[[dict[str, object]], float] | None = None  # the kernel's own costs
    launch: LaunchModel | None = None  # on the GPU, where the kernel's folder is here
    reports: dict[int, dict[str, int]] = field(default_factory=dict)  # of its compiler, by number

    @property
    def restrictions(self) -> list[object]:
        """What makes the space, as Kernel Tuner takes it."""
        return list(self.space.restrictions) if self.restriction is None else [self.restriction]

    @cached_property
    def target(self) -> float:
        """The greatest time that counts as found."""
        return float(np.nanmin(self.times)) * WITHIN

    def facts(self) -> dict[str, object]:
        """Its size and what there is to find."""
        return {
            "name": self.name,
            "origin": self.origin,
            "role": self.role,
            "size": self.space.size,
            "failing": round(float(np.isnan(self.times).mean()), 4),
            "within": int((self.times <= self.target).sum()),
            "median_over_best": round(float(np.nanmedian(self.times) / np.nanmin(self.times)), 3),
        }


def recorded(path: Path, restrictions: list[str]) -> Problem:
    """The problem of a Kernel Tuner cache file that holds all configurations of its space."""
    data = json.loads(path.read_text(encoding="utf-8"))
    space = from_tune_params(data["tune_params"], restrictions)
    if space.size != len(data["cache"]):
        raise SystemExit(
            f"{path} has {len(data['cache'])} results, but its space {space.size}: --restriction"
        )
    times = np.full(space.size, math.nan)
    for entry in data["cache"].values():
        time = entry["time"]
        if isinstance(time, int | float):
            times[space.index({name: entry[name] for name in space.names})] = time
    name = f"{data['kernel_name']} {data['device_name']}"
    return Problem(name, "recorded", "held out", space, times)


def measured_here(path: Path) -> Problem:
    """The problem of a result of `examples.py exhaustive`, kept as columns and rows."""
    data = json.loads(path.read_text(encoding="utf-8"))
    names = list(data["best"])
    count = len(names)
    time = data["columns"].index("time_ms")
    rows = {tuple(row[:count]): row[time] for row in data["rows"]}
    if len(rows) != data["space"]:
        raise SystemExit(f"{path} has {len(rows)} of {data['space']} configurations")
    params = {name: sorted({row[v] for row in rows}) for v, name in enumerate(names)}

    def is_measured(p: dict[str, object]) -> bool:
        return tuple(p[name] for name in names) in rows

    space = from_tune_params(params, [is_measured])
    times = np.full(space.size, math.nan)
    for row, milliseconds in rows.items():
        if milliseconds is not None:
            times[space.index(dict(zip(names, row, strict=True)))] = milliseconds
    folder = Path(__file__).resolve().parents[2] / "examples" / "tuning" / data["kernel"]
    kernel = read_folder(folder, with_arrays=False).description.kernel(load_profile("h100_sxm"))
    return Problem(
        *(f"{data['kernel']} H100", "recorded", "held out", space, times, is_measured),
        model=kernel.cycles if "cycles" in kernel.numbers.names else None,
        launch=launch_of(kernel),
        reports=_reports(path.with_name(f"h100_compiled_{data['kernel']}.json"), space),
    )


def _reports(path: Path, space: Space) -> dict[int, dict[str, int]]:
    """The compile reports that `compiled.py` wrote, if it has."""
    if not path.is_file():
        return {}
    data = json.loads(path.read_text(encoding="utf-8"))
    found, names = {}, space.names
    for row in data["rows"]:
        values = dict(zip(data["columns"], row, strict=True))
        number = space.index({name: values[name] for name in names})
        found[number] = {name: one for name, one in values.items() if name not in names and one is not None}
    return found


STEERED = {"A100", "A4000"}
"""The GPUs on whose surfaces the default strategy was made; the others are held out."""


def synthetic(kernels: list[str], devices: list[str]) -> Iterator[Problem]:
    """The problems of analytic surfaces."""
    for kernel in kernels:
        tune_params, restrictions, _ = surfaces.SPACES[kernel]
        space = from_tune_params(tune_params, restrictions)
        columns = {name: np.asarray(column) for name, column in space.to_columns().items()}
        for device in devices:
            times = surfaces.times_of(kernel, device, columns)
            role = "steered" if device in STEERED else "held out"
            yield Problem(f"{kernel} {device}", "synthetic", role, space, times)
