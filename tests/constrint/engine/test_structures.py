"""Machine code that is called by address, and the structures of arrays that it reads and writes."""

from __future__ import annotations

import subprocess
import sys
from typing import NamedTuple

import numpy as np

from constrint.engine import making, native
from constrint.engine.compiled import load


class Pair(NamedTuple):
    """Two arrays."""

    one: list[int]
    other: list[int]


def move(pair: Pair, i: int, j: int) -> int:
    """Move a cell from the first array to the second; its value there, and both lengths."""
    pair.other[j] += pair.one[i]
    pair.one[i] = 0
    return 10_000 * pair.other[j] + 100 * len(pair.one) + len(pair.other)


def test_cells_are_read_and_written_in_place() -> None:
    one, other = np.arange(5), np.arange(10, 17)
    structure = native.NativeStructure([one, other])
    run = native.loaded(making.code_of(move, "move"), "move").bound(structure.address)
    assert run(3, 2) == 150_507
    assert (one[3], other[2]) == (0, 15)
    longer = np.arange(99)
    structure.replace(0, 99, longer.__array_interface__["data"][0])
    assert run(98, 0) == (10 + 98) * 10_000 + 9_907
    assert (one[4], longer[98], other[0]) == (4, 0, 108)


def test_numbers_are_called_by_address() -> None:
    run = native.loaded(making.code_of(following, "following"), "following").bound()
    assert [run(n) for n in (0, -5, 2**62)] == [1, -4, 2**62 + 1]


def following(n: int) -> int:
    """The next number."""
    return n + 1


def test_loading_and_compiling_import_no_numba() -> None:
    """In a process of its own; what numba compiles beside it works."""
    load()
    program = """
import sys
from constrint import Model
from constrint.engine import dfs, making
def check():
    assert Model().solve(engine="compiled")
    m = Model()
    x = m.int_vars("x", 6, 0, 5)
    m.add(x[0] + x[1] > 6)
    assert sum(1 for _ in m.iter_solutions(engine="compiled")) == 10 * 6**4
    assert m.solve(engine="compiled", learn=True)
check()
assert making.code_of(dfs.has_room, "room")
assert "numba" not in sys.modules
import numba
assert numba.njit(lambda x: sum([x, 1]))(2) == 3
check()
"""
    subprocess.run([sys.executable, "-c", program], check=True)
