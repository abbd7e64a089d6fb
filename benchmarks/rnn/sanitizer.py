"""compute-sanitizer around the process that runs a kernel: the command, and parsing its log."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

TOOLS = ("memcheck", "racecheck", "synccheck")
PROGRAM = "compute-sanitizer"
# API errors are expected: cuda-python asks for functions that the driver may lack.
OPTIONS = {"memcheck": ("--report-api-errors", "no")}
# Macros for kernels that a tool runs. racecheck attributes an arrival at an mbarrier to the arriving lane
# alone, even if it arrives for its warp: for racecheck every lane arrives (cluster_exchange.cuh).
DEFINES: dict[str, tuple[str, ...]] = {"racecheck": ("KERNELTUNE_EVERY_LANE_ARRIVES",)}
# The last line of a log: memcheck and synccheck count errors, racecheck hazards, shown ones and all.
SUMMARY = re.compile(
    r"ERROR SUMMARY: (\d+) error|RACECHECK SUMMARY: (\d+) hazard\D*(?:(\d+) error\D*(\d+) warn)?"
)
SHOWN = 12  # most lines of findings that are shown


@dataclass(frozen=True)
class Finding:
    """A tool's result for one run.

    Attributes:
        tool: memcheck, racecheck or synccheck.
        errors: Number of errors or hazards; None if the tool did not finish.
        text: Their first lines.
    """

    tool: str
    errors: int | None
    text: str

    @property
    def clean(self) -> bool:
        return self.errors == 0


def available() -> bool:
    """Whether the tools are on PATH."""
    return shutil.which(PROGRAM) is not None


def command(tool: str, child: Sequence[str], log: Path, seconds: float) -> tuple[str, ...]:
    """The child's command under a tool; the process group is killed after ``seconds``.

    The tool writes to ``log``: standard output is for the child's answers.
    """
    around = (PROGRAM, "--tool", tool, "--log-file", str(log), "--print-limit", "5")
    ending = ("timeout", "--kill-after=2", f"{max(1, round(seconds))}")
    return (*ending, *around, *OPTIONS.get(tool, ()), *child)


def read(tool: str, log: Path) -> Finding:
    """The finding in a run's log; a log without its summary line means that the tool did not finish."""
    text = log.read_text(encoding="utf-8", errors="replace") if log.is_file() else ""
    summaries = [[int(number or 0) for number in numbers] for numbers in SUMMARY.findall(text)]
    lines = [line.strip("= ") for line in text.splitlines()]
    said = [line for line in lines if line and "COMPUTE-SANITIZER" not in line]
    shown = "\n".join(said[:SHOWN])
    if not summaries:
        return Finding(tool, None, shown)
    found = sum(
        max(errors + hazards, errors_of + warnings) for errors, hazards, errors_of, warnings in summaries
    )
    return Finding(tool, found, shown)
