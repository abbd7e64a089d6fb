"""The `constrint` command: solve, check, explain and format `.constrint` files; build sets of solutions.

Exit codes: 0 found or done, 1 infeasible (with the reason), 2 bad input (with its place), 3 undecided within
the limits, 4 the answer could not be written, 130 interrupted. With `--json`, standard output has one JSON
document and nothing else.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from constrint.cli import process
from constrint.cli.failures import STOPPED, reporting, run_app
from constrint.cli.inputs import (
    BadInputError,
    ReadingOptions,
    load,
    load_annotated,
    load_space,
    read_text,
    shown_name,
)
from constrint.cli.options import (
    HELP,
    FileName,
    SearchArguments,
    budget_options,
    checking_options,
    count_option,
    file_argument,
    json_option,
    reading_options,
    sample_option,
    search_options,
    seed_option,
    workers_option,
)
from constrint.cli.serving import lsp
from constrint.cli.starting import bench, compile_ahead, completion, new
from constrint.cli.verify import verify
from constrint.support.command import run_command
from constrint.support.deadline import Stopped, until
from constrint.support.long_numbers import counted
from constrint.support.placing import replace
from constrint.support.version import version

if TYPE_CHECKING:
    from constrint.frontends.flatzinc import FlatModel
    from constrint.model import Model
    from constrint.support.limits import Budget


def _show_version(context: click.Context, _: click.Parameter, is_asked: bool) -> None:
    if is_asked and not context.resilient_parsing:
        click.echo(f"constrint {version()}")
        context.exit()


@click.group(context_settings=HELP, no_args_is_help=True)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_show_version,
    help="Show the version.",
)
def app() -> None:
    """Solve integer constraint models written in the .constrint language.

    A FILE is a model (.constrint, .json, .fzn, .xml, .lp, .mps, .cnf, .wcnf or .opb, also compressed as .gz,
    .bz2 or .xz), or - for standard input. DATA are .json, .yaml or .csv files with values of its parameters.
    """


for command in (new, bench, compile_ahead, completion, lsp, verify):
    app.add_command(command)


@app.command()
@reporting
@file_argument
@click.option("--all", "every", is_flag=True, help="Print all solutions, one per line.")
@count_option
@sample_option
@click.option("--limit", type=click.IntRange(1), metavar="N", help="With --all: stop after N solutions.")
@click.option("--explain", is_flag=True, help="Print the method, and what took no part and why.")
@seed_option
@workers_option
@json_option
@reading_options
@search_options
@budget_options()
def solve(
    *,
    file: str,
    every: bool,
    count: bool,
    sample: int | None,
    limit: int | None,
    explain: bool,
    seed: int | None,
    workers: int | None,
    json: bool,
    reading: ReadingOptions,
    search: SearchArguments,
    budget: Budget,
) -> None:
    """Find a solution (the best one, if the file says what to optimise)."""
    from constrint.cli.solve import Mode, SolveRequest, answer

    _exclusive(all=every, count=count, sample=sample is not None)
    if limit is not None and not every:
        raise BadInputError("--limit needs --all")
    if count and seed is not None:
        raise BadInputError("--seed has no meaning with --count, which makes no random choice: leave it out")
    mode: Mode = "all" if every else "count" if count else "one" if sample is None else "sample"
    if search.log and mode == "sample":
        raise BadInputError("--log has no meaning with --sample, which does not search: leave it out")
    about_one = [name for name in search.chosen if name != "log"]
    if (about_one or explain) and mode != "one":
        option = f"--{next(iter(about_one), 'explain')}"
        raise BadInputError(
            f"{option} is about the search for one solution: leave out --all, --count and --sample"
        )
    if search.proof is not None and not search.learn:
        raise BadInputError("--proof needs --learn")
    arguments = search.arguments()
    model = load(file, reading, budget)
    seconds, memory = budget.seconds_left, budget.memory
    request = SolveRequest(
        mode, sample or limit, seed or 0, seconds, memory, json, workers, arguments, explain=explain
    )
    _exit(answer(model, request))


@app.command()
@reporting
@file_argument
@count_option
@click.option("--list", "every", is_flag=True, help="Print all solutions in order, one per line.")
@sample_option
@click.option("--limit", type=click.IntRange(1), metavar="N", help="With --list: stop after N solutions.")
@seed_option
@click.option(
    "--given",
    multiple=True,
    metavar="CONDITION",
    help="Keep the solutions with NAME=VALUE, 'NAME in LOW..HIGH' or 'NAME in {A, B}'; may be repeated.",
)
@click.option(
    "--out", metavar="FILE", help="Write the list as .parquet, .csv or .npy, the set as .npz, T1 as .json."
)
@click.option(
    "--picture", metavar="FILE", help="Draw values and pairs as .svg, or as .html, a page to explore."
)
@click.option(
    "--picture-edges",
    type=click.IntRange(0),
    metavar="N",
    help="The most edges of the diagram that a page holds (usually 1,000,000); beyond, it is static.",
)
@json_option
@reading_options
@budget_options()
def space(
    *,
    file: str,
    count: bool,
    every: bool,
    sample: int | None,
    limit: int | None,
    seed: int | None,
    given: tuple[str, ...],
    out: str | None,
    picture: str | None,
    picture_edges: int | None,
    json: bool,
    reading: ReadingOptions,
    budget: Budget,
) -> None:
    """Build the set of all solutions; print its size, samples or a list; write files and pictures.

    FILE may also be a tuner's search space in JSON (T1 or tune_params).
    """
    from constrint.cli.space import Shown, SpaceRequest, describe

    _exclusive(list=every, count=count, sample=sample is not None)
    if limit is not None and not every:
        raise BadInputError("--limit needs --list")
    if seed is not None and sample is None:
        raise BadInputError("--seed is that of --sample: give both, or leave it out")
    if picture_edges is not None and (picture is None or not picture.lower().endswith(".html")):
        raise BadInputError("--picture-edges is about a page: give --picture FILE.html, or leave it out")
    shown: Shown = "list" if every else "count" if count else "summary" if sample is None else "sample"
    source = load_space(file, reading, budget)
    request = SpaceRequest(
        shown,
        number=sample or limit,
        seed=seed or 0,
        given=given,
        out=out,
        picture=picture,
        picture_edges=picture_edges,
        json=json,
        time_limit=budget.seconds_left,
        memory_limit=budget.memory,
        limits=budget.limits,
    )
    _exit(describe(source, shown_name(file), request))


@app.command()
@reporting
@file_argument
@click.option(
    "--explain",
    is_flag=True,
    help="Print the solving methods and members of a portfolio, each with a reason.",
)
@json_option
@checking_options
@budget_options()
def check(*, file: str, explain: bool, json: bool, reading: ReadingOptions, budget: Budget) -> None:
    """Check that a file is a valid model, without solving it."""
    model, flat = load_annotated(file, reading, budget)
    facts = {
        "variables": len(model.variables),
        "definitions": len(model.lets),
        "constraints": len(model.constraints),
        "goals": len(model.goals) + len(model.preferences),
    }
    methods = _methods(model, flat, budget) if explain else {}
    if json:
        from json import dumps

        click.echo(dumps({"file": shown_name(file), "valid": True, **facts, **methods}))
        return
    click.echo(
        f"{shown_name(file)}: {', '.join(counted(number, what[:-1]) for what, number in facts.items())}"
    )
    for line in methods.get("methods", []):
        click.echo(line)


def _methods(model: Model, flat: FlatModel | None, budget: Budget) -> dict[str, list[str]]:
    """How a model will be solved; one of FlatZinc by its annotations, as `fzn-constrint` does."""
    from constrint.answers.plan import explain_methods

    if flat is None:
        return {"methods": explain_methods(model, budget.seconds_left)}
    from constrint.cli.flatzinc_answers import MiniZincOptions, annotated, brancher, restarts

    options = MiniZincOptions()
    by, again = brancher(flat, options), restarts(flat, options)
    return {"methods": [*annotated(flat), *explain_methods(model, budget.seconds_left, by, again)]}


@app.command()
@reporting
@file_argument
@click.option("--all", "every", is_flag=True, help="Print all minimal conflicts.")
@click.option("--corrections", is_flag=True, help="Print all minimal sets of constraints to remove.")
@json_option
@reading_options
@budget_options(default_seconds=60.0)
def explain(
    *, file: str, every: bool, corrections: bool, json: bool, reading: ReadingOptions, budget: Budget
) -> None:
    """Print the constraints of an infeasible model that contradict each other."""
    from constrint.cli.solve import explanation, explanations

    if every and corrections:
        raise BadInputError("--all and --corrections exclude each other: give one of them")
    model = load(file, reading, budget)
    seconds = budget.seconds_left or 0.0
    if every or corrections:
        _exit(explanations(model, corrections, time_limit=seconds, json=json))
    else:
        _exit(explanation(model, time_limit=seconds, json=json))


@app.command()
@reporting
@file_argument
@click.argument("out", metavar="OUT", type=FileName(allow_dash=True))
@click.option(
    "--to",
    metavar="FORMAT",
    help="The format of OUT, where its ending says none: constrint, json, flatzinc, xcsp3, lp, mps, cp-sat.",
)
@reading_options
@budget_options()
def convert(*, file: str, out: str, to: str | None, reading: ReadingOptions, budget: Budget) -> None:
    """Write a model in another format, to the file OUT or, for -, to standard output."""
    if out == "-" and to is None:
        raise BadInputError("standard output has no ending: give the format, such as --to lp")
    model = load(file, reading, budget)
    try:
        with until(budget.deadline):
            if out != "-":
                model.write(out, dialect=to)
                return
            text = model.to_text(dialect=to or "").rstrip("\n")
    except Stopped:
        click.echo("unknown: the time limit was reached while the model was being written", err=True)
        _exit(STOPPED)
    except (OSError, ValueError) as error:  # ValueError: a NUL byte in the name
        reason = getattr(error, "strerror", None) or str(error)
        raise BadInputError(f"cannot write {out}: {reason.lower()}") from None
    click.echo(text)


@app.command()
@reporting
@click.argument("files", metavar="FILE…", nargs=-1, required=True, type=FileName(allow_dash=True))
@click.option("--write", "-w", is_flag=True, help="Change the files in place.")
@click.option(
    "--check",
    is_flag=True,
    help="Print the files that would change, and change none; exit code 1 if any.",
)
@budget_options()
def fmt(*, files: tuple[str, ...], write: bool, check: bool, budget: Budget) -> None:
    """Format files; comments are kept. Without options the result goes to standard output."""
    from constrint.frontends.text.format import format_text

    _exclusive(write=write, check=check)
    changed = False
    for file in files:
        text = read_text(file, budget)
        formatted = format_text(text, filename=shown_name(file), budget=budget)
        changed = changed or formatted != text
        if check:
            if formatted != text:
                click.echo(f"{shown_name(file)} would change")
        elif write and file != "-":
            if formatted != text:
                replace_file(Path(file), formatted)
        else:
            sys.stdout.write(formatted)
    _exit(1 if check and changed else 0)


def replace_file(path: Path, text: str) -> None:
    """Write a file whole, so that a crash leaves the old one."""
    try:
        replace(path, text.encode())
    except OSError as error:
        raise BadInputError(f"cannot write {path}: {(error.strerror or str(error)).lower()}") from None


def _exclusive(**given: bool) -> None:
    """Refuse more than one of the options."""
    if sum(given.values()) > 1:
        *names, last = [f"--{name}" for name in given]
        raise BadInputError(f"{', '.join(names)} and {last} exclude each other: give one of them")


def _exit(code: int) -> None:
    if code:
        raise click.exceptions.Exit(code)


def main() -> None:
    """Entry point of the `constrint` command."""
    process.begin()
    run_command(lambda: run_app(app))
