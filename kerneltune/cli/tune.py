"""The commands `kerneltune tune` and `kerneltune report`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kerneltune.cli.failures import print_json, reporting
from kerneltune.cli.options import Asked, Backend, Json, asking
from kerneltune.errors import InputError, RunError

if TYPE_CHECKING:
    from kerneltune.running.trial import Outcome
    from kerneltune.tuning.store import Store

StorePath = Annotated[
    Path | None,
    typer.Option(
        "--store", help="The sqlite file of measured trials; by default in the user's cache folder."
    ),
]


@asking
def tune(
    asked: Asked,
    top: Annotated[int, typer.Option(min=1, help="Number of tilings, by predicted time.")] = 20,
    each: Annotated[int, typer.Option(min=0, help="Number of further tilings of each strategy.")] = 1,
    compiler: Backend = "nvrtc",
    runs: Annotated[int, typer.Option(min=1, help="Number of runs whose results must be bitwise equal.")] = 3,
    timed: Annotated[int, typer.Option(min=1, help="Number of launches to time.")] = 20,
    seed: Annotated[int | None, typer.Option(help="Seed of the input; random by default.")] = None,
    timeout: Annotated[float, typer.Option(help="Time limit in seconds for each candidate.")] = 120.0,
    again: Annotated[
        bool, typer.Option("--again", help="Measure trials again that are in the store.")
    ] = False,
    store_path: StorePath = None,
    as_json: Json = False,
) -> None:
    """Measure the best tilings on this machine's GPU, store the results, and print them ranked."""
    with reporting(as_json):
        from kerneltune.compiling.compile import Compiler
        from kerneltune.running.measure import TrialPlan
        from kerneltune.tuning.store import Store
        from kerneltune.tuning.tuner import TuneOptions
        from kerneltune.tuning.tuner import tune as tuned

        space = asked.space()
        fresh = int.from_bytes(os.urandom(4), "little") if seed is None else seed
        plan = TrialPlan(runs=runs, timed=timed, seed=fresh)
        options = TuneOptions(top, each, again, timeout, plan)
        made = Compiler(space.kernels, space.profile, backend=compiler)
        store = Store(store_path, notice=lambda sentence: typer.echo(sentence, err=True))
        found = tuned(space, made, store, options, notice=_notice)
        for reason in found.left_out:
            typer.echo(f"left out: {reason}", err=True)
        if as_json:
            status = "passed" if found.ranked else "failed"
            print_json(
                {"status": status, "gpu": space.profile.name, "store": str(store.path), **found.to_json()}
            )
        else:
            from kerneltune.cli.tables import show_tuned

            show_tuned(found, store.path)
        if not found.ranked:
            raise typer.Exit(RunError.exit_code)


def _notice(outcome: Outcome, known: bool) -> None:
    measured = outcome.measurement
    if measured is None:
        said = f"lost: {outcome.failure}"
    elif not outcome.passed:
        said = f"WRONG: {measured.verdict}"
    else:
        said = f"{measured.milliseconds} ms" + (" (from the store)" if known else "")
    typer.echo(f"{outcome.candidate.strategy} {outcome.candidate.cycles} cycles: {said}", err=True)


def report(
    store_path: StorePath = None,
    gpu: Annotated[str | None, typer.Option(help="Use only this profile's trials.")] = None,
    first: Annotated[
        int,
        typer.Option("--top", min=1, help="Judge the model on its N best tilings of each request."),
    ] = 20,
    as_json: Json = False,
) -> None:
    """Print the fastest measured tilings, and how well the cost model ranks them."""
    with reporting(as_json):
        from kerneltune.tuning.report import make_report

        store = opened_store(store_path)
        made = make_report(store.trials(gpu), first)
        if as_json:
            print_json({"store": str(store.path), **made.to_json()})
            return
        from kerneltune.cli.tables import show_report

        show_report(made, store.path)


def opened_store(path: Path | None) -> Store:
    """The store to read: the user's own, or a file that must exist."""
    from kerneltune.tuning.store import Store

    if path is not None and not path.is_file():
        raise InputError(f"--store: there is no file {path}")
    return Store(path)
