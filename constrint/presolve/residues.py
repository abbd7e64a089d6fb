"""Equations of powers modulo small numbers.

Squares and cubes have few residues, so sums of them miss some.
"""

from __future__ import annotations

from collections.abc import Iterable

from constrint.lowering.problem import Infeasible
from constrint.propagators import LinearEq, Power, Propagator
from constrint.store.state import State

MODULI = (3, 4, 5, 7, 8, 9, 11, 13, 16)


def check_residues(state: State, propagators: Iterable[Propagator]) -> None:
    """Raise `Infeasible` if an equation of powers has no solution modulo a small number."""
    powers = {
        node.z: (node.x, state.lo[node.y])
        for node in propagators
        if isinstance(node, Power) and state.lo[node.y] == state.hi[node.y]
    }
    if not powers:
        return
    for node in propagators:
        if isinstance(node, LinearEq) and any(v in powers for _, v in node.terms):
            for modulus in MODULI:
                if not _has_solution(state, node, powers, modulus):
                    raise Infeasible


def _has_solution(state: State, node: LinearEq, powers: dict[int, tuple[int, int]], modulus: int) -> bool:
    reached = {0}
    for a, v in node.terms:
        if a % modulus == 0:
            continue
        x, exponent = powers.get(v, (v, 1))
        residues = {pow(r, exponent, modulus) for r in _residues(state, x, modulus)}
        reached = {(total + a * r) % modulus for total in reached for r in residues}
        if len(reached) == modulus:
            return True
    return node.bound % modulus in reached


def _residues(state: State, v: int, modulus: int) -> list[int]:
    """The residues of the members of a variable's class, or of its only value."""
    lo = state.lo[v]
    if lo == state.hi[v]:
        return [lo % modulus]
    return [(lo + i * state.step[v]) % modulus for i in range(modulus)]
