"""Data files for the parameters of a text: JSON and YAML with names, CSV with a table.

A CSV file gives its rows to the name of the file, and each column to the name in its header, if it has one.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping
from functools import partial
from io import StringIO
from pathlib import Path
from typing import TypeAlias, cast

from constrint.errors import ModelError, ParseError, shown
from constrint.expr.rational import Rational
from constrint.frontends.text.decimals import decimal_number
from constrint.frontends.text.parameters import Given, GivenNames
from constrint.support.json_text import read_json
from constrint.support.limits import Budget, decoded, read_bytes

Cell: TypeAlias = int | str | Rational
_POINT = re.compile(r"\.|[eE][-+]")  # `1E5` is the name of a thing rather than a number
ENDINGS = (".json", ".yaml", ".yml", ".csv")


def read_data(
    files: Iterable[str | Path], constants: Mapping[str, Given] | None = None, budget: Budget | None = None
) -> GivenNames:
    """The values in data files; a constant overrides the value of its name in a file.

    Args:
        files: The files. Two that give the same name a value contradict each other.
        constants: Values that are not from files.
        budget: The limits of reading.

    Raises:
        ModelError: A file cannot be read, is of no known kind, or gives a name again.
        ParseError: A file is not what its ending says.
        LimitExceeded: A file exceeds a limit.
    """
    budget = budget or Budget()
    given = GivenNames(constants)
    for file in files:
        name, ending = str(file), Path(file).suffix.lower()
        if ending not in ENDINGS:
            raise ModelError(f"{name}: a data file ends in {', '.join(ENDINGS)}")
        try:
            text = decoded(read_bytes(file, budget), name)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise ModelError(f"cannot read {name}: {reason.lower()}") from None
        if ending == ".csv":
            found, columns = _read_csv(text, name, budget)
        else:
            document = _document(text, name, ending, budget)
            found, columns = _names_of(document, name), frozenset()
            if ending == ".json":
                _check(found, name, budget)
        for key, value in found.items():
            if key in given.origins:
                raise ModelError(f"{name}: '{shown(key, 60)}' has a value in {given.origins[key]} already")
            given.origins[key] = name
            given.groups[key] = columns
            if key in given.values:
                given.direct.add(key)
            else:
                given.values[key] = value
    return given


def _document(text: str, name: str, ending: str, budget: Budget) -> object:
    if ending == ".json":
        return read_json(text, name, budget, number=partial(_decimal, budget=budget, where=name))
    from constrint.frontends.text.yaml_data import read_yaml

    return read_yaml(text, name, budget)


def _names_of(document: object, name: str) -> dict[str, Given]:
    """The values by name."""
    if not isinstance(document, dict):
        raise ModelError(f'{name}: a data file holds names with values, such as {{"n": 5}}')
    return {str(key): value for key, value in document.items()}


def _check(found: Mapping[str, object], name: str, budget: Budget) -> None:
    """Refuse values that are no numbers, words, lists or mappings; count the others."""
    for key, value in found.items():
        _check_value(value, f"{name}: '{shown(key, 60)}'", budget)


def _check_value(value: object, where: str, budget: Budget) -> None:
    stack = [value]
    while stack:
        one = stack.pop()
        if isinstance(one, dict):
            budget.values(1 + len(one), where)
            stack += one.values()
        elif isinstance(one, list):
            budget.values(1 + len(one), where)
            stack += one
        elif not isinstance(one, int | str | Rational):
            raise ModelError(
                f"{where} has {shown(repr(one), 40)}: values are numbers, names, lists and mappings"
            )


def _decimal(text: str, budget: Budget, where: str) -> Rational:
    """The exact number that a text of JSON is."""
    found = decimal_number(text, budget, where)
    if found is None:
        raise ValueError(f"{shown(text, 40)} is not a decimal number")
    return found


def _read_csv(text: str, name: str, budget: Budget) -> tuple[dict[str, Given], frozenset[str]]:
    """The rows under the name of the file, and the columns under the names of the header."""
    rows: list[list[Cell]] = []
    reader = csv.reader(StringIO(text, newline=""), strict=True, skipinitialspace=True)
    try:
        for row in reader:
            if row:
                budget.values(len(row), f"{name}:{reader.line_num}")
                rows.append([_cell(cell, budget, f"{name}:{reader.line_num}") for cell in row])
                if len(row) != len(rows[0]):
                    message = f"this row has {len(row)} cells, the first one {len(rows[0])}"
                    raise ParseError(message, filename=name, line=reader.line_num, column=1)
    except csv.Error as error:
        raise ParseError(f"this is not CSV: {error}", filename=name, line=reader.line_num, column=1) from None
    found: dict[str, Given] = {}
    if len(rows) > 1 and _is_header(rows):
        header, *rows = rows
        found = {str(word): [row[place] for row in rows] for place, word in enumerate(header)}
        if len(found) < len(header):
            raise ParseError("the header has a name twice", filename=name, line=1, column=1)
    stem = Path(name).stem
    if stem not in found:
        found[stem] = cast("Given", rows)
    return found, frozenset(found)


def _is_header(rows: list[list[Cell]]) -> bool:
    """Whether the first row names the columns: it has words only, and another row has a number."""
    return all(isinstance(cell, str) and cell for cell in rows[0]) and any(
        isinstance(cell, int | Rational) for row in rows[1:] for cell in row
    )


def _cell(text: str, budget: Budget, where: str) -> Cell:
    text = text.strip()
    digits = text.removeprefix("-").removeprefix("+")
    if not (digits.isascii() and digits.isdigit()):
        found = decimal_number(text, budget, where) if _POINT.search(text) else None
        return text if found is None else found
    budget.digits(digits, where)
    return int(text)
