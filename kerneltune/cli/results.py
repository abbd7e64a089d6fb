"""The commands `kerneltune results`, the contents of a store of users' kernels, and `kerneltune retune`."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.exceptions import Exit

from kerneltune.cli.failures import print_json, reporting
from kerneltune.cli.options import (
    FILE,
    HELP,
    gpu_option,
    json_option,
    store_option,
    timeout_option,
    written_option,
)
from kerneltune.cli.writing import write_file
from kerneltune.errors import InputError, KernelTuneError, RunError, nearest

if TYPE_CHECKING:
    from kerneltune.reporting.page import Roof
    from kerneltune.reporting.summary import TunedSummary
    from kerneltune.tuning.retune import Retuned

SHOWN_CONFIGURATIONS = 10  # configurations of a kernel


@click.command(context_settings=HELP)
@click.argument("kernel", required=False)
@click.option("--device", help="Only devices whose names contain this.")
@click.option("--objective", default="time", help="What counts: time, energy, gflops, …")
@click.option("--html", type=FILE, help="Write a page about the kernel to this file.")
@click.option(
    "--beside",
    type=FILE,
    help="With --html: another file of results, whose first results of the kernel are shown side by side.",
)
@written_option("--to-t4")
@written_option("--to-cache")
@store_option("The file of results")
@json_option
def results(
    *,
    kernel: str | None,
    device: str | None,
    objective: str,
    html: Path | None,
    beside: Path | None,
    to_t4: Path | None,
    to_cache: Path | None,
    store: Path | None,
    as_json: bool,
) -> None:
    """List the kernels of your own that were tuned, or the best configurations of one."""
    with reporting(as_json):
        found = _found(kernel, device, store)
        if beside is not None and html is None:
            raise InputError("--beside goes with --html")
        if html is not None:
            _write_page(html, _pair(found, kernel, beside), objective)
        if to_t4 is not None or to_cache is not None:
            _export(_only(found, kernel), to_t4, to_cache)
        if any(one is not None for one in (html, to_t4, to_cache)):
            return
        if as_json:
            print_json({"status": "found", "results": [one.to_json(objective) for one in found]})
            return
        for one in found:
            _show(one, objective, SHOWN_CONFIGURATIONS if kernel is not None else 1)


def _found(kernel: str | None, device: str | None, store: Path | None) -> list[TunedSummary]:
    from kerneltune.reporting.summary import summarised
    from kerneltune.tuning.store import Store

    with closing(Store(store)) as opened:
        rows = opened.rows()
        path = opened.path
    if not rows:
        raise InputError(f"the store {path} has no results: run kerneltune tune FOLDER first")
    if kernel is not None and not any(row.kernel == kernel for row in rows):
        raise InputError(f"the store has no kernel '{kernel}': {nearest(kernel, {r.kernel for r in rows})}")
    wanted = [row for row in rows if kernel in (None, row.kernel)]
    kept = [row for row in wanted if device is None or device.lower() in row.device.lower()]
    if not kept:
        raise InputError(f"--device {device}: results are of {', '.join(sorted({r.device for r in wanted}))}")
    return summarised(kept)


def _write_page(path: Path, shown: list[TunedSummary], objective: str) -> None:
    from kerneltune.reporting.page import page_of

    one, *others = shown
    write_file(path, page_of(one, objective, _roof(one.device), others[0] if others else None))


def _pair(found: list[TunedSummary], kernel: str | None, beside: Path | None) -> list[TunedSummary]:
    """The results on a page: one, or two of them side by side."""
    if kernel is not None and beside is None and len(found) == 2:
        return found
    one = _only(found, kernel)
    if beside is None:
        return [one]
    others = _found(kernel, None, beside)
    same = [other for other in others if other.sizes == one.sizes]
    return [one, (same or others)[0]]


def _only(found: list[TunedSummary], kernel: str | None) -> TunedSummary:
    if kernel is None:
        raise InputError("name the kernel: kerneltune results KERNEL --html FILE")
    if len(found) > 1:
        raise InputError(f"there are results of {len(found)} devices and sizes; choose by --device")
    return found[0]


def _roof(device: str) -> Roof | None:
    """The peak rates of the device, if a profile describes it."""
    from kerneltune.inputs.hardware import load_profile, profile_names
    from kerneltune.reporting.page import Roof
    from kerneltune.tuning.best import same_device

    for name in profile_names():
        try:
            profile = load_profile(name)
        except KernelTuneError:
            continue
        if same_device(device, profile.title):
            return Roof.of(profile)
    return None


def _export(one: TunedSummary, to_t4: Path | None, to_cache: Path | None) -> None:
    import json

    from kerneltune.tuning.recorded import Recording

    if to_t4 is None and to_cache is None:
        return
    values: dict[str, list[Any]] = {}
    for trial in one.trials:
        for name, value in trial.configuration.items():
            values.setdefault(name, [])
            if value not in values[name]:
                values[name].append(value)
    latest = {tuple(sorted(trial.configuration.items())): trial.outcome for trial in one.trials}
    recording = Recording(one.kernel, one.device, values, tuple(latest.values()))
    for path, data in ((to_t4, recording.results_file), (to_cache, recording.cache_file)):
        if path is not None:
            write_file(path, json.dumps(data(), indent=1) + "\n")


def _show(one: TunedSummary, objective: str, most: int) -> None:
    from kerneltune.reporting.summary import UNITS

    ranked = one.ranked(objective)
    click.echo(f"{one.title}: {len(one.trials)} tried, {len(one.failed)} failed, last {one.last}")
    for place, trial in enumerate(ranked[:most]):
        said = ", ".join(f"{name}={value}" for name, value in trial.configuration.items())
        unit = UNITS.get(objective, "")
        value = f"{trial.objectives[objective]:.5g}" + (f" {unit}" if unit else "")
        click.echo(f"{place + 1:3} {objective} {value}: {said}")
    if not ranked:
        click.echo(f"    nothing has '{objective}'")


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
                click.echo(_retuned_words(one))
        if not found:
            raise InputError(f"the store {store} has no results of kernels")
        passed = all(one.found is not None and one.found.ranked for one in found)
        if as_json:
            status = "passed" if passed else "failed"
            print_json({"status": status, "kernels": [one.to_json() for one in found]})
        if not passed:
            raise Exit(RunError.exit_code)


def _retuned_words(one: Retuned) -> str:
    if one.found is None or not one.found.ranked:
        return f"{one.known.title}: not tuned: {one.reason or 'no configuration passed'}"
    best = one.found.ranked[0]
    said = ", ".join(f"{name}={value}" for name, value in best.configuration.items())
    time = "" if best.time is None else f"{best.time:.5g} ms with "
    return f"{one.known.title} on {one.found.device}: {time}{said}, {len(one.found.trials)} tried"
