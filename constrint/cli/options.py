"""Options that several commands share: how a file is read, within which limits, and how the search goes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import click

from constrint.cli.inputs import BadInputError, ReadingOptions, budget_of
from constrint.errors import ModelError
from constrint.support.limits import DEFAULT, Budget, Limits

if TYPE_CHECKING:
    from constrint.preparing.branching import Brancher

HELP = {"help_option_names": ["-h", "--help"], "max_content_width": 110}
"""Settings of every command."""

Command: TypeAlias = Callable[..., None]
Decorator: TypeAlias = Callable[[Command], Command]
Made = TypeVar("Made")

json_option = click.option("--json", is_flag=True, help="Write one JSON document to standard output.")
count_option = click.option("--count", is_flag=True, help="Print the number of solutions only.")
seed_option = click.option("--seed", type=int, metavar="N", help="Seed of random choices; usually 0.")
sample_option = click.option(
    "--sample", type=click.IntRange(1), metavar="N", help="Draw N solutions at random."
)
workers_option = click.option(
    "--workers", type=click.IntRange(1), metavar="N", help="Search with N workers in parallel."
)
memory_option = click.option(
    "--memory", type=click.IntRange(1), metavar="MB", help="Memory limit of reading, building and solving."
)


class FileName(click.Path):
    """A name of a file, which shells complete; one that no file can have is left to the command to refuse."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> str | bytes | os.PathLike[str]:
        """The name as it is given."""
        try:
            return super().convert(value, param, ctx)
        except ValueError:  # a NUL byte, or half of a surrogate pair
            return str(value)


file_argument = click.argument("file", metavar="FILE", type=FileName(allow_dash=True))
_DATA = click.argument("data", metavar="[DATA]...", nargs=-1, type=FileName())
_INCLUDE = click.option(
    "--include", multiple=True, metavar="FOLDER", help="A folder whose files the model may include."
)


def time_limit_option(default: float | None = None) -> Decorator:
    """``--time-limit``."""
    return click.option(
        "--time-limit",
        type=click.FloatRange(0.0),
        default=default,
        show_default=default is not None,
        metavar="SECONDS",
        help="Stop after this time; exit code 3 if undecided.",
    )


def gathered(name: str, make: Callable[..., Made], options: Mapping[str, Decorator]) -> Decorator:
    """Add options to a command, which receives them as one object.

    Args:
        name: The command's parameter for the object.
        make: Builds the object from the options' values by name.
        options: The options by the name of their parameter, in the order of the help.
    """

    def decorate(command: Command) -> Command:
        @wraps(command)
        def run(**given: Any) -> None:
            own = {key: given.pop(key) for key in options}
            command(**given, **{name: make(**own)})

        decorated: Command = run
        for option in reversed([*options.values()]):
            decorated = option(decorated)
        return decorated

    return decorate


_DEFINE = click.option(
    "--define",
    "-D",
    multiple=True,
    metavar="NAME=VALUE",
    help="A constant, or a list of them: 64, 1.5, or 16,32,64.",
)
_ASSUME = click.option(
    "--assume", "-A", multiple=True, metavar="CONDITION", help="A further condition for this call."
)
_DIALECT = click.option(
    "--dialect",
    "--format",
    "dialect",
    default="constrint",
    show_default=True,
    help="The language of the file, where its ending says none: constrint, flashrnn, json, flatzinc, xcsp3, "
    "lp, mps, cnf, wcnf or opb.",
)
_OF_SEVERAL: dict[str, Decorator] = {"define": _DEFINE, "include": _INCLUDE, "dialect": _DIALECT}
_CHECKING: dict[str, Decorator] = {"data": _DATA, **_OF_SEVERAL}
reading_options = gathered("reading", ReadingOptions, {**_CHECKING, "assume": _ASSUME})
checking_options = gathered("reading", ReadingOptions, _CHECKING)
several_options = gathered("reading", ReadingOptions, {**_OF_SEVERAL, "assume": _ASSUME})
"""For commands that read several files, which have no files of data."""


_LIMITED = {
    "depth": "Nesting of brackets, lists, blocks and operators",
    "digits": "Digits of a number",
    "variables": "Variables of the model",
    "values": "Listed values and cells of tables",
    "nodes": "Operators and operands",
    "bytes": "Bytes of the file",
    "steps": "Steps of reading, beyond one for each byte,",
}


