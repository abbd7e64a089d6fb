"""The command ``kerneltune``.

Exit codes: 0 done, 1 infeasible or failed (with the reason), 2 bad input, 3 an extra is not installed, 4 the
answer could not be written, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.exceptions import Exit

from constrint.support.command import run_command
from constrint.support.completion import completion_of
from kerneltune.cli.bundle import bundle_app
from kerneltune.cli.cell import cell_app
from kerneltune.cli.doctor import doctor
from kerneltune.cli.failures import print_json, reporting, run_app
from kerneltune.cli.fit import fit
from kerneltune.cli.kernel import best, compile_kernel, header, space, tune_kernel, why
from kerneltune.cli.options import (
    FILE,
    HELP,
    Asked,
    asking,
    compiler_option,
    json_option,
    random_seed_option,
    runs_option,
    timeout_option,
    top_option,
)
from kerneltune.cli.profiles import profile_app
from kerneltune.cli.replay import replay
from kerneltune.cli.results import results, retune
from kerneltune.cli.schema import schema
from kerneltune.cli.subjects import NamedCommands, refused, with_subject
from kerneltune.cli.tune import report, tune
from kerneltune.cli.writing import write_file
from kerneltune.errors import RunError

if TYPE_CHECKING:
    from kerneltune.compiling.compile import Compiled
    from kerneltune.tiling.candidate import Candidate
    from kerneltune.tiling.space import TilingSpace

TRIED = 4  # times the number asked for: candidates compiled until enough keep their promises


def _show_version(context: click.Context, _: click.Parameter, is_asked: bool) -> None:
    if is_asked and not context.resilient_parsing:
        from constrint.support.version import version

        click.echo(f"kerneltune {version()}")
        context.exit()


@click.group(cls=NamedCommands, context_settings=HELP, no_args_is_help=True)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_show_version,
    help="Show the version.",
)
def app() -> None:
    """Tilings of recurrent-network kernels for a GPU: solved, compiled, verified and timed."""


for command in (
    profile_app,
    bundle_app,
    cell_app,
    tune,
    tune_kernel,
    compile_kernel,
    space,
    why,
    best,
    header,
    replay,
    results,
    retune,
    report,
    fit,
    doctor,
    schema,
    refused,
    completion_of("kerneltune"),
):
    app.add_command(command)


@app.command(context_settings=HELP)
@asking
@top_option
@json_option
def tile(asked: Asked, *, top: int, as_json: bool) -> None:
    """Print the fastest tiling that fits the GPU."""
    with reporting(as_json):
        space = asked.space()
        candidates = _candidates(space, top)
        if as_json:
            print_json(
                {
                    "status": "found",
                    "gpu": space.profile.name,
                    "solve_seconds": {name: round(value, 5) for name, value in space.solve_seconds.items()},
                    "candidates": [candidate.to_json() for candidate in candidates],
                }
            )
            return
        from kerneltune.cli.tables import show_ranking, show_tiling

        show_tiling(candidates[0], space.profile, space.kernels)
        if top > 1:
            click.echo("")
            show_ranking(candidates)
        read, solved = (sum(spent.values()) for spent in (space.read_seconds, space.solve_seconds))
        count = f"{len(space.solve_seconds)} of {len(space.kernels.strategies)} strategies"
        click.echo(f"\n{count}: constraints read in {1e3 * read:.0f} ms, solved in {1e3 * solved:.0f} ms")


@app.command(name="compile", context_settings=HELP)
@asking
@compiler_option
@click.option("--cubin", type=FILE, help="Write the cubin to this file.")
@click.option("--source", type=FILE, help="Write the generated CUDA source to this file.")
@json_option
def compile_command(
    asked: Asked, *, compiler: str, cubin: Path | None, source: Path | None, as_json: bool
) -> None:
    """Compile the fastest tiling, without a GPU, and compare predicted with actual resources."""
    with reporting(as_json):
        from kerneltune.compiling.compile import Compiler
        from kerneltune.compiling.feedback import settle

        space = asked.space()
        settled = settle(space, Compiler(space.kernels, space.profile, backend=compiler))
        compiled = settled.compiled
        for path, content in ((cubin, compiled.cubin), (source, compiled.source)):
            if path is not None:
                write_file(path, content)
        if as_json:
            print_json(
                {
                    "status": "compiled",
                    "gpu": space.profile.name,
                    "candidate": compiled.candidate.to_json(),
                    "report": compiled.report.to_json(),
                    "tightenings": [turn.sentence for turn in settled.tightenings],
                }
            )
            return
        from kerneltune.cli.tables import show_compilation, show_tiling

        show_tiling(compiled.candidate, space.profile, space.kernels)
        click.echo("")
        show_compilation(settled)


@app.command(context_settings=HELP)
@asking
@top_option
@compiler_option
@runs_option
@click.option("--timed", type=click.IntRange(0), default=20, help="Number of launches to time.")
@random_seed_option
@timeout_option(120.0)
@json_option
def run(
    asked: Asked,
    *,
    top: int,
    compiler: str,
    runs: int,
    timed: int,
    seed: int | None,
    timeout: float,
    as_json: bool,
) -> None:
    """Run the fastest tilings on this machine's GPU: verify them, compare repeated runs, and time them."""
    with reporting(as_json):
        from kerneltune.measuring.measure import tiling_plan
        from kerneltune.pipeline.tilings import CompiledTiling, require_gpu, run_tilings

        space = asked.space()
        fresh = int.from_bytes(os.urandom(4), "little") if seed is None else seed
        space.best()  # reports an infeasible request even without a GPU
        require_gpu(space.profile, space.kernels, timeout=timeout)
        tilings = [
            CompiledTiling(
                compiled.candidate,
                compiled.cubin,
                space.kernels.strategy(compiled.candidate.strategy).spec.cooperative,
                fresh,
            )
            for compiled in _best_compiled(space, compiler, top)
        ]
        trials = list(run_tilings(tilings, space.kernels.root, tiling_plan(runs, timed), timeout=timeout))
        if as_json:
            print_json(
                {
                    "status": "passed" if all(trial.passed for trial in trials) else "failed",
                    "gpu": space.profile.name,
                    "seed": fresh,
                    "outcomes": [trial.reported() for trial in trials],
                }
            )
        else:
            from kerneltune.cli.tables import show_tiling, show_trials

            show_tiling(trials[0].candidate, space.profile, space.kernels)
            click.echo("")
            show_trials(trials)
        if not any(trial.passed for trial in trials):
            raise Exit(RunError.exit_code)


