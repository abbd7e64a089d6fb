"""Solution sets as files for other programs: Parquet, CSV and numpy's `.npy`, written chunk by chunk.

A file is written under a temporary name and renamed when it is complete, so a partial file is never found.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, TextIO, TypeAlias

import numpy as np

from constrint.diagrams.terms import OBJECT, Array
from constrint.errors import ModelError
from constrint.solutions.presented import in_order, set_text
from constrint.support.optional import needed
from constrint.support.placing import placed, reserve

if TYPE_CHECKING:
    from constrint.solutions.listed import Listed

Progress: TypeAlias = Callable[[int], None]
"""Called with the number of rows of each chunk after it is written."""

MOST_DIGITS = 76


def write_csv(solutions: Listed, path: str | Path, rows: int, progress: Progress | None) -> None:
    """Write comma-separated values with a header line of names."""
    with placed(path) as aside, _text_file(aside) as file:
        writer = csv.writer(file)
        writer.writerow(solutions.names)
        for columns in solutions.iter_columns(rows):
            lists = [_cells(column) for column in columns.values()]
            writer.writerows(zip(*lists, strict=True))
            _tell(progress, columns)


def _cells(column: Array) -> list[object]:
    """A column's values; a set is written such as {a, b}."""
    values: list[object] = column.tolist()
    if column.dtype != OBJECT or not any(isinstance(value, frozenset) for value in values):
        return values
    return [set_text(value) if isinstance(value, frozenset) else value for value in values]


def _text_file(path: Path) -> TextIO:
    return path.open("w", newline="", encoding="utf-8", errors="backslashreplace")


def write_npy(solutions: Listed, path: str | Path, rows: int, progress: Progress | None) -> None:
    """Write the array of `to_numpy`."""
    if solutions.dtype == OBJECT:
        raise ModelError(
            f"{path}: .npy holds numbers of up to 64 bits, and some values are not: write .parquet or .csv"
        )
    shape = (solutions.size, len(solutions.names))
    with placed(path) as aside:
        if not solutions.size:
            with aside.open("wb") as file:
                np.lib.format.write_array(file, np.empty(shape, solutions.dtype), allow_pickle=False)
            return
        table = np.lib.format.open_memmap(aside, "w+", solutions.dtype, shape, fortran_order=True)
        reserve(aside)
        start = 0
        for chunk in solutions.iter_chunks(rows):
            table[start : start + len(chunk)] = chunk
            start += len(chunk)
            if progress is not None:
                progress(len(chunk))
        table.flush()
        del table  # closes the file before it is moved


def write_parquet(solutions: Listed, path: str | Path, rows: int, progress: Progress | None) -> None:
    """Write a Parquet file with a row group for each chunk."""
    arrow = needed("pyarrow", "constrint[parquet]", "a Parquet file")
    parquet = needed("pyarrow.parquet", "constrint[parquet]", "a Parquet file")
    kinds = {name: _arrow_type(arrow, solutions, name) for name in solutions.names}
    schema = arrow.schema(list(kinds.items()))
    with placed(path) as aside, parquet.ParquetWriter(str(aside), schema) as writer:
        for columns in solutions.iter_columns(rows):
            arrays = [_arrow_array(arrow, name, columns[name], kind) for name, kind in kinds.items()]
            writer.write_table(arrow.Table.from_arrays(arrays, schema=schema), row_group_size=rows)
            _tell(progress, columns)


def _tell(progress: Progress | None, columns: dict[str, Array]) -> None:
    if progress is not None:
        progress(max((len(column) for column in columns.values()), default=0))


def _arrow_type(arrow: ModuleType, solutions: Listed, name: str) -> object:
    """The Parquet type of a column: numpy's, a list for a set, a decimal for integers beyond 64 bits.

    `arrow` is the module pyarrow. Raises `ModelError` if no type has room for the values.
    """
    kind = solutions.column_type(name)
    if kind != OBJECT:
        return arrow.from_numpy_dtype(kind)
    if name in solutions.sets:
        return arrow.list_(_common(arrow, name, list(solutions.sets[name])))
    values = solutions.values_of(name)
    if values and all(isinstance(value, int) and not isinstance(value, bool) for value in values):
        if max(len(str(abs(value))) for value in values) > MOST_DIGITS:
            raise ModelError(f"'{name}' has values of more than {MOST_DIGITS} digits: write .csv")
        return arrow.decimal256(MOST_DIGITS)
    return _common(arrow, name, values)


def _common(arrow: ModuleType, name: str, values: list[object]) -> object:
    """The type that values have in common."""
    try:
        return arrow.array(values).type
    except (arrow.ArrowInvalid, arrow.ArrowTypeError, arrow.ArrowNotImplementedError, TypeError) as problem:
        raise ModelError(
            f"the values of '{name}' have no common type in a Parquet file "
            f"({', '.join(map(repr, values[:4]))}…): write .csv, or leave the variable out with project()"
        ) from problem


def _arrow_array(arrow: ModuleType, name: str, column: Array, kind: object) -> object:
    if column.dtype != OBJECT:
        return arrow.array(column, type=kind)
    values = [in_order(one) if isinstance(one, frozenset) else one for one in column.tolist()]
    return arrow.array(values, type=kind)
