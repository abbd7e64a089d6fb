"""The commands for users' kernels: `tune FOLDER`, `best` and `header`."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from constrint.errors import ConstrintError
from kerneltune.cli.failures import print_json, reporting
from kerneltune.cli.options import Gpu, Json
from kerneltune.errors import InputError, RunError

if TYPE_CHECKING:
    from kerneltune.pipeline.run import Notice, Progress
    from kerneltune.pipeline.trial import Trial
    from kerneltune.tuning.kernel_run import RunOptions
    from kerneltune.tuning.tuned import TunedKernel

FolderPath = Annotated[Path, typer.Argument(help="A folder with kernel.yaml and a kernel.")]
Size = Annotated[list[str] | None, typer.Option("--size", help="NAME=NUMBER in place of kernel.yaml's size.")]
Store = Annotated[
    Path | None, typer.Option("--store", help="The file of results; by default in the user's cache folder.")
]
Metrics = Annotated[
    list[str] | None,
    typer.Option("--metric", help="NAME=FILE.py:FUNCTION of configuration and objectives; may be repeated."),
]
Model = Annotated[str | None, typer.Option(help="FILE.py:FUNCTION that predicts a configuration's cost.")]
Features = Annotated[
    str | None, typer.Option(help="FILE.py:FUNCTION that gives further numbers to learn from.")
]
SHOWN = 10  # most rows of the table


def tune_kernel(
    folder: FolderPath,
    gpu: Gpu = None,
    size: Size = None,
    strategy: Annotated[str, typer.Option(help="The search.")] = "auto",
    objective: Annotated[
        str,
        typer.Option(
            help="What to search for: time, energy, gflops, gbs, a metric; several with commas: time,energy."
        ),
    ] = "time",
    metric: Metrics = None,
    model: Model = None,
    features: Features = None,
    evaluations: Annotated[int | None, typer.Option(min=1, help="Most configurations.")] = None,
    seconds: Annotated[float | None, typer.Option(min=0.0, help="Most seconds.")] = None,
    no_gain: Annotated[
        int | None, typer.Option(min=1, help="End after so many configurations without a better one.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the search and of drawn arrays.")] = 0,
    timed: Annotated[int, typer.Option(min=1, help="Number of runs to time.")] = 7,
    flush: Annotated[
        bool, typer.Option("--flush", help="Overwrite the L2 cache before each timed run.")
    ] = False,
    workers: Annotated[int | None, typer.Option(min=1, help="Number of processes that compile.")] = None,
    device: Annotated[list[int] | None, typer.Option(help="A GPU to use; may be repeated.")] = None,
    timeout: Annotated[float, typer.Option(help="Time limit in seconds for each candidate.")] = 60.0,
    again: Annotated[bool, typer.Option("--again", help="Measure stored candidates again.")] = False,
    transfer: Annotated[
        bool, typer.Option("--transfer", help="Begin with results of other sizes and GPUs.")
    ] = False,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Tune a kernel of your own: a folder with kernel.yaml (also as: tune FOLDER)."""
    with reporting(as_json):
        from kerneltune.sources.folder import read_folder
        from kerneltune.tuning.tune import options_of, prepared, tuned

        read = read_folder(folder, sizes_of(size), seed)
        given = {
            "objective": objective,
            "evaluations": evaluations,
            "seconds": seconds,
            "no_gain": no_gain,
            "timed": timed,
            "flush": flush,
            "workers": workers,
            "devices": device,
            "timeout": timeout,
            "again": again,
            "transfer": transfer,
            "store": store,
            **read.search,
            **_functions(metric, model, features, read.search),
        }
        kernel, case = prepared(read.description, gpu, read.reference, read.tolerance)
        options = options_of(given)
        with _watched(options, as_json) as notice:
            found = tuned(kernel, case, options, strategy, seed, notice)
        _print(found, as_json)


def best(
    folder: FolderPath, gpu: Gpu = None, size: Size = None, store: Store = None, as_json: Json = False
) -> None:
    """Print the best known configuration of a kernel of your own."""
    with reporting(as_json):
        from kerneltune.sources.folder import read_folder
        from kerneltune.tuning.best import best_known

        read = read_folder(folder, sizes_of(size), with_arrays=False)
        name, sizes = str(read.description.name), dict(read.description.sizes)
        found = best_known(name, sizes, gpu=gpu, store=store)
        if found is None:
            raise InputError(f"the store has no result of {name}: run kerneltune tune {folder} first")
        if as_json:
            print_json(found.to_json())
            return
        typer.echo(found.sentence)
        for key, value in found.configuration.items():
            typer.echo(f"  {key} = {value}")


