"""inverse: ``x[i] == j`` exactly if ``y[j] == i``.

Domain consistent for each pair of values (the channelling of Cheng, Choi, Lee and Wu, Constraints 1999),
O(n^2) a run. `all_different` is posted as well, for what the permutation as a whole excludes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from constrint.store.domains import contains, fix, remove, set_hi, set_lo
from constrint.store.propagator import Propagator, magnitude
from constrint.store.state import State, compilable
from constrint.support.record import record

INVERSE = 25


@record()
class Inverse(Propagator):
    """``xs`` and ``ys`` are permutations of 0 … n - 1, each the inverse of the other."""

    xs: tuple[int, ...]
    ys: tuple[int, ...]
    kind = INVERSE
    priority: ClassVar[int] = 2

    def scope(self) -> tuple[int, ...]:
        return (*self.xs, *self.ys)

    def holds(self, values: Sequence[int]) -> bool:
        n = len(self.xs)
        return all(
            0 <= values[x] < n and 0 <= values[y] < n for x, y in zip(self.xs, self.ys, strict=True)
        ) and all(values[self.ys[values[x]]] == i for i, x in enumerate(self.xs))

    def encode(self) -> list[int]:
        return [len(self.xs), *self.xs, *self.ys]

    def peak(self, lo: Sequence[int], hi: Sequence[int]) -> int:
        return max(magnitude(lo, hi, v) for v in self.scope()) + len(self.xs) + 1


@compilable
def keep_inverse(st: State, xs: int, ys: int, n: int) -> bool:
    """Remove j from x[i] if y[j] has lost i; fix y[j] to i if x[i] is j."""
    args = st.args
    for i in range(n):
        x = args[xs + i]
        if not (set_lo(st, x, 0) and set_hi(st, x, n - 1)):
            return False
        j = st.lo[x]
        while j <= st.hi[x]:
            if contains(st, x, j) and not contains(st, args[ys + j], i) and not remove(st, x, j):
                return False
            j += 1
        if st.lo[x] == st.hi[x] and not fix(st, args[ys + st.lo[x]], i):
            return False
    return True


@compilable
def inverse_functions(st: State, c: int) -> bool:
    """Propagate ``x[i] == j`` exactly if ``y[j] == i``."""
    first = st.start[c]
    n = st.args[first]
    xs = first + 1
    return keep_inverse(st, xs, xs + n, n) and keep_inverse(st, xs + n, xs, n)
