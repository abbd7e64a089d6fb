"""The compiled local search, on machine code as in `engine.compiled`."""

from __future__ import annotations

from functools import cache as once
from typing import cast

from constrint.engine import cache, native
from constrint.engine.compiled import loaded_or_made
from constrint.local_search.layout import PART, Jumps


def _made() -> bytes:
    from constrint.engine.making import code_of
    from constrint.local_search.moves import jump

    return code_of(jump, PART)


@once
def _jump() -> native.Entry:
    """`moves.jump`, compiled or loaded."""
    entry = loaded_or_made(PART, _made)
    cache.note_loaded(PART)
    return entry


def load() -> None:
    """Load the compiled version, or compile it."""
    with cache.LOADING:
        _jump()


class CompiledJumps:
    """A local search that runs compiled.

    Attributes:
        state: The state, with arrays instead of lists.
        run: `moves.jump` on the state.
    """

    def __init__(self, state: Jumps) -> None:
        with cache.LOADING:
            entry = _jump()
        arrays = [native.array_of(cells) for cells in state]
        # Arrays pass under the type of lists: both are only indexed.
        self.state = Jumps(*cast("list[list[int]]", arrays))
        self._structure = native.NativeStructure(arrays)
        self.run = entry.bound(self._structure.address)
