"""Commands to start with: `constrint new`, `completion`, `compile` and `bench`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from constrint.cli.failures import reporting
from constrint.cli.inputs import BadInputError, ReadingOptions, load, shown_name
from constrint.cli.options import FileName, budget_options, json_option, several_options
from constrint.support.completion import completion_of
from constrint.support.limits import Budget

if TYPE_CHECKING:
    from constrint.model import Model

EXAMPLES = ("knapsack", "puzzle", "schedule", "tiling")
WAYS: dict[str, Mapping[str, Any]] = {
    "default": {},
    "learn": {"learn": True},
    "restarts": {"restarts": "luby"},
    "lns": {"lns": True},
    "cp-sat": {"backend": "cp-sat"},
}
"""Arguments of `Model.solve` by the name that `constrint bench` shows."""


@click.command()
@reporting
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option(
    "--example", type=click.Choice(EXAMPLES), default="puzzle", show_default=True, help="The model to copy."
)
def new(*, file: Path, example: str) -> None:
    """Write an example model to FILE, to start from; an existing file is left alone."""
    from importlib.resources import files

    if not file.name:
        raise BadInputError(f"'{file}' is not a name of a file: give one, such as first.constrint")
    path = file if file.suffix else file.with_suffix(".constrint")
    if path.suffix != ".constrint":
        raise BadInputError(
            f"{path}: the examples are .constrint files; write them in other formats by convert"
        )
    text = files("constrint.cli").joinpath("examples", f"{example}.constrint").read_text("utf-8")
    try:
        with path.open("x", encoding="utf-8") as out:
            try:
                out.write(text)
                out.flush()
            except OSError:  # a full disk: what is half written is no model
                path.unlink()
                raise
    except FileExistsError:
        raise BadInputError(f"{path} exists: give another name") from None
    except OSError as error:
        raise BadInputError(f"cannot write {path}: {(error.strerror or str(error)).lower()}") from None
    click.echo(f"wrote {path}; now: constrint solve {path}")


completion = completion_of("constrint")


@click.command("compile")
@reporting
def compile_ahead() -> None:
    """Compile the searches into the cache, ahead of the first long search.

    Without this, a search that proves long starts the compilation itself, in the background. The machine code
    is kept for this user, this processor and this version.
    """
    from constrint.engine import cache
    from constrint.learning.compile_part import obtain

    folder = cache.writable()
    if folder is None:
        raise BadInputError(
            "machine code can be kept in no folder: set XDG_CACHE_HOME to one that is writable"
        )
    for part, about in cache.ABOUT.items():
        begun = perf_counter()
        is_known = cache.is_filled(part)
        obtain(part)
        kept = f"compiled in {perf_counter() - begun:.1f} s" if not is_known else "was compiled before"
        click.echo(f"{about.partition(',')[0]}: {kept}")
    click.echo(f"machine code is kept in {folder}")


@click.command()
@reporting
@click.argument("files", metavar="FILE…", nargs=-1, required=True, type=FileName())
@click.option(
    "--way", "ways", multiple=True, type=click.Choice(list(WAYS)), help="Only this way; may be repeated."
)
@json_option
@several_options
@budget_options(default_seconds=10.0)
def bench(
    *, files: tuple[str, ...], ways: tuple[str, ...], json: bool, reading: ReadingOptions, budget: Budget
) -> None:
    """Solve each FILE in several ways, one after the other, and print what each takes.

    The time limit is that of each way.
    """
    seconds = budget.seconds_left
    rows = []
    for file in files:
        model = load(file, reading, Budget(budget.limits, memory=budget.memory))
        for way in ways or _installed():
            row = {"file": shown_name(file), "way": way, **_measured(model, way, seconds)}
            rows.append(row)
            if not json:
                cells = [_cell(value).ljust(_WIDTHS.get(key, 0)) for key, value in row.items()]
                click.echo("  ".join(cells).rstrip())
    if json:
        from json import dumps

        click.echo(dumps(rows))


_WIDTHS = {"file": 24, "way": 8, "status": 10, "objective": 12, "seconds": 8}


def _cell(value: object) -> str:
    return "–" if value is None else str(value)


def _measured(model: Model, way: str, seconds: float | None) -> dict[str, Any]:
    from constrint.errors import ConstrintError

    begun = perf_counter()
    try:
        result = model.solve(time_limit=seconds, **WAYS[way])
    except ConstrintError as error:
        return {"status": "refused", "objective": None, "seconds": None, "reason": str(error)}
    spent = round(perf_counter() - begun, 3)
    return {"status": result.status.value, "objective": result.objective, "seconds": spent}


def _installed() -> list[str]:
    """The ways that need nothing, and CP-SAT where it is installed."""
    from importlib.util import find_spec

    return [way for way in WAYS if way != "cp-sat" or find_spec("ortools") is not None]
