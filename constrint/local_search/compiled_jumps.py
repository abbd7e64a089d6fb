"""The compiled local search."""

from __future__ import annotations

from collections.abc import Callable

from constrint.engine.array_search import ArrayPart, ArraySearch
from constrint.local_search.layout import PART, Jumps


def _jump() -> Callable[..., int]:
    from constrint.local_search.moves import jump

    return jump


_JUMP = ArrayPart(PART, _jump)


def load() -> None:
    """Load the compiled version, or compile it."""
    _JUMP.entry()


class CompiledJumps(ArraySearch[Jumps]):
    """A local search that runs compiled: `moves.jump` on its state."""

    def __init__(self, state: Jumps) -> None:
        super().__init__(_JUMP, state)
