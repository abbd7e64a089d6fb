"""The commands for users' kernels: `tune FOLDER`, `compile FOLDER`, `best` and `header`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.exceptions import Exit

from constrint.errors import ConstrintError
from kerneltune.cli.failures import configuration_words, print_json, reporting
from kerneltune.cli.options import FILE, HELP, gpu_option, json_option, store_option, timeout_option
from kerneltune.cli.writing import write_file
from kerneltune.errors import InputError, RunError

if TYPE_CHECKING:
    from kerneltune.pipeline.run import Progress
    from kerneltune.pipeline.trial import Trial
    from kerneltune.searching.protocol import Configuration
    from kerneltune.sources.kernel import Kernel
    from kerneltune.tuning.compiling import Compilation
    from kerneltune.tuning.kernel_run import RunOptions
    from kerneltune.tuning.tuned import TunedKernel

folder_argument = click.argument("folder", type=FILE)
size_option = click.option(
    "--size", multiple=True, help="NAME=NUMBER in place of kernel.yaml's size; may be repeated."
)
results_option = store_option("The file of results")
SHOWN_ROWS = 10  # most rows of the table
SAMPLE = 8  # configurations that are compiled where none are named


@click.command(name="tune-kernel", context_settings=HELP, hidden=True)
@folder_argument
@gpu_option
@size_option
@click.option("--strategy", default="auto", help="The search.")
@click.option(
    "--objective",
    default="time",
    help="What to search for: time, energy, gflops, gbs, a metric; several with commas: time,energy.",
)
@click.option(
    "--metric",
    multiple=True,
    help="NAME=FILE.py:FUNCTION of configuration and objectives; may be repeated.",
)
@click.option(
    "--counters",
    default="",
    help="Hardware counters by their names of ncu, with commas; they are objectives.",
)
@click.option("--model", help="FILE.py:FUNCTION that predicts a configuration's cost.")
@click.option("--features", help="FILE.py:FUNCTION that gives further numbers to learn from.")
@click.option("--evaluations", type=click.IntRange(1), help="Most configurations.")
@click.option("--seconds", type=click.FloatRange(0.0), help="Most seconds.")
@click.option(
    "--no-gain", type=click.IntRange(1), help="End after so many configurations without a better one."
)
@click.option("--seed", type=int, default=0, help="Seed of the search and of drawn arrays.")
@click.option("--timed", type=click.IntRange(1), default=7, help="Number of runs to time.")
@click.option("--flush", is_flag=True, help="Overwrite the L2 cache before each timed run.")
@click.option("--workers", type=click.IntRange(1), help="Number of processes that compile.")
@click.option("--device", "devices", type=int, multiple=True, help="A GPU to use; may be repeated.")
@timeout_option(60.0)
@click.option("--again", is_flag=True, help="Measure stored candidates again.")
@click.option("--transfer", is_flag=True, help="Begin with results of other sizes and GPUs.")
@click.option(
    "--dry-run",
    is_flag=True,
    help=f"Check all that needs no GPU, compile {SAMPLE} configurations that are drawn, and end.",
)
@click.option("--serve", is_flag=True, help="Show the report while tuning, on this machine alone.")
@results_option
@json_option
def tune_kernel(
    *,
    folder: Path,
    gpu: str | None,
    size: tuple[str, ...],
    strategy: str,
    seed: int,
    devices: tuple[int, ...],
    dry_run: bool,
    serve: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Tune a kernel of your own: a folder with kernel.yaml (also as: tune FOLDER)."""
    with reporting(as_json):
        from kerneltune.cli.watching import page_served, watched
        from kerneltune.sources.folder import read_folder
        from kerneltune.tuning.run_processes import Ahead
        from kerneltune.tuning.tune import case_of, options_of, profile_for, tuned

        read = read_folder(folder, sizes_of(size), seed)
        named = _functions(given.pop("metric"), given.pop("model"), given.pop("features"), read.search)
        given |= {**read.search, **named}
        given["devices"] = list(devices) or None
        given["counters"] = [one.strip() for one in given["counters"].split(",") if one.strip()]
        options = options_of(given)
        with ExitStack() as opened:
            # A dry run has no processes; a run's start before the space is built.
            ahead = (
                None if dry_run else opened.enter_context(closing(Ahead(read.description.language, options)))
            )
            kernel = read.description.kernel(profile_for(read.description, gpu))
            case = partial(case_of, read.description, kernel, read.reference, read.tolerance)
            if dry_run:
                case()  # the reference is tried, too
                _dry_run(kernel, options, strategy, seed, as_json)
                return
            _remember(kernel, folder, options)
            notice = opened.enter_context(watched(options, as_json))
            shown = opened.enter_context(page_served(kernel, options, serve))

            def both(trial: Trial, progress: Progress) -> None:
                shown(trial, progress)
                notice(trial, progress)

            found = tuned(kernel, case, options, strategy, seed, both, ahead)
        _print(found, as_json)


