"""Lowering of expressions to the normal form.

Integer expressions become `Linear` sums over variables (with an auxiliary variable for each function).
Conditions become literals; if they must hold, they become narrowed domains, clauses and constraints. Every
term of a condition is lowered, even if its value is not used, so that an undefined one makes the condition
false (`partial`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import gcd
from typing import Any

from constrint import expr as e
from constrint.errors import ModelError
from constrint.expr.global_expr import Relation
from constrint.lowering.arithmetic import Arithmetic
from constrint.lowering.problem import FALSE, HUGE_BITS, TRUE, Infeasible, Linear
from constrint.support.deadline import check_deadline


def is_domain(node: e.BoolExpr) -> bool:
    """Whether a condition only compares one variable with constants, so that a domain expresses it."""
    if isinstance(node, e.Comparison):
        left, right = type(node.left), type(node.right)
        return (left is e.IntVar and right is e.Const) or (left is e.Const and right is e.IntVar)
    return isinstance(node, e.Member) and isinstance(node.arg, e.IntVar)


class Lowering(Arithmetic):
    """One run of lowering.

    Attributes:
        problem: The normal form so far.
        variables: Number of each variable of the user's.

    Args:
        huge_bits: Number of bits of the bound that means "no bound".
        may_pair: Whether sums of products of truth values may become one constraint each (`Pairs`), without
            product variables. Bounding an objective needs those variables.
    """

    def __init__(self, huge_bits: int = HUGE_BITS, may_pair: bool = False) -> None:
        super().__init__(huge_bits)
        self._may_pair = may_pair
        self._literals: dict[int, int] = {}

    # Conditions

    def literal(self, node: e.BoolExpr, target: int | None = None) -> int:
        """A literal that is true exactly if a condition holds; `target`, if a new one is needed."""
        known = self._literals.get(id(node))
        if known is None:
            check_deadline()
            outer, self._needs = self._needs, []
            known = _BOOLEAN[type(node)](self, node, target)
            needs, self._needs = self._needs, outer
            if needs:
                false = [known ^ 1, *[need ^ 1 for need in needs]]
                known = self.conditions.any_of(false, None if target is None else target ^ 1) ^ 1
            self._literals[id(node)] = known
        return self.conditions.current(known)

    def _literals_of(self, nodes: Sequence[e.BoolExpr]) -> list[int]:
        """The literals of the parts of a clause, most of which are variables and their negations."""
        variables = self.variables
        found = []
        for node in nodes:
            is_negated = type(node) is e.Not
            variable = node.arg if is_negated else node  # type: ignore[attr-defined] # it is a `Not`
            v = variables.get(variable) if type(variable) is e.BoolVar else None
            found.append(self.literal(node) if v is None else 2 * v + is_negated)
        return found

    def _unless_partial(self, target: int | None) -> int | None:
        """The target of a condition whose terms are lowered; None if they need something to be defined."""
        return None if self._needs else target

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
        return self.conditions.any_of(self._literals_of(node.args), target)

    def _implies(self, node: e.Implies, target: int | None) -> int:
        return self.conditions.any_of([self.literal(node.left) ^ 1, self.literal(node.right)], target)

    def _iff(self, node: e.Iff, target: int | None) -> int:
        left, right = self.of_literal(self.literal(node.left)), self.of_literal(self.literal(node.right))
        return self.conditions.equal(left.plus(right, -1), target)

    def _comparison(self, node: e.Comparison, target: int | None) -> int:
        if node.operator in ("==", "!="):
            negated = node.operator == "!="
            congruence = self._congruence(node)
            difference = self._difference(node) if congruence is None else None
            target = self._unless_partial(target)
            inner = None if target is None else target ^ negated
            if isinstance(congruence, tuple):
                return self.conditions.divides(*congruence, inner) ^ negated
            if difference is None:
                return FALSE ^ negated
            return self.conditions.equal(difference, inner) ^ negated
        at_most = self._at_most(node)
        return self.conditions.at_most(at_most, self._unless_partial(target))

    def _difference(self, node: e.Comparison) -> Linear:
        """The left side minus the right side."""
        left, right = self.side_of(node.left), node.right
        if type(right) is e.Const:
            return Linear(left.terms, left.constant - self.check(right.value))
        return left.plus(self.sum_of(right), -1)

    def _at_most(self, node: e.Comparison) -> Linear:
        """The sum that is at most 0 exactly if an inequality holds."""
        difference = self._difference(node)
        if node.operator in (">", ">="):
            difference = difference.scaled(-1)
        if node.operator in ("<", ">"):
            difference = difference.plus(Linear({}, 1))
        return difference

    def _congruence(self, node: e.Comparison) -> tuple[Linear, Linear] | bool | None:
        """Divisor and dividend of the congruence ``a % b == c``, for constants b and c, or c = 0.

        Or its truth.
        """
        modulo, other = node.left, node.right
        if type(modulo) is not e.Mod:
            modulo, other = other, modulo
        if type(modulo) is not e.Mod or id(modulo) in self._sums:
            return None
        residue = self.sum_of(other)
        divisor = self.sum_of(modulo.right)
        if residue.terms or (divisor.terms and residue.constant):
            return None
        dividend = self.sum_of(modulo.left)
        if divisor.terms:
            self._exclude_zero(divisor)
            return divisor, dividend
        divisor = self.divisor(divisor)
        if residue.constant % divisor.constant != residue.constant:
            return False
        return divisor, dividend.plus(residue, -1)

    def _exclude_zero(self, divisor: Linear) -> None:
        """Require that a divisor is not 0; the quotient itself is not needed."""
        if self._needs is None:
            self.conditions.require_different(divisor)
        else:
            self.need([self.conditions.equal(divisor, None) ^ 1])

    def _divides(self, node: e.Divides, target: int | None) -> int:
        divisor, dividend = self.sum_of(node.divisor), self.sum_of(node.dividend)
        return self.conditions.divides(divisor, dividend, self._unless_partial(target))

    def _member(self, node: e.Member, target: int | None) -> int:
        self._check_domain(node.domain)
        arg = self.sum_of(node.arg)
        return self.conditions.member(arg, node.domain, self._unless_partial(target))

    def _table_parts(self, node: e.Table) -> tuple[list[int], frozenset[tuple[int, ...]]]:
        """The open variables, each once, and their part of the rows that the fixed ones allow."""
        sums = [self.sum_of(arg) for arg in node.args]
        for row in node.rows:
            check_deadline()
            for entry in row:
                self.check(entry)
        return self.conditions.table_parts(sums, node.rows)

    def _table(self, node: e.Table, target: int | None) -> int:
        parts = self._table_parts(node)
        return self.conditions.table(*parts, self._unless_partial(target))

    def _relation(self, node: Relation, target: int | None) -> int:
        definition = node.definition
        if definition.literal is not None and self.has(definition):
            for arg in node.children:
                self.sum_of(arg)
            return definition.literal(self, self._unless_partial(target), *node.parts)
        return self.literal(self.kept(node.decomposed()), target)

    # Constraints

    def require(self, node: e.BoolExpr) -> None:
        """Post a condition that must hold."""
        check_deadline()
        require = _REQUIRED.get(type(node))
        if require is None:
            self.conditions.require(self.literal(node))
        else:
            require(self, node)

    def _require_all(self, node: e.And) -> None:
        if id(node) in self._required:  # a definition that occurs in several places
            return
        self._required.add(id(node))
        for arg in node.args:
            self.require(arg)

    def _require_any(self, node: e.Or) -> None:
        self.conditions.require_any(self._literals_of(node.args))

    def _require_implication(self, node: e.Implies) -> None:
        if isinstance(node.left, e.BoolConst) and node.left.value:
            self.require(node.right)
            return
        left, right = self._literals_of((node.left, node.right))
        self.conditions.require_any([left ^ 1, right])

    def _require_member(self, node: e.Member) -> None:
        self._check_domain(node.domain)
        self.conditions.require_member(self.sum_of(node.arg), node.domain)

    def _require_table(self, node: e.Table) -> None:
        self.conditions.require_table(*self._table_parts(node))

    def _require_relation(self, node: Relation) -> None:
        if node.definition.lower is None or not self.has(node.definition):
            self.require(self.kept(node.decomposed()))
        else:
            node.definition.lower(self, *node.parts)

    def _require_comparison(self, node: e.Comparison) -> None:
        if self._may_pair and type(node.left) is e.Sum and self._require_pairs(node):
            return
        if node.operator in ("<", "<=", ">", ">="):
            self.conditions.require_at_most(self._at_most(node))
            return
        congruence = self._congruence(node)
        if congruence is not None:
            self._require_congruence(node, congruence)
            return
        difference = self._difference(node)
        if node.operator == "==":
            self.conditions.require_equal(difference)
        else:
            self.conditions.require_different(difference)

    def _require_pairs(self, node: e.Comparison) -> bool:
        """Post a sum of products of truth values as `Pairs`; returns whether that was possible."""
        left, right, operator = node.left, node.right, node.operator
        if not isinstance(left, e.Sum) or not isinstance(right, e.Const) or operator == "!=":
            return False
        pairs = self._pairs(left)
        if len(pairs) < 2:
            return False
        bound = right.value - left.constant
        low, high = sum([a for a in pairs.values() if a < 0]), sum([a for a in pairs.values() if a > 0])
        for number in (low, high, bound):
            self.check(number)
        if operator in ("==", ">=", ">"):
            low = max(low, bound + (operator == ">"))
        if operator in ("==", "<=", "<"):
            high = min(high, bound - (operator == "<"))
        if low > high or (low == high and low % gcd(*pairs.values())):
            raise Infeasible
        return self.problem.require_pairs(pairs, low, high)

    def _pairs(self, node: e.Sum) -> dict[tuple[int, int], int]:
        """Coefficients by pairs x < y of 0/1 variables whose products sum to an expression; {} if impossible.

        A term without a second factor is multiplied by the constant 1, which is variable 0.
        """
        pairs: dict[tuple[int, int], int] = {}
        if type(node.terms[0][1]) is not e.Mul:
            return pairs
        variables, lo, hi = self.variables, self.problem.lo, self.problem.hi
        for factor, term in node.terms:
            args = term.args if isinstance(term, e.Mul) else (term,)
            x, y = variables.get(args[0]), variables.get(args[1]) if len(args) == 2 else 0
            if x is None:
                x, factor = self._scaled(args[0], factor)
            if y is None:
                y, factor = self._scaled(args[1], factor)
            if x is None or y is None or len(args) > 2:
                return {}
            if lo[x] < 0 or hi[x] > 1 or lo[y] < 0 or hi[y] > 1:
                return {}
            pair = (x, y) if x < y else (y, x) if y < x else (0, x)
            pairs[pair] = pairs.get(pair, 0) + factor
        if 0 in pairs.values():
            return {pair: a for pair, a in pairs.items() if a}
        return pairs

    def _scaled(self, node: e.IntExpr, factor: int) -> tuple[int | None, int]:
        """The 0/1 variable of a condition, or of a multiple of one, and the factor with that multiple.

        None if there is no such variable, or if it is 0 when the condition holds.
        """
        if isinstance(node, e.Sum) and len(node.terms) == 1 and not node.constant:
            factor *= node.terms[0][0]
            node = node.terms[0][1]
        if node in self.variables:
            return self.variables[node], factor
        literal = self.literal(node) if isinstance(node, e.BoolExpr) else FALSE
        return None if literal & 1 else literal >> 1, factor

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
        """Each factor of a divisor of a constant divides the constant."""
        if isinstance(node, e.Comparison):
            modulo = node.left if isinstance(node.left, e.Mod) else node.right
            node = modulo.right if isinstance(modulo, e.Mod) else modulo
        if isinstance(node, e.Mul) and not multiple.terms and multiple.constant:
            for factor in node.args:
                self.conditions.require_divides(self.sum_of(factor), multiple)

    def _require_divides(self, node: e.Divides) -> None:
        multiple = self.sum_of(node.dividend)
        self._require_factors(node.divisor, multiple)
        self.conditions.require_divides(self.sum_of(node.divisor), multiple)

    def _require_iff(self, node: e.Iff) -> None:
        left, right = node.left, node.right
        if isinstance(right, e.BoolVar | e.BoolConst):
            left, right = right, left
        if isinstance(left, e.BoolConst):
            (self.require if left.value else self._forbid)(right)
            return
        first = self.literal(left)
        second = self.literal(right, first if first > 1 else None)
        if first != second:
            self.conditions.require_any([first ^ 1, second])
            self.conditions.require_any([first, second ^ 1])

    def _require_negation(self, node: e.Not) -> None:
        self._forbid(node.arg)

    def _forbid(self, node: e.BoolExpr) -> None:
        """Post that a condition does not hold."""
        check_deadline()
        if isinstance(node, e.Not):
            self.require(node.arg)
        elif isinstance(node, e.And):
            self.conditions.require_any([literal ^ 1 for literal in self._literals_of(node.args)])
        elif isinstance(node, e.Or):
            for arg in node.args:
                self._forbid(arg)
        elif isinstance(node, e.Implies):
            self.require(node.left)
            self._forbid(node.right)
        else:
            self.conditions.require(self.literal(node) ^ 1)


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
    Relation: Lowering._relation,
}

_REQUIRED: dict[type, Callable[[Lowering, Any], None]] = {
    e.And: Lowering._require_all,
    e.Comparison: Lowering._require_comparison,
    e.Divides: Lowering._require_divides,
    e.Member: Lowering._require_member,
    e.Table: Lowering._require_table,
    e.Iff: Lowering._require_iff,
    e.Or: Lowering._require_any,
    e.Implies: Lowering._require_implication,
    e.Not: Lowering._require_negation,
    Relation: Lowering._require_relation,
}
"""How conditions that must hold are posted without a literal; others become literals."""
