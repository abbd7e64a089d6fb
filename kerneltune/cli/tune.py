"""The commands `kerneltune tune` and `kerneltune report`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.exceptions import Exit

from kerneltune.cli.failures import print_json, reporting
from kerneltune.cli.options import (
    HELP,
    Asked,
    asking,
    compiler_option,
    json_option,
    random_seed_option,
    runs_option,
    store_option,
    timeout_option,
)
from kerneltune.errors import InputError, RunError

if TYPE_CHECKING:
    from kerneltune.pipeline.tiling_trial import TilingTrial
    from kerneltune.tuning.store import Store

store_path_option = store_option("The sqlite file of measured trials")


@click.command(context_settings=HELP)
@asking
@click.option("--top", type=click.IntRange(1), default=20, help="Number of tilings, by predicted time.")
@click.option("--each", type=click.IntRange(0), default=1, help="Number of further tilings of each strategy.")
@compiler_option
@runs_option
@click.option("--timed", type=click.IntRange(1), default=20, help="Number of launches to time.")
@random_seed_option
@timeout_option(120.0)
@click.option("--again", is_flag=True, help="Measure trials again that are in the store.")
@store_path_option
@json_option
def tune(
    asked: Asked,
    *,
    top: int,
    each: int,
    compiler: str,
    runs: int,
    timed: int,
    seed: int | None,
    timeout: float,
    again: bool,
    store: Path | None,
    as_json: bool,
) -> None:
    """Measure the best tilings on this machine's GPU, store the results, and print them ranked."""
    with reporting(as_json):
        from kerneltune.compiling.compile import Compiler
        from kerneltune.measuring.measure import tiling_plan
        from kerneltune.tuning.store import Store, tilings_path
        from kerneltune.tuning.tuner import TuneOptions
        from kerneltune.tuning.tuner import tune as tuned

        space = asked.space()
        fresh = int.from_bytes(os.urandom(4), "little") if seed is None else seed
        options = TuneOptions(top, each, again, timeout, tiling_plan(runs, timed), fresh)
        made = Compiler(space.kernels, space.profile, backend=compiler)
        kept = Store(store or tilings_path(), notice=lambda sentence: click.echo(sentence, err=True))
        found = tuned(space, made, kept, options, notice=_notice)
        for reason in found.left_out:
            click.echo(f"left out: {reason}", err=True)
        if as_json:
            status = "passed" if found.ranked else "failed"
            print_json(
                {"status": status, "gpu": space.profile.name, "store": str(kept.path), **found.to_json()}
            )
        else:
            from kerneltune.cli.tables import show_tuned

            show_tuned(found, kept.path)
        if not found.ranked:
            raise Exit(RunError.exit_code)


def _notice(trial: TilingTrial) -> None:
    known = " (from the store)" if trial.stored and trial.passed else ""
    click.echo(
        f"{trial.candidate.strategy} {trial.candidate.cycles} cycles: {trial.sentence}{known}", err=True
    )


@click.command(context_settings=HELP)
@store_path_option
@click.option("--gpu", help="Use only this profile's trials.")
@click.option(
    "--top",
    "first",
    type=click.IntRange(1),
    default=20,
    help="Judge the model on its N best tilings of each request.",
)
@json_option
def report(*, store: Path | None, gpu: str | None, first: int, as_json: bool) -> None:
    """Print the fastest measured tilings, and how well the cost model ranks them."""
    with reporting(as_json):
        from kerneltune.tuning.report import make_report

        opened = opened_store(store)
        made = make_report(opened.tilings(gpu), first)
        if as_json:
            print_json({"store": str(opened.path), **made.to_json()})
            return
        from kerneltune.cli.tables import show_report

        show_report(made, opened.path)


def opened_store(path: Path | None) -> Store:
    """The store to read: the user's own, or a file that must exist."""
    from kerneltune.tuning.store import Store, tilings_path

    if path is not None and not path.is_file():
        raise InputError(f"--store: there is no file {path}")
    return Store(path or tilings_path())
