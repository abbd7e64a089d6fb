"""The subject of `tune` and `compile`: a cell, or a folder with a kernel of the user's.

Each has a command of its own. The choice is made before options are read, so that a name that is nothing, or
an option of the other command, is told as such.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import click

from kerneltune.cli.failures import reporting
from kerneltune.cli.options import HELP, SCAN
from kerneltune.errors import InputError, nearest

OF_FOLDERS = "-kernel"
BOTH = ("tune", "compile")
REFUSED = "refused"
OTHER_CELLS = "--kernels"  # its folder may have any cells


class NamedCommands(click.Group):
    """The commands, of which those for folders are called as those for cells."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command, named as the user named it."""
        name, command, rest = super().resolve_command(ctx, args)
        return (None if name is None else name.removesuffix(OF_FOLDERS)), command, rest


@click.command(name=REFUSED, context_settings=HELP, hidden=True)
@click.argument("sentence")
@click.option("--json", "as_json", is_flag=True)
def refused(sentence: str, as_json: bool) -> None:
    """Say why a command line has no subject."""
    with reporting(as_json):
        raise InputError(sentence)


def with_subject(commands: Mapping[str, click.Command], arguments: list[str]) -> list[str]:
    """The command line with the command for its subject, or with one that refuses it."""
    if len(arguments) < 2 or arguments[0] not in BOTH:
        return arguments
    name, rest = arguments[0], arguments[1:]
    for_cell, for_folder = commands[name], commands[f"{name}{OF_FOLDERS}"]
    subject = _first(rest, [for_cell, for_folder])
    if subject is None:
        return arguments
    if _is_folder(subject):
        wrong = _foreign(rest, for_cell, for_folder)
        sentence = f"{wrong} is an option of `{name} CELL`, but {subject} is a folder"
        return [for_folder.name or "", *rest] if wrong is None else _refused(sentence, rest)
    if _is_cell(subject) or any(one.split("=")[0] == OTHER_CELLS for one in rest):
        wrong = _foreign(rest, for_folder, for_cell)
        sentence = f"{wrong} is an option of `{name} FOLDER`, a kernel of your own, but {subject} is a cell"
        return arguments if wrong is None else _refused(sentence, rest)
    return _refused(_nothing(subject), rest)


def _refused(sentence: str, rest: list[str]) -> list[str]:
    return [REFUSED, *(["--json"] if "--json" in rest else []), "--", sentence]


def _nothing(subject: str) -> str:
    """A sentence on a name that is neither a folder nor a cell."""
    hint = nearest(subject, _cells())
    if len(Path(subject).parts) <= 1 and hint.startswith("did you mean"):
        return f"unknown cell '{subject}': {hint}"
    return f"there is no folder {subject}: a kernel of your own is a folder with kernel.yaml"


def _cells() -> list[str]:
    from kerneltune.inputs.descriptions import discover
    from kerneltune.inputs.scan_descriptions import discover_scans

    return [*discover().cells, SCAN, *discover_scans().cells]


def _is_cell(subject: str) -> bool:
    """Whether a name is a cell's, or that of a file of equations, which need not exist."""
    from kerneltune.inputs.descriptions import ENDING

    return subject.endswith(ENDING) or subject in _cells()


def _is_folder(path: str) -> bool:
    """Whether a path is a folder; a cell's name is none, unless a folder of kernels has it."""
    from kerneltune.inputs.descriptions import discover

    try:
        folder = Path(path)
        return (folder / "kernel.yaml").is_file() or (
            folder.is_dir() and (len(folder.parts) > 1 or path not in discover().cells)
        )
    except (OSError, ValueError):
        return False


def _options(commands: Iterable[click.Command]) -> dict[str, bool]:
    """Whether each option of some commands takes a value."""
    found = {"--help": False, "-h": False}
    for command in commands:
        for one in command.params:
            if isinstance(one, click.Option):
                found |= dict.fromkeys([*one.opts, *one.secondary_opts], not (one.is_flag or one.count))
    return found


def _first(rest: list[str], commands: list[click.Command]) -> str | None:
    """The first argument that is neither an option nor an option's value."""
    takes_value, is_value = _options(commands), False
    for one in rest:
        if is_value:
            is_value = False
        elif not one.startswith("-"):
            return one
        else:
            is_value = takes_value.get(one, False)
    return None


def _foreign(rest: list[str], other: click.Command, own: click.Command) -> str | None:
    """The first option that only the other command has."""
    theirs, mine = _options([other]), _options([own])
    names = [one.split("=")[0] for one in rest if one.startswith("--")]
    return next((name for name in names if name in theirs and name not in mine), None)
