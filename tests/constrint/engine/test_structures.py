"""Structures of arrays for compiled kernels, made and read without numba."""

import ctypes
import subprocess
import sys

import numba
import numpy as np
import pytest
from numba.experimental import structref

from constrint.engine import making, native
from constrint.engine.compiled import load
from constrint.errors import InternalError
from constrint.learning.layout import Learner
from constrint.store.state import State

COUNT_AND_OWNER = 2  # the first words of an array, which compiled kernels do not use


@structref.register
class StateKind(numba.types.StructRef):
    """The type of numba's own structure of a state."""


@structref.register
class LearnerKind(numba.types.StructRef):
    """The same for a learner."""


class StateProxy(structref.StructRefProxy):
    """Makes one."""


class LearnerProxy(structref.StructRefProxy):
    """Makes the other."""


structref.define_proxy(StateProxy, StateKind, list(State._fields))
structref.define_proxy(LearnerProxy, LearnerKind, list(Learner._fields))


def words_of(address: int, fields: int) -> np.ndarray:
    """The descriptions of arrays at the address that counted memory names for its data."""
    header = (ctypes.c_int64 * native.HEADER_WORDS).from_address(address)
    cells = (ctypes.c_int64 * (native.ARRAY_WORDS * fields)).from_address(header[native.HEADER_DATA])
    return np.ctypeslib.as_array(cells).reshape(fields, native.ARRAY_WORDS)


@pytest.mark.parametrize(
    ("proxy", "fields"),
    [(StateProxy, State._fields), (LearnerProxy, Learner._fields)],
    ids=["state", "learner"],
)
def test_they_are_laid_out_as_numba_lays_them_out(proxy, fields):
    arrays = [np.arange(3 + number, dtype=np.int64) for number in range(len(fields))]
    ours, theirs = native.Structure(arrays), proxy(*arrays)
    mine = words_of(ours.address, len(fields))
    expected = words_of(making._address_of(theirs._meminfo), len(fields))
    assert (mine[:, COUNT_AND_OWNER:] == expected[:, COUNT_AND_OWNER:]).all()
    assert not mine[:, :COUNT_AND_OWNER].any()
    longer = np.zeros(99, np.int64)
    ours.replace(1, 99, longer.__array_interface__["data"][0])
    arrays[1] = longer
    theirs = proxy(*arrays)
    expected = words_of(making._address_of(theirs._meminfo), len(fields))
    assert (mine[:, COUNT_AND_OWNER:] == expected[:, COUNT_AND_OWNER:]).all()


def test_code_that_is_called_in_an_unknown_way_is_not_kept(monkeypatch):
    monkeypatch.setattr(making, "_is_layout_known", lambda: False)
    with pytest.raises(InternalError, match=r"numba \d"):
        making.code_of(COUNT, "count", numba.int64(numba.int64), {})


def COUNT(n: int) -> int:
    """A kernel."""
    return n + 1


def test_kernels_are_called_by_address():
    code = making.code_of(COUNT, "count", numba.int64(numba.int64), {})
    assert [native.loaded(code, "count").bound()(n) for n in (0, -5, 2**62)] == [1, -4, 2**62 + 1]


def test_loading_imports_no_numba_and_leaves_it_whole():
    """In a process of its own: what is on the disk is loaded alone; numba compiles before and after."""
    load()
    program = """
import sys
from constrint import Model
def check():
    assert Model().solve(engine="compiled")
    m = Model()
    x = m.int_vars("x", 6, 0, 5)
    m.add(x[0] + x[1] > 6)
    assert sum(1 for _ in m.iter_solutions(engine="compiled")) == 10 * 6**4
    assert m.solve(engine="compiled", learn=True)
if len(sys.argv) > 1:
    import numba
    assert numba.njit(lambda x: sum([x, 1]))(2) == 3
check()
assert ("numba" in sys.modules) == (len(sys.argv) > 1)
import numba
assert numba.njit(lambda x: sum([x, 1]))(2) == 3
check()
"""
    for order in ([], ["numba first"]):
        subprocess.run([sys.executable, "-c", program, *order], check=True)
