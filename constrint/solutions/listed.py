"""Listing solutions: rows, columns, data frames, chunks and files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from constrint.diagrams.diagram import smallest_type
from constrint.diagrams.listing import fill, without_collection
from constrint.diagrams.terms import FLOAT, OBJECT, Array
from constrint.errors import ModelError
from constrint.settings import of_new_models
from constrint.solutions.numbered import Numbered, Solution
from constrint.support.optional import needed

if TYPE_CHECKING:
    from concurrent.futures import Executor

    import pandas as pd  # type: ignore[import-untyped] # stubs are a package of their own

    from constrint.solutions.table_files import Progress

CHUNK = 1 << 16
CHUNK_ROWS = 1 << 20  # rows of a chunk written to a file


class Listed(Numbered):
    """A numbered set whose solutions can be listed."""

    def __iter__(self) -> Iterator[Solution]:
        for start in range(0, self.size, CHUNK):
            yield from self._solutions(self._columns(start, min(start + CHUNK, self.size)))

    @cached_property
    def dtype(self) -> np.dtype[np.generic]:
        """The smallest numpy type that holds all values of all variables."""
        types = self._types
        if self.sets or any(kind == OBJECT for kind in types):
            return OBJECT
        if any(kind == FLOAT for kind in types):
            return np.dtype(np.float64)
        return np.result_type(np.int8, *[np.int8 if kind.kind == "b" else kind for kind in types])

    def column_type(self, name: str) -> np.dtype[np.generic]:
        """The smallest numpy type that holds the values of a variable: integers, float64, bool or object."""
        if self._members(name) is not None:
            return OBJECT
        return self._types[self._variable(name)]

    @cached_property
    def _types(self) -> list[np.dtype[np.generic]]:
        return [self._type(v) for v in range(len(self.variables))]

    def _type(self, v: int) -> np.dtype[np.generic]:
        if v in self._labels:
            values = self._decoded(v, np.array(list(self._labels[v])))
            is_whole = values.dtype.kind not in "fbO"
            return smallest_type(int(values.min()), int(values.max())) if is_whole else values.dtype
        return self._smallest(v)

    def _smallest(self, v: int) -> np.dtype[np.generic]:
        for diagram in self._diagrams:
            if v in diagram.variables:
                values = diagram.layers[diagram.variables.index(v)].value
                if values.dtype.kind == "f":
                    return np.dtype(np.float64)
                return smallest_type(int(values.min()), int(values.max()))
        return np.dtype(np.int8)

    def to_numpy(self, *, executor: Executor | None = None, workers: int | None = None) -> Array:
        """All solutions as a 2-D array of shape (size, len(names)).

        Rows are in order of number, columns as in `names`.

        The type is the smallest that fits all values. The columns are each contiguous (Fortran order).

        Args:
            executor: Lists by the workers of any executor of `concurrent.futures`, and gathers here.
            workers: How many workers; without an executor, threads of this process.
        """
        self._demand_any()
        table = np.empty((self._rows(), len(self.names)), dtype=self.dtype, order="F")
        if executor is None and workers is None:
            if self._labels or self.sets:
                self._write(table, 0, self._columns(0, self.size))
            else:
                fill(table, self._diagrams)
            return table
        from constrint.diagrams.parallel_build import fill_by_threads, write_runs
        from constrint.parallel.workers import checked

        workers = checked(workers, executor)
        if executor is None and len(self._diagrams) > 1 and not (self._labels or self.sets):
            fill_by_threads(table, self._diagrams, workers)
        else:
            runs = list(self._runs(of_new_models().building.listed))
            write_runs(self._diagrams, runs, partial(self._write, table), executor, workers)
        return table

    def to_tuples(self) -> list[tuple[Any, ...]]:
        """All solutions as tuples of Python values, in the order of `names`."""
        self._demand_any()
        if not self.size or not self.variables:
            return [tuple(frozenset() for _ in self.names)] * self.size
        with without_collection():
            return list(self._tuples(self._columns(0, self._rows())))

    def to_columns(self) -> dict[str, Array]:
        """All solutions as one array per variable, each of the smallest type that holds its values."""
        self._demand_any()
        if not self.size:
            return {name: np.zeros(0, dtype=self.column_type(name)) for name in self.names}
        return self._typed(self._columns(0, self._rows()))

    def to_pandas(self) -> pd.DataFrame:
        """All solutions as a data frame; needs pandas."""
        pandas = needed("pandas", "pandas", "a data frame")
        frame: pd.DataFrame = pandas.DataFrame(self.to_columns(), columns=list(self.names))
        return frame

    def sample_numpy(self, count: int, seed: int | None = None) -> Array:
        """The solutions that `sample` draws, as an array with a row each and the columns of `names`."""
        return self._stacked(self._at(self._drawn(count, seed)))

    def iter_chunks(
        self, rows: int = CHUNK, *, executor: Executor | None = None, workers: int | None = None
    ) -> Iterator[Array]:
        """All solutions as arrays of at most `rows` rows each, for sets larger than memory.

        With an executor or several workers, the next chunks are made while one is used.
        """
        for columns in self._by_runs(rows, executor, workers):
            yield self._stacked(columns)

    def iter_columns(
        self, rows: int = CHUNK, *, executor: Executor | None = None, workers: int | None = None
    ) -> Iterator[dict[str, Array]]:
        """All solutions in the form of `to_columns`, at most `rows` rows at a time."""
        for columns in self._by_runs(rows, executor, workers):
            yield self._typed(columns)

    def _by_runs(
        self, rows: int, executor: Executor | None, workers: int | None
    ) -> Iterator[dict[int, Array]]:
        if executor is None and workers is None:
            return (self._columns(start, stop) for start, stop in self._runs(rows))
        from constrint.diagrams.parallel_build import listed

        return listed(self._diagrams, self._runs(rows), executor, workers)

    def to_parquet(self, path: str | Path, rows: int = CHUNK_ROWS, progress: Progress | None = None) -> None:
        """Write all solutions to a Parquet file, in row groups of at most `rows` rows.

        Integers have the smallest type that holds them; beyond 64 bits they are decimals. Needs pyarrow: the
        extra `parquet`.
        """
        from constrint.solutions.table_files import write_parquet

        self._demand_any()
        write_parquet(self, path, rows, progress)

    def to_csv(self, path: str | Path, rows: int = CHUNK, progress: Progress | None = None) -> None:
        """Write all solutions as comma-separated values, with a header line of names."""
        from constrint.solutions.table_files import write_csv

        self._demand_any()
        write_csv(self, path, rows, progress)

    def to_npy(self, path: str | Path, rows: int = CHUNK_ROWS, progress: Progress | None = None) -> None:
        """Write the array of `to_numpy` to a `.npy` file, without holding all of it in memory."""
        from constrint.solutions.table_files import write_npy

        self._demand_any()
        write_npy(self, path, rows, progress)

    def _runs(self, rows: int) -> Iterator[tuple[int, int]]:
        if rows < 1:
            raise ModelError(f"a chunk has at least one row, not {rows}")
        self._demand_any()
        for start in range(0, self.size, rows):
            yield start, min(start + rows, self.size)

    def _rows(self) -> int:
        """The number of rows of a list of all solutions; raises `LimitError` if it is too long."""
        if self.size >= 1 << 62:
            raise ModelError(
                f"{self.size:,} solutions are too many for a list: use iter_chunks(), sample() or numbers"
            )
        return self.size

    def _typed(self, columns: Mapping[int, Array]) -> dict[str, Array]:
        return {
            name: column.astype(self.column_type(name), copy=False)
            for name, column in self._shown(columns).items()
        }

    def _stacked(self, columns: Mapping[int, Array]) -> Array:
        rows = len(next(iter(columns.values()))) if columns else 0
        table = np.empty((rows, len(self.names)), dtype=self.dtype, order="F")
        self._write(table, 0, columns)
        return table

    def _write(self, table: Array, start: int, columns: Mapping[int, Array]) -> None:
        """Write columns into a table from row `start` on."""
        if not self.sets:
            for v, column in columns.items():
                table[start : start + len(column), v] = self._decoded(v, column)
            return
        for place, shown in enumerate(self._shown(columns).values()):
            table[start : start + len(shown), place] = shown