def space(
    folder: FolderPath,
    gpu: Gpu = None,
    size: Size = None,
    to_t1: Annotated[
        Path | None, typer.Option("--to-t1", help="Write the parameters and restrictions as a T1 file.")
    ] = None,
) -> None:
    """Print how many configurations of a kernel of your own fit a GPU."""
    with reporting(False):
        from constrint.tuning.spaces import Space
        from kerneltune.sources.folder import read_folder
        from kerneltune.tuning.tune import profile_for

        described = read_folder(folder, sizes_of(size), with_arrays=False).description
        kernel = described.kernel(profile_for(described, gpu))
        found = kernel.space
        typer.echo(f"{kernel.name}: {found.size:,} configurations of {', '.join(found.names)}")
        if to_t1 is None:
            return
        if not isinstance(found, Space):
            raise InputError("--to-t1: T1 has no constraint files: give tune_params and restrictions")
        try:
            to_t1.write_text(json.dumps(found.to_t1(), indent=1) + "\n", encoding="utf-8")
        except ConstrintError as error:
            raise InputError(f"--to-t1: {error}") from None
        except OSError as error:
            raise InputError(f"cannot write {to_t1}: {error.strerror}") from None


def header(
    folder: FolderPath,
    output: Annotated[Path, typer.Option("--output", "-o", help="The header to write.")],
    store: Store = None,
) -> None:
    """Write the best known configurations of a kernel as a C++ header."""
    with reporting(False):
        from kerneltune.sources.folder import read_folder
        from kerneltune.tuning.header import header_text

        name = str(read_folder(folder, with_arrays=False).description.name)
        text = header_text(name, store)
        try:
            output.write_text(text, encoding="utf-8")
        except OSError as error:
            raise InputError(f"cannot write {output}: {error.strerror}") from None


def sizes_of(given: list[str] | None) -> dict[str, int]:
    """The sizes of `--size NAME=NUMBER`."""
    found = {}
    for one in given or []:
        name, equals, value = one.partition("=")
        if not equals or not name or not value.lstrip("-").isdigit():
            raise InputError(f"--size: expected NAME=NUMBER, found '{one}'")
        found[name] = int(value)
    return found


def _functions(
    metric: list[str] | None, model: str | None, features: str | None, known: Mapping[str, Any]
) -> dict[str, Any]:
    """The user's functions of `--metric`, `--model` and `--features`."""
    from kerneltune.sources.references import resolved

    found: dict[str, Any] = {}
    metrics = {}
    for one in metric or []:
        name, equals, text = one.partition("=")
        if not equals or not name:
            raise InputError(f"--metric: expected NAME=FILE.py:FUNCTION, found '{one}'")
        metrics[name] = resolved(text)
    if metrics:
        found["metrics"] = {**known.get("metrics", {}), **metrics}
    for name, given in (("model", model), ("features", features)):
        if given is not None:
            found[name] = resolved(given)
    return found


def _watched(options: RunOptions, as_json: bool) -> AbstractContextManager[Notice]:
    """A live view on a terminal, and a line for each trial elsewhere."""
    if as_json or not sys.stderr.isatty():
        return nullcontext(_notice)
    from kerneltune.reporting.live import live_view

    return live_view(options.budget, options.goals.names[0])


def _notice(trial: Trial, progress: Progress) -> None:
    said = f"{trial.time:.5g} ms" if trial.time is not None else str(trial.failure).partition("\n")[0]
    mark = " *" if progress.best is trial else " (from the store)" if trial.stored else ""
    typer.echo(f"{len(progress.trials)}: {_words(trial.configuration)}: {said}{mark}", err=True)


def _words(configuration: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in configuration.items())


def _print(found: TunedKernel, as_json: bool) -> None:
    if as_json:
        print_json({"status": "passed" if found.ranked else "failed", **found.to_json()})
    else:
        _show(found)
    if not found.ranked:
        raise typer.Exit(RunError.exit_code)


def _show(found: TunedKernel) -> None:
    equal = {id(final.trial) for final in found.finals if final.equal}
    for place, trial in enumerate(found.ranked[:SHOWN]):
        value = trial.objectives[found.objective]
        more = f", spread {100 * trial.spread:.1f} %" if trial.spread is not None else ""
        same = " (equal to the first)" if id(trial) in equal else ""
        rate = f", {trial.objectives['gflops']:.1f} GFLOP/s" if "gflops" in trial.objectives else ""
        typer.echo(f"{place + 1:3} {value:.5g}{rate}{more}{same}: {_words(trial.configuration)}")
    if len(found.goals.names) > 1:
        typer.echo(f"Pareto front of {', '.join(found.goals.names)}:")
        for trial in found.front:
            values = ", ".join(f"{name} {trial.objectives[name]:.5g}" for name in found.goals.names)
            typer.echo(f"    {values}: {_words(trial.configuration)}")
    typer.echo(
        f"{found.kernel} on {found.device}: {len(found.trials)} of {found.space_size:,} configurations in "
        f"{found.seconds:.1f} s, {len(found.failed)} failed"
    )
    for note in found.notes:
        typer.echo(note)
