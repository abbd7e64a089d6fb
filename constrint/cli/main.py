"""The `constrint` command: solve, check, explain and format `.constrint` files; build sets of solutions.

Exit codes: 0 found or done, 1 infeasible (with the reason), 2 bad input (with its place). With `--json`,
standard output has one JSON document and nothing else.
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
    typer.Option("--assume", "-A", metavar="CONDITION", help="A further condition for this call."),
]

Count = Annotated[bool, typer.Option("--count", help="Print the number of solutions only.")]
Sample = Annotated[int | None, typer.Option(min=1, metavar="N", help="Draw N solutions at random.")]
Seed = Annotated[int, typer.Option(help="Seed of --sample.")]
TimeLimit = Annotated[
    float | None,
    typer.Option(min=0.0, metavar="SECONDS", help="Stop after this time; exit code 3 if undecided."),
]
Workers = Annotated[int | None, typer.Option(min=1, metavar="N", help="Search with N workers in parallel.")]
Memory = Annotated[
    int | None, typer.Option(min=1, metavar="MB", help="Memory limit of reading and building.")
]
Given = Annotated[
    list[str] | None,
    typer.Option(
        metavar="CONDITION",
        help="Keep the solutions with NAME=VALUE, 'NAME in LOW..HIGH' or 'NAME in {A, B}'; may be repeated.",
    ),
]
Out = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="Write the list as .parquet, .csv or .npy, the set as .npz, T1 as .json."
    ),
]
Picture = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Draw values and pairs as .svg, or as .html, a page to explore."),
]
PictureEdges = Annotated[
    int | None,
    typer.Option(
        min=0,
        metavar="N",
        help="The most edges of the diagram that a page holds (usually 1,000,000); beyond, it is static.",
    ),
]


@contextmanager
def reported() -> Iterator[None]:
    """Turn errors of the user's input, Ctrl-C and closed pipes into messages and exit codes."""
    try:
        yield
        sys.stdout.flush()
    except ReadingStopped as error:
        typer.secho(f"unknown: {error}", err=True)
        raise typer.Exit(STOPPED) from None
    except (ConstrintError, BadInputError) as error:
        typer.secho(str(error) if isinstance(error, ParseError) else f"error: {error}", err=True)
        raise typer.Exit(BAD_INPUT) from None
    except RecursionError:
        message = "error: an expression is nested too deeply\nhint: name inner parts: y := …"
        typer.secho(message, err=True)
        raise typer.Exit(BAD_INPUT) from None
    except BrokenPipeError:
        # The reader has closed the pipe, as in `constrint solve --all … | head`: nothing more can be written.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(128 + signal.SIGPIPE) from None
    except OSError as error:
        # Reading files reports its own errors, so this is about the output, for example a full disk. Drop the
        # buffer.
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
    every: Annotated[bool, typer.Option("--all", help="Print all solutions, one per line.")] = False,
    count: Count = False,
    sample: Sample = None,
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="With --all: stop after N solutions.")
    ] = None,
    seed: Seed = 0,
    time_limit: TimeLimit = None,
    learn: Annotated[
        bool, typer.Option("--learn", help="Learn clauses from failures; good for scheduling.")
    ] = False,
    proof: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the proof of --learn for a proof checker.")
    ] = None,
    progress: Annotated[
        bool, typer.Option("--progress", help="Show the progress of the search on a terminal.")
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
            raise BadInputError("--all, --count and --sample exclude each other: give one of them")
        if limit is not None and not every:
            raise BadInputError("--limit needs --all")
        if (learn and (every or count or sample is not None)) or (proof is not None and not learn):
            raise BadInputError(
                "--learn finds one solution: leave out --all, --count and --sample; --proof needs --learn"
            )
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
        str,
        typer.Argument(
            metavar="FILE",
            help="A file as for `solve`, or a tuner's search space in JSON (T1 or tune_params).",
        ),
    ],
    count: Count = False,
    every: Annotated[
        bool, typer.Option("--list", help="Print all solutions in order, one per line.")
    ] = False,
    sample: Sample = None,
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="With --list: stop after N solutions.")
    ] = None,
    seed: Seed = 0,
    given: Given = None,
    out: Out = None,
    picture: Picture = None,
    picture_edges: PictureEdges = None,
    time_limit: TimeLimit = None,
    memory: Memory = None,
    json: Json = False,
    define: Define = None,
    assume: Assume = None,
    dialect: Dialect = "constrint",
    limits: Limits | None = None,
) -> None:
    """Build the set of all solutions; print its size, samples or a list; write files and pictures."""
    with reported():
        budget = budget_of(limits, time_limit, memory)
        from constrint.cli.space import Request, Shown, describe

        if sum([every, count, sample is not None]) > 1:
            raise BadInputError("--list, --count and --sample exclude each other: give one of them")
        if limit is not None and not every:
            raise BadInputError("--limit needs --list")
        shown: Shown = "list" if every else "count" if count else "summary" if sample is None else "sample"
        source = load_space(file, dialect, define, assume, budget)
        request = Request(
            shown,
            number=sample or limit,
            seed=seed,
            given=tuple(given or ()),
            out=out,
            picture=picture,
            picture_edges=picture_edges,
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
    explain: Annotated[
        bool, typer.Option("--explain", help="Print the solving methods and the reason for each.")
    ] = False,
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
        float,
        typer.Option(min=0.0, metavar="SECONDS", help="Stop the search for a conflict after this time."),
    ] = 60.0,
    json: Json = False,
    define: Define = None,
    assume: Assume = None,
    dialect: Dialect = "constrint",
    memory: Memory = None,
    limits: Limits | None = None,
) -> None:
    """Print the constraints of an infeasible model that contradict each other."""
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
        bool,
        typer.Option(
            "--check", help="Print the files that would change, and change none; exit code 1 if any."
        ),
    ] = False,
    time_limit: TimeLimit = None,
    memory: Memory = None,
    limits: Limits | None = None,
) -> None:
    """Format files; comments are kept. Without options the result goes to standard output."""
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
    """Write a temporary file and rename it, so that a crash leaves the old file."""
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
    # Print integers of any length: exact models have exact answers.
    sys.set_int_max_str_digits(0)
    app()
