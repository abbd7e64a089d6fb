"""From expressions to the normal form of `ir`.

Integer expressions become `Linear` sums over variables (with an auxiliary variable for each function),
conditions become literals or, where they must hold, narrowed domains, clauses and constraints. Every
subexpression is lowered, whatever its value is used for: that is what makes undefined parts fail.
"""

from __future__ import annotations

from collections.abc import Callable
from math import gcd, lcm
from typing import Any

from constrint import expr as e
from constrint.conditions import Conditions
from constrint.domain import BINARY, Domain
from constrint.errors import ModelError
from constrint.ir import FALSE, HUGE_BITS, TRUE, Infeasible, Linear, NeedsWiderBounds, Problem

LARGEST_POWER_BITS = 1_000_000


def is_domain(node: e.BoolExpr) -> bool:
    """Whether a condition compares one variable with constants, so that a domain says it all."""
    if isinstance(node, e.Comparison):
        pair = type(node.left), type(node.right)
        return pair in ((e.IntVar, e.Const), (e.Const, e.IntVar))
    return isinstance(node, e.Member) and isinstance(node.arg, e.IntVar)


class Lowering:
    """One run of lowering.

    Attributes:
        problem: The normal form so far.
        variables: Number of each variable of the user's.
    """

    def __init__(self, huge_bits: int = HUGE_BITS) -> None:
        self.problem = Problem(huge_bits)
        self.conditions = Conditions(self.problem)
        self.variables: dict[e.IntExpr, int] = {}
        self._sums: dict[int, Linear] = {}
        self._literals: dict[int, int] = {}
        self._largest = 1 << (huge_bits // 8)

    def declare(self, variable: e.IntVar | e.BoolVar) -> int:
        """Number a variable of the user's."""
        domain = BINARY if isinstance(variable, e.BoolVar) else variable.domain
        self._check_domain(domain)
        v = self.variables[variable] = self.problem.declare(domain)
        return v

    def _check_domain(self, domain: Domain) -> None:
        for bound in (domain.lo, domain.hi, domain.step):
            if bound is not None:
                self._check(bound)

    def _check(self, value: int) -> int:
        if abs(value) > self._largest:
            raise NeedsWiderBounds
        return value

    # Integer expressions

    def sum_of(self, node: e.IntExpr) -> Linear:
        """The value of an integer expression as a sum over variables."""
        known = self._sums.get(id(node))
        if known is None:
            if isinstance(node, e.BoolExpr):
                known = self._of_literal(self.literal(node))
            else:
                known = _INTEGER[type(node)](self, node)
            largest = self._largest
            for value in (known.constant, *known.terms.values()):
                if not -largest <= value <= largest:
                    raise NeedsWiderBounds
            self._sums[id(node)] = known
        return known

    def variable_of(self, node: e.IntExpr) -> int:
        """A variable that equals an integer expression."""
        return self.problem.of_linear(self.sum_of(node))

    def _variable(self, v: int) -> Linear:
        if self.problem.is_fixed(v):
            return Linear({}, self.problem.lo[v])
        return Linear({v: 1}, 0)

    def _of_literal(self, literal: int) -> Linear:
        positive = self._variable(literal >> 1)
        return Linear({}, 1).plus(positive, -1) if literal & 1 else positive

    def _int_var(self, node: e.IntVar) -> Linear:
        v = self.variables.get(node)
        if v is None:
            raise ModelError(f"'{node.name}' belongs to another model: declare it in this one with int_var")
        return self._variable(v)

    def _const(self, node: e.Const) -> Linear:
        return Linear({}, node.value)

    def _sum(self, node: e.Sum) -> Linear:
        constant = node.constant
        terms: dict[int, int] = {}
        for factor, term in node.terms:
            part = self.sum_of(term)
            constant += factor * part.constant
            for v, a in part.terms.items():
                terms[v] = terms.get(v, 0) + factor * a
        return Linear({v: a for v, a in terms.items() if a}, constant)

    def _mul(self, node: e.Mul) -> Linear:
        factor = 1
        powers: dict[int, int] = {}
        for arg in node.args:
            part = self.sum_of(arg)
            if not part.terms:
                factor *= part.constant
                continue
            common = part.content()
            factor *= common
            v = self.problem.of_linear(part.divided(common))
            powers[v] = powers.get(v, 0) + 1
        if factor == 0 or not powers:
            return Linear({}, factor)
        problem = self.problem
        factors = [v if n == 1 else problem.power(v, problem.constant(n)) for v, n in powers.items()]
        while len(factors) > 1:
            x, y = self._next_pair(factors)
            factors.remove(x)
            factors.remove(y)
            factors.insert(0, problem.product(x, y))
        return self._variable(factors[0]).scaled(factor)

    def _next_pair(self, factors: list[int]) -> tuple[int, int]:
        """Two factors whose product is known already, or the first two."""
        for i, x in enumerate(factors):
            for y in factors[:i]:
                if x != y and self.problem.has_product(x, y):
                    return y, x
        return factors[0], factors[1]

    def _floor_div(self, node: e.FloorDiv) -> Linear:
        dividend, divisor = self.sum_of(node.left), self.sum_of(node.right)
        if divisor.terms:
            return self._divide(dividend, divisor)
        if divisor.constant == 0:
            raise Infeasible
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
            return self._variable(problem.rounded_up(x, y)).scaled(-1)
        return self._variable(self._division(dividend, divisor)[0])

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
            # -((-a) // d) rounds up, and so does (a + d - 1) // d: one form for both is shared.
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
        dividend, divisor = self.sum_of(node.left), self.sum_of(node.right)
        if divisor.terms:
            return self._variable(self._division(dividend, divisor)[1])
        modulus = divisor.constant
        if modulus == 0:
            raise Infeasible
        rest = Linear({v: a for v, a in dividend.terms.items() if a % modulus}, dividend.constant % modulus)
        if not rest.terms:
            return rest
        _, remainder = self._division(rest, divisor)
        return self._variable(remainder)

    def _pow(self, node: e.Pow) -> Linear:
        base, exponent = self.sum_of(node.left), self.sum_of(node.right)
        if not exponent.terms:
            if exponent.constant < 0:
                raise Infeasible
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
        return self._variable(problem.power(problem.of_linear(base), problem.of_linear(exponent)))

    def _abs(self, node: e.Abs) -> Linear:
        arg = self.sum_of(node.arg)
        low, high = self.problem.bounds(arg)
        if low >= 0:
            return arg
        if high <= 0:
            return arg.scaled(-1)
        if next(iter(arg.terms.values())) < 0:
            arg = arg.scaled(-1)
        return self._variable(self.problem.absolute(self.problem.of_linear(arg)))

    def _extreme(self, node: e.Min | e.Max) -> Linear:
        greatest = type(node) is e.Max
        parts: dict[tuple[frozenset[tuple[int, int]], int], Linear] = {}
        for arg in node.args:
            part = self.sum_of(arg)
            parts[frozenset(part.terms.items()), part.constant] = part
        if len(parts) == 1:
            return next(iter(parts.values()))
        xs = [self.problem.of_linear(part) for part in parts.values()]
        return self._variable(self.problem.extreme(xs, greatest))

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
        result = pair(variables[0], self.problem.constant(known))
        for v in variables[1:]:
            result = pair(result, v)
        return self._variable(result)

    def _element(self, node: e.Element) -> Linear:
        index = self.sum_of(node.index)
        if not node.values or (not index.terms and not 0 <= index.constant < len(node.values)):
            raise Infeasible
        for value in node.values:
            self._check(value)
        if not index.terms:
            return Linear({}, node.values[index.constant])
        return self._variable(self.problem.element(node.values, self.problem.of_linear(index)))

    def _if_then_else(self, node: e.IfThenElse) -> Linear:
        literal = self.literal(node.condition)
        then, otherwise = self.sum_of(node.then), self.sum_of(node.otherwise)
        if literal in (TRUE, FALSE):
            return then if literal == TRUE else otherwise
        difference = then.plus(otherwise, -1)
        if not difference.terms:
            return otherwise.plus(self._of_literal(literal), difference.constant)
        of_linear = self.problem.of_linear
        return self._variable(self.problem.choice(literal, of_linear(then), of_linear(otherwise)))

    # Conditions

    def literal(self, node: e.BoolExpr, target: int | None = None) -> int:
        """A literal that is true exactly where a condition holds; `target`, if a new one is needed."""
        known = self._literals.get(id(node))
        if known is None:
            known = self._literals[id(node)] = _BOOLEAN[type(node)](self, node, target)
        return self.conditions.current(known)

    def _bool_const(self, node: e.BoolConst, target: int | None) -> int:
        return TRUE if node.value else FALSE

    def _bool_var(self, node: e.BoolVar, target: int | None) -> int:
        v = self.variables.get(node)
        if v is None:
            raise ModelError(f"'{node.name}' belongs to another model: declare it in this one with bool_var")
        return 2 * v

    def _not(self, node: e.Not, target: int | None) -> int:
        return self.literal(node.arg, None if target is None else target ^ 1) ^ 1

    def _and(self, node: e.And, target: int | None) -> int:
        literals = [self.literal(arg) ^ 1 for arg in node.args]
        return self.conditions.any_of(literals, None if target is None else target ^ 1) ^ 1

    def _or(self, node: e.Or, target: int | None) -> int:
        return self.conditions.any_of([self.literal(arg) for arg in node.args], target)

    def _implies(self, node: e.Implies, target: int | None) -> int:
        return self.conditions.any_of([self.literal(node.left) ^ 1, self.literal(node.right)], target)

    def _iff(self, node: e.Iff, target: int | None) -> int:
        left, right = self._of_literal(self.literal(node.left)), self._of_literal(self.literal(node.right))
        return self.conditions.equal(left.plus(right, -1), target)

    def _comparison(self, node: e.Comparison, target: int | None) -> int:
        if node.operator in ("==", "!="):
            negated = node.operator == "!="
            inner = None if target is None else target ^ negated
            congruence = self._congruence(node)
            if isinstance(congruence, tuple):
                return self.conditions.divides(*congruence, inner) ^ negated
            if congruence is not None:
                return FALSE ^ negated
            difference = self.sum_of(node.left).plus(self.sum_of(node.right), -1)
            return self.conditions.equal(difference, inner) ^ negated
        return self.conditions.at_most(self._at_most(node), target)

    def _at_most(self, node: e.Comparison) -> Linear:
        """The sum that is at most 0 exactly where an inequality holds."""
        difference = self.sum_of(node.left).plus(self.sum_of(node.right), -1)
        if node.operator in (">", ">="):
            difference = difference.scaled(-1)
        if node.operator in ("<", ">"):
            difference = difference.plus(Linear({}, 1))
        return difference

    def _congruence(self, node: e.Comparison) -> tuple[Linear, Linear] | bool | None:
        """Divisor and dividend that say ``a % b == c``, for constants b and c, or c = 0; or its truth."""
        modulo, other = node.left, node.right
        if not isinstance(modulo, e.Mod):
            modulo, other = other, modulo
        if not isinstance(modulo, e.Mod) or id(modulo) in self._sums:
            return None
        residue = self.sum_of(other)
        divisor = self.sum_of(modulo.right)
        if residue.terms or (divisor.terms and residue.constant):
            return None
        dividend = self.sum_of(modulo.left)
        if divisor.terms:
            self.conditions.require_different(divisor)
            return divisor, dividend
        if divisor.constant == 0:
            raise Infeasible
        if residue.constant % divisor.constant != residue.constant:
            return False
        return divisor, dividend.plus(residue, -1)

    def _divides(self, node: e.Divides, target: int | None) -> int:
        return self.conditions.divides(self.sum_of(node.divisor), self.sum_of(node.dividend), target)

    def _member(self, node: e.Member, target: int | None) -> int:
        self._check_domain(node.domain)
        return self.conditions.member(self.sum_of(node.arg), node.domain, target)

    def _table_parts(self, node: e.Table) -> tuple[list[int], frozenset[tuple[int, ...]]]:
        """The variables that are open, each once, and their part of the rows that the others allow."""
        sums = [self.sum_of(arg) for arg in node.args]
        for row in node.rows:
            for entry in row:
                self._check(entry)
        return self.conditions.table_parts(sums, node.rows)

    def _table(self, node: e.Table, target: int | None) -> int:
        return self.conditions.table(*self._table_parts(node), target)

    # Constraints

    def require(self, node: e.BoolExpr) -> None:
        """Make a condition hold."""
        kind = type(node)
        if kind is e.And:
            for arg in node.args:  # type: ignore[attr-defined] # narrowed by the type just compared
                self.require(arg)
        elif kind is e.Comparison:
            self._require_comparison(node)  # type: ignore[arg-type] # as above
        elif kind is e.Divides:
            self._require_divides(node.divisor, node.dividend)  # type: ignore[attr-defined] # as above
        elif kind is e.Member:
            self._check_domain(node.domain)  # type: ignore[attr-defined] # as above
            conditions = self.conditions
            conditions.require_member(self.sum_of(node.arg), node.domain)  # type: ignore[attr-defined] # as above
        elif kind is e.Table:
            self.conditions.require_table(*self._table_parts(node))  # type: ignore[arg-type] # as above
        elif kind is e.Iff:
            self._require_iff(node.left, node.right)  # type: ignore[attr-defined] # as above
        elif kind is e.Or:
            self.conditions.require_any([self.literal(arg) for arg in node.args])  # type: ignore[attr-defined] # as above
        elif kind is e.Implies:
            left, right = node.left, node.right  # type: ignore[attr-defined] # as above
            self.conditions.require_any([self.literal(left) ^ 1, self.literal(right)])
        else:
            self.conditions.require(self.literal(node))

    def _require_comparison(self, node: e.Comparison) -> None:
        if node.operator in ("<", "<=", ">", ">="):
            self.conditions.require_at_most(self._at_most(node))
            return
        congruence = self._congruence(node)
        if congruence is not None:
            self._require_congruence(node, congruence)
            return
        difference = self.sum_of(node.left).plus(self.sum_of(node.right), -1)
        if node.operator == "==":
            self.conditions.require_equal(difference)
        else:
            self.conditions.require_different(difference)

    def _require_congruence(self, node: e.Comparison, congruence: tuple[Linear, Linear] | bool) -> None:
        if isinstance(congruence, bool):
            if node.operator == "==":
                raise Infeasible
        elif node.operator == "==":
            self._require_factors(node, congruence[1])
            self.conditions.require_divides(*congruence)
        else:
            self.conditions.require(self.conditions.divides(*congruence, None) ^ 1)

    def _require_factors(self, node: e.IntExpr, multiple: Linear) -> None:
        """Each factor of a divisor of a constant is a divisor."""
        if isinstance(node, e.Comparison):
            modulo = node.left if isinstance(node.left, e.Mod) else node.right
            node = modulo.right if isinstance(modulo, e.Mod) else modulo
        if isinstance(node, e.Mul) and not multiple.terms and multiple.constant:
            for factor in node.args:
                self.conditions.require_divides(self.sum_of(factor), multiple)

    def _require_divides(self, divisor: e.IntExpr, dividend: e.IntExpr) -> None:
        multiple = self.sum_of(dividend)
        self._require_factors(divisor, multiple)
        self.conditions.require_divides(self.sum_of(divisor), multiple)

    def _require_iff(self, left: e.BoolExpr, right: e.BoolExpr) -> None:
        if isinstance(right, e.BoolVar):
            left, right = right, left
        first = self.literal(left)
        second = self.literal(right, first if first > 1 else None)
        if first != second:
            self.conditions.require_any([first ^ 1, second])
            self.conditions.require_any([first, second ^ 1])


_INTEGER: dict[type, Callable[[Lowering, Any], Linear]] = {
    e.Const: Lowering._const,
    e.IntVar: Lowering._int_var,
    e.Sum: Lowering._sum,
    e.Mul: Lowering._mul,
    e.FloorDiv: Lowering._floor_div,
    e.Mod: Lowering._mod,
    e.Pow: Lowering._pow,
    e.Abs: Lowering._abs,
    e.Min: Lowering._extreme,
    e.Max: Lowering._extreme,
    e.Gcd: Lowering._divisors,
    e.Lcm: Lowering._divisors,
    e.Element: Lowering._element,
    e.IfThenElse: Lowering._if_then_else,
}

_BOOLEAN: dict[type, Callable[[Lowering, Any, int | None], int]] = {
    e.BoolConst: Lowering._bool_const,
    e.BoolVar: Lowering._bool_var,
    e.Not: Lowering._not,
    e.And: Lowering._and,
    e.Or: Lowering._or,
    e.Implies: Lowering._implies,
    e.Iff: Lowering._iff,
    e.Comparison: Lowering._comparison,
    e.Divides: Lowering._divides,
    e.Member: Lowering._member,
    e.Table: Lowering._table,
}
