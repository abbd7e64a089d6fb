"""The formats in which models are read and written: one table, by name and by ending of the file.

`Model.from_file`, `Model.write`, `constrint.read` and the command line ask this table. A compressed file
(.gz, .bz2, .xz) has the format of the ending before that one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

from constrint.errors import ModelError
from constrint.modelling.declarations import Declarations
from constrint.support.files import COMPRESSED
from constrint.support.limits import Budget
from constrint.support.optional import needed
from constrint.support.placing import replace

Reader: TypeAlias = Callable[[str, str, Budget], Declarations]
"""A function of the text, the name of the file, and the limits of reading."""


@dataclass(frozen=True, slots=True)
class Format:
    """A format.

    Attributes:
        name: Its name, as in ``dialect="lp"``.
        what: What it is, for messages.
        endings: The endings of its files.
        reader: The module and function that read it; empty if it is only written.
        writer: The module and function that write it; empty if it is only read.
        extra: The extra that is needed, if any.
    """

    name: str
    what: str
    endings: tuple[str, ...]
    reader: str = ""
    writer: str = ""
    extra: str = ""


_FRONTENDS = "constrint.frontends."
FORMATS: dict[str, Format] = {
    one.name: one
    for one in (
        Format(
            "constrint",
            "the text language",
            (".constrint",),
            _FRONTENDS + "text.text:read_model",
            _FRONTENDS + "text.model_writer:write_model",
        ),
        Format("flashrnn", "FlashRNN's dialect of ConstrINT", (), _FRONTENDS + "text.text:read_model"),
        Format(
            "json",
            "JSON",
            (".json",),
            _FRONTENDS + "json.model:from_json",
            _FRONTENDS + "json.model:to_json",
        ),
        Format(
            "flatzinc",
            "FlatZinc",
            (".fzn",),
            _FRONTENDS + "flatzinc:read_model",
            _FRONTENDS + "flatzinc.writer:write_flatzinc",
        ),
        Format(
            "xcsp3",
            "XCSP3",
            (".xml", ".xcsp3"),
            _FRONTENDS + "xcsp3:read_xcsp3",
            _FRONTENDS + "xcsp3.writer:write_xcsp3",
        ),
        Format(
            "cp-sat",
            "CP-SAT's model proto",
            (".pbtxt", ".textproto"),
            "",
            _FRONTENDS + "cp_sat.writer:write_cp_sat",
            "cp-sat",
        ),
        Format(
            "lp",
            "the LP format",
            (".lp",),
            _FRONTENDS + "linear.lp:read_lp",
            _FRONTENDS + "linear.writers:write_lp",
        ),
        Format(
            "mps",
            "the MPS format",
            (".mps",),
            _FRONTENDS + "linear.mps:read_mps",
            _FRONTENDS + "linear.writers:write_mps",
        ),
        Format("cnf", "DIMACS CNF", (".cnf", ".dimacs"), _FRONTENDS + "boolean.dimacs:read_cnf"),
        Format("wcnf", "weighted CNF", (".wcnf",), _FRONTENDS + "boolean.dimacs:read_wcnf"),
        Format("opb", "pseudo-Boolean constraints", (".opb", ".wbo"), _FRONTENDS + "boolean.opb:read_opb"),
    )
}
"""All formats by name."""
WITH_CONSTANTS = ("constrint", "flashrnn")
"""The formats whose readers take constants and data."""
_BY_ENDING = {ending: one.name for one in FORMATS.values() for ending in one.endings}


def format_of(filename: str, chosen: str | None = None) -> str:
    """The name of the format of a file: the chosen one, or that of its ending; else the text language."""
    if chosen is not None and chosen != "constrint":
        return chosen
    return _BY_ENDING.get(ending_of(filename), "constrint")


def ending_of(filename: str) -> str:
    """The ending of a file name that determines its format, in lower case."""
    path = Path(filename)
    return (Path(path.stem) if path.suffix.lower() in COMPRESSED else path).suffix.lower()


def known(name: str, can: str) -> Format:
    """The format with a name; raises `ModelError` where there is none that can be read, or written."""
    able = [one for one in FORMATS.values() if getattr(one, can)]
    found = FORMATS.get(name)
    if found is not None and found in able:
        return found
    done = "read" if can == "reader" else "written"
    names = ", ".join(f"'{one.name}'" for one in able)
    problem = f"there is no dialect '{name}'" if found is None else f"{found.what} is not {done}"
    raise ModelError(f"{problem}: the formats that are {done} are {names}")


def reader_of(name: str) -> Reader | None:
    """The reader of a format; None for the text language and its dialect, which `text` reads itself."""
    reader: Reader = _function(known(name, "reader"), "reader")
    return None if name in WITH_CONSTANTS else reader


def written(model: Declarations, name: str) -> str:
    """A model in a format.

    Raises:
        ModelError: The format is unknown, only read, or cannot hold the model.
    """
    text: str = _function(known(name, "writer"), "writer")(model)
    return text


def write(model: Declarations, path: str | Path, name: str | None = None) -> None:
    """Write a model to a file, in the format of its ending or another one; a crash leaves the old file.

    Raises:
        ModelError: As for `written`, or the ending says no format.
        OSError: The file cannot be written.
    """
    filename = str(path)
    if name is None:
        name = _BY_ENDING.get(ending_of(filename))
    if name is None:
        raise ModelError(f'the ending of {filename} says no format: give one, as in dialect="lp" (--to lp)')
    text = written(model, name).rstrip("\n") + "\n"  # a file of text ends with a line
    replace(path, text.encode())


def _function(one: Format, which: str) -> Any:
    module, _, name = getattr(one, which).partition(":")
    found = needed(module, f"constrint[{one.extra}]", one.what) if one.extra else import_module(module)
    return getattr(found, name)
