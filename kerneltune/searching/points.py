"""The points of a space by number: their configurations, neighbours and coordinates.

Spaces of up to `LISTED` configurations are held as a table of ordinals, so that a neighbour is one look-up.
Larger ones, of any size, are asked through their diagrams.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from constrint.errors import ModelError
from constrint.solutions.solutionset import SolutionSet
from kerneltune.errors import InputError
from kerneltune.searching.protocol import Configuration

Kind = Literal["hamming", "adjacent"]
Floats = NDArray[np.float64]
Ordinals = NDArray[np.int64]
Features = Callable[[Configuration], Mapping[str, float]]

LISTED = 1 << 19
LARGEST_CODE = 1 << 62
MOST_PRODUCTS = 12  # parameters of which pairwise products are features


class Points:
    """A space whose points are numbers from 0 to `size` - 1.

    Args:
        space: The valid configurations.

    Attributes:
        space: The same.
        size: Number of points, exact at any magnitude.
        names: The parameters.
        values: The values of each that occur, ascending where they are numbers.
    """

    def __init__(self, space: SolutionSet) -> None:
        self.space = space
        self.size = space.size
        self.names = space.names
        self.values = [space.values_of(name) for name in self.names]
        self._ordinal = [{value: i for i, value in enumerate(column)} for column in self.values]
        self._table: Ordinals | None = None
        cartesian = 1
        for column in self.values:
            cartesian *= max(1, len(column))
        if self.size <= LISTED and cartesian < LARGEST_CODE:
            self._list()

    def _list(self) -> None:
        columns = self.space.to_columns()
        table = np.empty((self.size, len(self.names)), dtype=np.int64)
        for v, name in enumerate(self.names):
            known = self._ordinal[v]
            table[:, v] = [known[value] for value in columns[name].tolist()]
        weights = np.ones(len(self.names), dtype=np.int64)
        for v in range(len(self.names) - 2, -1, -1):
            weights[v] = weights[v + 1] * len(self.values[v + 1])
        self._table, self._weights = table, weights
        codes = table @ weights
        self._own_codes = codes
        self._sorted = np.argsort(codes)
        self._codes = codes[self._sorted]
        # All values of all parameters in a row: where each belongs, and its place there.
        lengths = [len(column) for column in self.values]
        self._owners = np.repeat(np.arange(len(lengths)), lengths)
        self._places = np.concatenate([np.arange(length) for length in lengths])

    @property
    def is_listed(self) -> bool:
        """Whether all points are held as a table."""
        return self._table is not None

    def configuration(self, number: int) -> Configuration:
        """The configuration of a point."""
        if self._table is None:
            return cast(Configuration, dict(self.space[number]))
        row = self._table[number].tolist()
        return {name: self.values[v][row[v]] for v, name in enumerate(self.names)}

    def number(self, configuration: Mapping[str, Any]) -> int | None:
        """The number of a configuration; None if it is not in the space."""
        try:
            ordinals = [self._ordinal[v][configuration[name]] for v, name in enumerate(self.names)]
            if self._table is not None:
                return self._found(np.array([ordinals], dtype=np.int64))[0]
            return self.space.index({name: configuration[name] for name in self.names})
        except (KeyError, TypeError, ValueError, ModelError):
            return None

    def known(self, configuration: Mapping[str, object]) -> int:
        """The number of a configuration; raises `InputError` if it is not in the space."""
        number = self.number(configuration)
        if number is None:
            raise InputError(f"the configuration {dict(configuration)} is not in the space")
        return number

    def _found(self, ordinals: Ordinals) -> list[int | None]:
        """The numbers of rows of ordinals, None for rows that are no points."""
        codes = ordinals @ self._weights
        places = np.minimum(np.searchsorted(self._codes, codes), self.size - 1)
        hits = self._codes[places] == codes
        numbers = self._sorted[places].tolist()
        return [number if hit else None for number, hit in zip(numbers, hits.tolist(), strict=True)]

    def ordinals(self, numbers: Sequence[int]) -> Ordinals:
        """The places of the values in `values`, a row for each point."""
        if self._table is not None:
            return self._table[np.asarray(numbers, dtype=np.int64)]
        rows = [self.configuration(number) for number in numbers]
        listed = [[self._ordinal[v][row[name]] for v, name in enumerate(self.names)] for row in rows]
        return np.array(listed, dtype=np.int64).reshape(len(rows), len(self.names))

    def neighbours(self, number: int, kind: Kind = "hamming") -> list[int]:
        """The points that differ in one parameter: in any value, or in the next one below or above."""
        if self._table is None:
            found = self.space.neighbours(self.configuration(number), kind)
            return [self.space.index(one) for one in found]
        numbers: list[int] = self.all_neighbours(np.array([number]), kind).tolist()
        return numbers

    def all_neighbours(self, numbers: Ordinals, kind: Kind = "hamming") -> Ordinals:
        """The neighbours of several points of a listed space, one after the other; some may occur twice."""
        assert self._table is not None
        steps = self._places - self._table[numbers][:, self._owners]
        changed = steps != 0 if kind == "hamming" else np.abs(steps) == 1
        codes = (self._own_codes[numbers][:, None] + steps * self._weights[self._owners])[changed]
        places = np.minimum(np.searchsorted(self._codes, codes), self.size - 1)
        return np.asarray(self._sorted[places[self._codes[places] == codes]])

    def replaced(self, ordinals: Sequence[int]) -> int | None:
        """The point with these ordinals, if there is one."""
        if self._table is not None:
            return self._found(np.array([ordinals], dtype=np.int64))[0]
        return self.number({name: self.values[v][ordinals[v]] for v, name in enumerate(self.names)})

    def nearest(self, ordinals: Sequence[float], source: random.Random, among: int = 512) -> int:
        """A point near an assignment that need not be valid.

        The nearest of all points where they are listed; of larger spaces, the nearest of a sample and of the
        descent from it over neighbours.
        """
        exact = self.replaced([round(one) for one in ordinals])
        if exact is not None:
            return exact
        scale = np.array([max(1, len(column) - 1) for column in self.values], dtype=np.float64)
        goal = np.asarray(ordinals, dtype=np.float64)
        if self._table is not None:
            return int(np.argmin((np.abs(self._table - goal) / scale).sum(axis=1)))
        numbers = [source.randrange(self.size) for _ in range(min(among, self.size))]
        best, distance = -1, float("inf")
        while numbers:
            apart = (np.abs(self.ordinals(numbers) - goal) / scale).sum(axis=1)
            place = int(np.argmin(apart))
            if apart[place] >= distance:
                break
            best, distance = numbers[place], float(apart[place])
            numbers = self.neighbours(best)
        return best


class Coordinates:
    """Coordinates of points for models that are learned.

    Each parameter is one: the logarithm where all its values are positive numbers, the value where they are
    numbers, its place otherwise. Products of two positive parameters follow, then the user's features.

    Args:
        points: The space.
        features: Further numbers of a configuration, such as occupancy, bytes and solved resources.
    """

    def __init__(self, points: Points, features: Features | None = None) -> None:
        self._points, self._features = points, features
        self._columns = [_scaled(values) for values in points.values]
        varying = [v for v, values in enumerate(points.values) if len(values) > 1]
        positive = [v for v in varying if _is_positive(points.values[v])][:MOST_PRODUCTS]
        self._varying = varying
        self._pairs = [(a, b) for i, a in enumerate(positive) for b in positive[i + 1 :]]
        self._keys: list[str] | None = None

    @property
    def names(self) -> list[str]:
        """The names of the coordinates."""
        names = self._points.names
        plain = [names[v] for v in self._varying]
        return [*plain, *(f"{names[a]} × {names[b]}" for a, b in self._pairs), *(self._keys or [])]

    def plain(self, numbers: Sequence[int]) -> Floats:
        """The parameters' coordinates alone, each scaled to 0 … 1."""
        columns = self._of_parameters(numbers)[:, self._varying]
        low = np.array([np.min(self._columns[v]) for v in self._varying])
        high = np.array([np.max(self._columns[v]) for v in self._varying])
        return np.asarray((columns - low) / np.where(high > low, high - low, 1.0))

    def of(self, numbers: Sequence[int]) -> Floats:
        """All coordinates, a row for each point."""
        columns = self._of_parameters(numbers)
        parts = [columns[:, self._varying]]
        if self._pairs:
            parts.append(np.stack([columns[:, a] + columns[:, b] for a, b in self._pairs], axis=1))
        if self._features is not None:
            rows = [self._features(self._points.configuration(number)) for number in numbers]
            if self._keys is None and rows:
                self._keys = sorted(rows[0])
            listed = [[float(row.get(key, 0.0)) for key in self._keys or []] for row in rows]
            parts.append(np.array(listed, dtype=np.float64).reshape(len(rows), len(self._keys or [])))
        return np.nan_to_num(np.concatenate(parts, axis=1), posinf=1e30, neginf=-1e30)

    def _of_parameters(self, numbers: Sequence[int]) -> Floats:
        ordinals = self._points.ordinals(numbers)
        stacked = [self._columns[v][ordinals[:, v]] for v in range(len(self._columns))]
        return np.stack(stacked, axis=1) if stacked else np.empty((len(numbers), 0))


def _is_number(values: Sequence[object]) -> bool:
    return all(isinstance(value, bool | int | float) for value in values)


def _is_positive(values: Sequence[Any]) -> bool:
    return _is_number(values) and all(not isinstance(value, bool) and value > 0 for value in values)


def _scaled(values: Sequence[object]) -> Floats:
    if _is_positive(values):
        return np.log2(np.array(values, dtype=np.float64))
    if _is_number(values):
        return np.array(values, dtype=np.float64)
    return np.arange(len(values), dtype=np.float64)
