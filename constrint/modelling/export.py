"""Solutions as dictionaries, arrays and data frames; numpy and pandas are imported only when needed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from constrint.errors import ModelError, printable
from constrint.modelling.result import Result
from constrint.support.optional import needed

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd  # type: ignore[import-untyped] # stubs are a package of their own

Solutions = Iterable[Result | Mapping[str, int]]
"""Results, as from `iter_solutions` and `pareto`, or dictionaries of values."""


def to_dicts(solutions: Solutions) -> list[dict[str, int]]:
    """Each solution as a dictionary; results without values are left out."""
    values = (solution.values if isinstance(solution, Result) else solution for solution in solutions)
    return [dict(row) for row in values if row]


def to_numpy(solutions: Solutions, names: Sequence[str] | None = None) -> np.ndarray[Any, Any]:
    """An array with a row for each solution, a column for each variable and let.

    Args:
        solutions: The solutions.
        names: The columns; by default all, in the order of the first solution.

    Returns:
        A 2-D array of int64, or of Python integers if one of them is larger.
    """
    import numpy as np

    rows = to_dicts(solutions)
    columns = _columns(rows, names)
    fits = all(
        isinstance(value, int) and -(1 << 63) <= value < 1 << 63
        for value in chain.from_iterable(map(dict.values, rows))
    )
    table = np.empty((len(rows), len(columns)), dtype=np.int64 if fits else object)
    for i, row in enumerate(rows):
        for j, name in enumerate(columns):  # one by one: values may be tuples
            table[i, j] = row[name]
    return table


def to_pandas(solutions: Solutions, names: Sequence[str] | None = None) -> pd.DataFrame:
    """A data frame with a row for each solution, a column for each variable and let; needs pandas.

    Args:
        solutions: The solutions.
        names: The columns; by default all, in the order of the first solution.
    """
    pandas = needed("pandas", "pandas", "a data frame")
    rows = to_dicts(solutions)
    columns = _columns(rows, names)
    data = {name: [row[name] for row in rows] for name in columns}
    frame: pd.DataFrame = pandas.DataFrame(data, columns=columns)
    return frame


def _columns(rows: Sequence[Mapping[str, int]], names: Sequence[str] | None) -> list[str]:
    if names is None:
        return list(rows[0]) if rows else []
    for name in names:
        if rows and name not in rows[0]:
            raise ModelError(
                printable(f"no variable or let is named '{name}'; there are: {', '.join(rows[0])}")
            )
    return list(names)
