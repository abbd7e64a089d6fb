"""The compiled learning search, on machine code as in `engine.compiled`."""

from __future__ import annotations

from functools import cache as once
from typing import Any, cast

from constrint.engine import cache, native
from constrint.engine.compiled import loaded_or_made
from constrint.learning.layout import PART, Learner
from constrint.learning.learner_arrays import full
from constrint.store.state import State


def _made() -> bytes:
    from constrint.engine.making import code_of
    from constrint.learning import loop

    return code_of(loop.run, PART)


@once
def _run() -> native.Entry:
    """`loop.run`, compiled or loaded."""
    run = loaded_or_made(PART, _made)
    cache.note_loaded(PART)
    return run


def load() -> None:
    """Load the learning search, or compile it."""
    with cache.LOADING:
        _run()


class CompiledLearning:
    """A learning search that runs compiled.

    Attributes:
        ls: The learner, with arrays instead of lists; valid until `grow`.
        st: The engine's state on which propagators of the registry run.
        run: `loop.run` on the learner.
    """

    def __init__(self, ls: Learner, st: State) -> None:
        with cache.LOADING:
            self._entry = _run()
        arrays = [native.array_of(cells) for cells in st]
        self.st = State(*cast("list[list[int]]", arrays))
        self._state = native.NativeStructure(arrays)
        self._take(ls)

    def _take(self, ls: Learner) -> None:
        arrays = [native.array_of(cells) for cells in ls]
        # Arrays pass under the type of lists: both are only indexed.
        self.ls = Learner(*cast("list[list[int]]", arrays))
        self._structure = native.NativeStructure(arrays)
        self.run = self._entry.bound(self._structure.address, self._state.address)

    def take(self, ls: Learner) -> Learner:
        """Go on with another learner, of these arrays or longer ones."""
        self._take(ls)
        return self.ls

    def grow(self) -> Learner:
        """Double the space of all fields that are full."""
        ls = self.ls
        fields = {name: native.array_of(getattr(ls, name)) for name in full(ls)}
        longer: dict[str, Any] = {
            name: cells + native.zeros(len(cells) + 8) for name, cells in fields.items()
        }
        return self.take(ls._replace(**longer))
