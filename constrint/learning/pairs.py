"""Literals of ``x - y == c`` and ``|x - y| == c``: which values of two variables they join.

Differences reach the learning search as variables of their own, and literals compare these with constants.
By bounds alone such a literal says nothing of x and y until one of them is nearly fixed. Where few pairs of
values make it true, clauses over values say all of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from constrint.presolve import Root
from constrint.propagators import Absolute, LinearEq, LinearEqIf, LinearLeIf, Propagator

Terms = Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class PairFunction:
    """A function of two variables: ``a * x + b * y + constant``, or its absolute value."""

    a: int
    x: int
    b: int
    y: int
    constant: int
    is_absolute: bool = False

    def at(self, u: int, v: int) -> int:
        """The value where x is u and y is v."""
        value = self.a * u + self.b * v + self.constant
        return abs(value) if self.is_absolute else value


class PairFunctions:
    """Variables of a root that are functions of two others, which have few values.

    A function occurs in its definition, in an absolute value, and in comparisons with constants. The literals
    of these comparisons may be tied to values of the arguments instead, whose own literals may be tied to
    values of *their* arguments; so functions must not run in a circle. They do not, by construction: a
    variable becomes a function only while it is an argument of none, and an argument never becomes a function
    afterwards. Each function's arguments are therefore either functions found before it or none at all.
    """

    def __init__(self, root: Root, is_small: Callable[[int], bool]) -> None:
        self._of: dict[int, PairFunction] = {}
        self._arguments: set[int] = set()
        uses: Counter[int] = Counter()
        absolutes: dict[int, int] = {}
        sums: list[LinearEq] = []
        for node in root.propagators:
            if isinstance(node, LinearEqIf | LinearLeIf) and len(node.terms) == 1:
                continue
            uses.update(set(node.scope()))
            if isinstance(node, Absolute):
                absolutes[node.x] = node.z
            elif isinstance(node, LinearEq) and len(node.terms) == len({v for _, v in node.terms}) == 3:
                sums.append(node)
        for node in sums:
            # Auxiliary variables have higher numbers than what they are made of.
            for c, d in sorted(node.terms, key=lambda term: -term[1]):
                z = absolutes.get(d)
                (a, x), (b, y) = (term for term in node.terms if term[1] != d)
                is_used_otherwise = uses[d] != 1 + (z is not None)
                if abs(c) != 1 or is_used_otherwise or not self._is_free(d, x, y):
                    continue
                if is_small(x) and is_small(y):
                    self._of[d] = PairFunction(-c * a, x, -c * b, y, c * node.bound)
                    if z is not None and uses[z] == 1 and self._is_free(z, x, y):
                        self._of[z] = PairFunction(-c * a, x, -c * b, y, c * node.bound, True)
                    self._arguments.update((x, y))

    def _is_free(self, v: int, x: int, y: int) -> bool:
        """Whether a variable may become a function of two others: it is neither function nor argument yet."""
        return v not in self._of and v not in self._arguments and v not in (x, y)

    def of(self, node: Propagator) -> PairFunction | None:
        """The function that a literal of a node compares with a constant; None for other literals."""
        if isinstance(node, LinearEqIf | LinearLeIf) and len(node.terms) == 1:
            function = self._of.get(node.terms[0][1])
            # A difference that is at most a constant is what bounds say best.
            if function is not None and (function.is_absolute or isinstance(node, LinearEqIf)):
                return function
        return None
