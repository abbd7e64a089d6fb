"""A search over arrays of integers alone that runs compiled, on machine code as in `engine.compiled`."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, Generic, NamedTuple, TypeVar, cast

from constrint.engine import cache, native
from constrint.engine.compiled import loaded_or_made

S = TypeVar("S", bound=NamedTuple)


class ArrayPart:
    """A function of a state of arrays, compiled or loaded once in a process.

    Args:
        part: The part of the machine code.
        function: Gives the function; it is imported where it is compiled.
    """

    def __init__(self, part: str, function: Callable[[], Callable[..., int]]) -> None:
        self._part, self._function = part, function

    def _made(self) -> bytes:
        from constrint.engine.making import code_of

        return code_of(self._function(), self._part)

    @cached_property
    def _entry(self) -> native.Entry:
        entry = loaded_or_made(self._part, self._made)
        cache.note_loaded(self._part)
        return entry

    def entry(self) -> native.Entry:
        """The compiled function; it is loaded, or compiled."""
        with cache.LOADING:
            return self._entry


class ArraySearch(Generic[S]):
    """A search that runs compiled.

    Args:
        part: Its function.
        state: Its state, of lists.

    Attributes:
        state: The state, with arrays instead of lists.
        run: The function on the state.
    """

    def __init__(self, part: ArrayPart, state: S) -> None:
        entry = part.entry()
        arrays = [native.array_of(cells) for cells in cast("tuple[Any, ...]", state)]
        # Arrays pass under the type of lists: both are only indexed.
        self.state = type(state)(*cast("list[Any]", arrays))
        self._structure = native.NativeStructure(arrays)
        self.run: Callable[..., int] = entry.bound(self._structure.address)
