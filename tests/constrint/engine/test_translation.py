"""Compiled functions give what Python gives, and only what can be compiled is."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from constrint.engine import dfs, making, native
from constrint.engine.function_text import FunctionText
from constrint.engine.translation import TranslationUnit
from constrint.errors import InternalError
from constrint.learning import loop
from constrint.learning.layout import LEARN_COMPILABLE
from constrint.store.state import COMPILABLE

FACTOR = 7
IS_ON = True


class Memory(NamedTuple):
    """Arrays."""

    cells: list[int]
    notes: list[int]


def arithmetic(x: int, y: int, n: int) -> int:
    """Every operation."""
    total = x // y * 3 + x % y - x // 4 - x % 8 + x // -3 + x % -5
    total ^= (x << n) + (y >> n) + (x & y) - (x | ~y)
    total += min(x, y, n) * max(x, y) - abs(x) + FACTOR * -y
    total -= x if x > y else y if y > n else int(IS_ON)
    total += (x ^ y).bit_count() + n.bit_count()
    total *= 1 if x == y or (not x < n and y != 5) else 2
    return total + (x in (3, FACTOR, -2)) + (-9 <= x < y <= 9)


def loops(memory: Memory, n: int) -> int:
    """Every statement."""
    cells = memory.cells
    first = 0
    for i in range(n, 0, -2):
        if i % 5 == 0:
            continue
        cells[i] += i * first
        first = i
    at = 0
    while True:
        at += 1
        if at >= n or cells[at] > 40:
            break
        memory.notes[at], cells[at] = cells[at], memory.notes[at] - at
    for i in range(len(memory.notes)):
        i *= 2
        if i > 7:
            mark(memory.notes, i - 8, at)
    return total_of(memory, cells) if is_long(cells, 3) and n else -at


def total_of(memory: Memory, cells: list[int]) -> int:
    """A sum over arrays of two names."""
    total = 0
    for i in range(1, len(cells)):
        total += cells[i] * memory.notes[i - 1]
    return total


def mark(cells: list[int], i: int, value: int) -> None:
    """Write a cell if there is one."""
    if i >= len(cells):
        return
    cells[i] = value


def is_long(cells: list[int], least: int) -> bool:
    """Whether an array has so many cells."""
    return len(cells) >= least


def test_arithmetic_is_pythons() -> None:
    run = native.loaded(making.code_of(arithmetic, "arithmetic"), "arithmetic").bound()
    rng = random.Random(5)
    for _ in range(3000):
        size = rng.choice((3, 10, 1000, 2**20))
        x, y, n = rng.randint(-size, size), rng.randint(-size, size) or -1, rng.randrange(20)
        assert run(x, y, n) == arithmetic(x, y, n), (x, y, n)


def test_division_by_zero_and_beyond_64_bits_ends_nothing() -> None:
    run = native.loaded(making.code_of(quotient, "quotient"), "quotient").bound()
    assert [run(7, 0), run(-(2**63), -1), run(-7, 2), run(7, -2)] == [0, -(2**63), -4, -4]


def quotient(x: int, y: int) -> int:
    """A quotient, and nothing more where there is no remainder."""
    return x // y + 0 * (x % y)


def test_loops_and_arrays_are_pythons() -> None:
    run = native.loaded(making.code_of(loops, "loops", checked=True), "loops")
    rng = random.Random(7)
    for _ in range(300):
        n = rng.randint(0, 12)
        cells = [[rng.randint(-50, 50) for _ in range(n + 2)] for _ in range(2)]
        arrays = [np.array(part) for part in cells]
        structure = native.NativeStructure(arrays)
        assert run.bound(structure.address)(n) == loops(Memory(*cells), n)
        assert [array.tolist() for array in arrays] == cells


def chosen(x: int, y: int) -> int:
    """Values of conditions that are no truth values."""
    return 100 * (x and y) + (x or y or 9)


def shifted(x: int, n: int) -> int:
    """A shift by any number of bits."""
    return x >> n


Same = Memory


def other_name(memory: Same, i: int) -> int:
    """A structure under another name, in a function that a loop calls."""
    memory.cells[i] += 1
    return memory.cells[i]


def both_names(memory: Memory, i: int) -> int:
    """What one name writes, the other reads."""
    before = memory.cells[i]
    return 100 * before + 10 * other_name(memory, i) + memory.cells[i]


def test_values_of_conditions_and_large_shifts_are_pythons() -> None:
    run = native.loaded(making.code_of(chosen, "chosen"), "chosen").bound()
    numbers = (0, 1, 2, -5)
    assert [run(x, y) for x in numbers for y in numbers] == [chosen(x, y) for x in numbers for y in numbers]
    run = native.loaded(making.code_of(shifted, "shifted"), "shifted").bound()
    for x in (5, -5, 2**62, -(2**63)):
        assert [run(x, n) for n in (0, 3, 63, 64, 124, 248)] == [x >> n for n in (0, 3, 63, 64, 124, 248)]


def test_a_structure_is_the_same_memory_under_any_name() -> None:
    text = TranslationUnit(both_names, "both").text
    assert "Memory.cells" in text
    assert "Same" not in text
    cells = np.array([4])
    structure = native.NativeStructure([cells, cells])
    run = native.loaded(making.code_of(both_names, "both"), "both").bound(structure.address)
    assert run(0) == 455


def outside() -> None:
    """Read beyond an array, compiled with checks."""
    cells = np.zeros(4, np.int64)
    structure = native.NativeStructure([cells, cells])
    native.loaded(making.code_of(total_beyond, "beyond", checked=True), "beyond").bound(structure.address)(-1)


def total_beyond(memory: Memory, i: int) -> int:
    """A cell that Python would take from the end."""
    return memory.cells[i]


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
def test_checked_code_ends_at_an_index_outside_its_array() -> None:
    command = [sys.executable, "-c", "import test_translation; test_translation.outside()"]
    done = subprocess.run(command, check=False, cwd=__file__.rpartition("/")[0], capture_output=True)
    assert done.returncode in (-signal.SIGILL, -signal.SIGTRAP), done.stderr


def test_every_registered_function_can_be_compiled() -> None:
    program = TranslationUnit(dfs.has_room, "room")
    texts = [FunctionText(program, function, "@f").text for function in [*COMPILABLE, *LEARN_COMPILABLE]]
    assert len(texts) > 250


def test_what_is_compiled_is_registered() -> None:
    """Functions without the decorator would be compiled, too, but nobody would know of it."""
    known = {*COMPILABLE, *LEARN_COMPILABLE}
    for entry in (dfs.run, loop.run):
        program = TranslationUnit(entry, "entry")
        assert program.functions <= known


def listed(n: int) -> int:
    """A list."""
    return len([n])


def keyword(n: int) -> int:
    """An argument by name."""
    return arithmetic(n, y=n, n=n)


def fractional(n: int) -> int:
    """A fraction."""
    return int(n / 2)


def large(n: int) -> int:
    """A number beyond 64 bits."""
    return n + 9_223_372_036_854_775_808


def stepped(n: int) -> int:
    """A step that is known only later."""
    total = 0
    for i in range(0, n, n):
        total += i
    return total


def endless(n: int) -> int:
    """A step of zero."""
    for i in range(0, n, 0):
        n += i
    return n


def optional(n: int, m: int = 1) -> int:
    """An argument that may be left out."""
    return n + m


def shorter(n: int) -> int:
    """Too few arguments."""
    return arithmetic(n, n)  # type: ignore[call-arg]


def based(n: int) -> int:
    """A number in another base."""
    return int(n, 10)  # type: ignore[call-overload, no-any-return]


def renamed(memory: Memory, n: int) -> int:
    """One name of two arrays."""
    cells = memory.cells
    if n > 0:
        cells = memory.notes
    return cells[0]


REFUSED = [listed, keyword, fractional, large, stepped, endless, optional, shorter, based, renamed]


@pytest.mark.parametrize("function", REFUSED)
def test_other_python_is_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(InternalError, match=r"test_translation, line \d+: '.*' is not in the Python that"):
        TranslationUnit(function, "refused")
