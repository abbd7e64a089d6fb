"""Congruences that follow from all equations together: each variable's residue class, or a contradiction."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from typing import Protocol

from constrint.constraints import LinearEq, Node
from constrint.engine.state import State
from constrint.engine.store import set_class, set_hi, set_lo
from constrint.presolve.diophantine import Affine, System, TooHard

MOST_TERMS = 400  # systems with more coefficients are left to propagation


class Domains(Protocol):
    """Bounds and strides by variable, as a state and a box have them."""

    @property
    def lo(self) -> Sequence[int]:
        """Least values."""

    @property
    def hi(self) -> Sequence[int]:
        """Greatest values."""

    @property
    def step(self) -> Sequence[int]:
        """Distances between values."""


def tighten_classes(state: State, nodes: Sequence[Node]) -> bool:
    """Narrow the strides of a state by its equations; whether the state still has no contradiction.

    Raises `Infeasible` where the equations have no integer solution.
    """
    for v, affine in parametrised(state, nodes).items():
        modulus = gcd(*affine.terms.values())
        if modulus == 0:
            if not (set_lo(state, v, affine.constant) and set_hi(state, v, affine.constant)):
                return False
        elif modulus > 1 and not set_class(state, v, modulus, affine.constant):
            return False
    return True


def parametrised(domains: Domains, nodes: Sequence[Node]) -> dict[int, Affine]:
    """Variables as integer sums over free parameters, by the equations that hang together.

    Raises `Infeasible` where the equations have no integer solution.
    """
    equations = core_equations(domains, nodes)
    system = System(equations)
    try:
        system.solve()
    except TooHard:
        return {}
    found = {}
    for v, affine in system.solution().items():
        # The system is in steps.
        step = domains.step[v]
        terms = {parameter: step * a for parameter, a in affine.terms.items()}
        found[v] = Affine(terms, anchor(domains, v) + step * affine.constant)
    return found


def anchor(domains: Domains, v: int) -> int:
    """The number of a variable's residue class, not always a member, that is nearest to 0."""
    return domains.lo[v] % domains.step[v]


def core_equations(domains: Domains, nodes: Sequence[Node]) -> list[Affine]:
    """The equations in steps of their variables, without those that only define a variable of their own."""
    equations = []
    lo, hi, step = domains.lo, domains.hi, domains.step
    for node in nodes:
        if isinstance(node, LinearEq):
            constant = -node.bound
            terms: dict[int, int] = {}
            for a, v in node.terms:
                if lo[v] == hi[v]:
                    constant += a * lo[v]
                else:
                    constant += a * anchor(domains, v)
                    terms[v] = terms.get(v, 0) + a * step[v]
            terms = {v: a for v, a in terms.items() if a}
            if terms:
                equations.append(Affine(terms, constant))
    equations = _without_definitions(equations)
    return equations if sum(len(equation.terms) for equation in equations) <= MOST_TERMS else []


def _without_definitions(equations: list[Affine]) -> list[Affine]:
    uses: dict[int, int] = {}
    for equation in equations:
        for v in equation.terms:
            uses[v] = uses.get(v, 0) + 1
    while True:
        kept = []
        for equation in equations:
            common = gcd(equation.constant, *equation.terms.values())
            if any(uses[v] == 1 and abs(a) == common for v, a in equation.terms.items()):
                for v in equation.terms:
                    uses[v] -= 1
            else:
                kept.append(equation)
        if len(kept) == len(equations):
            return kept
        equations = kept