def _remember(kernel: Kernel, folder: Path, options: RunOptions) -> None:
    """Let the store know the kernel's folder, for `kerneltune retune`."""
    from contextlib import closing

    from kerneltune.tuning.store import Store

    with closing(Store(options.store)) as store:
        store.remember_folder(kernel.name, folder)


@click.command(name="compile-kernel", context_settings=HELP, hidden=True)
@folder_argument
@click.argument("configurations", nargs=-1)
@gpu_option
@size_option
@click.option("--sample", type=click.IntRange(1), help=f"Configurations to draw; by default {SAMPLE}.")
@click.option("--all", "every", is_flag=True, help="Compile every configuration.")
@click.option("--seed", type=int, default=0, help="Seed of the draw.")
@click.option("--workers", type=click.IntRange(1), help="Number of processes that compile.")
@timeout_option(300.0)
@json_option
def compile_kernel(
    *,
    folder: Path,
    configurations: tuple[str, ...],
    gpu: str | None,
    size: tuple[str, ...],
    sample: int | None,
    every: bool,
    seed: int,
    workers: int | None,
    timeout: float,
    as_json: bool,
) -> None:
    """Compile a kernel of your own without a GPU (also as: compile FOLDER NAME=VALUE,…)."""
    with reporting(as_json):
        from kerneltune.tuning.compiling import compilations, configuration_of

        if sum((bool(configurations), sample is not None, every)) > 1:
            raise InputError("configurations, --sample and --all exclude one another")
        kernel = _kernel_of(folder, size, gpu)
        wanted: Iterable[Configuration] = kernel.space
        if configurations:
            wanted = [configuration_of(kernel, one) for one in configurations]
        elif not every:
            wanted = kernel.space.sample(min(sample or SAMPLE, kernel.space.size), seed=seed)
        _print_compiled(kernel, compilations(kernel, wanted, workers=workers, timeout=timeout), as_json)


def _print_compiled(kernel: Kernel, compiled: Iterable[Compilation], as_json: bool) -> None:
    """Print each compilation when it ends; the exit code says whether all passed."""
    found = []
    for one in compiled:
        found.append(one)
        if not as_json:
            click.echo(_compiled_words(one))
    passed = sum(one.passed for one in found)
    if as_json:
        status = "passed" if passed == len(found) else "failed"
        rows = [one.to_json() for one in found]
        profile = kernel.profile and kernel.profile.name
        print_json({"status": status, "kernel": kernel.name, "gpu": profile, "compilations": rows})
    else:
        click.echo(f"{passed} of {len(found)} compiled and keep what they promise")
    if passed < len(found):
        raise Exit(RunError.exit_code)


def _dry_run(kernel: Kernel, options: RunOptions, strategy: str, seed: int, as_json: bool) -> None:
    """Check the start of a run; the kernel, its arrays and its reference have been read by now."""
    from kerneltune.tuning.compiling import compilations
    from kerneltune.tuning.searches import search, with_own_model
    from kerneltune.tuning.tune import check

    check(kernel, options)
    search(strategy, kernel.space, with_own_model(kernel, options), seed)
    if not as_json:
        goals = ", ".join(options.goals.names)
        click.echo(f"{kernel.name}: {kernel.space.size:,} configurations, searched by {strategy} for {goals}")
    compiled: Iterable[Compilation] = ()
    if kernel.compiles:
        drawn = kernel.space.sample(min(SAMPLE, kernel.space.size), seed=seed)
        compiled = compilations(kernel, drawn)
    _print_compiled(kernel, compiled, as_json)


@click.command(context_settings=HELP)
@folder_argument
@click.argument("configuration")
@gpu_option
@size_option
@json_option
def why(*, folder: Path, configuration: str, gpu: str | None, size: tuple[str, ...], as_json: bool) -> None:
    """Say what excludes a configuration NAME=VALUE,… of a kernel of your own, and which are nearest."""
    with reporting(as_json):
        from kerneltune.sources.exclusion import why as why_excluded
        from kerneltune.tuning.compiling import configuration_of

        kernel = _kernel_of(folder, size, gpu)
        found = why_excluded(kernel, configuration_of(kernel, configuration, excluded=True))
        if as_json:
            nearest = [dict(one) for one in found.nearest]
            status = "excluded" if found.reasons else "valid"
            print_json({"status": status, "reasons": list(found.reasons), "nearest": nearest})
            return
        if not found.reasons:
            click.echo(
                f"{configuration_words(dict(found.configuration))} is a configuration of {kernel.name}"
            )
        for reason in found.reasons:
            click.echo(f"excluded by {reason}")
        for one in found.nearest:
            click.echo(f"nearest: {configuration_words(dict(one))}")


