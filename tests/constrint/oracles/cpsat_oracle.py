"""Random models translated to OR-Tools CP-SAT: a second opinion that shares no code with constrint."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from ortools.sat.python import cp_model
from random_models import RandomModel
from random_truth import COMPARISONS, CONDITIONS, REGISTERED, Tree

LARGEST = 10**9


class Unsupported(Exception):
    """CP-SAT cannot say this (a power with a variable exponent, gcd, lcm), or its numbers get too large."""


@dataclass
class Term:
    """An integer of the CP-SAT model with its bounds."""

    expr: Any
    lo: int
    hi: int


@dataclass
class Translation:
    """A CP-SAT model with a variable for every operator; all are functions of the model's own variables.

    Where an operator is undefined its variable is that of some operand in range, and `needs` gets a literal
    that says it is defined: for the condition around it, which is false otherwise.
    """

    drawn: RandomModel
    model: cp_model.CpModel = field(default_factory=cp_model.CpModel)
    variables: dict[str, Any] = field(default_factory=dict)
    needs: list[Term] = field(default_factory=list)

    def __post_init__(self) -> None:
        for name, values in self.drawn.domains.items():
            self.variables[name] = self.model.new_int_var_from_domain(
                cp_model.Domain.from_values(values), name
            )
        for tree in self.drawn.constraints:
            self.model.add(self.term(tree).expr == 1)

    def count(self) -> int:
        """The number of solutions."""
        solver = cp_model.CpSolver()
        solver.parameters.enumerate_all_solutions = True
        solver.parameters.num_workers = 1
        counter = _Counter()
        status = solver.solve(self.model, counter)
        assert status in (cp_model.OPTIMAL, cp_model.INFEASIBLE), solver.status_name(status)
        return counter.solutions

    def optimum(self, direction: str) -> int | None:
        """The best value of the model's objective; None without a solution where it is defined."""
        goal = self.term(self.drawn.objective).expr
        for need in self.needs:
            self.model.add(need.expr == 1)
        if direction == "min":
            self.model.minimize(goal)
        else:
            self.model.maximize(goal)
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        if solver.solve(self.model) == cp_model.INFEASIBLE:
            return None
        return round(solver.objective_value)

    # ------------------------------------------------------------ building

    def new(self, lo: int, hi: int) -> Term:
        if max(abs(lo), abs(hi)) > LARGEST:
            raise Unsupported
        return Term(self.model.new_int_var(lo, hi, ""), lo, hi)

    def condition(self, if_true: Any, if_false: Any) -> Term:
        """A literal that is equivalent to a linear condition, given with its opposite."""
        literal = self.model.new_bool_var("")
        self.model.add(if_true).only_enforce_if(literal)
        self.model.add(if_false).only_enforce_if(~literal)
        return Term(literal, 0, 1)

    def term(self, tree: Tree) -> Term:
        if tree[0] == "not in":
            return self._unary("not", self.term(("in", *tree[1:])))
        if tree[0] not in CONDITIONS:
            return self._term(tree)
        outer, self.needs = self.needs, []
        parts = [self._term(tree), *self.needs]
        self.needs = outer
        return self._all(parts) if len(parts) > 1 else parts[0]

    def _chosen_side(self, condition: Term, tree: Tree) -> Term:
        """A number that need be defined only where a condition holds."""
        outer, self.needs = self.needs, []
        side = self.term(tree)
        needs, self.needs = self.needs, outer
        self.needs += [self._any([self._unary("not", condition), need]) for need in needs]
        return side

    def _term(self, tree: Tree) -> Term:
        kind, *operands = tree
        if kind in ("const", "truth"):
            return Term(int(operands[0]), int(operands[0]), int(operands[0]))
        if kind == "var":
            values = self.drawn.domains[operands[0]]
            return Term(self.variables[operands[0]], values[0], values[-1])
        if kind == "let":
            return self.term(self.drawn.lets[operands[0]])
        if kind == "index":
            return self._element(operands[0], self.term(operands[1]))
        if kind == "within":
            return self._within(self.term(operands[0]), *operands[1:])
        if kind == "table":
            return self._table([self.term(part) for part in operands[:-1]], operands[-1])
        if kind == "in":
            return self._member(self.term(operands[0]), operands[1])
        if kind == "chain":
            parts = operands[::2]
            links = zip(operands[1::2], parts, parts[1:], strict=False)
            return self._all([self.term((op, a, b)) for op, a, b in links])
        if kind == "if_then_else":
            condition = self.term(operands[0])
            then = self._chosen_side(condition, operands[1])
            otherwise = self._chosen_side(self._unary("not", condition), operands[2])
            return self._binary("+", self._product(condition, self._binary("-", then, otherwise)), otherwise)
        if kind == "**":
            return self._power(operands)
        parts = [self.term(part) for part in operands]
        if kind in ("gcd", "lcm", *REGISTERED):
            raise Unsupported
        if kind in ("min", "max"):
            return self._extreme(kind, parts)
        if kind == "sum":
            return Term(sum(p.expr for p in parts), sum(p.lo for p in parts), sum(p.hi for p in parts))
        if kind == "element":
            return self._chosen(parts[:-1], parts[-1])
        if kind == "all_different":
            return self._all([self._binary("!=", a, b) for a, b in combinations(parts, 2)])
        if len(parts) == 1:
            return self._unary(kind, parts[0])
        return self._binary(kind, *parts)

    def _unary(self, kind: str, part: Term) -> Term:
        if kind == "neg":
            return Term(-part.expr, -part.hi, -part.lo)
        if kind == "not":
            return Term(1 - part.expr, 0, 1)
        result = self.new(0, max(abs(part.lo), abs(part.hi)))
        self.model.add_abs_equality(result.expr, part.expr)
        return result

    def _binary(self, kind: str, a: Term, b: Term) -> Term:
        if kind in COMPARISONS:
            compare = COMPARISONS[kind]
            opposite = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}[kind]
            gap = self.new(a.lo - b.hi, a.hi - b.lo)
            self.model.add(gap.expr == a.expr - b.expr)
            return self.condition(compare(gap.expr, 0), COMPARISONS[opposite](gap.expr, 0))
        if kind == "+":
            return Term(a.expr + b.expr, a.lo + b.lo, a.hi + b.hi)
        if kind == "-":
            return Term(a.expr - b.expr, a.lo - b.hi, a.hi - b.lo)
        if kind == "*":
            return self._product(a, b)
        if kind in ("//", "%"):
            return self._quotient(a, b)[kind == "%"]
        if kind == "ceildiv":
            return self._unary("neg", self._quotient(self._unary("neg", a), b)[0])
        if kind == "divides":
            return self._divides(a, b)
        if kind == "and":
            return self._all([a, b])
        if kind == "or":
            return self._any([a, b])
        if kind == "->":
            return self._any([self._unary("not", a), b])
        assert kind == "<->"
        return self._binary("==", a, b)

    def _all(self, parts: list[Term]) -> Term:
        total = sum(part.expr for part in parts)
        return self.condition(total == len(parts), total <= len(parts) - 1) if parts else Term(1, 1, 1)

    def _any(self, parts: list[Term]) -> Term:
        total = sum(part.expr for part in parts)
        return self.condition(total >= 1, total <= 0)

    def _product(self, a: Term, b: Term) -> Term:
        corners = [x * y for x in (a.lo, a.hi) for y in (b.lo, b.hi)]
        result = self.new(min(corners), max(corners))
        self.model.add_multiplication_equality(result.expr, [a.expr, b.expr])
        return result

    def _quotient(self, a: Term, b: Term) -> tuple[Term, Term]:
        """Floored quotient and remainder; by 1 in place of a zero divisor, which is noted."""
        if b.lo <= 0 <= b.hi:
            zero = self._binary("==", b, Term(0, 0, 0))
            safe = self.new(min(b.lo, 1), max(b.hi, 1))
            self.model.add(safe.expr == b.expr + zero.expr)
            self.needs.append(self._unary("not", zero))
            b = safe
        size = max(abs(a.lo), abs(a.hi), 1)
        quotient = self.new(-size - 1, size + 1)
        remainder = self.new(min(b.lo + 1, 0), max(b.hi - 1, 0))
        self.model.add(b.expr != 0)
        positive = self.condition(b.expr >= 1, b.expr <= 0)
        self.model.add(remainder.expr >= 0).only_enforce_if(positive.expr)
        self.model.add(remainder.expr <= b.expr - 1).only_enforce_if(positive.expr)
        self.model.add(remainder.expr <= 0).only_enforce_if(~positive.expr)
        self.model.add(remainder.expr >= b.expr + 1).only_enforce_if(~positive.expr)
        self.model.add(self._product(quotient, b).expr + remainder.expr == a.expr)
        return quotient, remainder

    def _divides(self, divisor: Term, dividend: Term) -> Term:
        zero = self._binary("==", divisor, Term(0, 0, 0))
        safe = self.new(min(divisor.lo, 1), max(divisor.hi, 1))
        self.model.add(safe.expr == divisor.expr + zero.expr)
        no_rest = self._binary("==", self._quotient(dividend, safe)[1], Term(0, 0, 0))
        both_zero = self._all([zero, self._binary("==", dividend, Term(0, 0, 0))])
        return self._any([both_zero, self._all([self._unary("not", zero), no_rest])])

    def _extreme(self, kind: str, parts: list[Term]) -> Term:
        choose = min if kind == "min" else max
        result = self.new(choose(part.lo for part in parts), choose(part.hi for part in parts))
        exprs = [part.expr for part in parts]
        if kind == "min":
            self.model.add_min_equality(result.expr, exprs)
        else:
            self.model.add_max_equality(result.expr, exprs)
        return result

    def _power(self, operands: list[Tree]) -> Term:
        base, exponent = operands
        if exponent[0] != "const":
            raise Unsupported
        if exponent[1] < 0:
            self.needs.append(Term(0, 0, 0))
        result = Term(1, 1, 1)
        for _ in range(exponent[1]):
            result = self._product(result, self.term(base))
        self.term(base)  # also x ** 0 needs a base that is defined
        return result

    def _element(self, values: tuple[int, ...], place: Term) -> Term:
        index = self._index(place, len(values))
        result = self.new(min(values), max(values))
        self.model.add_element(index.expr, list(values), result.expr)
        return result

    def _index(self, place: Term, count: int) -> Term:
        """An index inside; 0 in place of one outside, which is noted."""
        inside = self._within(place, 0, count - 1, 1)
        self.needs.append(inside)
        index = self.new(0, count - 1)
        self.model.add(index.expr == place.expr).only_enforce_if(inside.expr)
        self.model.add(index.expr == 0).only_enforce_if(~inside.expr)
        return index

    def _chosen(self, values: list[Term], place: Term) -> Term:
        index = self._index(place, len(values))
        entries = [self.new(value.lo, value.hi) for value in values]
        for entry, value in zip(entries, values, strict=True):
            self.model.add(entry.expr == value.expr)
        result = self.new(min(value.lo for value in values), max(value.hi for value in values))
        self.model.add_element(index.expr, [entry.expr for entry in entries], result.expr)
        return result

    def _table(self, args: list[Term], rows: tuple[tuple[int, ...], ...]) -> Term:
        fits = []
        for row in rows:
            equal = [self._binary("==", a, Term(x, x, x)) for a, x in zip(args, row, strict=True)]
            fits.append(self._all(equal))
        return self._any(fits)

    def _within(self, part: Term, lo: int | None, hi: int | None, step: int) -> Term:
        parts = [] if lo is None else [self._binary(">=", part, Term(lo, lo, lo))]
        parts += [] if hi is None else [self._binary("<=", part, Term(hi, hi, hi))]
        anchor = lo if lo is not None else hi if hi is not None else 0
        gap = Term(part.expr - anchor, part.lo - anchor, part.hi - anchor)
        return self._all([*parts, self._divides(Term(step, step, step), gap)])

    def _member(self, part: Term, values: tuple[int, ...]) -> Term:
        literal = self.model.new_bool_var("")
        domain = cp_model.Domain.from_values(values)
        self.model.add_linear_expression_in_domain(part.expr, domain).only_enforce_if(literal)
        self.model.add_linear_expression_in_domain(part.expr, domain.complement()).only_enforce_if(~literal)
        return Term(literal, 0, 1)


class _Counter(cp_model.CpSolverSolutionCallback):
    def __init__(self) -> None:
        super().__init__()
        self.solutions = 0

    def on_solution_callback(self) -> None:
        self.solutions += 1
