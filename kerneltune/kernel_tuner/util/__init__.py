"""Kernel Tuner's `util`: what its scripts use of it. The name is Kernel Tuner's."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from constrint.support.files import read_file as read_bytes
from kerneltune.errors import InputError
from kerneltune.kernel_tuner.directions import HIGHER_IS_BETTER as HIGHER_IS_BETTER


class ErrorConfig(str):
    """The value that stands for a measurement that failed; its text is the reason."""

    __slots__ = ()


class InvalidConfig(ErrorConfig):
    """A configuration that a limit excludes."""

    __slots__ = ()


class CompilationFailedConfig(ErrorConfig):
    """A configuration that does not compile."""

    __slots__ = ()


class RuntimeFailedConfig(ErrorConfig):
    """A configuration that does not run, or gives a wrong result."""

    __slots__ = ()


class NpEncoder(json.JSONEncoder):
    """Writes numpy's numbers and arrays as JSON."""

    def default(self, o: object) -> Any:
        """A number or a list for what JSON does not know."""
        if isinstance(o, np.generic):
            return o.item()
        return o.tolist() if isinstance(o, np.ndarray) else super().default(o)


def passed(results: Sequence[Mapping[str, Any]], objective: str) -> list[Mapping[str, Any]]:
    """The rows that have an objective; those that failed have none."""
    return [
        row
        for row in results
        if "__error__" not in row
        and isinstance(row.get(objective), int | float)
        and math.isfinite(row[objective])
    ]


def get_best_config(
    results: Sequence[Mapping[str, object]], objective: str, objective_higher_is_better: bool = False
) -> dict[str, Any]:
    """The row of the best configuration.

    Raises:
        InputError: No row has the objective.
    """
    rows = passed(results, objective)
    if not rows:
        raise InputError(f"none of the {len(results)} results has a number for '{objective}'")
    best = (max if objective_higher_is_better else min)(rows, key=lambda row: float(row[objective]))
    return dict(best)


def get_pareto_results(
    results: Sequence[dict[str, Any]],
    objectives: Sequence[str],
    objective_higher_is_better: Sequence[bool],
    mark_optima: bool = True,
) -> list[dict[str, Any]]:
    """The rows that no other beats in every objective; each gets `optimal`, unless it is not to be marked."""
    signs = [-1.0 if higher else 1.0 for higher in objective_higher_is_better]
    rows = [row for row in results if all(passed([row], name) for name in objectives)]
    costs = [[sign * row[name] for sign, name in zip(signs, objectives, strict=True)] for row in rows]

    def is_beaten(one: list[float]) -> bool:
        return any(other != one and all(a <= b for a, b in zip(other, one, strict=True)) for other in costs)

    front = [row for row, cost in zip(rows, costs, strict=True) if not is_beaten(cost)]
    for row in front if mark_optima else ():
        row["optimal"] = True
    return front


def get_objective_defaults(
    objective: str | None, objective_higher_is_better: bool | None
) -> tuple[str, bool]:
    """The objective, by default time, and whether the greatest value is the best.

    Raises:
        ValueError: The direction is not given and not known.
    """
    name = objective or "time"
    if objective_higher_is_better is None and name not in HIGHER_IS_BETTER:
        raise ValueError(f"give objective_higher_is_better for the objective '{name}'")
    higher = objective_higher_is_better
    return name, HIGHER_IS_BETTER[name] if higher is None else bool(higher)


def get_config_string(
    params: Mapping[str, object],
    keys: Sequence[str] | None = None,
    units: Mapping[str, str] | None = None,
) -> str:
    """A row or a configuration in a line, numbers of floating point with three decimals."""
    shown = [
        f"{name}={value:.3f}{(units or {}).get(name, '')}"
        if isinstance(value, float)
        else f"{name}={value}{(units or {}).get(name, '')}"
        for name, value in params.items()
        if not keys or name in keys
    ]
    return ", ".join(shown)


def get_instance_string(params: Mapping[str, object]) -> str:
    """The values of a configuration with underscores between."""
    return "_".join(map(str, params.values()))


def read_file(filename: str | Path) -> str:
    """The text of a file."""
    return read_bytes(Path(filename)).decode("utf-8")


def write_file(filename: str | Path, string: str) -> None:
    """Write a text to a file."""
    Path(filename).write_text(string, encoding="utf-8")
