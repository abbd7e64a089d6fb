"""The compiled engine: machine code of `dfs.run`, and searches that run on it.

`making` compiles it, `cache` keeps it on disk, and `native` loads it without numba.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Iterable, Mapping
from functools import cache as once
from itertools import accumulate, chain
from struct import pack_into
from typing import Any, cast

from constrint.engine import cache, claims, native
from constrint.engine.fixpoint import FAILED, INTERRUPTED, STABLE
from constrint.engine.state_arrays import full
from constrint.store.state import (
    EXHAUSTED,
    LEVEL,
    NODES,
    PATIENCE,
    PAUSED,
    PHASE,
    REFUTED,
    SOLUTION,
    TRAIL,
    WORD_TRAIL,
    State,
    StateScalar,
)


def loaded_or_made(part: str, make: Callable[[], bytes]) -> native.Entry:
    """A part's function: loaded from disk, or compiled and stored.

    Args:
        part: Its name on disk.
        make: Compiles it.
    """
    found = from_disk(part)
    if found is not None:
        return found
    with claims.claimed(part):
        found = from_disk(part)  # another process may have compiled it in the meantime
        if found is None:
            if part in cache.ABOUT:
                sys.stderr.write(f"constrint: compiling {cache.ABOUT[part]}…\n")
                sys.stderr.flush()
            code = make()
            cache.write(part, code)
            found = native.loaded(code, part)
    return found


def from_disk(part: str) -> native.Entry | None:
    """A part's function with the machine code from disk; None if there is no usable file.

    Files that cannot be used are removed.
    """
    code = cache.read(part)
    if code is None:
        return None
    try:
        return native.loaded(code, part)
    except ValueError:
        cache.discard(part)
        return None


def _made() -> bytes:
    from constrint.engine.making import engine_code

    return engine_code()


@once
def _run() -> native.Entry:
    """`dfs.run`, compiled or loaded."""
    run = loaded_or_made("engine", _made)
    cache.note_loaded("engine")
    return run


def load() -> None:
    """Load the engine, or compile it."""
    with cache.LOADING:
        _run()


_NUMBERS = {name: number for number, name in enumerate(State._fields)}

# For each field with spare space, the scalar that tells how much of it is in use.
_TOPS = [
    {"trail": TRAIL, "level": LEVEL, "refuted": REFUTED}.get(name.partition("_")[0], StateScalar(-1))
    if name not in ("trail_word", "trail_bits", "trail_word_stamp")
    else WORD_TRAIL
    for name in State._fields
]
_FULL_FIRST = sorted(range(len(_TOPS)), key=lambda number: _TOPS[number] >= 0)
_EMPTY = native.zeros(0)
_ROOMS = sum(top >= 0 for top in _TOPS)


def arrays_of(state: State) -> tuple[list[Any], list[int]]:
    """A state's lists as arrays in one memory block (arrays are kept), and the addresses of all.

    Spare space is allocated without converting it.
    """
    arrays: list[Any] = [*state]
    addresses = [0] * len(arrays)
    places = [number for number in _FULL_FIRST if type(arrays[number]) is list]
    full = len(places) - _ROOMS
    if len(places) < len(arrays):
        full = sum(_TOPS[number] < 0 for number in places)
        for number, cells in enumerate(arrays):
            if type(cells) is not list:
                addresses[number] = native.address_of(cells)
    lists = [arrays[number] for number in places]
    ends = list(accumulate(map(len, lists), initial=0))
    block = native.zeros(ends[-1])
    # Twice as fast as assigning the list.
    pack_into(f"={ends[full]}q", block, 0, *chain.from_iterable(lists[:full]))
    first = native.address_of(block)
    whole = memoryview(block)
    for number, begin, end in zip(places, ends, ends[1:], strict=False):
        if begin < end:
            arrays[number] = whole[begin:end]
            addresses[number] = first + native.BYTES * begin
        else:
            arrays[number] = _EMPTY
    scalar = state.scalar
    is_fresh = not (scalar[NODES] or scalar[LEVEL] or scalar[TRAIL] or scalar[WORD_TRAIL] or scalar[PHASE])
    for number, cells in zip(places[full:], lists[full:], strict=True) if not is_fresh else ():
        used = cells[: scalar[_TOPS[number]] + 1]  # a decision may stand above the topmost level
        if any(used):
            arrays[number][: len(used)] = native.array_of(used)
    return arrays, addresses


class CompiledSearch:
    """A search that runs compiled.

    Attributes:
        state: The state, with arrays instead of lists; valid until `grow`.
        run: `dfs.run` on the state.
    """

    def __init__(self, state: State) -> None:
        with cache.LOADING:
            self._entry = _run()
        self._take(state)

    def _take(self, state: State) -> None:
        arrays, addresses = arrays_of(state)
        # Arrays pass under the type of lists: both are only indexed.
        self.state = State(*cast("list[list[int]]", arrays))
        self._structure = native.NativeStructure(arrays, addresses)
        self.run = self._entry.bound(self._structure.address)

    def replace(self, fields: Mapping[str, list[int]]) -> State:
        """Replace the arrays of some fields."""
        block = array(native.INTEGER)
        for cells in fields.values():
            block += native.array_of(cells)
        whole, first = memoryview(block), native.address_of(block)
        arrays: list[Any] = [*self.state]
        begin = 0
        for name, cells in fields.items():
            end = begin + len(cells)
            number = _NUMBERS[name]
            arrays[number] = whole[begin:end]
            self._structure.replace(number, len(cells), first + native.BYTES * begin)
            begin = end
        self.state = State(*arrays)
        return self.state

    def grow(self, refutations: int = 0) -> State:
        """Double the space of all fields that are full."""
        fields = {name: native.array_of(getattr(self.state, name)) for name in full(self.state, refutations)}
        longer = {name: cells + native.zeros(len(cells) + 8) for name, cells in fields.items()}
        # Arrays pass under the type of lists.
        return self.replace(cast("Mapping[str, list[int]]", longer))


def listed(state: State) -> State:
    """The state with lists instead of arrays."""
    columns: Iterable[Any] = state
    return State._make(cells if isinstance(cells, list) else cells.tolist() for cells in columns)


_AT_ROOT = {SOLUTION: STABLE, EXHAUSTED: FAILED, PAUSED: INTERRUPTED}
_DOMAINS = ("lo", "hi", "step", "hole", "base", "words")
NEVER_SPLIT = 1 << 40


def propagate(session: CompiledSearch, budget: int) -> int:
    """`fixpoint` for a session whose state has not begun to search and has no decisions."""
    session.state.scalar[PATIENCE] = NEVER_SPLIT
    return _AT_ROOT[session.run(1, budget)]


def read_at_root(session: CompiledSearch) -> State:
    """A read-only view of a session's state, with lists for the domains."""
    read = {name: getattr(session.state, name).tolist() for name in _DOMAINS}
    return session.state._replace(**read)
