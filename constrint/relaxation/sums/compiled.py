"""The compiled search for cuts, on machine code as in `engine.compiled`."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache as once
from typing import cast

from constrint.engine import cache, native
from constrint.engine.compiled import loaded_or_made
from constrint.relaxation.sums.sum_state import PART, RowSums


def _made() -> bytes:
    from constrint.engine.making import code_of
    from constrint.relaxation.sums.starts import separate

    return code_of(separate, PART)


@once
def _separate() -> native.Entry:
    """`starts.separate`, compiled or loaded."""
    entry = loaded_or_made(PART, _made)
    cache.note_loaded(PART)
    return entry


def load() -> None:
    """Load the compiled version, or compile it."""
    with cache.LOADING:
        _separate()


class CompiledSums:
    """A search for cuts that runs compiled.

    Attributes:
        state: The state, with arrays instead of lists.
        run: `starts.separate` on the state.
    """

    def __init__(self, state: RowSums) -> None:
        with cache.LOADING:
            entry = _separate()
        arrays = [native.array_of(cells) for cells in state]
        # Arrays pass under the type of lists: both are only indexed.
        self.state = RowSums(*cast("list[list[int]]", arrays))
        self._structure = native.NativeStructure(arrays)
        self.run: Callable[[], int] = entry.bound(self._structure.address)
