"""Inputs of the commands: files, standard input, constants and assumptions, read within limits."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from constrint.model import Model
from constrint.support.limits import Budget, Limits, budget_for, decoded, read_bytes, read_stream

if TYPE_CHECKING:
    from constrint.frontends.text.meanings import Value


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


def load_space(
    file: str,
    dialect: str,
    define: list[str] | None,
    assume: list[str] | None,
    budget: Budget,
    data: Sequence[str] = (),
    include: Sequence[str] = (),
) -> Model | Mapping[str, Any]:
    """The model in a file, or the tuner's search space that its JSON describes."""
    from constrint.tuning import t1

    text = read_text(file, budget)
    if dialect in ("constrint", "json") and text.lstrip().startswith("{"):
        document = t1.read_text(text, shown_name(file), budget)
        if t1.is_space(document):
            if define or assume or data or include:
                raise BadInputError("--define, --assume, --include and data go with models; use --given")
            return document
        dialect = "json"
    return model_of(text, file, dialect, define, assume, budget, data, include)


def load(
    file: str,
    dialect: str,
    define: list[str] | None,
    assume: list[str] | None,
    budget: Budget,
    data: Sequence[str] = (),
    include: Sequence[str] = (),
) -> Model:
    """The model in a file, with the values of data files, and the assumptions added."""
    return model_of(read_text(file, budget), file, dialect, define, assume, budget, data, include)


def model_of(
    text: str,
    file: str,
    dialect: str,
    define: list[str] | None,
    assume: list[str] | None,
    budget: Budget,
    data: Sequence[str] = (),
    include: Sequence[str] = (),
) -> Model:
    """The model in the text of a file, with the assumptions added."""
    constants = dict(parse_definition(definition) for definition in define or [])
    from constrint.frontends.dialects import dialect_of
    from constrint.frontends.text import text as texts
    from constrint.frontends.text.data import read_data
    from constrint.frontends.text.includes import Folders

    dialect = dialect_of(file, dialect)
    filename = shown_name(file)
    given = read_data(data, constants, budget)
    folders = Folders(None if file == "-" else file, include)
    names: Mapping[str, Value] = {}
    if dialect == "constrint":
        reading = texts.read_text(text, filename=filename, given=given, budget=budget, folders=folders)
        model, names = Model.of(reading.model), reading.names
    else:
        read = texts.read_model(text, filename=filename, constants=given, dialect=dialect, budget=budget)
        model = Model.of(read)
    for condition in assume or ():
        model.assume(texts.read_condition(condition, model, constants, filename="--assume", names=names))
    return model


def parse_definition(definition: str) -> tuple[str, int | list[int]]:
    """A constant from NAME=VALUE or NAME=VALUE,VALUE,…."""
    name, equals, text = definition.partition("=")
    try:
        values = [int(part, 0) for part in text.split(",") if part.strip()]
    except ValueError:
        values = []
    if not name.strip() or not equals or not values:
        raise BadInputError(
            f"--define {definition}: write NAME=VALUE with an integer, or NAME=1,2,3 for a list"
        )
    return name.strip(), values if "," in text else values[0]
