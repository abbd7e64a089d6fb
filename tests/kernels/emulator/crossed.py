"""Pairs of a strategy and a cell for properties that hardly depend on both."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import pytest


def crossed(strategies: Iterable[str], cells: Iterable[str]) -> list[Any]:
    """All pairs; those of neither the LSTM nor the block strategy are slow: tried at night, not each time."""
    return [
        pytest.param(
            strategy, cell, marks=[] if cell == "lstm" or strategy == "block" else [pytest.mark.slow]
        )
        for strategy in strategies
        for cell in sorted(cells)
    ]


def more(count: int) -> list[Any]:
    """The numbers of drawn cases: the first is tried each time, the others are slow."""
    return [pytest.param(number, marks=[pytest.mark.slow] if number else []) for number in range(count)]


def one_each(first: Sequence[Any], *others: Sequence[Any]) -> list[Any]:
    """All combinations: one for each value of the first axis is tried each time, the others are slow."""
    found, rest = [], list(itertools.product(*others))
    for number, value in enumerate(first):
        for k, more_values in enumerate(rest):
            values = (value, *more_values)
            marks = [] if k == number % len(rest) else [pytest.mark.slow]
            name = "-".join(str(getattr(one, "stem", one)) for one in values)
            found.append(pytest.param(*values, marks=marks, id=name))
    return found
