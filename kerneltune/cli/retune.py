"""The command `kerneltune retune`: everything that a store knows, on new hardware."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.exceptions import Exit

from kerneltune.cli.failures import print_json, reporting
from kerneltune.cli.options import FILE, HELP, gpu_option, json_option, timeout_option
from kerneltune.errors import InputError, RunError

if TYPE_CHECKING:
    from kerneltune.tuning.retune import Retuned


@click.command(context_settings=HELP)
@click.argument("store", type=FILE)
@gpu_option
@click.option("--strategy", default="auto", help="The search.")
@click.option("--evaluations", type=click.IntRange(1), default=40, help="Most configurations of a kernel.")
@click.option("--seconds", type=click.FloatRange(0.0), help="Most seconds of a kernel.")
@click.option("--seed", type=int, default=0, help="Seed of the search and of drawn arrays.")
@timeout_option(60.0)
@json_option
def retune(*, store: Path, gpu: str | None, strategy: str, seed: int, as_json: bool, **given: Any) -> None:
    """Tune everything that STORE has results of on this GPU, the best of other devices first."""
    with reporting(as_json):
        from kerneltune.tuning.retune import retuned

        if not store.is_file():
            raise InputError(f"there is no store {store}")
        found: list[Retuned] = []
        for one in retuned(
            store,
            gpu=gpu,
            strategy=strategy,
            seed=seed,
            begun=lambda known: click.echo(f"{known.title} …", err=True),
            **given,
        ):
            found.append(one)
            if not as_json:
                click.echo(_words(one))
        if not found:
            raise InputError(f"the store {store} has no results of kernels")
        passed = all(one.found is not None and one.found.ranked for one in found)
        if as_json:
            status = "passed" if passed else "failed"
            print_json({"status": status, "kernels": [one.to_json() for one in found]})
        if not passed:
            raise Exit(RunError.exit_code)


def _words(one: Retuned) -> str:
    if one.found is None or not one.found.ranked:
        return f"{one.known.title}: not tuned: {one.reason or 'no configuration passed'}"
    best = one.found.ranked[0]
    said = ", ".join(f"{name}={value}" for name, value in best.configuration.items())
    time = "" if best.time is None else f"{best.time:.5g} ms with "
    return f"{one.known.title} on {one.found.device}: {time}{said}, {len(one.found.trials)} tried"