def _limits(**chosen: int | None) -> Limits:
    """The limits; 0 stands for none."""
    given = {key.removeprefix("max_"): value or None for key, value in chosen.items() if value is not None}
    return Limits(**given)


def _limit_option(name: str) -> Decorator:
    text = f"{_LIMITED[name]} that are read at most (usually {getattr(DEFAULT, name):,}); 0 for no limit."
    return click.option(f"--max-{name}", type=click.IntRange(0), metavar="N", help=text)


limit_options = gathered(
    "limits", _limits, {f"max_{field.name}": _limit_option(field.name) for field in fields(Limits)}
)


def budget_options(default_seconds: float | None = None) -> Decorator:
    """The limits of time, memory and size: the command receives a `Budget` that counts from its call."""
    options: dict[str, Decorator] = {
        "time_limit": time_limit_option(default_seconds),
        "memory": memory_option,
        **{f"max_{field.name}": _limit_option(field.name) for field in fields(Limits)},
    }
    gather = gathered("budget", _budget, options)

    def decorate(command: Command) -> Command:
        @wraps(command)
        def run(*, budget: Budget, **given: Any) -> None:
            if budget.memory is None:
                command(budget=budget, **given)
                return
            from constrint.cli.memory import watched_memory

            with watched_memory(budget):
                command(budget=budget, **given)

        return gather(run)

    return decorate


def _budget(time_limit: float | None, memory: int | None, **limits: int | None) -> Budget:
    return budget_of(_limits(**limits), time_limit, memory)


@dataclass(frozen=True)
class SearchArguments:
    """How one solution is searched for; see the arguments of `Model.solve`.

    Attributes:
        backend: The solver.
        branching: A variable selector, a value selector, or both with a comma between them; or None.
        restarts: "luby" or "geometric", or None.
        lns: Whether to use large-neighbourhood search.
        learn: Whether to use the search that learns, and only that; None for several searches in turns.
        proof: File for what that search proves, or None.
        engine: "auto", "interpreted" or "compiled".
        progress: Whether to show the progress on a terminal.
        log: Whether to write a log to standard error.
    """

    backend: str = "constrint"
    branching: str | None = None
    restarts: str | None = None
    lns: bool = False
    learn: bool | None = None
    proof: Path | None = None
    engine: str = "auto"
    progress: bool = False
    log: bool = False

    @property
    def chosen(self) -> dict[str, Any]:
        """The options that differ from their defaults, by name."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if value != getattr(_PLAIN, name)}

    def arguments(self) -> dict[str, Any]:
        """Arguments of `Model.solve`: those that were chosen, so that a backend refuses what it lacks."""
        given = self.chosen
        if "branching" in given:
            given["branching"] = self._brancher()
        if "log" in given:
            given["log"] = sys.stderr
        return given

    def _brancher(self) -> Brancher:
        from constrint.preparing.branching import brancher_named

        try:
            return brancher_named(self.branching or "")
        except ModelError as error:
            raise BadInputError(f"--{error}") from None


_PLAIN = SearchArguments()

search_options = gathered(
    "search",
    SearchArguments,
    {
        "backend": click.option(
            "--backend",
            type=click.Choice(["constrint", "cp-sat"]),
            default="constrint",
            show_default=True,
            help="The solver; cp-sat needs the extra of that name.",
        ),
        "branching": click.option(
            "--branching",
            metavar="SELECTOR[,SELECTOR]",
            help="How to choose variables, values or both: first_fail, or dom_w_deg,max.",
        ),
        "restarts": click.option(
            "--restarts", type=click.Choice(["luby", "geometric"]), help="Restart the search by this rule."
        ),
        "lns": click.option("--lns", is_flag=True, help="Search near the best solution."),
        "learn": click.option(
            "--learn/--no-learn",
            default=None,
            help="Only learn clauses from failures, good for scheduling; or only branch. Default: in turns.",
        ),
        "proof": click.option(
            "--proof",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="Write the proof of --learn for a proof checker.",
        ),
        "engine": click.option(
            "--engine",
            type=click.Choice(["auto", "interpreted", "compiled"]),
            default="auto",
            show_default=True,
            help="Whether searches are compiled to machine code; auto: long ones.",
        ),
        "progress": click.option(
            "--progress", is_flag=True, help="Show the progress of the search on a terminal."
        ),
        "log": click.option(
            "--log", is_flag=True, help="Write a log of presolve, plan, solutions, bounds and work to stderr."
        ),
    },
)
