"""The command `kerneltune replay`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kerneltune.cli.failures import print_json, reporting
from kerneltune.cli.options import FILE, HELP, json_option, written_option
from kerneltune.cli.writing import write_file
from kerneltune.errors import InputError

if TYPE_CHECKING:
    from kerneltune.searching.base import SearchBudget
    from kerneltune.searching.protocol import Outcome
    from kerneltune.tuning.recorded import Recording


@dataclass(frozen=True)
class _Asked:
    """A comparison of searches."""

    recording: Recording
    strategies: tuple[str, ...]
    seeds: range
    objective: str
    budget: SearchBudget
    prior: tuple[Outcome, ...]


@click.command(context_settings=HELP)
@click.argument("file", type=FILE)
@click.option(
    "--strategy",
    "strategies",
    multiple=True,
    default=("auto",),
    metavar="NAME",
    help="The search; several are compared.",
)
@click.option("--objective", default="time", help="What is minimised.")
@click.option("--seed", type=int, default=0, help="Seed of the search; the first of several.")
@click.option("--seeds", type=click.IntRange(1), default=1, help="Number of seeds: means with intervals.")
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
    strategies: tuple[str, ...],
    objective: str,
    seed: int,
    seeds: int,
    evaluations: int | None,
    seconds: float | None,
    no_gain: int | None,
    transfer: Path | None,
    to_t4: Path | None,
    to_cache: Path | None,
    as_json: bool,
) -> None:
    """Run a search on recorded measurements, without a GPU; compare several; or convert them."""
    with reporting(as_json):
        from kerneltune.searching.base import SearchBudget
        from kerneltune.tuning.recorded import read_recording

        recording = read_recording(file)
        if to_t4 is not None or to_cache is not None:
            for path, data in ((to_t4, recording.results_file()), (to_cache, recording.cache_file())):
                if path is not None:
                    write_file(path, json.dumps(data, indent=1) + "\n")
            return
        prior = read_recording(transfer).outcomes if transfer is not None else ()
        budget = SearchBudget(evaluations, seconds, no_gain)
        asked = _Asked(recording, strategies, range(seed, seed + seeds), objective, budget, prior)
        (_one if seeds == len(strategies) == 1 else _several)(asked, as_json=as_json)


def _one(asked: _Asked, *, as_json: bool) -> None:
    from kerneltune.tuning.recorded import replay as replayed
    from kerneltune.tuning.replay_bench import NEAR_BEST

    recording, objective = asked.recording, asked.objective
    (name,), (seed,) = asked.strategies, asked.seeds
    found = replayed(recording, name, objective=objective, seed=seed, budget=asked.budget, prior=asked.prior)
    known = recording.best(objective).objectives[objective]
    best = found.best
    if best is None:
        raise InputError(f"none of {len(found.outcomes)} configurations passed: allow more evaluations")
    value, within = best.objectives[objective], found.until(NEAR_BEST * known)
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


def _several(asked: _Asked, *, as_json: bool) -> None:
    from kerneltune.cli.tables import show_replayed
    from kerneltune.tuning.replay_bench import replay_each

    recording, objective = asked.recording, asked.objective
    rows = replay_each(
        recording, asked.strategies, asked.seeds, objective=objective, budget=asked.budget, prior=asked.prior
    )
    known = recording.best(objective).objectives[objective]
    if as_json:
        strategies = [row.to_json() for row in rows]
        print_json({"status": "replayed", "known": known, "objective": objective, "strategies": strategies})
        return
    click.echo(
        f"{objective} at best {known:.5g} of {len(recording.outcomes)} configurations; {len(asked.seeds)} "
        "seeds, means with intervals of 95 %"
    )
    show_replayed(rows)
