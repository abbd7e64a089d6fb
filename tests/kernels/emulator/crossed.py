"""Pairs of a strategy and a cell for properties that hardly depend on both."""

from __future__ import annotations

from collections.abc import Iterable
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
