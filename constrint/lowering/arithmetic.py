"""Lowering of integer expressions to sums over variables, with an auxiliary variable for each function."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from constrint import expr as e
from constrint.errors import ModelError
from constrint.expr.domain import Domain
from constrint.expr.global_expr import Definition, Function
from constrint.lowering.partial import PartialTerms
from constrint.lowering.problem import HUGE_BITS, Linear, NeedsWiderBounds
from constrint.support.deadline import check_deadline

Expr = TypeVar("Expr", bound=e.IntExpr)
SHORT_SUM = 16  # terms up to which adding up again costs no more than keeping the sum


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

    def has(self, definition: Definition) -> bool:
        """Whether a global constraint is posted whole where it can be; else it is decomposed."""
        return True

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
                self.check(bound)

    def check(self, value: int) -> int:
        """A constant of the model, if it is not too close to the numbers that represent missing bounds."""
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
            check_deadline()
            lower = _INTEGER.get(type(node))
            noted = 0 if self._needs is None else len(self._needs)
            if lower is not None:
                known = lower(self, node)
            elif isinstance(node, e.IntFunction):
                known = node.lower(self)
            else:
                known = self.of_literal(self.literal(node))  # type: ignore[arg-type] # others are conditions
            if self._needs is not None and len(self._needs) > noted:
                own = self._partial[id(node)] = tuple(dict.fromkeys(self._needs[noted:]))
                self._needs[noted:] = own
            self._sums[id(node)] = self._checked(known)
        return known

    def _checked(self, linear: Linear) -> Linear:
        """The sum, if no number of it is too close to those that represent missing bounds."""
        self.check(linear.constant)
        for a in linear.terms.values():
            if a != 1:
                self.check(a)
        return linear

    def side_of(self, node: e.IntExpr) -> Linear:
        """A side of a comparison as a sum; few sums of variables are used again, so they are not kept."""
        if type(node) is e.Sum and node.count <= SHORT_SUM and id(node) not in self._sums:
            for _, term in node.terms:
                if term not in self.variables:
                    break
            else:
                return self._checked(self._sum(node))
        return self.sum_of(node)

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
        problem, variables = self.problem, self.variables
        lo, hi = problem.lo, problem.hi
        factor = 1
        powers: dict[int, int] = {}
        for arg in node.args:
            known = variables.get(arg)
            if known is not None:
                if lo[known] == hi[known]:
                    factor *= lo[known]
                else:
                    powers[known] = powers.get(known, 0) + 1
                continue
            part = self.sum_of(arg)
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
            x, y = problem.next_pair(factors)
            factors.remove(x)
            factors.remove(y)
            factors.insert(0, problem.product(x, y))
        return self.known(problem.product(*factors) if len(factors) == 2 else factors[0]).scaled(factor)

    def operands(self, node: e.IntFunction) -> list[Linear]:
        """The operands of a function, replaced where the function would be undefined for them."""
        found = []
        for i, child in enumerate(node.children):
            operand = self.sum_of(child)
            way = node.requires.get(i)
            if way is not None:
                operand = self.divisor(operand) if way == "!=" else self.natural(operand)
            found.append(operand)
        return found

    def related(self, function: type[e.IntFunction], operands: Sequence[Linear]) -> Linear:
        """The variable that equals the function of the operands."""
        problem = self.problem
        if self._needs is None:
            for i, way in function.requires.items():
                if way == "!=":
                    self.conditions.require_different(operands[i])
                else:
                    problem.keep_between(problem.of_linear(operands[i]), 0, problem.huge)
        xs = [problem.of_linear(operand) for operand in operands]
        key = (function.name, *xs)
        z = problem.shared(key)
        if z is None:
            bounds = function.bounds(*[(problem.lo[x], problem.hi[x]) for x in xs])
            z = problem.function(key, bounds, [(x, int(function.is_isotone)) for x in xs], None)
            outside, self._needs = self._needs, None  # the operands have values: the relation can hold
            parts = [self._given(v) for v in (z, *xs)]
            for condition in function.relation(*parts):
                self.require(self.kept(condition))
            self._needs = outside
        return self.known(z)

    def _given(self, v: int) -> e.IntExpr:
        """An expression that equals a variable."""
        node = self.kept(e.IntVar("", Domain(None, None)))
        self._sums[id(node)] = self.known(v)
        return node

    def chosen(self, literal: int, first: e.IntExpr, second: e.IntExpr) -> Linear:
        """The one expression where a literal is true, else the other, which need not have a value."""
        (then, then_needs), (otherwise, other_needs) = self.apart(first), self.apart(second)
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
        if node.definition.lower is None or not self.has(node.definition):
            return self.sum_of(self.kept(node.decomposed()))
        total: Linear = node.definition.lower(self, *node.parts)
        return total

    @abstractmethod
    def require(self, node: e.BoolExpr) -> None:
        """Make a condition hold."""

    @abstractmethod
    def literal(self, node: e.BoolExpr, target: int | None = None) -> int:
        """A literal that is true exactly if a condition holds; `target`, if a new one is needed."""


_INTEGER: dict[type, Callable[[Any, Any], Linear]] = {
    e.Const: Arithmetic._const,
    e.IntVar: Arithmetic._int_var,
    e.Sum: Arithmetic._sum,
    e.Mul: Arithmetic._mul,
    Function: Arithmetic._function,
}
