"""Kernel Tuner's `file_utils`: T1 files are read, T4 files of results and metadata are written."""

from __future__ import annotations

import json
import platform
import subprocess
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from re import match
from typing import Any

from constrint.support.placing import replace
from kerneltune.errors import InputError
from kerneltune.inputs.files import json_text_of
from kerneltune.kernel_tuner.util import NpEncoder
from kerneltune.tuning.cache_files import TIMES, outcome_of
from kerneltune.tuning.recorded import T4_VERSION as T4_VERSION
from kerneltune.tuning.recorded import invalidity_of

PARTS = {
    "compile_time": "compilation",
    "benchmark_time": "benchmark",
    "framework_time": "framework",
    "strategy_time": "search_algorithm",
    "verification_time": "validation",
}
"""Times of a row, and their names in T4."""
PACKAGE = "constrint"


def get_input_file(filepath: str | Path, validate: bool = True) -> dict[str, Any]:
    """The content of a T1 file.

    Args:
        filepath: The file.
        validate: Whether its parts are looked for.

    Raises:
        InputError: It cannot be read, or is no T1 file.
    """
    try:
        found = json.loads(json_text_of(Path(filepath), "the T1 file"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{filepath} is no JSON: {error}") from None
    if not isinstance(found, dict):
        raise InputError(f"{filepath} is no T1 file: an object is expected")
    for part in ("ConfigurationSpace", "KernelSpecification") if validate else ():
        if not isinstance(found.get(part), dict):
            raise InputError(f"{filepath}: there is no {part}")
    return found


def filename_ensure_json_extension(filename: str | Path) -> str:
    """The file's name with the ending .json."""
    text = str(filename)
    return text if text.endswith(".json") else f"{text}.json"


def make_filenamepath(filenamepath: str | Path) -> None:
    """Make the folder of a file."""
    Path(filenamepath).parent.mkdir(parents=True, exist_ok=True)


def get_configuration_validity(error: object) -> str:
    """T4's word for what a row has in place of a time, or as `__error__`."""
    return invalidity_of(error) if isinstance(error, str) else "correct"


def get_t4_results(
    results: Sequence[Mapping[str, object]], tune_params: Mapping[str, object], objective: str = "time"
) -> dict[str, Any]:
    """Rows of `tune_kernel` as T4 has them."""
    if not isinstance(objective, str):
        raise ValueError("T4 has one objective: give its name")
    return {
        "results": [_t4_result(row, list(tune_params), objective) for row in results],
        "schema_version": T4_VERSION,
        "metadata": {"timeunit": "milliseconds"},
    }


def _t4_result(row: Mapping[str, Any], names: list[str], objective: str) -> dict[str, Any]:
    own = {*names, *TIMES, "timestamp", "times", "__error__"}
    failure = row.get("__error__")
    if failure is None and "time" in row:
        failure = outcome_of({**row}, names).failure
    found: dict[str, Any] = {"timestamp": row["timestamp"]} if "timestamp" in row else {}
    runtimes = row.get("times") or []
    times = {theirs: row.get(ours, 0.0) for ours, theirs in PARTS.items()}
    return {
        **found,
        "configuration": {name: row[name] for name in names},
        "times": {**times, "runtimes": list(runtimes)},
        "invalidity": "correct" if failure is None else invalidity_of(str(failure)),
        "correctness": 1 if failure is None else 0,
        "measurements": [
            {"name": name, "value": value, "unit": "ms" if name.startswith("time") else ""}
            for name, value in row.items()
            if name not in own
        ],
        "objectives": [objective],
    }


def store_output_file(
    output_filename: str | Path,
    results: Sequence[Mapping[str, object]],
    tune_params: Mapping[str, object],
    objective: str = "time",
) -> None:
    """Write rows of `tune_kernel` as a T4 file; raises `InputError` if that fails."""
    _write(output_filename, get_t4_results(results, tune_params, objective))


def get_t4_metadata() -> dict[str, Any]:
    """The machine, its GPUs as nvidia-smi names them, and the versions of packages, as T4 has them."""
    machine = {"machine": platform.machine(), "processor": platform.processor()}
    return {
        "metadata": {
            "hardware": {"hardware_description": [machine], "operating_system": platform.system()},
            "environment": {"device_query": _devices(), "requirements": _requirements()},
        },
        "schema_version": T4_VERSION,
    }


def _devices() -> dict[str, object]:
    wanted = "name,driver_version,memory.total,compute_cap"
    try:
        found = subprocess.run(
            ["nvidia-smi", f"--query-gpu={wanted}", "--format=csv,noheader"],
            capture_output=True,
            text=True,
            timeout=20,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return {}  # no NVIDIA driver here
    rows = [[one.strip() for one in line.split(",")] for line in found.stdout.splitlines() if line.strip()]
    return {"nvidia-smi": [dict(zip(wanted.split(","), row, strict=False)) for row in rows]}


def _requirements() -> list[str]:
    found = [f"{PACKAGE}=={version(PACKAGE)}"]
    for one in requires(PACKAGE) or []:
        name = match(r"[\w.-]+", one)
        try:
            found.append(f"{name[0]}=={version(name[0])}" if name else one)
        except PackageNotFoundError:
            continue  # an extra that is not installed
    return sorted(set(found))


def store_metadata_file(metadata_filename: str | Path) -> None:
    """Write the machine and the versions of packages as a T4 file; raises `InputError` if that fails."""
    _write(metadata_filename, get_t4_metadata())


def _write(name: str | Path, content: Mapping[str, object]) -> None:
    path = Path(filename_ensure_json_extension(name))
    try:
        make_filenamepath(path)
        replace(path, json.dumps(content, indent=1, cls=NpEncoder).encode())
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}") from None
