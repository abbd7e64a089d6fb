"""Systems of linear equations over the integers: no solution, or all of them by parameters.

Each step makes the system simpler by an integer substitution that can be undone (the column operations of
the Hermite normal form, on sparse rows): a variable with coefficient 1 or -1 is solved for; where there is
none, the variable with the smallest coefficient absorbs the quotients of the others.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import gcd

from constrint.ir import Infeasible

MOST_STEPS = 2000


class TooHard(Exception):  # noqa: N818 - an answer, not a fault
    """The system took more steps than it is worth."""


@dataclass(slots=True)
class Affine:
    """``constant + sum(coefficient * parameter)``."""

    terms: dict[int, int]
    constant: int

    def replaced(self, v: int, by: Affine) -> Affine:
        """This with an expression in the place of v."""
        factor = self.terms.get(v)
        if not factor:
            return self
        terms = dict(self.terms)
        del terms[v]
        for other, a in by.terms.items():
            total = terms.get(other, 0) + factor * a
            if total:
                terms[other] = total
            else:
                del terms[other]
        return Affine(terms, self.constant + factor * by.constant)


@dataclass
class System:
    """Equations ``terms + constant == 0``, being solved.

    Attributes:
        equations: Those that are left.
        solved: What the variables are, in the order in which they were solved for; parameters are
            variables that were not, with negative numbers for new ones.
    """

    equations: list[Affine]
    solved: list[tuple[int, Affine]] = field(default_factory=list)
    _costs: list[tuple[int, int]] = field(default_factory=list)

    def solve(self) -> None:
        """Solve all equations; raises `Infeasible` where they have no integer solution."""
        steps = 0
        fresh = 0
        self.equations = [_reduced(one) for one in self.equations if one.terms or _nonzero(one)]
        self._costs = list(map(_cost, self.equations))
        while self.equations:
            steps += 1
            if steps > MOST_STEPS:
                raise TooHard
            cheapest = min(self._costs)
            equation = self.equations[self._costs.index(cheapest)]
            v, a = next(term for term in equation.terms.items() if abs(term[1]) == cheapest[0])
            if abs(a) == 1:
                terms = {other: -a * b for other, b in equation.terms.items() if other != v}
                self._substitute(v, Affine(terms, -a * equation.constant))
                continue
            # v = new - sum of quotients * others - quotient of the constant
            fresh -= 1
            terms = {other: -_nearest(b, a) for other, b in equation.terms.items() if other != v}
            terms = {other: b for other, b in terms.items() if b}
            terms[fresh] = 1
            self._substitute(v, Affine(terms, -_nearest(equation.constant, a)))

    def _substitute(self, v: int, by: Affine) -> None:
        self.solved.append((v, by))
        equations = []
        costs = []
        for equation, cost in zip(self.equations, self._costs, strict=True):
            if v in equation.terms:
                equation = _reduced(equation.replaced(v, by))
                if not equation.terms:
                    _nonzero(equation)
                    continue
                cost = _cost(equation)
            equations.append(equation)
            costs.append(cost)
        self.equations, self._costs = equations, costs

    def solution(self) -> dict[int, Affine]:
        """What each solved variable is by parameters."""
        known: dict[int, Affine] = {}
        for v, by in reversed(self.solved):
            terms: dict[int, int] = {}
            constant = by.constant
            for other, a in by.terms.items():
                inner = known.get(other)
                if inner is None:
                    terms[other] = terms.get(other, 0) + a
                    continue
                constant += a * inner.constant
                for parameter, b in inner.terms.items():
                    terms[parameter] = terms.get(parameter, 0) + a * b
            known[v] = Affine({p: a for p, a in terms.items() if a}, constant)
        return {v: affine for v, affine in known.items() if v >= 0}


def _cost(equation: Affine) -> tuple[int, int]:
    """The smallest coefficient, and how many there are."""
    return min(map(abs, equation.terms.values())), len(equation.terms)


def _nonzero(equation: Affine) -> bool:
    if equation.constant:
        raise Infeasible
    return False


def _nearest(a: int, b: int) -> int:
    """The integer nearest to a / b."""
    return (2 * a + abs(b)) // (2 * abs(b)) * (1 if b > 0 else -1)


def _reduced(equation: Affine) -> Affine:
    """The equation without the common divisor of its coefficients, which must divide the constant."""
    common = gcd(*equation.terms.values())
    if common <= 1:
        return equation
    if equation.constant % common:
        raise Infeasible
    return Affine({v: a // common for v, a in equation.terms.items()}, equation.constant // common)
