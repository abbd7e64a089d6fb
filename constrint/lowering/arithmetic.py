"""Lowering of integer expressions to sums over variables, with an auxiliary variable for each function."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from math import gcd, lcm
from typing import Any, TypeVar

from constrint import expr as e
from constrint.errors import ModelError
from constrint.expr.domain import Domain
from constrint.expr.global_expr import Function
from constrint.lowering.partial import PartialTerms
from constrint.lowering.problem import FALSE, HUGE_BITS, TRUE, Linear, NeedsWiderBounds
from constrint.support.deadline import look

Expr = TypeVar("Expr", bound=e.IntExpr)

LARGEST_POWER_BITS = 1_000_000


class Arithmetic(PartialTerms, ABC):
    """The lowering of integer expressions.

    Attributes:
        problem: The normal form so far.
        variables: Number of each variable of the user's.
    """

    def __init__(self, huge_bits: int = HUGE_BITS) -> None:
        super().__init__(huge_bits)
        self.variables: dict[e.IntExpr, int] = {}
        self._sums: dict[int, Linear] = {}
        self._partial: dict[
            int, tuple[int, ...]
        ] = {}  # the needs of expressions that were lowered within a condition
        self._required: set[int] = set()
        self._kept: list[e.IntExpr] = []
        self._declared: Domain | None = None
        self._largest = 1 << (huge_bits // 8)

    def declare(self, variable: e.IntVar | e.BoolVar) -> int:
        """The number of a user's variable, which is declared on first use."""
        if isinstance(variable, e.BoolVar):
            v = self.problem.variable(0, 1)
        else:
            if variable.domain is not self._declared:  # variables of an array share a domain
                self._check_domain(variable.domain)
                self._declared = variable.domain
            v = self.problem.declare(variable.domain)
        self.variables[variable] = v
        return v

    def _check_domain(self, domain: Domain) -> None:
        for bound in (domain.lo, domain.hi, domain.step):
            if bound is not None:
                self._check(bound)

    def _check(self, value: int) -> int:
        if not -self._largest <= value <= self._largest:
            raise NeedsWiderBounds
        return value

    def kept(self, node: Expr) -> Expr:
        """Keep an expression that the lowering itself has built alive: caches are keyed by identity."""
        self._kept.append(node)
        return node

    # Integer expressions

    def sum_of(self, node: e.IntExpr) -> Linear:
        """The value of an integer expression as a sum over variables."""
        known = self._sums.get(id(node))
        if known is None or (self._partial and self._is_needed_again(node)):
            look()
            lower = _INTEGER.get(type(node))
            noted = 0 if self._needs is None else len(self._needs)
            known = self.of_literal(self.literal(node)) if lower is None else lower(self, node)  # type: ignore[arg-type] # others are conditions
            if self._needs is not None and len(self._needs) > noted:
                own = self._partial[id(node)] = tuple(dict.fromkeys(self._needs[noted:]))
                self._needs[noted:] = own
            self._check(known.constant)
            for a in known.terms.values():
                if a != 1:
                    self._check(a)
            self._sums[id(node)] = known
        return known

    def apart(self, node: e.IntExpr) -> tuple[Linear, list[int]]:
        """An integer expression, and the literals that it needs to be defined, without requiring them."""
        outer, self._needs = self._needs, []
        known = self.sum_of(node)
        needs, self._needs = self._needs, outer
        return known, needs

    def _is_needed_again(self, node: e.IntExpr) -> bool:
        """Whether to lower an expression again, because it must be defined now.

        Otherwise records its needs.
        """
        needs = self._partial.get(id(node))
        if needs is None:
            return False
        if self._needs is None:
            del self._partial[id(node)]
            return True
        self.need(needs)
        return False

    def variable_of(self, node: e.IntExpr) -> int:
        """A variable that equals an integer expression."""
        return self.problem.of_linear(self.sum_of(node))

    def of_literal(self, literal: int) -> Linear:
        """1 if a literal is true, else 0."""
        positive = self.known(literal >> 1)
        return Linear({}, 1).plus(positive, -1) if literal & 1 else positive

    def _int_var(self, node: e.IntVar) -> Linear:
        v = self.variables.get(node)
        if v is None:
            raise ModelError(f"'{node.name}' belongs to another model: declare it in this one with int_var")
        return self.known(v)

    def _const(self, node: e.Const) -> Linear:
        return Linear({}, node.value)

    def _sum(self, node: e.Sum) -> Linear:
        constant = node.constant
        terms: dict[int, int] = {}
        variables, lo, hi = self.variables, self.problem.lo, self.problem.hi
        for factor, term in node.terms:
            known = variables.get(term)
            if known is not None:
                if lo[known] == hi[known]:
                    constant += factor * lo[known]
                else:
                    terms[known] = terms.get(known, 0) + factor
                continue
            part = self.sum_of(term)
            if part.constant:
                constant += factor * part.constant
            for v, a in part.terms.items():
                terms[v] = terms.get(v, 0) + factor * a
        if 0 in terms.values():
            terms = {v: a for v, a in terms.items() if a}
        return Linear(terms, constant)

    def _mul(self, node: e.Mul) -> Linear:
        problem = self.problem
        sums = [self.sum_of(arg) for arg in node.args]
        if len(sums) == 2:
            left, right = sums
            if len(left.terms) == 1 == len(right.terms) and left.constant == 0 == right.constant:
                ((x, a),), ((y, b),) = left.terms.items(), right.terms.items()
                return self.known(problem.product(x, y)).scaled(a * b)
        factor = 1
        powers: dict[int, int] = {}
        for part in sums:
            if not part.terms:
                factor *= part.constant
                continue
            if len(part.terms) == 1 and part.constant == 0:
                ((v, common),) = part.terms.items()
            else:
                common = part.content()
                v = problem.of_linear(part.divided(common))
            factor *= common
            powers[v] = powers.get(v, 0) + 1
        if factor == 0 or not powers:
            return Linear({}, factor)
        factors = [v if n == 1 else problem.power(v, problem.constant(n)) for v, n in powers.items()]
        while len(factors) > 2:
            x, y = self._next_pair(factors)
            factors.remove(x)
            factors.remove(y)
            factors.insert(0, problem.product(x, y))
        return self.known(problem.product(*factors) if len(factors) == 2 else factors[0]).scaled(factor)

    def _next_pair(self, factors: list[int]) -> tuple[int, int]:
        """Two factors whose product has a variable already, or the first two."""
        for i, x in enumerate(factors):
            for y in factors[:i]:
                if x != y and self.problem.has_product(x, y):
                    return y, x
        return factors[0], factors[1]

    def _floor_div(self, node: e.FloorDiv) -> Linear:
        dividend, divisor = self.sum_of(node.left), self.divisor(self.sum_of(node.right))
        if divisor.terms:
            return self._divide(dividend, divisor)
        return self._divide_by_constant(dividend, divisor.constant)

    def _division(self, dividend: Linear, divisor: Linear) -> tuple[int, int]:
        return self.problem.division(self.problem.of_linear(dividend), self.problem.of_linear(divisor))

    def _divide(self, dividend: Linear, divisor: Linear) -> Linear:
        if dividend.terms:
            common = gcd(dividend.content(), divisor.content())
            dividend, divisor = dividend.divided(common), divisor.divided(common)
        problem = self.problem
        if problem.bounds(dividend)[1] <= 0 and problem.bounds(divisor)[0] >= 1:
            x, y = problem.of_linear(dividend.scaled(-1)), problem.of_linear(divisor)
            return self.known(problem.rounded_up(x, y)).scaled(-1)
        return self.known(self._division(dividend, divisor)[0])

    def _divide_by_constant(self, dividend: Linear, divisor: int) -> Linear:
        if divisor < 0:
            return self._divide_by_constant(dividend.scaled(-1), -divisor)
        common = gcd(divisor, dividend.constant, *dividend.terms.values())
        dividend, divisor = dividend.divided(common), divisor // common
        whole = Linear(
            {v: a // divisor for v, a in dividend.terms.items() if a % divisor == 0},
            dividend.constant // divisor,
        )
        rest = dividend.plus(whole, -divisor)
        if not rest.terms:
            return whole
        if next(iter(rest.terms.values())) < 0:
            # -((-a) // d) rounds up, and so does (a + d - 1) // d: use one form for both, so that it is
            # shared.
            return whole.plus(self._quotient(Linear({}, divisor - 1).plus(rest, -1), divisor), -1)
        return whole.plus(self._quotient(rest, divisor))

    def _quotient(self, dividend: Linear, divisor: int) -> Linear:
        whole, constant = divmod(dividend.constant, divisor)
        rest = Linear(dividend.terms, constant)
        low, high = self.problem.bounds(rest)
        if low // divisor == high // divisor:
            return Linear({}, whole + low // divisor)
        return Linear({self.conditions.quotient(rest, divisor): 1}, whole)

    def _mod(self, node: e.Mod) -> Linear:
        dividend, divisor = self.sum_of(node.left), self.divisor(self.sum_of(node.right))
        if divisor.terms:
            return self.known(self._division(dividend, divisor)[1])
        modulus = divisor.constant
        rest = Linear({v: a for v, a in dividend.terms.items() if a % modulus}, dividend.constant % modulus)
        if not rest.terms:
            return rest
        _, remainder = self._division(rest, divisor)
        return self.known(remainder)

    def _pow(self, node: e.Pow) -> Linear:
        base, exponent = self.sum_of(node.left), self.exponent(self.sum_of(node.right))
        if not exponent.terms:
            if not base.terms:
                if (
                    abs(base.constant) > 1
                    and exponent.constant * base.constant.bit_length() > LARGEST_POWER_BITS
                ):
                    raise ModelError(f"{base.constant} ** {exponent.constant} is too large to compute")
                return Linear({}, base.constant**exponent.constant)
            if exponent.constant <= 1:
                return base if exponent.constant else Linear({}, 1)
        problem = self.problem
        return self.known(problem.power(problem.of_linear(base), problem.of_linear(exponent)))

    def _abs(self, node: e.Abs) -> Linear:
        arg = self.sum_of(node.arg)
        low, high = self.problem.bounds(arg)
        if low >= 0:
            return arg
        if high <= 0:
            return arg.scaled(-1)
        if next(iter(arg.terms.values())) < 0:
            arg = arg.scaled(-1)
        return self.known(self.problem.absolute(self.problem.of_linear(arg)))

    def _extreme(self, node: e.Min | e.Max) -> Linear:
        greatest = type(node) is e.Max
        parts: dict[tuple[frozenset[tuple[int, int]], int], Linear] = {}
        for arg in node.args:
            part = self.sum_of(arg)
            parts[frozenset(part.terms.items()), part.constant] = part
        if len(parts) == 1:
            return next(iter(parts.values()))
        xs = [self.problem.of_linear(part) for part in parts.values()]
        return self.known(self.problem.extreme(xs, greatest))

    def _divisors(self, node: e.Gcd | e.Lcm) -> Linear:
        parts = [self.sum_of(arg) for arg in node.args]
        is_gcd = type(node) is e.Gcd
        known = (gcd if is_gcd else lcm)(*[part.constant for part in parts if not part.terms])
        pair = self.problem.common_divisor if is_gcd else self.problem.common_multiple
        if known == (1 if is_gcd else 0) and any(not part.terms for part in parts):
            return Linear({}, known)
        variables = list(dict.fromkeys(self.problem.of_linear(part) for part in parts if part.terms))
        if not variables:
            return Linear({}, known)
        # gcd(x) is abs(x), which is gcd(x, 0); lcm(x) is lcm(x, 1).
        if len(variables) == 1 or known != (0 if is_gcd else 1):
            variables.append(self.problem.constant(known))
        result = pair(variables[0], variables[1])
        for v in variables[2:]:
            result = pair(result, v)
        return self.known(result)

    def _element(self, node: e.Element) -> Linear:
        count = len(node.values)
        index = self.index(self.sum_of(node.index), count)
        for value in node.values:
            self._check(value)
        if not index.terms:
            return Linear({}, node.values[index.constant] if count else 0)
        if node.values == tuple(range(count)):
            v = self.problem.of_linear(index)  # restricts the index to the list of expressions
            self.problem.keep_between(v, 0, count - 1)
            return self.known(v)
        return self.known(self.problem.element(node.values, self.problem.of_linear(index)))

    def _selection(self, position: e.IntExpr, entries: Sequence[e.IntExpr]) -> Linear:
        """One of several sums, chosen by an index."""
        sums = [self.sum_of(entry) for entry in entries]
        index = self.index(self.sum_of(position), len(sums))
        if not index.terms:
            return sums[index.constant]
        xs = tuple(self.problem.of_linear(value) for value in sums)
        return self.known(self.problem.selection(xs, self.problem.of_linear(index)))

    def _if_then_else(self, node: e.IfThenElse) -> Linear:
        chain = chosen_by_place(node)
        if chain is not None:
            return self._selection(*chain)
        literal = self.literal(node.condition)
        if literal in (TRUE, FALSE):
            return self.sum_of(node.then if literal == TRUE else node.otherwise)
        (then, then_needs), (otherwise, other_needs) = self.apart(node.then), self.apart(node.otherwise)
        for need in dict.fromkeys([*then_needs, *other_needs]):
            # Entries that are not chosen need not be defined.
            if need not in other_needs:
                self.need_any([need, literal ^ 1])
            elif need not in then_needs:
                self.need_any([need, literal])
            else:
                self.need([need])
        difference = then.plus(otherwise, -1)
        if not difference.terms:
            return otherwise.plus(self.of_literal(literal), difference.constant)
        of_linear = self.problem.of_linear
        return self.known(self.problem.choice(literal, of_linear(then), of_linear(otherwise)))

    def _function(self, node: Function) -> Linear:
        """The sum for a global constraint that is a number."""
        if node.definition.lower is None:
            return self.sum_of(self.kept(node.decomposed()))
        total: Linear = node.definition.lower(self, *node.parts)
        return total

    @abstractmethod
    def literal(self, node: e.BoolExpr, target: int | None = None) -> int:
        """A literal that is true exactly if a condition holds; `target`, if a new one is needed."""


def chosen_by_place(node: e.IntExpr) -> tuple[e.IntExpr, list[e.IntExpr]] | None:
    """The index and the entries of an expression made by `functions.element` from a list, or None."""
    inside: e.IntExpr | None = None
    entries: list[e.IntExpr] = []
    while isinstance(node, e.IfThenElse):
        test = node.condition
        if not (
            isinstance(test, e.Comparison)
            and test.operator == "=="
            and isinstance(test.left, e.Element)
            and (inside is None or test.left is inside)
            and isinstance(test.right, e.Const)
            and test.right.value == len(entries)
        ):
            break
        inside = test.left
        entries.append(node.then)
        node = node.otherwise
        if isinstance(inside, e.Element) and len(inside.values) == len(entries) + 1:
            entries.append(node)
            is_list = inside.values == tuple(range(len(entries))) and len(entries) > 2
            return (inside.index, entries) if is_list else None
    return None


_INTEGER: dict[type, Callable[[Any, Any], Linear]] = {
    e.Const: Arithmetic._const,
    e.IntVar: Arithmetic._int_var,
    e.Sum: Arithmetic._sum,
    e.Mul: Arithmetic._mul,
    e.FloorDiv: Arithmetic._floor_div,
    e.Mod: Arithmetic._mod,
    e.Pow: Arithmetic._pow,
    e.Abs: Arithmetic._abs,
    e.Min: Arithmetic._extreme,
    e.Max: Arithmetic._extreme,
    e.Gcd: Arithmetic._divisors,
    e.Lcm: Arithmetic._divisors,
    e.Element: Arithmetic._element,
    e.IfThenElse: Arithmetic._if_then_else,
    Function: Arithmetic._function,
}
