"""Bounds by circuits: chains that may not close, nodes that are not reached."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from constrint.verification.bounds import Atom, Bounds, Contradiction, literal_atom, opposite

Literals: TypeAlias = Mapping[tuple[int, int], Atom]
"""The atom of ``v == value``."""


def literals(constraints: Iterable[tuple[str, Any]]) -> Literals:
    """The literals that stand for a value of a variable."""
    found: dict[tuple[int, int], Atom] = {}
    for name, given in constraints:
        if name == "LinearEqIf" and len(given["terms"]) == 1:
            ((a, v),) = given["terms"]
            if given["bound"] % a == 0:
                found.setdefault((v, given["bound"] // a), literal_atom(given["literal"]))
    return found


def go_round(bounds: Bounds, successors: list[int], known: Literals, may_leave_out: bool) -> None:
    """Exclude the arcs that close a chain too early."""
    n = len(successors)

    def is_out(i: int, j: int) -> bool:
        v = successors[i]
        return not bounds.may_be(v, j) or ((v, j) in known and bounds.is_false(known[v, j]))

    def exclude(i: int, j: int) -> None:
        if is_out(i, j):
            return
        if bounds.low[successors[i]] == bounds.high[successors[i]]:
            raise Contradiction
        if (successors[i], j) in known:
            bounds.assume(opposite(known[successors[i], j]))

    after = {}
    for i in range(n):
        possible = [j for j in range(n) if not is_out(i, j)]
        if not possible:
            raise Contradiction
        if len(possible) == 1:
            after[i] = possible[0]
    for start in range(n):
        chain = [start]
        while chain[-1] in after and after[chain[-1]] not in chain:
            chain.append(after[chain[-1]])
        off = [i for i in range(n) if i not in chain and (not may_leave_out or is_out(i, i))]
        if off and (len(chain) > 1 or not may_leave_out):
            exclude(chain[-1], start)
        if may_leave_out and len(chain) > 1 and after.get(chain[-1]) == start:
            for i in set(range(n)) - set(chain):
                for j in set(range(n)) - {i}:
                    exclude(i, j)
    if not may_leave_out:
        for forward in (True, False):
            reached = [0]
            for i in reached:
                reached += [
                    j
                    for j in range(n)
                    if j not in reached and not (is_out(i, j) if forward else is_out(j, i))
                ]
            if len(reached) < n:
                raise Contradiction
