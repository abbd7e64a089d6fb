"""The cost of an operation of a cell's equations on a GPU.

The numbers of instructions are those that NVRTC 13.5 makes of `kernels/common/numeric/activations.cuh` for
sm_90a. A special function holds its unit for 8 cycles, where another instruction holds its own for one (CUDA
C++ Programming Guide, "Arithmetic Instructions": 16 and 128 results of an SM in a cycle).
"""

from __future__ import annotations

from typing import NamedTuple

SPECIAL_CYCLES = 8


class Cost(NamedTuple):
    """An operation: its instructions, those of them that are special functions, and its latency.

    The latency is in that of an addition; a special function's is 6.
    """

    instructions: int
    special: int
    latency: int

    @property
    def work(self) -> int:
        """The cycles for which a warp holds a sub-partition of an SM."""
        return self.instructions + (SPECIAL_CYCLES - 1) * self.special


FREE = Cost(0, 0, 0)
ADDITION = Cost(1, 0, 1)
FAST = {
    "tanh": Cost(1, 1, 6),
    "sigmoid": Cost(3, 1, 8),
    "exp": Cost(2, 1, 7),
    "log": Cost(2, 1, 7),
    "softplus": Cost(6, 2, 16),
    "div": Cost(5, 1, 9),
    "sqrt": Cost(4, 1, 9),
    "erf": Cost(20, 1, 20),
    "max": Cost(3, 0, 2),
    "min": Cost(3, 0, 2),
    "relu": Cost(2, 0, 2),
    "sign": Cost(4, 0, 3),
    "abs": FREE,
    "neg": FREE,
}
"""Of 16-bit storage. What is not named is one instruction."""
EXACT = {
    **FAST,
    "tanh": Cost(25, 2, 26),
    "sigmoid": Cost(15, 2, 21),
    "exp": Cost(9, 1, 10),
    "log": Cost(25, 0, 18),
    "softplus": Cost(18, 2, 21),
}
"""Of float32."""
