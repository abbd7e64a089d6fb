"""Hardware counters of a configuration, by Nsight Compute's command `ncu` around a measuring process.

A run under `ncu` is repeated for groups of counters and takes seconds, so it is a process of its own that
times nothing.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from pathlib import Path

from constrint.support.children import program_on_path
from kerneltune.errors import InputError, RunError

TOOL = "ncu"
NAME = re.compile(r"[A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)*")
NOT_PERMITTED = "ERR_NVGPUCTRPERM"
SAID = 300  # most characters of what the tool says


def check_counters(names: Sequence[str]) -> None:
    """Raise `InputError` for a name that cannot be a counter's."""
    for name in names:
        if not NAME.fullmatch(name):
            raise InputError(
                f"counters: {name!r} is no counter: names are those of `ncu --query-metrics`, "
                "such as dram__bytes.sum"
            )


def counting(command: Sequence[str], names: Sequence[str], kernel: str, log: Path) -> list[str]:
    """A command under `ncu`, which writes the counters of a kernel's first launch to a file.

    Args:
        command: The command of the measuring process.
        names: The counters.
        kernel: The kernel's name without template arguments.
        log: The file.

    Raises:
        InputError: The tool is not installed.
    """
    options = ["--csv", "--print-units", "base", "--metrics", ",".join(names), "--log-file", str(log)]
    return [tool(), *options, "--kernel-name", kernel, "--launch-count", "1", *command]


def tool() -> str:
    """Where the tool is; raises `InputError` if it is not installed."""
    found = program_on_path(TOOL)
    if found is None:
        raise InputError(
            f"counters need {TOOL}, the command of NVIDIA Nsight Compute, which is not found in PATH"
        )
    return found


def counted(text: str, names: Sequence[str]) -> dict[str, float]:
    """The counters in what `ncu` wrote.

    Raises:
        RunError: It has none; the message says why, as far as is known.
    """
    if NOT_PERMITTED in text:
        raise RunError(
            "the driver does not permit this user to read counters: run as root, or let the administrator "
            "load the driver with NVreg_RestrictProfilingToAdminUsers=0"
        )
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if '"Metric Name"' in line), None)
    found: dict[str, float] = {}
    for row in csv.DictReader(lines[start:]) if start is not None else ():
        name, value = str(row.get("Metric Name")), (row.get("Metric Value") or "").replace(",", "")
        if name in names and name not in found:
            try:
                found[name] = float(value)
            except ValueError:
                raise RunError(
                    f"the counter {name} is {value!r} on this GPU: it has no such counter"
                ) from None
    missing = [name for name in names if name not in found]
    if missing:
        said = " ".join(line for line in lines if line.startswith("==")) or "it wrote nothing"
        raise RunError(f"{TOOL} gives no {missing[0]}: {said[:SAID]}")
    return found
