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
    from kerneltune.tuning.replaying import Replayed


@dataclass(frozen=True)
class _Asked:
    """A comparison of searches."""

    recording: Recording
    strategies: tuple[str, ...]
    seeds: range
    objective: str
    budget: SearchBudget
    prior: tuple[Outcome, ...]
    html: Path | None
    store: Path | None

    @property
    def title(self) -> str:
        """Kernel and device."""
        recording = self.recording
        return recording.kernel + (f" on {recording.device}" if recording.device else "")


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
@click.option("--objective", default="time", help="What is searched for; several with commas between.")
@click.option("--seed", type=int, default=0, help="Seed of the search; the first of several.")
@click.option("--seeds", type=click.IntRange(1), default=1, help="Number of seeds: means with intervals.")
@click.option("--evaluations", type=click.IntRange(1), help="Most configurations.")
@click.option("--seconds", type=click.FloatRange(0.0), help="Most recorded seconds.")
@click.option(
    "--no-gain", type=click.IntRange(1), help="End after so many configurations without a better one."
)
@click.option("--html", type=FILE, help="Write a page about the run, or about the comparison, to this file.")
@click.option(
    "--store", type=FILE, help="Keep the trials of each run in this file, for `results`; by default nowhere."
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
    html: Path | None,
    store: Path | None,
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
        budget, drawn = SearchBudget(evaluations, seconds, no_gain), range(seed, seed + seeds)
        asked = _Asked(recording, strategies, drawn, objective, budget, prior, html, store)
        (_one if seeds == len(strategies) == 1 else _several)(asked, as_json=as_json)


def _one(asked: _Asked, *, as_json: bool) -> None:
    from kerneltune.tuning.replaying import replay as replayed

    (name,), (seed,) = asked.strategies, asked.seeds
    found = replayed(
        asked.recording, name, objective=asked.objective, seed=seed, budget=asked.budget, prior=asked.prior
    )
    document, lines = (_best if len(found.goals.names) == 1 else _front)(asked.recording, found)
    _keep(asked, name, seed, found)
    if asked.html is not None:
        _write_page(asked, found)
    if as_json:
        print_json({"status": "replayed", **document, "learned": dict(found.search.report())})
        return
    for line in lines:
        click.echo(line)


_Told = tuple[dict[str, object], list[str]]  # a document, and what is printed in its place


def _best(recording: Recording, found: Replayed) -> _Told:
    """One run for one objective: the best configuration."""
    from kerneltune.tuning.replaying import NEAR_BEST, Attainment

    (objective,) = found.goals.names
    known = recording.best(objective).objectives[objective]
    best, count = found.best, len(found.trials)
    if best is None:
        raise InputError(f"none of {count} configurations passed: allow more evaluations")
    attained = Attainment(recording, found.goals).after_each(found.trials)
    within = next((n for n, one in enumerate(attained, 1) if one is not None and one <= NEAR_BEST), None)
    value = best.objectives[objective]
    words = ", ".join(f"{name}={one}" for name, one in best.configuration.items())
    return {
        "best": best.configuration,
        "objective": value,
        "known": known,
        "evaluations": count,
        "within_5_percent": within,
    }, [
        f"{objective} {value:.5g} of at best {known:.5g} after {count} of",
        f"{len(recording.outcomes)} configurations: {words}",
        f"within 5 %: {'not reached' if within is None else f'after {within}'}",
    ]


def _front(recording: Recording, found: Replayed) -> _Told:
    """One run for several objectives: its Pareto front, and the share of the recorded front's hypervolume."""
    from kerneltune.tuning.replaying import Attainment, trial_of

    goals, count = found.goals, len(found.trials)
    share = Attainment(recording, goals).after_each(found.trials)[-1] if found.trials else None
    if share is None:
        raise InputError(f"none of {count} configurations has {', '.join(goals.names)}")
    known = len(goals.front([trial_of(one) for one in recording.outcomes]))
    front = goals.front(found.trials)
    lines = [
        f"{len(front)} on the front of {', '.join(goals.names)} after {count} of",
        f"{len(recording.outcomes)} configurations; {100 * share:.1f} % of the hypervolume of the recorded "
        f"front, which has {known}",
    ]
    for trial in front:
        measured = ", ".join(f"{name} {trial.objectives[name]:.5g}" for name in goals.names)
        lines.append(f"  {measured}: {', '.join(f'{n}={v}' for n, v in trial.configuration.items())}")
    return {
        "objectives": list(goals.names),
        "hypervolume": share,
        "known": known,
        "evaluations": count,
        "front": [{"configuration": t.configuration, "objectives": t.objectives} for t in front],
    }, lines


def _several(asked: _Asked, *, as_json: bool) -> None:
    from kerneltune.cli.tables import show_replayed
    from kerneltune.tuning.goals import Goals
    from kerneltune.tuning.replay_bench import replay_each

    recording, objective = asked.recording, asked.objective
    rows = replay_each(
        recording,
        asked.strategies,
        asked.seeds,
        objective=objective,
        budget=asked.budget,
        prior=asked.prior,
        keep=lambda name, seed, found: _keep(asked, name, seed, found),
    )
    names = Goals.of(objective).names
    known = [recording.best(name).objectives[name] for name in names]
    if asked.html is not None:
        from kerneltune.reporting.bench_page import bench_page_of

        page = bench_page_of(asked.title, rows, names, len(recording.outcomes))
        write_file(asked.html, page)
    if as_json:
        strategies = [row.to_json() for row in rows]
        print_json(
            {"status": "replayed", "known": known[0], "objective": objective, "strategies": strategies}
        )
        return
    best = ", ".join(f"{name} at best {value:.5g}" for name, value in zip(names, known, strict=True))
    click.echo(
        f"{best} of {len(recording.outcomes)} configurations; {len(asked.seeds)} seeds, means with intervals "
        "of 95 %"
    )
    show_replayed(rows, len(names))


def _keep(asked: _Asked, name: str, seed: int, found: Replayed) -> None:
    """Keep a run's trials in the store, as those of a device of its own."""
    if asked.store is None:
        return
    from contextlib import closing

    from kerneltune.tuning.memory import KernelMemory
    from kerneltune.tuning.store import Store

    device = f"{asked.recording.device or 'a recording'}, replayed by {name}, seed {seed}"
    with closing(Store(asked.store)) as opened:
        memory = KernelMemory(opened, asked.recording.kernel, f"replay {name} {seed}", device, {})
        for trial in found.trials:
            memory.add(trial)


def _write_page(asked: _Asked, found: Replayed) -> None:
    from datetime import UTC, datetime

    from kerneltune.reporting.page import page_of
    from kerneltune.reporting.summary import TunedSummary

    recording = asked.recording
    now = datetime.now(UTC).isoformat(timespec="seconds")
    device = f"{recording.device or 'a recording'}, replayed by {asked.strategies[0]}"
    one = TunedSummary(recording.kernel, device, {}, 1, found.trials, now)
    assert asked.html is not None
    write_file(asked.html, page_of(one, found.goals.names[0]))
