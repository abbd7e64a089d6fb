"""Terms that may be undefined: either required to be defined, or a need of the condition around them.

An undefined term makes the nearest enclosing condition false (Frisch and Stuckey, "The proper treatment of
undefinedness in constraint languages", CP 2009). If that condition must hold, the term must be defined: a
divisor loses its 0. If the condition is a literal, each such term *needs* a literal that is true if it is
defined. The term is lowered over an operand that is always in range (a divisor that is 1 instead of 0), and
the condition's literal is true if its comparison and all its needs are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from constrint.lowering.memberships import Memberships
from constrint.lowering.problem import FALSE, HUGE_BITS, TRUE, Infeasible, Linear, Problem


class PartialTerms:
    """The terms of one run of lowering that may be undefined.

    Attributes:
        problem: The normal form so far.
        conditions: Its literals and constraints.
    """

    def __init__(self, huge_bits: int = HUGE_BITS) -> None:
        self.problem = Problem(huge_bits)
        self.conditions = Memberships(self.problem)
        self._needs: list[int] | None = None  # needs of the condition being lowered; None if it must hold

    def need(self, literals: Iterable[int]) -> None:
        """Record literals that must be true for a term to be defined, or post them."""
        for literal in literals:
            literal = self.conditions.current(literal)
            if self._needs is None:
                self.conditions.require(literal)
            elif literal != TRUE:
                self._needs.append(literal)

    def need_any(self, literals: Sequence[int]) -> None:
        """Record that one of some literals must be true for a term to be defined, or post that."""
        if self._needs is None:
            self.conditions.require_any(literals)
        else:
            self.need([self.conditions.any_of(literals, None)])

    def _guarded(self, literal: int, operand: Linear, otherwise: int) -> int:
        """A variable that equals an operand if a literal is true, else a constant."""
        problem = self.problem
        return problem.choice(literal, problem.of_linear(operand), problem.constant(otherwise))

    def known(self, v: int) -> Linear:
        """A variable as a sum, or its value if it is fixed."""
        low = self.problem.lo[v]
        return Linear({}, low) if low == self.problem.hi[v] else Linear({v: 1}, 0)

    def divisor(self, divisor: Linear) -> Linear:
        """A sum that equals a divisor if that is not 0, and is never 0 itself."""
        if not divisor.terms:
            if divisor.constant == 0:
                self._never()
                return Linear({}, 1)
            return divisor
        if self._needs is None:
            return divisor  # the division excludes 0
        is_zero = self.conditions.equal(divisor, None)
        if is_zero == FALSE:
            return divisor
        if is_zero == TRUE:
            self._never()
            return Linear({}, 1)
        self.need([is_zero ^ 1])
        y = self._guarded(is_zero ^ 1, divisor, self._least_divisor(divisor))
        self.problem.remove_value(y, 0)
        return self.known(y)

    def _least_divisor(self, divisor: Linear) -> int:
        """A possible value of a divisor near 0, so that quotients get no wider bounds."""
        y = self.problem.of_linear(divisor)
        problem = self.problem
        lo, hi, step, values = problem.lo[y], problem.hi[y], problem.step[y], problem.values[y]
        if lo < 0 < hi or lo == hi == 0:
            return 1
        if values is not None:
            return min([value for value in values if value], key=abs)
        if lo >= 0:
            return lo or step
        return hi or -step

    def natural(self, operand: Linear) -> Linear:
        """A sum that equals an operand wherever that is not negative, and is never negative itself."""
        if not operand.terms:
            if operand.constant < 0:
                self._never()
                return Linear({}, 0)
            return operand
        if self._needs is None:
            return operand  # the function excludes what is negative
        is_natural = self.conditions.at_most(operand.scaled(-1), None)
        if is_natural == FALSE:
            self._never()
            return Linear({}, 0)
        if is_natural == TRUE:
            return operand
        self.need([is_natural])
        y = self._guarded(is_natural, operand, 0)
        self.problem.keep_between(y, 0, self.problem.huge)
        return self.known(y)

    def index(self, index: Linear, count: int) -> Linear:
        """A sum that equals an index if that is in 0 … count - 1, and is always in this range."""
        if not index.terms:
            if not 0 <= index.constant < count:
                self._never()
                return Linear({}, 0)
            return index
        if not count:
            self._never()
            return Linear({}, 0)
        if self._needs is None:
            return index  # the table excludes indices outside
        ends = [index.scaled(-1), index.plus(Linear({}, 1 - count))]
        needs = [self.conditions.at_most(end, None) for end in ends]
        is_inside = self.conditions.any_of([need ^ 1 for need in needs], None) ^ 1
        if is_inside == FALSE:
            self._never()
            return Linear({}, 0)
        if is_inside == TRUE:
            return index
        self.need([is_inside])
        y = self._guarded(is_inside, index, 0)
        self.problem.keep_between(y, 0, count - 1)
        return self.known(y)

    def _never(self) -> None:
        """Record that a term is undefined for all values of its variables."""
        if self._needs is None:
            raise Infeasible
        self.need([FALSE])
