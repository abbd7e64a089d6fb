"""The `constrint` command: solve, check, explain and format `.constrint` files; whole spaces of solutions.

Exit codes: 0 found or done, 1 infeasible (with the reason), 2 bad input (with its place). With `--json` the
answer is one JSON document on standard output and nothing else is written there.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from constrint.cli.inputs import BadInputError, budget_of, load, load_space, read_text, shown_name
from constrint.cli.limits import takes_limits
from constrint.errors import ConstrintError, ParseError
from constrint.model import Model
from constrint.support.limits import (
    Budget,
    Limits,
    ReadingStopped,
)

INFEASIBLE, BAD_INPUT, STOPPED = 1, 2, 3

app = typer.Typer(
    name="constrint",
    help="Solve integer constraint models written in the .constrint language.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

File = Annotated[
    str,
    typer.Argument(metavar="FILE", help="A .constrint, .json, .fzn or .xml file, or - for standard input."),
]
Json = Annotated[bool, typer.Option("--json", help="Write one JSON document to standard output.")]
Dialect = Annotated[
    str, typer.Option(help="The language of the file: constrint, flashrnn, json, flatzinc or xcsp3.")
]
Define = Annotated[
    list[str] | None,
    typer.Option(
        "--define", "-D", metavar="NAME=VALUE", help="A constant, or a list of them: 64, or 16,32,64."
    ),
]
Assume = Annotated[
    list[str] | None,
    typer.Option("--assume", "-A", metavar="CONDITION", help="A condition that holds for this call only."),
]

Count = Annotated[bool, typer.Option("--count", help="Only the number of solutions.")]
Sample = Annotated[int | None, typer.Option(min=1, metavar="N", help="N solutions drawn at random.")]
Seed = Annotated[int, typer.Option(help="Seed of --sample.")]
TimeLimit = Annotated[
    float | None,
    typer.Option(min=0.0, metavar="SECONDS", help="Stop after this time; exit code 3 if undecided."),
]
Workers = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Search with N workers, each a part of the tree.")
]
Memory = Annotated[
    int | None, typer.Option(min=1, metavar="MB", help="Read and build in so much memory at most.")
]
Given = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=VALUE", help="Only solutions with this value; may be repeated."),
]
Out = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="All as .parquet, .csv or .npy; the set as .npz; T1 as .json."),
]
Picture = Annotated[
    str | None, typer.Option(metavar="FILE", help="Values, pairs and the diagram as .svg or .html.")
]


@contextmanager
def reported() -> Iterator[None]:
    """Turns errors of the user's input, Ctrl-C and a closed pipe into messages and exit codes."""
    try:
        yield
        sys.stdout.flush()
    except ReadingStopped as error:
        typer.secho(f"unknown: {error}", err=True)
        raise typer.Exit(STOPPED) from None
    except (ConstrintError, BadInputError) as error:
        typer.secho(str(error) if isinstance(error, ParseError) else f"error: {error}", err=True)
        raise typer.Exit(BAD_INPUT) from None
    except BrokenPipeError:
        # The reader has gone, as in `constrint solve --all … | head`; nothing more can be written.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(128 + signal.SIGPIPE) from None
    except OSError as error:
        # Reading has its own errors: this is the answer, on a full disk say. What is buffered is given up.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        typer.secho(f"error: cannot write the answer: {(error.strerror or str(error)).lower()}", err=True)
        raise typer.Exit(BAD_INPUT) from None
    except KeyboardInterrupt:
        typer.secho("interrupted", err=True)
        raise typer.Exit(128 + signal.SIGINT) from None


@app.command()
@takes_limits
def solve(
    file: File,
    every: Annotated[bool, typer.Option("--all", help="Every solution, one a line.")] = False,
    count: Count = False,
    sample: Sample = None,
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="At most N solutions, with --all.")
    ] = None,
    seed: Seed = 0,
    time_limit: TimeLimit = None,
    learn: Annotated[
        bool, typer.Option("--learn", help="Learn from failures: for schedules and the like.")
    ] = False,
    proof: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write what --learn proves, for a checker.")
    ] = None,
    progress: Annotated[
        bool, typer.Option("--progress", help="Show on a terminal how far one solution's search is.")
    ] = False,
    memory: Memory = None,
    workers: Workers = None,
    json: Json = False,
    define: Define = None,
    assume: Assume = None,
    dialect: Dialect = "constrint",
    limits: Limits | None = None,
) -> None:
    """Find a solution (the best one, if the file says what to optimise)."""
    with reported():
        budget = budget_of(limits, time_limit, memory)
        from constrint.cli.solve import Mode, Request, answer

        if sum([every, count, sample is not None]) > 1:
            raise BadInputError("--all, --count and --sample exclude each other")
        if limit is not None and not every:
            raise BadInputError("--limit goes with --all")
        if (learn and (every or count or sample is not None)) or (proof is not None and not learn):
            raise BadInputError("--learn finds one solution, and --proof goes with --learn")
        model = load(file, dialect, define, assume, budget)
        time_limit = budget.seconds_left
        mode: Mode = "all" if every else "count" if count else "one" if sample is None else "sample"
        request = Request(mode, sample or limit, seed, time_limit, json, learn, proof, progress, workers)
        code = answer(model, request)
        if code:
            raise typer.Exit(code)


