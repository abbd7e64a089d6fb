"""The command `kerneltune replay`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from kerneltune.cli.failures import print_json, reporting
from kerneltune.cli.options import FILE, HELP, json_option, written_option
from kerneltune.cli.writing import write_file
from kerneltune.errors import InputError


@click.command(context_settings=HELP)
@click.argument("file", type=FILE)
@click.option("--strategy", default="auto", help="The search.")
@click.option("--objective", default="time", help="What is minimised.")
@click.option("--seed", type=int, default=0, help="Seed of the search.")
@click.option("--evaluations", type=click.IntRange(1), help="Most configurations.")
@click.option("--seconds", type=click.FloatRange(0.0), help="Most recorded seconds.")
@click.option(
    "--no-gain", type=click.IntRange(1), help="End after so many configurations without a better one."
)
@click.option("--transfer", type=FILE, help="Measurements of another size or GPU to learn from.")
@written_option("--to-t4")
@written_option("--to-cache")
@json_option
def replay(
    *,
    file: Path,
    strategy: str,
    objective: str,
    seed: int,
    evaluations: int | None,
    seconds: float | None,
    no_gain: int | None,
    transfer: Path | None,
    to_t4: Path | None,
    to_cache: Path | None,
    as_json: bool,
) -> None:
    """Run a search on recorded measurements, without a GPU; or convert them."""
    with reporting(as_json):
        from kerneltune.searching.base import SearchBudget
        from kerneltune.tuning.recorded import read_recording
        from kerneltune.tuning.recorded import replay as replayed

        recording = read_recording(file)
        if to_t4 is not None or to_cache is not None:
            for path, data in ((to_t4, recording.results_file()), (to_cache, recording.cache_file())):
                _write(path, data)
            return
        prior = read_recording(transfer).outcomes if transfer is not None else ()
        budget = SearchBudget(evaluations, seconds, no_gain)
        found = replayed(recording, strategy, objective=objective, seed=seed, budget=budget, prior=prior)
        known = recording.best(objective).objectives[objective]
        best = found.best
        if best is None:
            raise InputError(f"none of {len(found.outcomes)} configurations passed: allow more evaluations")
        value, within = best.objectives[objective], found.until(1.05 * known)
        if as_json:
            print_json(
                {
                    "status": "replayed",
                    "best": best.configuration,
                    "objective": value,
                    "known": known,
                    "evaluations": len(found.outcomes),
                    "within_5_percent": within,
                    "learned": dict(found.search.report()),
                }
            )
            return
        words = ", ".join(f"{name}={one}" for name, one in best.configuration.items())
        click.echo(f"{objective} {value:.5g} of at best {known:.5g} after {len(found.outcomes)} of")
        click.echo(f"{len(recording.outcomes)} configurations: {words}")
        click.echo(f"within 5 %: {'not reached' if within is None else f'after {within}'}")


def _write(path: Path | None, data: object) -> None:
    if path is None:
        return
    write_file(path, json.dumps(data, indent=1) + "\n")
