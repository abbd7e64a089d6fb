"""All tilings of a strategy in order of their cycles, listed at once instead of solved one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from heapq import merge
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from constrint import ConstrintError, Model
from constrint.expr.evaluation import SharedValues
from kerneltune.tiling.candidate import Candidate

CYCLES = "cycles_of_a_tiling"  # a name that no constraint file uses
SECONDS = 10.0  # time limit of listing

Made: TypeAlias = Callable[[Mapping[str, int]], Candidate]


class TooManyError(Exception):
    """There are too many tilings to list."""


class Listed:
    """The tilings of a strategy, fewest cycles first; ties in lexicographic order of the variables.

    Args:
        model: A strategy's constraints, with ``cycles`` as an expression or a variable.
        made: Makes a candidate from the values of variables and definitions.
        longest: Most tilings that are listed.

    Raises:
        TooManyError: They cannot be listed within time and memory.
    """

    def __init__(self, model: Model, made: Made, longest: int) -> None:
        self._model, self._made = model, made
        self._names = list(model.variables)
        rows, cycles = _listed(model, self._names, longest)
        order = np.lexsort((*rows.T[::-1], cycles))
        self._rows, self._cycles = rows[order], cycles[order]

    def entries(self, number: int) -> Iterator[tuple[int, int, int]]:
        """(cycles, number of the list, place in it) of each tiling."""
        for place, cycles in enumerate(self._cycles):
            yield int(cycles), number, place

    def at(self, place: int) -> Candidate:
        """The tiling at a place."""
        numbers = [int(number) for number in self._rows[place]]
        return self._made(with_definitions(self._model, dict(zip(self._names, numbers, strict=True))))

    def preferred(self) -> Candidate | None:
        """Of several best tilings, the one that solving returns; None if there is only one best."""
        if np.count_nonzero(self._cycles == self._cycles[0]) == 1:
            return None
        return self._made(self._model.solve().values)


class Solved:
    """Tilings that are already candidates, fewest cycles first."""

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        self._candidates = candidates

    def entries(self, number: int) -> Iterator[tuple[int, int, int]]:
        """See `Listed.entries`."""
        for place, candidate in enumerate(self._candidates):
            yield candidate.cycles, number, place

    def at(self, place: int) -> Candidate:
        """The tiling at a place."""
        return self._candidates[place]

    def preferred(self) -> Candidate | None:
        """None: the first tiling is the one that solving returns."""
        return None


def with_definitions(model: Model, row: Mapping[str, int]) -> dict[str, int]:
    """The values of a solution's variables, and of the model's definitions."""
    assignment = SharedValues({model.variables[name]: value for name, value in row.items()})
    return {**row, **{name: expr.evaluate(assignment) for name, expr in model.lets.items()}}


def best_of(lists: Sequence[Listed | Solved], limit: int) -> list[Candidate]:
    """The best tilings of several strategies; ties in the order of strategies.

    Tilings of one strategy with equal parameters are the same kernel and count once.
    """
    found: dict[tuple[str, tuple[tuple[str, int], ...]], Candidate] = {}

    def add(candidate: Candidate) -> None:
        parameters = tuple(sorted(candidate.parameters.items()))
        found.setdefault((candidate.strategy, parameters), candidate)

    for _, number, place in merge(*(entry.entries(number) for number, entry in enumerate(lists))):
        if not found and (preferred := lists[number].preferred()) is not None:
            add(preferred)
        if len(found) == limit:
            break
        add(lists[number].at(place))
    return list(found.values())


def _listed(
    model: Model, names: Sequence[str], longest: int
) -> tuple[NDArray[np.generic], NDArray[np.generic]]:
    """All tilings, a row each, and their cycles."""
    counted = model.copy()
    cycles = counted.lets["cycles"] if "cycles" in counted.lets else counted.variables["cycles"]
    counted.add(counted.int_var(CYCLES, 0, None) == cycles)
    try:
        found = counted.solutions(time_limit=SECONDS)
    except ConstrintError as error:
        raise TooManyError(str(error)) from None
    if found.size > longest:
        raise TooManyError(f"{found.size} tilings")
    table, places = found.to_numpy(), {name: i for i, name in enumerate(found.names)}
    chosen = np.array([places[name] for name in names], dtype=int)  # none where all follows from the request
    return table[:, chosen], table[:, places[CYCLES]]
