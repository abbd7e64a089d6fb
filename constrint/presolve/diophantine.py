"""Systems of linear equations over the integers: proves infeasibility, or parametrises all solutions.

Each step simplifies the system by an invertible integer substitution (the column operations of the Hermite
normal form, on sparse rows). A variable with coefficient 1 or -1 is solved for. If there is none, the
variable with the smallest coefficient absorbs the quotients of the others.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import gcd

from constrint.lowering.problem import Infeasible


class TooHard(Exception):  # noqa: N818 - an answer, not a fault
    """Solving the system exceeds its limit of steps."""


@dataclass(slots=True)
class Affine:
    """``constant + sum(coefficient * parameter)``."""

    terms: dict[int, int]
    constant: int

    def replace(self, v: int, by: Affine) -> bool:
        """Substitute an expression for v; returns whether v occurred."""
        terms = self.terms
        factor = terms.pop(v, 0)
        if not factor:
            return False
        for other, a in by.terms.items():
            total = terms.get(other, 0) + factor * a
            if total:
                terms[other] = total
            else:
                del terms[other]
        self.constant += factor * by.constant
        return True


@dataclass
class System:
    """Equations ``terms + constant == 0`` that are being solved.

    Attributes:
        equations: The remaining equations.
        solved: Solved variables in the order in which they were solved. Parameters are the variables without
            an entry, with negative numbers for new ones.
    """

    equations: list[Affine]
    solved: list[tuple[int, Affine]] = field(default_factory=list)
    _costs: list[tuple[int, int]] = field(default_factory=list)

    def solve(self, most_steps: int) -> None:
        """Solve all equations, which are changed, in at most so many steps.

        Raises:
            Infeasible: They have no integer solution.
            TooHard: They take more steps.
        """
        steps = 0
        fresh = 0
        self.equations = [one for one in self.equations if _is_open(one)]
        self._costs = list(map(_cost, self.equations))
        while self.equations:
            steps += 1
            if steps > most_steps:
                raise TooHard
            cheapest = min(self._costs)
            place = self._costs.index(cheapest)
            equation = self.equations[place]
            v, a = next(term for term in equation.terms.items() if abs(term[1]) == cheapest[0])
            if abs(a) == 1:
                del self.equations[place], self._costs[place]
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
        is_over = False
        for number, equation in enumerate(self.equations):
            if equation.replace(v, by):
                if _is_open(equation):
                    self._costs[number] = _cost(equation)
                else:
                    is_over = True
        if is_over:
            self._costs = [c for c, one in zip(self._costs, self.equations, strict=True) if one.terms]
            self.equations = [one for one in self.equations if one.terms]

    def solution(self) -> dict[int, Affine]:
        """Each solved variable as a sum over parameters."""
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
        return {v: affine for v, affine in known.items() if v >= 0}  # negative ones are parameters


def _cost(equation: Affine) -> tuple[int, int]:
    """The smallest coefficient, and the number of times that it occurs."""
    return min(map(abs, equation.terms.values())), len(equation.terms)


def _is_open(equation: Affine) -> bool:
    """Whether an equation is not trivial yet; divides it by the gcd of its coefficients."""
    terms = equation.terms
    if not terms:
        if equation.constant:
            raise Infeasible
        return False
    common = gcd(*terms.values())
    if common > 1:
        if equation.constant % common:
            raise Infeasible
        equation.constant //= common
        for v in terms:
            terms[v] //= common
    return True


def _nearest(a: int, b: int) -> int:
    """The integer nearest to a / b."""
    return (2 * a + abs(b)) // (2 * abs(b)) * (1 if b > 0 else -1)
