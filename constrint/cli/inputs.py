"""Inputs of the commands: files, standard input, constants and assumptions, read within limits."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from constrint.model import Model
from constrint.support.limits import Budget, Limits, budget_for, decoded, read_bytes, read_stream

if TYPE_CHECKING:
    from constrint.frontends.flatzinc import FlatModel
    from constrint.frontends.text.parameters import Given


class BadInputError(Exception):
    """The user's input cannot be used; the message says why."""


def read_text(file: str, budget: Budget | None = None) -> str:
    """The text of a file or of standard input."""
    budget = budget or Budget()
    try:
        if file == "-":
            return decoded(read_stream(sys.stdin.buffer, budget, "<stdin>"), "<stdin>")
        return decoded(read_bytes(file, budget), file)
    except (OSError, ValueError) as error:  # ValueError: a NUL byte in the name
        reason = getattr(error, "strerror", None) or str(error)
        raise BadInputError(f"cannot read {file}: {reason.lower()}") from None


def budget_of(limits: Limits | None, time_limit: float | None, megabytes: int | None) -> Budget:
    """The limits of reading; the time counts from this call."""
    return budget_for(limits, time_limit, None if megabytes is None else megabytes * 1_000_000)


def shown_name(file: str) -> str:
    """The name of a file in messages."""
    return "<stdin>" if file == "-" else file


@dataclass(frozen=True)
class ReadingOptions:
    """How a file is read.

    Attributes:
        define: Constants, as NAME=VALUE.
        assume: Further conditions, as text.
        dialect: The language of the file, where its suffix names none.
        data: Files with values of parameters.
        include: Folders whose files the model may include.
    """

    define: tuple[str, ...] = ()
    assume: tuple[str, ...] = ()
    dialect: str = "constrint"
    data: tuple[str, ...] = ()
    include: tuple[str, ...] = ()


def load_space(file: str, reading: ReadingOptions, budget: Budget) -> Model | Mapping[str, object]:
    """The model in a file, or the tuner's search space that its JSON describes."""
    from constrint.tuning import t1

    text = read_text(file, budget)
    if reading.dialect in ("constrint", "json") and text.lstrip().startswith("{"):
        document = t1.read_text(text, shown_name(file), budget)
        if t1.is_space(document):
            if reading.define or reading.assume or reading.data or reading.include:
                raise BadInputError("--define, --assume, --include and data go with models; use --given")
            return document
        reading = replace(reading, dialect="json")
    return model_of(text, file, reading, budget)


def load(file: str, reading: ReadingOptions, budget: Budget) -> Model:
    """The model in a file, with the assumptions added."""
    return model_of(read_text(file, budget), file, reading, budget)


def load_annotated(file: str, reading: ReadingOptions, budget: Budget) -> tuple[Model, FlatModel | None]:
    """The model in a file, as `load`; of FlatZinc also with its annotations."""
    return _read(read_text(file, budget), file, reading, budget)


def model_of(text: str, file: str, reading: ReadingOptions, budget: Budget) -> Model:
    """The model in the text of a file, with the assumptions added."""
    return _read(text, file, reading, budget)[0]


def _read(text: str, file: str, reading: ReadingOptions, budget: Budget) -> tuple[Model, FlatModel | None]:
    constants = dict(parse_definition(definition) for definition in reading.define)
    from constrint.frontends.formats import format_of
    from constrint.frontends.text import text as texts
    from constrint.frontends.text.includes import Folders
    from constrint.frontends.text.meanings import Value
    from constrint.frontends.text.parameters import GivenNames

    dialect = format_of(file, reading.dialect)
    filename = shown_name(file)
    given = GivenNames(constants)
    if reading.data:
        from constrint.frontends.text.data import read_data

        given = read_data(reading.data, constants, budget)
    given.note(" ".join(reading.assume))
    names: Mapping[str, Value] = {}
    flat: FlatModel | None = None
    if dialect == "flatzinc" and not given.values:
        from constrint.frontends.flatzinc import read_flatzinc

        flat = read_flatzinc(text, filename, budget)
        model = Model.of(flat.model)
    elif dialect == "constrint":
        folders = Folders(None if file == "-" else file, reading.include)
        found = texts.read_text(text, filename=filename, given=given, budget=budget, folders=folders)
        model, names = Model.of(found.model), found.names
    else:
        read = texts.read_model(text, filename=filename, constants=given, dialect=dialect, budget=budget)
        model = Model.of(read)
    for condition in reading.assume:
        model.assume(texts.read_condition(condition, model, constants, filename="--assume", names=names))
    return model, flat


def parse_definition(definition: str) -> tuple[str, Given]:
    """A constant from NAME=VALUE or NAME=VALUE,VALUE,…."""
    name, equals, text = definition.partition("=")
    try:
        values = [_number(part.strip()) for part in text.split(",") if part.strip()]
    except ValueError:
        values = []
    if not name.strip() or not equals or not values:
        raise BadInputError(f"--define {definition}: write NAME=VALUE, or NAME=1,2,3 for a list")
    return name.strip(), values if "," in text else values[0]


def _number(text: str) -> Given:
    """An integer or decimal number; raises `ValueError` for another text."""
    try:
        return int(text, 0)
    except ValueError:
        from constrint.frontends.text.decimals import decimal_number

        found = decimal_number(text, Budget())
        if found is None:
            raise
        return found
