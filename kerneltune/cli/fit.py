"""The command `kerneltune fit`: a profile's cost constants from measured times."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kerneltune.cli.failures import print_json, reporting
from kerneltune.cli.options import FILE, HELP, json_option, kernels_option
from kerneltune.cli.tune import opened_store, store_path_option
from kerneltune.cli.writing import write_file
from kerneltune.errors import InputError
from kerneltune.inputs.files import json_text_of, text_of
from kerneltune.inputs.hardware import load_profile

if TYPE_CHECKING:
    from kerneltune.tiling.cost_model import Tiling


@click.command(context_settings=HELP)
@click.option("--gpu", required=True, help="A profile's name, or the path of its YAML file.")
@store_path_option
@click.option(
    "--results",
    type=FILE,
    multiple=True,
    help="A JSON file of further times, as in benchmarks/results; may be repeated.",
)
@click.option("--cell", multiple=True, help="Use the times of this cell, by default lstm; may be repeated.")
@click.option(
    "--only", multiple=True, help="Fit only constants of this name, such as 'grid_*'; may be repeated."
)
@click.option("--update", type=FILE, help="Write the constants to this profile's file; comments are kept.")
@kernels_option
@json_option
def fit(
    *,
    gpu: str,
    store: Path | None,
    results: tuple[Path, ...],
    cell: tuple[str, ...],
    only: tuple[str, ...],
    update: Path | None,
    kernels_root: Path | None,
    as_json: bool,
) -> None:
    """Fit a profile's cost constants to the trials of the store (by default the user's own)."""
    with reporting(as_json):
        from kerneltune.inputs.descriptions import discover
        from kerneltune.tiling.cost_model import CostModel
        from kerneltune.tiling.fit import fit as fitted
        from kerneltune.tiling.fit import with_costs

        profile = load_profile(gpu)
        tilings = list(_of_files(results))
        if store is not None or not results:
            tilings += _of_store(store, profile.name)
        of_cell = [tiling for tiling in tilings if tiling.problem.cell in (cell or ("lstm",))]
        found = fitted(CostModel(profile, discover(kernels_root)), of_cell, only)
        if update is not None:
            write_file(update, with_costs(text_of(update), found.constants))
        if as_json:
            print_json({"gpu": profile.name, **found.to_json()})
            return
        from kerneltune.cli.tables import show_fit

        show_fit(found, profile)


def _of_store(path: Path | None, gpu: str) -> list[Tiling]:
    """The measured tilings that passed; of several trials of one tiling, the last."""
    from kerneltune.tiling.cost_model import Tiling
    from kerneltune.tuning.report import latest

    trials = [trial for group in latest(opened_store(path).tilings(gpu)).values() for trial in group]
    return [Tiling.of(trial.candidate, trial.time) for trial in trials if trial.time is not None]


def _of_files(paths: Sequence[Path]) -> Iterator[Tiling]:
    """Tilings from rows with a strategy, a problem, parameters, values and milliseconds, or from outcomes."""
    from kerneltune.inputs.request import request_from_json
    from kerneltune.tiling.cost_model import Tiling

    for path in paths:
        try:
            rows = _rows(json.loads(json_text_of(path)))
            for row in rows:
                problem = request_from_json({"cell": "lstm", **row["problem"]})
                values = {**row["parameters"], **row["values"]}
                yield Tiling(row["strategy"], problem, values, float(row["milliseconds"]))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(f"--results: {path} has no rows of times: {error}") from None


def _rows(data: dict[str, Any]) -> list[dict[str, Any]]:
    if "outcomes" in data:
        return [
            {**outcome["candidate"], "milliseconds": outcome["measurement"]["milliseconds"]}
            for outcome in data["outcomes"]
            if outcome["passed"] and outcome["measurement"]["milliseconds"]
        ]
    rows: list[dict[str, Any]] = data["rows"] if "rows" in data else data["times"]
    return rows
