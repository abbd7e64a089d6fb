"""Kernel Tuner's cache files: read for simulations, replays and resumed runs, and written."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from constrint.support.placing import replace
from kerneltune.errors import InputError
from kerneltune.inputs.files import json_text_of
from kerneltune.searching.protocol import Outcome

TIMES = ("compile_time", "verification_time", "benchmark_time", "strategy_time", "framework_time")
MILLISECONDS = 1e-3  # of a second


def cache_path(given: str | Path) -> Path:
    """The file of a cache's name, which may lack its ending."""
    text = str(given)
    return Path(text if text.endswith(".json") else f"{text}.json")


def read_cache(path: Path, names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The entries of a cache file by configuration.

    A file that a killed run left open, without its closing brackets, is read to its last whole entry.

    Raises:
        InputError: It is no cache file, or one of other parameters.
    """
    data = parsed(json_text_of(path, "the cache"))
    if data is None:
        raise InputError(f"{path} is not a cache file of Kernel Tuner")
    keys = data.get("tune_params_keys", list(names))
    if list(keys) != list(names):
        raise InputError(f"the cache {path} has the parameters {', '.join(keys)}, not {', '.join(names)}")
    return dict(data["cache"])


def parsed(text: str) -> dict[str, Any] | None:
    """The content of a cache file, to its last whole entry if it was left open; None if it is none."""
    last = text.rfind("},")
    for tried in (text, text.rstrip().rstrip(",") + "}}", text[: last + 1] + "}}"):
        try:
            data = json.loads(tried)
        except (ValueError, RecursionError):
            continue
        return data if isinstance(data, dict) and isinstance(data.get("cache"), dict) else None
    return None


def outcome_of(entry: Mapping[str, Any], names: Sequence[str]) -> Outcome:
    """The result of an entry; all its numbers but the parameters are objectives, and a text is a failure."""
    objectives = {
        name: float(value) for name, value in entry.items() if name not in names and is_number(value)
    }
    failure = None if is_number(entry["time"]) else str(entry["time"])
    seconds = [float(entry.get(key, 0.0)) * MILLISECONDS for key in ("compile_time", "benchmark_time")]
    configuration = {name: entry[name] for name in names}
    compiled, ran = seconds
    return Outcome(configuration, {} if failure else objectives, failure, compiled, ran)


def is_number(value: object) -> bool:
    """Whether a value of a file is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def key_of(configuration: Mapping[str, object], names: Sequence[str]) -> str:
    """A configuration's key in a cache file."""
    return ",".join(str(configuration[name]) for name in names)


def write_cache(
    path: Path,
    head: Mapping[str, object],
    params: Mapping[str, Sequence[object]],
    results: Sequence[Mapping[str, object]],
) -> None:
    """Write a cache file; raises `InputError` if that fails."""
    names = list(params)
    whole = {
        **head,
        "tune_params_keys": names,
        "tune_params": {name: list(values) for name, values in params.items()},
        "cache": {key_of(one, names): dict(one) for one in results},
    }
    try:
        replace(path, json.dumps(whole, indent=1, default=str).encode())
    except OSError as error:
        raise InputError(f"the cache {path} cannot be written: {error.strerror}") from None
