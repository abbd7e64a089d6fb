"""Compilation of the local search by numba, as in `engine.making`."""

from __future__ import annotations

import numba

from constrint.engine.making import StructureType, code_of, twins_of
from constrint.jumping.layout import PART, Jumps
from constrint.jumping.moves import COMPILABLE, jump

JUMPS = StructureType("Jumps", Jumps._fields)
JUMP = numba.int64(JUMPS, numba.int64)


def jumping_code() -> bytes:
    """The machine code of `moves.jump`."""
    called = [function for function in COMPILABLE if function is not jump]
    return code_of(jump, PART, JUMP, twins_of(called, PART))
