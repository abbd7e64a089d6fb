"""The model's integer expressions as sums over variables of the proof.

A function is the variable that a known constraint says equals it, else a new variable of the checker's own,
which has a negative number and the function as its definition. A term that may have no value is read only
where it must have one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import gcd

from constrint import expr as e
from constrint.expr.sums import Linear
from constrint.verification.bounds import range_of
from constrint.verification.definitions import check_defines, outputs
from constrint.verification.intervals import Partial
from constrint.verification.known import KnownConstraints
from constrint.verification.meanings import Arguments
from constrint.verification.store import ConstraintStore, ProofConstraint

TRUE, FALSE = 0, 1  # of variable 0, which is the constant 1


class UnreadError(Exception):
    """An expression has a part that is not translated."""


class ProofTerms:
    """The sums for integer expressions.

    Attributes:
        facts: The constraints of the checker's own variables, and what must hold for terms to have values.
    """

    def __init__(self, store: ConstraintStore, known: KnownConstraints, numbers: dict[str, int]) -> None:
        self.store = store
        self.known = known
        self.facts: list[ProofConstraint] = []
        self.must_hold = True  # whether the condition that is being read must hold
        self._numbers = numbers

    # Variables

    def fact(self, constraint: ProofConstraint) -> None:
        """Add a constraint that holds in every solution of the model."""
        self.store.add(constraint)
        self.known.add(constraint)
        self.facts.append(constraint)

    def fresh(self, name: str, arguments: Arguments, key: str) -> int:
        """A new variable of the checker's own, defined by a constraint in which `key` is the variable."""
        v = self.store.own_variable()
        constraint = ProofConstraint.of(name, {**arguments, key: 2 * v if key == "literal" else v})
        if v not in outputs(constraint):
            raise UnreadError(name)
        try:
            domain = check_defines(constraint, (v,), self.store.root)[v]
        except Partial:
            raise UnreadError(f"{name} may have no value") from None
        self.store.declare(v, domain)
        self.fact(constraint)
        return v

    def simplified(self, linear: Linear) -> Linear:
        """The sum without variables that have one value."""
        root = self.store.root
        terms = dict(linear.terms)
        constant = linear.constant
        for v in linear.terms:
            if root.is_fixed(v):
                constant += terms.pop(v) * root.low[v]
        return Linear(terms, constant)

    def ends(self, linear: Linear) -> tuple[int, int]:
        """The least and the greatest value of a sum."""
        root = self.store.root
        ends = [sorted((a * root.low[v], a * root.high[v])) for v, a in linear.terms.items()]
        return linear.constant + sum(low for low, _ in ends), linear.constant + sum(high for _, high in ends)

    def variable(self, linear: Linear) -> int:
        """The variable that equals a sum."""
        linear = self.simplified(linear)
        if not linear.terms:
            return self.constant(linear.constant)
        if len(linear.terms) == 1 and linear.constant == 0:
            ((v, a),) = linear.terms.items()
            if a == 1:
                return v
        wanted = self.expanded(linear)
        for v in self.known.sums_over(next(iter(linear.terms))):
            if _same(self.expanded(self.known.sums[v]), wanted):
                return v
        z = self.store.own_variable()
        low, high = self.ends(linear)
        self.store.declare(z, range_of(low, high))
        terms = [[a, v] for v, a in linear.terms.items()]
        self.fact(ProofConstraint.of("LinearEq", {"terms": [*terms, [-1, z]], "bound": -linear.constant}))
        self.known.define_sum(z, linear)
        return z

    def constant(self, value: int) -> int:
        """A variable with one value."""
        if value == 1 and self.store.is_one(0):
            return 0
        for v in self.store.root.domains:
            if self.store.root.low[v] == self.store.root.high[v] == value:
                return v
        v = self.store.own_variable()
        self.store.declare(v, range_of(value, value))
        return v

    def expanded(self, linear: Linear) -> Linear:
        """The sum with the definitions of variables that are sums, and without those that have one value."""
        return self.simplified(self.known.expanded(linear))

    def found(self, name: str, arguments: Arguments, key: str, at: int) -> int | None:
        """The variable of a known constraint with these arguments; `at` is one of its variables."""
        for one in self.known.over(at):
            if one.name == name and all(one.arguments[k] == value for k, value in arguments.items()):
                result: int = one.arguments[key]
                return result
        return None

    def function(self, name: str, arguments: Arguments, key: str, at: int) -> int:
        """The variable that equals a function of others."""
        known = self.found(name, arguments, key, at)
        return self.fresh(name, arguments, key) if known is None else known

    # Expressions

    def of(self, node: e.IntExpr) -> Linear:
        """The sum for an integer expression."""
        if isinstance(node, e.Const):
            return Linear({}, node.value)
        if isinstance(node, e.IntVar):
            return self.simplified(Linear({self._numbers[node.name]: 1}, 0))
        if isinstance(node, e.Sum):
            total = Linear({}, node.constant)
            for a, term in node.terms:
                total = total.plus(self.of(term), a) if a else total
            return total
        if isinstance(node, e.Mul):
            return self._product(node.args)
        if isinstance(node, e.BoolExpr):
            return self.truth(self.literal(node))
        return self._of_function(node)

    def literal(self, node: e.BoolExpr) -> int:
        """The literal that is true exactly where a condition holds."""
        raise NotImplementedError

    def truth(self, literal: int) -> Linear:
        """1 where a literal is true, else 0."""
        sign = -1 if literal & 1 else 1
        return self.simplified(Linear({literal >> 1: sign}, literal & 1))

    def _product(self, args: Sequence[e.IntExpr]) -> Linear:
        factor = 1
        powers: dict[int, int] = {}
        for arg in args:
            part = self.of(arg)
            if not part.terms:
                factor *= part.constant
                continue
            common = part.content()
            v = self.variable(part.divided(common))
            factor *= common
            powers[v] = powers.get(v, 0) + 1
        if factor == 0 or not powers:
            return Linear({}, factor)
        factors = [
            v if n == 1 else self.function("Power", {"x": v, "y": self.constant(n)}, "z", v)
            for v, n in powers.items()
        ]
        while len(factors) > 1:
            x, y = sorted(factors[:2])
            factors[:2] = [self.function("Product", {"x": x, "y": y}, "z", x)]
        return self.simplified(Linear({factors[0]: 1}, 0)).scaled(factor)

    def _of_function(self, node: e.IntExpr) -> Linear:
        if isinstance(node, e.Abs):
            return self._absolute(self.of(node.children[0]))
        if isinstance(node, e.Max | e.Min):
            return self._extreme("Maximum" if isinstance(node, e.Max) else "Minimum", node.children)
        if isinstance(node, e.Element):
            return self._element(list(node.values), self.of(node.index))
        if isinstance(node, e.FloorDiv):
            return self._quotient(self.of(node.children[0]), self.of(node.children[1]))
        if isinstance(node, e.Mod):
            return self._remainder(self.of(node.children[0]), self.of(node.children[1]))
        raise UnreadError(type(node).__name__)

    def _remainder(self, dividend: Linear, divisor: Linear) -> Linear:
        if divisor.terms or divisor.constant < 1:
            raise UnreadError("a remainder of a quotient by a variable")
        by = divisor.constant
        dividend = self.simplified(dividend)
        rest = Linear({v: a for v, a in dividend.terms.items() if a % by}, dividend.constant % by)
        if not rest.terms:
            return rest
        x = self.variable(rest)
        r = self.found("DivMod", {"x": x, "y": self.constant(by)}, "r", x)
        if r is None:
            raise UnreadError("a remainder")
        return self.simplified(Linear({r: 1}, 0))

    def _absolute(self, part: Linear) -> Linear:
        low, high = self.ends(part)
        if low >= 0:
            return part
        if high <= 0:
            return part.scaled(-1)
        x = self.variable(part)
        return Linear({self.function("Absolute", {"x": x}, "z", x): 1}, 0)

    def _extreme(self, name: str, children: Iterable[e.IntExpr]) -> Linear:
        parts = [self.of(child) for child in children]
        sign = 1 if name == "Maximum" else -1
        # Arguments that are never the extreme, because another is always beyond them, say nothing.
        ends = [sorted(sign * end for end in self.ends(part)) for part in parts]
        most = max(low for low, _ in ends)
        left = [part for part, (low, high) in zip(parts, ends, strict=True) if high > most or low == most]
        xs = sorted({self.variable(part) for part in left})
        if len(xs) == 1:
            return self.simplified(Linear({xs[0]: 1}, 0))
        return self.simplified(Linear({self.function(name, {"xs": xs}, "z", xs[0]): 1}, 0))

    def _element(self, table: list[int], index: Linear) -> Linear:
        if not index.terms:
            if not 0 <= index.constant < len(table):
                raise UnreadError("an element outside")
            return Linear({}, table[index.constant])
        i = self.variable(index)
        low, high = self.store.root.low[i], self.store.root.high[i]
        if low < 0 or high >= len(table):
            if not self.must_hold:
                raise UnreadError("an element that may be outside")
            self.fact(ProofConstraint.of("LinearLe", {"terms": [[-1, i]], "bound": 0}))
            self.fact(ProofConstraint.of("LinearLe", {"terms": [[1, i]], "bound": len(table) - 1}))
        if table == list(range(len(table))):
            return self.simplified(Linear({i: 1}, 0))
        return self.simplified(Linear({self.function("Element", {"table": table, "index": i}, "z", i): 1}, 0))

    def _quotient(self, dividend: Linear, divisor: Linear) -> Linear:
        if divisor.terms or divisor.constant < 1:
            raise UnreadError("a quotient by a variable")
        by = divisor.constant
        dividend = self.simplified(dividend)
        if by == 1 or not dividend.terms:
            return dividend if by == 1 else Linear({}, dividend.constant // by)
        for one in self.known.over(next(iter(dividend.terms))):
            given = one.arguments
            if one.name == "Quotient" and given["divisor"] == by:
                total = Linear({v: a for a, v in given["terms"]}, given["constant"])
                if _same(self.expanded(total), self.expanded(dividend)):
                    return self.simplified(Linear({given["q"]: 1}, 0))
        terms = [[a, v] for v, a in dividend.terms.items()]
        q = self.fresh("Quotient", {"terms": terms, "constant": dividend.constant, "divisor": by}, "q")
        return self.simplified(Linear({q: 1}, 0))


def _same(one: Linear, other: Linear) -> bool:
    return one.terms == other.terms and one.constant == other.constant


def in_lowest_terms(linear: Linear) -> tuple[tuple[tuple[int, int], ...], int]:
    """The terms of a sum in order and in lowest terms, and the divisor, which is positive."""
    common = gcd(*linear.terms.values()) if linear.terms else 1
    return tuple(sorted((v, a // common) for v, a in linear.terms.items())), common