@app.command()
@takes_limits
def space(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="As for solve, or a tuner's search space: T1, tune_params.")
    ],
    count: Count = False,
    every: Annotated[bool, typer.Option("--list", help="Every solution in order, one a line.")] = False,
    sample: Sample = None,
    limit: Annotated[int | None, typer.Option(min=1, metavar="N", help="At most N, with --list.")] = None,
    seed: Seed = 0,
    given: Given = None,
    out: Out = None,
    picture: Picture = None,
    time_limit: TimeLimit = None,
    memory: Memory = None,
    json: Json = False,
    define: Define = None,
    assume: Assume = None,
    dialect: Dialect = "constrint",
    limits: Limits | None = None,
) -> None:
    """Build the set of all solutions: its size, samples, lists, files and pictures."""
    with reported():
        budget = budget_of(limits, time_limit, memory)
        from constrint.cli.space import Request, Shown, describe

        if sum([every, count, sample is not None]) > 1:
            raise BadInputError("--list, --count and --sample exclude each other")
        if limit is not None and not every:
            raise BadInputError("--limit goes with --list")
        shown: Shown = "list" if every else "count" if count else "summary" if sample is None else "sample"
        source = load_space(file, dialect, define, assume, budget)
        request = Request(
            shown,
            number=sample or limit,
            seed=seed,
            given=tuple(given or ()),
            out=out,
            picture=picture,
            json=json,
            time_limit=budget.seconds_left,
            memory_limit=None if memory is None else memory * 1_000_000,
            limits=limits,
        )
        code = describe(source, shown_name(file), request)
        if code:
            raise typer.Exit(code)


@app.command()
@takes_limits
def check(
    file: File,
    json: Json = False,
    define: Define = None,
    dialect: Dialect = "constrint",
    time_limit: TimeLimit = None,
    memory: Memory = None,
    explain: Annotated[bool, typer.Option("--explain", help="Say how it will be solved, and why.")] = False,
    limits: Limits | None = None,
) -> None:
    """Check that a file is a valid model, without solving it."""
    with reported():
        budget = budget_of(limits, time_limit, memory)
        model = load(file, dialect, define, None, budget)
        facts = {
            "variables": len(model.variables),
            "definitions": len(model.lets),
            "constraints": len(model.constraints),
            "goals": len(model.goals) + len(model.preferences),
        }
        if json:
            from json import dumps

            methods = _methods(model, explain, budget)
            typer.echo(dumps({"file": shown_name(file), "valid": True, **facts, **methods}))
        else:
            typer.echo(
                f"{shown_name(file)}: {', '.join(f'{number} {what}' for what, number in facts.items())}"
            )
            for line in _methods(model, explain, budget).get("methods", []):
                typer.echo(line)


def _methods(model: Model, wanted: bool, budget: Budget) -> dict[str, list[str]]:
    """How a model will be solved, where that is asked for."""
    if not wanted:
        return {}
    from constrint.answers.plan import explain_methods

    return {"methods": explain_methods(model, budget.seconds_left)}


@app.command()
@takes_limits
def explain(
    file: File,
    time_limit: Annotated[
        float, typer.Option(min=0.0, metavar="SECONDS", help="Stop looking after this time.")
    ] = 60.0,
    json: Json = False,
    define: Define = None,
    assume: Assume = None,
    dialect: Dialect = "constrint",
    memory: Memory = None,
    limits: Limits | None = None,
) -> None:
    """Say which constraints of an infeasible model contradict each other."""
    with reported():
        budget = budget_of(limits, time_limit, memory)
        from constrint.cli.solve import explanation

        model = load(file, dialect, define, assume, budget)
        code = explanation(model, time_limit=budget.seconds_left or 0.0, json=json)
        if code:
            raise typer.Exit(code)


@app.command()
@takes_limits
def fmt(
    files: Annotated[list[str], typer.Argument(metavar="FILE…", help="Files, or - for standard input.")],
    write: Annotated[bool, typer.Option("--write", "-w", help="Change the files in place.")] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Only say which files would change; exit 1 if any.")
    ] = False,
    time_limit: TimeLimit = None,
    memory: Memory = None,
    limits: Limits | None = None,
) -> None:
    """Format files; comments stay. Without options the result goes to standard output."""
    with reported():
        budget, changed = budget_of(limits, time_limit, memory), False
        from constrint.frontends.text.format import format_text

        for file in files:
            text = read_text(file, budget)
            formatted = format_text(text, filename=shown_name(file), budget=budget)
            changed = changed or formatted != text
            if check:
                if formatted != text:
                    typer.echo(f"{shown_name(file)} would change")
            elif write and file != "-":
                if formatted != text:
                    replace_file(Path(file), formatted)
            else:
                sys.stdout.write(formatted)
        if check and changed:
            raise typer.Exit(1)


def replace_file(path: Path, text: str) -> None:
    """Write a file aside and put it in place at once, so that a crash leaves the old one."""
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        aside.write_bytes(text.encode())
        aside.chmod(path.stat().st_mode)
        aside.replace(path)
    except OSError as error:
        aside.unlink(missing_ok=True)
        raise BadInputError(f"cannot write {path}: {(error.strerror or str(error)).lower()}") from None


def main() -> None:
    """Entry point of the `constrint` command."""
    # Exact models have exact answers: integers of any length are printed.
    sys.set_int_max_str_digits(0)
    app()
