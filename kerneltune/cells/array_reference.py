"""Cells of equations with arrays of several numbers a channel: the functions of a linear scan's reference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kerneltune.cells.equations import Array
from kerneltune.cells.linear import Kind, Links
from kerneltune.cells.scan_reference import DerivedScanReference


@dataclass(frozen=True)
class ArrayReference:
    """The functions of a cell, of arrays `[…, D w]` with w numbers of a channel side by side.

    Attributes:
        functions: Those of its numbers.
        stack: Numbers along a new last axis.
    """

    functions: DerivedScanReference
    stack: Callable[[Sequence[Any]], Any] = lambda numbers: np.stack(numbers, -1)

    @property
    def kind(self) -> Kind:
        """The kind of the matrix A."""
        return self._links.kind

    def numbers(self, *read: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """The numbers of A that its kind has, and those of b, `[…, D]` each."""
        links = self._links
        found = self._of((*links.numbers, *links.b), read)
        return found[: len(links.numbers)], found[len(links.numbers) :]

    def matrices(self, *read: Any) -> tuple[Any, Any]:
        """A, `[…, D, 2, 2]`, and b, `[…, D, 2]`."""
        links = self._links
        width = len(links.b)
        found = self._of((*(one for row in links.rows for one in row), *links.b), read)
        a = self.stack(found[: width * width])
        return a.reshape((*a.shape[:-1], width, width)), self.stack(found[width * width :])

    def coefficients(self, *read: Any) -> tuple[Any, Any]:
        """A, `[…, D, 2, 2]`, and b, flat."""
        a, b = self.matrices(*read)
        return a, _flat(b)

    def applied(self, a: Any, h: Any) -> Any:
        """The product A h."""
        pair = self._apart((h,), self._states)
        return self._together(
            [sum(a[..., i, j] * part for j, part in enumerate(pair)) for i in range(len(pair))]
        )

    def carried(self, a: Any, gradient: Any) -> Any:
        """The gradient by h, from that by A h."""
        return self.applied(np.swapaxes(a, -1, -2), gradient)

    def gradients(self, *arrays: Any) -> tuple[Any, ...]:
        """By the inputs, from them, the h before and the gradient by h after."""
        *read, before, gradient = arrays
        states = self._states
        found = self.functions.backward(
            self._apart(read, self._inputs),
            (),
            self._apart((before,), states),
            self._apart((gradient,), states),
        )[1]
        return tuple(self._together(found[one.first : one.first + one.width]) for one in self._inputs)

    def _of(self, results: Sequence[Any], read: Sequence[Any]) -> tuple[Any, ...]:
        numbers = self._apart(read, self._inputs)
        return self.functions.values(results, numbers[0], input=numbers)

    @cached_property
    def _links(self) -> Links:
        found = self.functions.derivation.array_links
        assert found is not None
        return found

    @property
    def _inputs(self) -> tuple[Array, ...]:
        return self.functions.derivation.equations.input_arrays

    @property
    def _states(self) -> tuple[Array, ...]:
        return self.functions.derivation.equations.state_arrays

    def _apart(self, arrays: Sequence[Any], about: Sequence[Array]) -> tuple[Any, ...]:
        """Each number of a channel as an array `[…, D]`."""
        return tuple(
            array[..., number :: one.width]
            for array, one in zip(arrays, about, strict=True)
            for number in range(one.width)
        )

    def _together(self, numbers: Sequence[Any]) -> Any:
        return _flat(self.stack(numbers))


def _flat(numbers: Any) -> Any:
    return numbers.reshape((*numbers.shape[:-2], numbers.shape[-2] * numbers.shape[-1]))
