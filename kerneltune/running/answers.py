"""Answers of a child process, one line each; anything else, such as half a line, is refused."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kerneltune.running.child_output import LONGEST as LONGEST
from kerneltune.running.child_output import private_stdout as private_stdout
from kerneltune.running.child_output import say as say
from kerneltune.running.measure import Measurement

TIMES = ("milliseconds", "fastest", "microseconds_per_step", "predicted_microseconds_per_step")
SHOWN = 60  # characters shown of an invalid line


class BadAnswerError(ValueError):
    """A line that is not an answer; the text says why."""


@dataclass(frozen=True)
class Measured:
    """A trial was completed."""

    measurement: Measurement
    trial: int | None = None


@dataclass(frozen=True)
class Failed:
    """A trial, or all of them, failed.

    Attributes:
        reason: Why.
        exit_code: The exit code of the error's class.
        context_lost: Whether the process cannot continue.
    """

    reason: str
    exit_code: int | None = None
    context_lost: bool = False
    trial: int | None = None


@dataclass(frozen=True)
class Started:
    """A trial begins: its input is loaded."""

    trial: int | None


@dataclass(frozen=True)
class Ready:
    """The GPU on which trials would run."""

    device: str
    compute_capability: str


Answer = Measured | Failed | Started | Ready


def parsed(line: bytes) -> Answer:
    """The answer on a line; raises `BadAnswerError` for anything else."""
    if len(line) > LONGEST or not line.endswith(b"\n"):
        raise BadAnswerError(f"its answer was cut off or has no end: {_shown(line)}")
    try:
        data = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise BadAnswerError(f"its answer is no JSON ({error}): {_shown(line)}") from None
    if not isinstance(data, dict):
        raise BadAnswerError(f"its answer is no JSON object: {_shown(line)}")
    try:
        return _answer(data)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        said = f"'{error.args[0]}' is missing" if isinstance(error, KeyError) else str(error)
        raise BadAnswerError(f"its answer cannot be read, {said}: {_shown(line)}") from None


def _answer(data: dict[str, Any]) -> Answer:
    trial = data.get("trial")
    if trial is not None and type(trial) is not int:
        raise ValueError("'trial' is no number")
    if "measurement" in data:
        return Measured(checked_measurement(data["measurement"]), trial)
    if "failure" in data:
        code = data.get("exit_code")
        if code is not None and type(code) is not int:
            raise ValueError("'exit_code' is no number")
        return Failed(_text(data, "failure"), code, data.get("context_lost") is True, trial)
    if "started" in data:
        if type(data["started"]) is not int:
            raise ValueError("'started' is no number")
        return Started(data["started"])
    return Ready(_text(data, "device"), _text(data, "compute_capability"))


def checked_measurement(data: Any) -> Measurement:
    """A measurement with plausible numbers; raises `ValueError`, `KeyError` or `TypeError` otherwise."""
    if not isinstance(data, Mapping):
        raise ValueError("'measurement' is no JSON object")
    for name in ("device", "verdict"):
        _text(data, name)
    if type(data["right"]) is not bool:
        raise ValueError("'right' is neither true nor false")
    for name in ("seed", "runs", "runs_with_same_bits"):
        if type(data[name]) is not int:
            raise ValueError(f"'{name}' is no whole number")
    if not 0 <= data["runs_with_same_bits"] <= data["runs"]:
        raise ValueError("'runs_with_same_bits' is not from 0 to 'runs'")
    error = data["relative_error"]
    if error is not None and not (_number(data, "relative_error") >= 0):
        raise ValueError(f"'relative_error' is {error}")
    for name in TIMES:
        if data.get(name) is not None and not (0 < _number(data, name) < math.inf):
            raise ValueError(f"'{name}' is {data[name]}: no time is")
    if data.get("ratio") is not None and not (0 <= _number(data, "ratio") < math.inf):
        raise ValueError(f"'ratio' is {data['ratio']}")
    return Measurement.from_json(dict(data))


def _number(data: Mapping[str, Any], name: str) -> float:
    value = data[name]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"'{name}' is no number")
    return float(value)


def _text(data: Mapping[str, Any], name: str) -> str:
    value = data[name]
    if not isinstance(value, str):
        raise ValueError(f"'{name}' is no text")
    value.encode("utf-8")  # refuses what cannot be written anywhere, such as lone surrogates
    return value


def _shown(line: bytes) -> str:
    text = line[: 4 * SHOWN].decode("utf-8", errors="replace").strip()
    return repr(text if len(text) <= SHOWN else text[:SHOWN] + "…")
