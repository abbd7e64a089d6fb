"""The models of arithmetic.py for finite-domain solvers: x * y == z and linear conditions.

A model returns the variables that count; all others are functions of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

POWERS = [16, 32, 64, 128, 256]
Terms = list[tuple[int, Any]]


class Flat(Protocol):
    """A peer's model under construction."""

    def variable(self, values: Sequence[int]) -> Any:
        """A variable with these values: a `range` with step 1, or a list."""

    def times(self, x: Any, y: Any, z: Any) -> None:
        """``x * y == z``."""

    def linear(self, terms: Terms, comparison: str, bound: int) -> None:
        """The sum of the (factor, variable) terms "==" or "<=" the bound."""

    def ascending(self, variables: list[Any]) -> None:
        """Each variable is at most the next."""

    def multiple(self, x: Any, factor: int, y: Any) -> None:
        """``x == factor * y``."""


def factors(m: Flat) -> list[Any]:
    a, b, c = (m.variable(range(1, 5041)) for _ in range(3))
    ab, abc = m.variable(range(1, 5041)), m.variable(range(5040, 5041))
    m.times(a, b, ab)
    m.times(ab, c, abc)
    m.ascending([a, b, c])
    return [a, b, c]


def products(m: Flat) -> list[Any]:
    x, y, z, w = (m.variable(range(1, 65)) for _ in range(4))
    xy, zw, all_four = m.variable(range(1, 1025)), m.variable(range(1, 4097)), m.variable(range(1, 4097))
    m.times(x, y, xy)
    m.times(z, w, zw)
    m.times(xy, zw, all_four)
    m.multiple(xy, 32, m.variable(range(1, 33)))
    m.multiple(zw, 8, m.variable(range(1, 513)))
    return [x, y, z, w]


def tiles(m: Flat, sizes: list[int], warps: list[int]) -> list[Any]:
    bm, bn, bk = (m.variable(sizes) for _ in range(3))
    wm, wn = (m.variable(warps) for _ in range(2))
    stages = m.variable(range(1, 6))
    rows, columns, count = m.variable(range(1, 257)), m.variable(range(1, 257)), m.variable(range(2, 33))
    m.times(wm, rows, bm)
    m.times(wn, columns, bn)
    m.times(rows, columns, count)
    side, panel, held = m.variable(range(2, 513)), m.variable(range(1, 131073)), m.variable(range(1, 116225))
    m.linear([(1, bm), (1, bn), (-1, side)], "==", 0)
    m.times(side, bk, panel)
    m.times(panel, stages, held)  # two bytes each: at most 227 KiB
    area = m.variable(range(1, 7137))
    m.times(wm, wn, area)
    m.linear([(1, area), (8, wm), (8, wn)], "<=", 255 * 32 - 1024)
    return [bm, bn, bk, wm, wn, stages]


def coins(m: Flat) -> list[Any]:
    variables = [m.variable(range(1001)) for _ in range(4)]
    m.linear(list(zip((12, 15, 20, 28), variables, strict=True)), "==", 10007)
    return variables


FLAT_MODELS: dict[str, Callable[[Any], list[Any]]] = {
    "a": factors,
    "b": products,
    "c": lambda m: tiles(m, POWERS, [1, 2, 4, 8, *POWERS]),
    "c2": lambda m: tiles(m, list(range(8, 257, 8)), list(range(1, 257))),
    "coins": coins,
}
