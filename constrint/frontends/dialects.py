"""The languages of models, by name and by file ending."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import cast

from constrint.errors import ModelError
from constrint.modelling.declarations import Declarations
from constrint.support.limits import Budget

DIALECTS = ("constrint", "flashrnn", "json", "flatzinc", "xcsp3")
_ENDINGS = {".json": "json", ".fzn": "flatzinc", ".xml": "xcsp3"}


def dialect_of(filename: str, dialect: str) -> str:
    """The language of a file: the given one, or that of its ending."""
    return _ENDINGS.get(Path(filename).suffix, dialect) if dialect == "constrint" else dialect


def reader_of(dialect: str) -> Callable[[str, str, Budget], Declarations] | None:
    """The reader of a language without constants, a function of text, filename and budget.

    None for the others.
    """
    if dialect not in DIALECTS:
        names = ", ".join(f"'{name}'" for name in DIALECTS)
        raise ModelError(f"there is no dialect '{dialect}': the dialects are {names}")
    if dialect == "json":
        from constrint.frontends.json.model import from_json

        return from_json
    if dialect == "flatzinc":
        flatzinc = import_module("constrint.frontends.flatzinc")
        return lambda text, filename, budget: cast(
            "Declarations", flatzinc.read_flatzinc(text, filename, budget).model
        )
    if dialect == "xcsp3":
        xcsp3 = import_module("constrint.frontends.xcsp3")
        return lambda text, filename, budget: cast(
            "Declarations", xcsp3.read_xcsp3(text, filename=filename, budget=budget)
        )
    return None
