"""Congruences that follow from all equations together: each variable's residue class, or a contradiction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import gcd
from typing import Protocol

from constrint.presolve.diophantine import Affine, System, TooHard
from constrint.propagators import LinearEq, Propagator
from constrint.settings import DEFAULT, PresolveSettings
from constrint.store.domains import set_class, set_hi, set_lo
from constrint.store.state import State


class DomainArrays(Protocol):
    """Bounds and strides by variable; a state and a box have them."""

    @property
    def lo(self) -> Sequence[int]:
        """Least values."""

    @property
    def hi(self) -> Sequence[int]:
        """Greatest values."""

    @property
    def step(self) -> Sequence[int]:
        """Distances between values."""


def narrower_classes(
    domains: DomainArrays, propagators: Sequence[Propagator], rules: PresolveSettings = DEFAULT.presolve
) -> list[tuple[int, int, int]]:
    """Residue classes that the equations prove beyond the domains: (variable, modulus, residue).

    Modulus 0 means that the variable has the value `residue`. Raises `Infeasible` if the equations have no
    integer solution.
    """
    lo, hi, step = domains.lo, domains.hi, domains.step
    found = []
    for v, affine in parametrised(domains, propagators, rules).items():
        modulus = gcd(*affine.terms.values())
        if modulus == 1:
            continue
        residue = affine.constant
        if modulus == 0:
            is_new = lo[v] != residue or hi[v] != residue
        else:
            is_new = (lo[v] - residue) % modulus != 0 or (lo[v] < hi[v] and step[v] % modulus != 0)
        if is_new:
            found.append((v, modulus, residue))
    return found


def keep_classes(state: State, classes: Iterable[tuple[int, int, int]]) -> bool:
    """Narrow a state to residue classes; False if a domain becomes empty."""
    for v, modulus, residue in classes:
        if modulus == 0:
            if not (set_lo(state, v, residue) and set_hi(state, v, residue)):
                return False
        elif not set_class(state, v, modulus, residue):
            return False
    return True


def parametrised(
    domains: DomainArrays, propagators: Sequence[Propagator], rules: PresolveSettings = DEFAULT.presolve
) -> dict[int, Affine]:
    """Variables as integer sums over free parameters, for connected systems of equations.

    Raises `Infeasible` if the equations have no integer solution.
    """
    equations = core_equations(domains, propagators, rules.most_terms_of_equations)
    system = System(equations)
    try:
        system.solve(rules.steps_of_equations)
    except TooHard:
        return {}
    found = {}
    for v, affine in system.solution().items():
        # The system is in units of the variables' steps.
        step = domains.step[v]
        terms = {parameter: step * a for parameter, a in affine.terms.items()}
        found[v] = Affine(terms, anchor(domains, v) + step * affine.constant)
    return found


def anchor(domains: DomainArrays, v: int) -> int:
    """The number nearest to 0 in a variable's residue class; it need not be a member of the domain."""
    return domains.lo[v] % domains.step[v]


def core_equations(domains: DomainArrays, propagators: Sequence[Propagator], most_terms: int) -> list[Affine]:
    """The equations in units of steps, without those that only define a variable that occurs nowhere else.

    None at all where they have more than `most_terms` terms together.
    """
    equations = _core(domains, propagators)
    return equations if _terms_of(equations) <= most_terms else []


def core_terms(domains: DomainArrays, propagators: Sequence[Propagator]) -> int:
    """The number of terms of these equations together."""
    return _terms_of(_core(domains, propagators))


def _terms_of(equations: Sequence[Affine]) -> int:
    return sum([len(equation.terms) for equation in equations])


def _core(domains: DomainArrays, propagators: Sequence[Propagator]) -> list[Affine]:
    """The equations in units of steps, without those that only define a variable that occurs nowhere else."""
    equations = []
    lo, hi, step = domains.lo, domains.hi, domains.step
    for node in _without_plain_definitions(domains, [node for node in propagators if type(node) is LinearEq]):
        constant = -node.bound
        terms: dict[int, int] = {}
        for a, v in node.terms:
            low = lo[v]
            if low == hi[v]:
                constant += a * low
            else:
                size = step[v]
                constant += a * (low % size)  # the same as `anchor`
                terms[v] = terms.get(v, 0) + a * size
        if 0 in terms.values():
            terms = {v: a for v, a in terms.items() if a}
        if terms:
            equations.append(Affine(terms, constant))
    return _without_definitions(equations)


def _without_plain_definitions(domains: DomainArrays, propagators: list[LinearEq]) -> list[LinearEq]:
    """The equations without those that define, with coefficient 1 or -1, a variable that occurs nowhere else.

    Most equations of most models are dropped here, before any work on them.
    """
    lo, hi, step = domains.lo, domains.hi, domains.step
    uses = Counter([v for node in propagators for _, v in node.terms])
    while True:
        kept = []
        for node in propagators:
            for a, v in node.terms:
                if uses[v] == 1 and step[v] == 1 and a in (1, -1) and lo[v] != hi[v]:
                    uses.subtract([v for _, v in node.terms])
                    break
            else:
                kept.append(node)
        if len(kept) == len(propagators):
            return kept
        propagators = kept


def _without_definitions(equations: list[Affine]) -> list[Affine]:
    """Drop equations that a variable occurring nowhere else satisfies for any values of the others."""
    uses = Counter([v for equation in equations for v in equation.terms])
    while True:
        kept = []
        for equation in equations:
            own = [abs(a) for v, a in equation.terms.items() if uses[v] == 1]
            if own and gcd(equation.constant, *equation.terms.values()) in own:
                uses.subtract(list(equation.terms))
            else:
                kept.append(equation)
        if len(kept) == len(equations):
            return kept
        equations = kept
