"""The command `kerneltune replay`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from kerneltune.cli.failures import print_json, reporting
from kerneltune.cli.options import Json
from kerneltune.errors import InputError

Written = Annotated[Path | None, typer.Option(help="Write the recorded measurements to this file, and end.")]


def replay(
    file: Annotated[Path, typer.Argument(help="A cache file of Kernel Tuner, or a T4 results file.")],
    strategy: Annotated[str, typer.Option(help="The search.")] = "auto",
    objective: Annotated[str, typer.Option(help="What is minimised.")] = "time",
    seed: Annotated[int, typer.Option(help="Seed of the search.")] = 0,
    evaluations: Annotated[int | None, typer.Option(min=1, help="Most configurations.")] = None,
    seconds: Annotated[float | None, typer.Option(min=0.0, help="Most recorded seconds.")] = None,
    no_gain: Annotated[
        int | None, typer.Option(min=1, help="End after so many configurations without a better one.")
    ] = None,
    transfer: Annotated[
        Path | None, typer.Option(help="Measurements of another size or GPU to learn from.")
    ] = None,
    to_t4: Written = None,
    to_cache: Written = None,
    as_json: Json = False,
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
        typer.echo(f"{objective} {value:.5g} of at best {known:.5g} after {len(found.outcomes)} of")
        typer.echo(f"{len(recording.outcomes)} configurations: {words}")
        typer.echo(f"within 5 %: {'not reached' if within is None else f'after {within}'}")


def _write(path: Path | None, data: object) -> None:
    if path is None:
        return
    try:
        path.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from None
