"""The command `fzn-constrint`, which MiniZinc calls; `--install` registers it with MiniZinc."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from constrint.cli import process
from constrint.cli.failures import reporting, run_app
from constrint.cli.flatzinc_answers import UNKNOWN, MiniZincOptions, report
from constrint.cli.inputs import BadInputError, budget_of, read_text, shown_name
from constrint.cli.options import HELP, limit_options, memory_option
from constrint.frontends.flatzinc import read_flatzinc
from constrint.support.command import run_command
from constrint.support.limits import Limits, ReadingStopped
from constrint.support.placing import replace
from constrint.support.version import version


@click.command(name="fzn-constrint", context_settings=HELP)
@reporting
@click.argument("file", metavar="FILE", default="-", type=click.Path(allow_dash=True))
@click.option("-a", "all_solutions", is_flag=True, help="All solutions; when optimising, each better one.")
@click.option("-i", "intermediate", is_flag=True, help="Print each better solution as it is found.")
@click.option(
    "-n", "count", type=click.IntRange(1), metavar="N", help="Stop after N solutions; not when optimising."
)
@click.option("-f", "free", is_flag=True, help="Ignore the search annotations.")
@click.option("-s", "statistics", is_flag=True, help="Print statistics.")
@click.option("-v", "verbose", is_flag=True, help="Write a log to standard error.")
@click.option("-t", "milliseconds", type=click.IntRange(0), metavar="MS", help="Time limit in milliseconds.")
@memory_option
@click.option("-r", "seed", type=int, default=0, help="Random seed.")
@click.option("-p", "workers", type=click.IntRange(1), default=1, metavar="N", help="Number of workers.")
@click.option(
    "--install", is_flag=True, help="Write the solver's description to ~/.minizinc/solvers and exit."
)
@limit_options
def app(
    *,
    file: str,
    milliseconds: int | None,
    memory: int | None,
    install: bool,
    limits: Limits,
    **given: Any,
) -> None:
    """Solve a FlatZinc FILE, or standard input."""
    if install:
        click.echo(f"wrote {write_description()}; now: minizinc --solver constrint model.mzn")
        return
    budget = budget_of(limits, None if milliseconds is None else milliseconds / 1000, memory)
    try:
        flat = read_flatzinc(read_text(file, budget), shown_name(file), budget)
    except ReadingStopped as problem:
        write(f"% {problem}")
        write(UNKNOWN)
        return
    report(flat, MiniZincOptions(seconds=budget.seconds_left, **given), write)


def write(line: str) -> None:
    """Print a line; flush at the end of a solution."""
    click.echo(line)
    if line.startswith("---"):
        sys.stdout.flush()


def description() -> dict[str, object]:
    """The solver description that MiniZinc reads."""
    from importlib.resources import files

    return {
        "id": "org.constrint.constrint",
        "name": "ConstrINT",
        "description": "Integer constraint solver in Python",
        "version": version(),
        "mznlib": str(files("constrint").joinpath("minizinc")),
        "executable": str(Path(sys.executable).with_name("fzn-constrint")),
        "tags": ["cp", "int", "constrint"],
        "stdFlags": ["-a", "-f", "-i", "-n", "-p", "-r", "-s", "-t", "-v"],
        "supportsMzn": False,
        "supportsFzn": True,
        "needsSolns2Out": True,
        "needsMznExecutable": False,
        "needsStdlibDir": False,
        "isGUIApplication": False,
    }


def write_description(folder: Path | None = None) -> Path:
    """Write the description to MiniZinc's solver folder; returns the path."""
    try:
        folder = folder or Path.home() / ".minizinc" / "solvers"
    except RuntimeError as error:  # no HOME, and no entry among the users
        raise BadInputError(f"{str(error).lower().rstrip('.')}: set HOME") from None
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / "constrint.msc"
    replace(place, (json.dumps(description(), indent=2) + "\n").encode())
    return place


def main() -> None:
    """Run the command."""
    process.begin()
    run_command(lambda: run_app(app))
