"""The compiled search for cuts."""

from __future__ import annotations

from collections.abc import Callable

from constrint.engine.array_search import ArrayPart, ArraySearch
from constrint.relaxation.sums.sum_state import PART, RowSums


def _separate() -> Callable[..., int]:
    from constrint.relaxation.sums.starts import separate

    return separate


_SEPARATE = ArrayPart(PART, _separate)


def load() -> None:
    """Load the compiled version, or compile it."""
    _SEPARATE.entry()


class CompiledSums(ArraySearch[RowSums]):
    """A search for cuts that runs compiled: `starts.separate` on its state."""

    def __init__(self, state: RowSums) -> None:
        super().__init__(_SEPARATE, state)