def _compiled_words(one: Compilation) -> str:
    """A line of what a configuration takes, and what is wrong with it on the lines behind."""
    taken = ", ".join(f"{name} {value}" for name, value in one.resources.items())
    wrong = one.failure or one.broken
    lines = [f"{configuration_words(dict(one.configuration))}: {taken or 'not compiled'}"]
    return "\n".join(lines + [f"    {line}" for line in (wrong or "").splitlines()])


@click.command(context_settings=HELP)
@folder_argument
@gpu_option
@size_option
@results_option
@json_option
def best(*, folder: Path, gpu: str | None, size: tuple[str, ...], store: Path | None, as_json: bool) -> None:
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
        click.echo(found.sentence)
        for key, value in found.configuration.items():
            click.echo(f"  {key} = {value}")


@click.command(context_settings=HELP)
@folder_argument
@gpu_option
@size_option
@click.option("--to-t1", type=FILE, help="Write the parameters and restrictions as a T1 file.")
def space(*, folder: Path, gpu: str | None, size: tuple[str, ...], to_t1: Path | None) -> None:
    """Print how many configurations of a kernel of your own fit a GPU."""
    with reporting(False):
        from constrint.tuning.spaces import Space

        kernel = _kernel_of(folder, size, gpu)
        found = kernel.space
        click.echo(f"{kernel.name}: {found.size:,} configurations of {', '.join(found.names)}")
        if to_t1 is None:
            return
        if not isinstance(found, Space):
            raise InputError("--to-t1: T1 has no constraint files: give tune_params and restrictions")
        try:
            text = json.dumps(found.to_t1(), indent=1) + "\n"
        except ConstrintError as error:
            raise InputError(f"--to-t1: {error}") from None
        write_file(to_t1, text)


@click.command(context_settings=HELP)
@folder_argument
@click.option("--output", "-o", type=FILE, help="The header to write; needed.")
@results_option
def header(*, folder: Path, output: Path | None, store: Path | None) -> None:
    """Write the best known configurations of a kernel as a C++ header."""
    with reporting(False):
        from kerneltune.sources.folder import read_folder
        from kerneltune.tuning.header import header_text

        described = read_folder(folder, with_arrays=False).description
        if output is None:
            raise InputError(f"--output is missing: name the header to write, as -o {described.name}.hpp")
        write_file(output, header_text(str(described.name), store, list(described.sizes)))


def _kernel_of(folder: Path, size: Sequence[str], gpu: str | None) -> Kernel:
    """The kernel of a folder on a GPU, without its arrays."""
    from kerneltune.sources.folder import read_folder
    from kerneltune.tuning.tune import profile_for

    described = read_folder(folder, sizes_of(size), with_arrays=False).description
    return described.kernel(profile_for(described, gpu))


def sizes_of(given: Sequence[str]) -> dict[str, int]:
    """The sizes of `--size NAME=NUMBER`."""
    found = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not equals or not name or not value.lstrip("-").isdigit():
            raise InputError(f"--size: expected NAME=NUMBER, found '{one}'")
        found[name] = int(value)
    return found


def _functions(
    metric: Sequence[str], model: str | None, features: str | None, known: Mapping[str, Any]
) -> dict[str, object]:
    """The user's functions of `--metric`, `--model` and `--features`."""
    from kerneltune.sources.references import resolved

    found: dict[str, Any] = {}
    metrics = {}
    for one in metric:
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


def _print(found: TunedKernel, as_json: bool) -> None:
    if as_json:
        print_json({"status": "passed" if found.ranked else "failed", **found.to_json()})
    else:
        _show(found)
    if not found.ranked:
        raise Exit(RunError.exit_code)


def _show(found: TunedKernel) -> None:
    equal = {id(final.trial) for final in found.finals if final.equal}
    for place, trial in enumerate(found.ranked[:SHOWN_ROWS]):
        value = trial.objectives[found.objective]
        more = f", spread {100 * trial.spread:.1f} %" if trial.spread is not None else ""
        same = " (equal to the first)" if id(trial) in equal else ""
        rate = f", {trial.objectives['gflops']:.1f} GFLOP/s" if "gflops" in trial.objectives else ""
        click.echo(f"{place + 1:3} {value:.5g}{rate}{more}{same}: {configuration_words(trial.configuration)}")
    if len(found.goals.names) > 1:
        click.echo(f"Pareto front of {', '.join(found.goals.names)}:")
        for trial in found.front:
            values = ", ".join(f"{name} {trial.objectives[name]:.5g}" for name in found.goals.names)
            click.echo(f"    {values}: {configuration_words(trial.configuration)}")
    click.echo(
        f"{found.kernel} on {found.device}: {len(found.trials)} of {found.space_size:,} configurations in "
        f"{found.seconds:.1f} s, {len(found.failed)} failed"
    )
    for note in found.notes:
        click.echo(note)
