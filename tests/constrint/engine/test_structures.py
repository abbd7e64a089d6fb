"""Structures of arrays for compiled kernels, made without numba's own function."""

import ctypes
import subprocess
import sys

import numpy as np
import pytest

from constrint.engine import compiled
from constrint.learning import compiled as learn
from constrint.learning.layout import Learner
from constrint.store.state import State


@pytest.mark.parametrize(
    ("proxy", "kind", "fields"),
    [
        (compiled.Structure, compiled._STATE, State._fields),
        (learn.LearnerStructure, learn._LEARNER, Learner._fields),
    ],
)
def test_they_are_laid_out_as_numba_lays_them_out(proxy, kind, fields):
    compiled.load()
    arrays = [np.arange(3 + number, dtype=np.int64) for number in range(len(fields))]
    ours, words = compiled.structure_of(proxy, kind, arrays)
    assert words is not None, "numba lays arrays out otherwise now: structures cost more than they need to"
    theirs = proxy(*arrays)
    cells = (ctypes.c_int64 * words.size).from_address(theirs._meminfo.data)
    expected = np.ctypeslib.as_array(cells).reshape(words.shape)
    count_and_owner = 2
    assert (words[:, count_and_owner:] == expected[:, count_and_owner:]).all()
    assert not words[:, :count_and_owner].any()
    assert ours._numba_type_ == theirs._numba_type_


def test_where_the_layout_is_unknown_numba_makes_them(monkeypatch):
    monkeypatch.setattr(compiled, "_is_layout_known", lambda: False)
    from constrint import Model, all_different

    m = Model()
    x = m.int_vars("x", 6, 0, 5)
    m.add(all_different(x), x[0] + x[1] > 6)
    assert sum(1 for _ in m.iter_solutions(engine="compiled")) == 8 * 24
    assert m.solve(engine="compiled", learn=True)


def test_loading_imports_no_compiler_and_leaves_it_whole():
    """In a process of its own: what is on the disk is loaded alone; numba compiles as ever afterwards."""
    compiled.load()
    program = """
import sys
import numba
from constrint import Model
assert Model().solve(engine="compiled")
assert "numba.np.arraymath" not in sys.modules
assert numba.njit(lambda x: sum([x, 1]))(2) == 3
m = Model()
x = m.int_vars("x", 6, 0, 5)
m.add(x[0] + x[1] > 6)
assert sum(1 for _ in m.iter_solutions(engine="compiled")) == 10 * 6**4
"""
    subprocess.run([sys.executable, "-c", program], check=True)
