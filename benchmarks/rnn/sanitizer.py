"""compute-sanitizer around the process that runs a kernel: the command, and what its log says."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kerneltune.candidate import Candidate

TOOLS = ("memcheck", "racecheck", "synccheck")
PROGRAM = "compute-sanitizer"
OPTIONS = {
    # What the driver refuses is the caller's to judge: cuda-python asks for functions that it may lack.
    "memcheck": ("--print-limit", "5", "--report-api-errors", "no"),
    "racecheck": ("--print-limit", "0"),  # all, since each is judged
    "synccheck": ("--print-limit", "5"),
}
# The last line of a log: memcheck and synccheck count errors, racecheck hazards, shown ones and all.
SUMMARY = re.compile(
    r"ERROR SUMMARY: (\d+) error|RACECHECK SUMMARY: (\d+) hazard\D*(?:(\d+) error\D*(\d+) warn)?"
)
RACE = "Race reported between"
# One side of a race; the source is named where the machine code knows its lines.
ACCESS = re.compile(r"(Read|Write) access at \S+(?: in ([\w.]+):\d+)?(?: \[(\d+) hazards?\])?")
SHOWN = 12  # lines of what was found


@dataclass(frozen=True)
class Finding:
    """What a tool said of one run.

    Attributes:
        tool: memcheck, racecheck or synccheck.
        errors: How many errors or hazards; None where the tool did not come to its end.
        text: The first lines of them.
        known: How many hazards besides are none, see `is_ordered`.
    """

    tool: str
    errors: int | None
    text: str
    known: int = 0

    @property
    def clean(self) -> bool:
        return self.errors == 0


def available() -> bool:
    """Whether the tools are on PATH."""
    return shutil.which(PROGRAM) is not None


def command(tool: str, child: Sequence[str], log: Path, seconds: float) -> tuple[str, ...]:
    """The child's command under a tool, ended with all that it started after ``seconds``.

    What the tool says goes to ``log``: standard output is for the child's answers.
    """
    around = (PROGRAM, "--tool", tool, "--log-file", str(log), *OPTIONS[tool], *child)
    return ("timeout", "--kill-after=2", f"{max(1, round(seconds))}", *around)


def read(tool: str, log: Path, candidate: Candidate | None = None) -> Finding:
    """What the log of a candidate's run says; without its last line the tool did not come to its end."""
    text = log.read_text(encoding="utf-8", errors="replace") if log.is_file() else ""
    summaries = [[int(number or 0) for number in numbers] for numbers in SUMMARY.findall(text)]
    lines = [line.strip("= ") for line in text.splitlines()]
    said = [line for line in lines if line and "COMPUTE-SANITIZER" not in line]
    shown = "\n".join(said[:SHOWN])
    if not summaries:
        return Finding(tool, None, shown)
    known = 0
    if tool == "racecheck" and candidate is not None:
        known = sum(is_ordered(race, candidate) for race in " ".join(said).split(RACE)[1:])
    found = sum(
        max(errors + hazards, errors_of + warnings) for errors, hazards, errors_of, warnings in summaries
    )
    return Finding(tool, found - known, shown, known)


def is_ordered(race: str, candidate: Candidate) -> bool:
    """Whether a race of racecheck's is none: partial sums in a cluster, which an mbarrier orders.

    Warps read them, and one lane of each arrives at the mbarrier that all wait for before they write again
    (kernels/_common/cluster_exchange.cuh). racecheck takes the arrival for the reads of that lane alone: it
    counts hazards of the other 31. If the order were lost, it would count 32.
    """
    if candidate.strategy != "cluster" or candidate.parameters["k_splits"] < 2:
        return False
    accesses = ACCESS.findall(race)
    if len(accesses) < 2 or any(source != "partial_sums.cuh" for _, source, _ in accesses):
        return False
    (first, _, _), *others = accesses
    return all(kind != first and hazards and int(hazards) % 31 == 0 for kind, _, hazards in others)
