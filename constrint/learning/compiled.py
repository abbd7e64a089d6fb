"""The compiled learning search, on machine code as in `engine.compiled`."""

from __future__ import annotations

from functools import cache as once
from functools import partial
from typing import Any, cast

import numpy as np

from constrint.engine import cache, native
from constrint.engine.compiled import loaded_or_made
from constrint.learning.build import full
from constrint.learning.layout import Learner
from constrint.store.state import State


def _made(part: str) -> bytes:
    from constrint.learning.making import learning_code

    return learning_code(part)


@once
def _run(has_propagators: bool) -> native.Entry:
    """`loop.run`, compiled or loaded."""
    part = "learn" if has_propagators else "learn-sums"
    run = loaded_or_made(part, partial(_made, part))
    cache.note_loaded(part)
    return run


def load(has_propagators: bool) -> None:
    """Load a compiled version, or compile it."""
    with cache.LOADING:
        _run(has_propagators)


class CompiledLearning:
    """A learning search that runs compiled.

    Attributes:
        ls: The learner, with arrays instead of lists; valid until `grow`.
        st: The engine's state on which propagators of the registry run.
        run: `loop.run` on the learner.
    """

    def __init__(self, ls: Learner, st: State, has_propagators: bool) -> None:
        with cache.LOADING:
            self._entry = _run(has_propagators)
        arrays = [np.array(cells, dtype=np.int64) for cells in st]
        self.st = State(*cast("list[list[int]]", arrays))
        self._state = native.Structure(arrays)
        self._take(ls)

    def _take(self, ls: Learner) -> None:
        arrays = [np.array(cells, dtype=np.int64) for cells in ls]
        # Arrays pass under the type of lists: both are only indexed.
        self.ls = Learner(*cast("list[list[int]]", arrays))
        self._structure = native.Structure(arrays)
        self.run = self._entry.bound(self._structure.address, self._state.address)

    def grow(self) -> Learner:
        """Double the space of all fields that are full."""
        ls = self.ls
        fields = {name: np.asarray(getattr(ls, name)) for name in full(ls)}
        longer: dict[str, Any] = {
            name: np.append(cells, np.zeros(len(cells) + 8, np.int64)) for name, cells in fields.items()
        }
        self._take(ls._replace(**longer))
        return self.ls
