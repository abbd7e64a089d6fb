"""The command `fzn-constrint`, which MiniZinc calls; `--install` registers it with MiniZinc."""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from constrint.cli.flatzinc_answers import UNKNOWN, Options, report
from constrint.cli.inputs import budget_of, read_text, shown_name
from constrint.cli.limits import takes_limits
from constrint.cli.main import reported
from constrint.frontends.flatzinc import read_flatzinc
from constrint.support.limits import Limits, ReadingStopped

app = typer.Typer(
    name="fzn-constrint", add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None
)


@app.command()
@takes_limits
def solve(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A .fzn file, or - for standard input.")] = "-",
    all_solutions: Annotated[
        bool, typer.Option("-a", help="All solutions; when optimising, each better one.")
    ] = False,
    intermediate: Annotated[
        bool, typer.Option("-i", help="Print each better solution as it is found.")
    ] = False,
    count: Annotated[int | None, typer.Option("-n", help="Stop after N solutions.")] = None,
    free: Annotated[bool, typer.Option("-f", help="Ignore the search annotations.")] = False,
    statistics: Annotated[bool, typer.Option("-s", help="Print statistics.")] = False,
    verbose: Annotated[bool, typer.Option("-v", help="Accepted.")] = False,
    milliseconds: Annotated[int | None, typer.Option("-t", min=0, help="Time limit in milliseconds.")] = None,
    memory: Annotated[
        int | None, typer.Option("--memory", min=1, metavar="MB", help="Memory limit of reading.")
    ] = None,
    seed: Annotated[int, typer.Option("-r", help="Random seed.")] = 0,
    workers: Annotated[int, typer.Option("-p", min=1, help="Number of workers.")] = 1,
    install: Annotated[
        bool,
        typer.Option("--install", help="Write the solver's description to ~/.minizinc/solvers and exit."),
    ] = False,
    limits: Limits | None = None,
) -> None:
    """Solve a FlatZinc file."""
    with reported():
        if install:
            typer.echo(f"wrote {write_description()}; now: minizinc --solver constrint model.mzn")
            return
        budget = budget_of(limits, None if milliseconds is None else milliseconds / 1000, memory)
        try:
            flat = read_flatzinc(read_text(file, budget), shown_name(file), budget)
        except ReadingStopped as problem:
            write(f"% {problem}")
            write(UNKNOWN)
            return
        options = Options(
            all_solutions, count, free, budget.seconds_left, seed, statistics, intermediate, workers
        )
        report(flat, options, write)


def write(line: str) -> None:
    """Print a line; flush at the end of a solution."""
    typer.echo(line)
    if line.startswith("---"):
        sys.stdout.flush()


def description() -> dict[str, object]:
    """The solver description that MiniZinc reads."""
    return {
        "id": "org.constrint.constrint",
        "name": "ConstrINT",
        "description": "Integer constraint solver in Python",
        "version": version("constrint"),
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
    folder = folder or Path.home() / ".minizinc" / "solvers"
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / "constrint.msc"
    place.write_text(json.dumps(description(), indent=2) + "\n", encoding="utf-8")
    return place


def main() -> None:
    """Run the command."""
    app()
