"""The compiled annealing."""

from __future__ import annotations

from collections.abc import Callable

from constrint.engine.array_search import ArrayPart, ArraySearch
from constrint.local_search.annealed_layout import PART, Annealed


def _anneal() -> Callable[..., int]:
    from constrint.local_search.annealed_moves import anneal

    return anneal


_ANNEAL = ArrayPart(PART, _anneal)


def load() -> None:
    """Load the compiled version, or compile it."""
    _ANNEAL.entry()


class CompiledAnnealing(ArraySearch[Annealed]):
    """Annealing that runs compiled: `annealed_moves.anneal` on its state."""

    def __init__(self, state: Annealed) -> None:
        super().__init__(_ANNEAL, state)