def main() -> None:
    """Run the command line."""
    run_command(lambda: run_app(app, with_folders(sys.argv[1:])))


def with_folders(arguments: list[str]) -> list[str]:
    """The command line with `tune FOLDER` and `compile FOLDER` as the commands for users' kernels."""
    return with_subject(app.commands, arguments)


def _candidates(space: TilingSpace, top: int) -> list[Candidate]:
    from kerneltune.errors import InfeasibleError

    candidates = space.candidates(top)
    if not candidates:
        raise InfeasibleError(space.why_empty())
    return candidates


def _best_compiled(space: TilingSpace, backend: str, top: int) -> list[Compiled]:
    """The best ``top`` tilings, compiled: the first settled, of the others those that keep their promises."""
    from kerneltune.compiling.compile import Compiler
    from kerneltune.compiling.feedback import settle

    compiler = Compiler(space.kernels, space.profile, backend=backend)
    settled = settle(space, compiler)
    for turn in settled.tightenings:
        click.echo(turn.sentence, err=True)
    if top == 1:
        return [settled.compiled]
    kept: list[Compiled] = []
    tried: list[Candidate] = []
    while len(kept) < top:
        missing = top - len(kept)
        fresh = [one for one in settled.space.candidates(len(tried) + missing) if one not in tried]
        if not fresh or len(tried) >= TRIED * top:
            break
        for candidate in fresh[:missing]:
            tried.append(candidate)
            compiled = compiler.compile(candidate)
            broken = compiled.report.broken_promises()
            if broken:
                click.echo(f"left out: {candidate.strategy}: {'; '.join(broken)}", err=True)
            else:
                kept.append(compiled)
    return kept
