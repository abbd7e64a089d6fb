"""The model's conditions as constraints over variables of the proof; they hold in every solution.

They support the steps of lowering where the model's solutions cannot be listed. A condition that is not
translated raises `UnreadError`, and what it should support is trusted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from constrint import expr as e
from constrint.expr.domain import Domain
from constrint.expr.global_expr import Relation
from constrint.expr.sums import Linear
from constrint.verification.store import ProofConstraint
from constrint.verification.terms import FALSE, TRUE, ProofTerms, UnreadError, in_lowest_terms


class ModelConditions(ProofTerms):
    """The constraints for conditions that hold, and the literals of others."""

    def require(self, node: e.BoolExpr) -> None:
        """Add the constraints that a condition is."""
        if isinstance(node, e.And):
            for arg in node.args:
                self.require(arg)
        elif isinstance(node, e.Comparison):
            self._require_comparison(node.operator, self._difference(node))
        elif isinstance(node, e.Member):
            self._require_member(self.of(node.arg), node.domain)
        elif isinstance(node, e.Table):
            variables = [self.variable(self.of(arg)) for arg in node.args]
            rows = [list(row) for row in sorted(node.rows)]
            self._post("Table", {"literal": TRUE, "variables": variables, "rows": rows})
        elif isinstance(node, Relation):
            self._require_relation(node.definition.name, node.parts)
        elif isinstance(node, e.Iff):
            self._require_equal(node.left, node.right)
        elif isinstance(node, e.Or):
            self._clause([self.literal(arg) for arg in node.args])
        elif isinstance(node, e.Implies):
            self._clause([self.literal(node.left) ^ 1, self.literal(node.right)])
        else:
            self._clause([self.literal(node)])

    def _post(self, name: str, arguments: dict[str, object]) -> None:
        self.fact(ProofConstraint.of(name, arguments))

    def _clause(self, literals: Iterable[int]) -> None:
        self._post("Clause", {"literals": list(dict.fromkeys(literals))})

    def _difference(self, node: e.Comparison) -> Linear:
        return self.of(node.left).plus(self.of(node.right), -1)

    def _require_comparison(self, operator: str, difference: Linear) -> None:
        terms = [[a, v] for v, a in difference.terms.items()]
        constant = difference.constant
        if operator in (">", ">="):
            terms, constant = [[-a, v] for a, v in terms], -constant
        kinds = {"==": "LinearEq", "!=": "LinearNe"}
        bound = -constant - (operator in ("<", ">"))
        self._post(kinds.get(operator, "LinearLe"), {"terms": terms, "bound": bound})

    def _require_member(self, value: Linear, domain: Domain) -> None:
        for end, operator in ((domain.lo, ">="), (domain.hi, "<=")):
            if end is not None:
                self._require_comparison(operator, value.plus(Linear({}, -end)))
        if domain.values is not None:
            intervals = [end for x in domain.values for end in (x, x)]
            self._post("Member", {"literal": TRUE, "x": self.variable(value), "intervals": intervals})
        elif domain.step != 1:
            raise UnreadError("a stride")

    def _require_equal(self, left: e.BoolExpr, right: e.BoolExpr) -> None:
        one, other = self.literal(left), self.literal(right)
        self._clause([one, other ^ 1])
        self._clause([one ^ 1, other])

    def _require_relation(self, name: str, parts: tuple[object, ...]) -> None:
        post = _RELATIONS.get(name)
        if post is None:
            raise UnreadError(name)
        post(self, *parts)

    def _variables(self, exprs: Iterable[e.IntExpr]) -> list[int]:
        return [self.variable(self.of(one)) for one in exprs]

    def _all_different(self, args: tuple[e.IntExpr, ...], _: str) -> None:
        views = []
        for arg in args:
            total = self.of(arg)
            if len(total.terms) == 1:
                ((v, a),) = total.terms.items()
                views.append([a, v, total.constant])
            else:
                views.append([1, self.variable(total), 0])
        self._post("AllDifferent", {"views": views})

    def _circuit(self, args: tuple[e.IntExpr, ...]) -> None:
        successors = self._permutation(args)
        self._post("Circuit", {"successors": successors})

    def _subcircuit(self, args: tuple[e.IntExpr, ...]) -> None:
        successors = self._permutation(args)
        self._post("Subcircuit", {"successors": successors})

    def _permutation(self, args: tuple[e.IntExpr, ...]) -> list[int]:
        """Variables that are a permutation of places: the definition of circuits and inverses says so."""
        variables = self._variables(args)
        for v in variables:
            self._require_comparison(">=", Linear({v: 1}, 0))
            self._require_comparison("<=", Linear({v: 1}, 1 - len(variables)))
        self._post("AllDifferent", {"views": [[1, v, 0] for v in variables]})
        return variables

    def _inverse(self, xs: tuple[e.IntExpr, ...], ys: tuple[e.IntExpr, ...]) -> None:
        self._post("Inverse", {"xs": self._permutation(xs), "ys": self._permutation(ys)})

    def _no_overlap(self, starts: tuple[e.IntExpr, ...], durations: tuple[e.IntExpr, ...]) -> None:
        self._post("NoOverlap", {"starts": self._variables(starts), "durations": self._variables(durations)})

    def _cumulative(
        self,
        starts: tuple[e.IntExpr, ...],
        durations: tuple[e.IntExpr, ...],
        demands: tuple[e.IntExpr, ...],
        capacity: e.IntExpr,
    ) -> None:
        tasks = {"starts": starts, "durations": durations, "demands": demands}
        arguments: dict[str, Any] = {key: self._variables(exprs) for key, exprs in tasks.items()}
        self._post("Cumulative", {**arguments, "capacity": self.variable(self.of(capacity))})

    def _rectangles(self, xs: Any, ys: Any, widths: Any, heights: Any) -> None:
        sides = {"xs": xs, "ys": ys, "widths": widths, "heights": heights}
        self._post("Rectangles", {key: self._variables(exprs) for key, exprs in sides.items()})

    def _short_table(self, args: tuple[e.IntExpr, ...], rows: Any) -> None:
        given = [list(row) for row in rows]
        self._post("ShortTable", {"literal": TRUE, "variables": self._variables(args), "rows": given})

    # Literals

    def literal(self, node: e.BoolExpr) -> int:
        """The literal that is true exactly where a condition holds."""
        outside, self.must_hold = self.must_hold, False
        try:
            return self._current(self._literal(node))
        finally:
            self.must_hold = outside

    def _current(self, literal: int) -> int:
        """TRUE or FALSE for a literal whose variable has one value."""
        root, v = self.store.root, literal >> 1
        if not root.is_fixed(v):
            return literal
        return TRUE if root.low[v] == 1 - (literal & 1) else FALSE

    def _literal(self, node: e.BoolExpr) -> int:
        if isinstance(node, e.BoolConst):
            return TRUE if node.value else FALSE
        if isinstance(node, e.BoolVar):
            return 2 * self._numbers[node.name]
        if isinstance(node, e.Not):
            return self.literal(node.arg) ^ 1
        if isinstance(node, e.And):
            return self._all([self.literal(arg) for arg in node.args])
        if isinstance(node, e.Or):
            return self._all([self.literal(arg) ^ 1 for arg in node.args]) ^ 1
        if isinstance(node, e.Implies):
            return self._all([self.literal(node.left), self.literal(node.right) ^ 1]) ^ 1
        if isinstance(node, e.Iff):
            sides = self.truth(self.literal(node.left)), self.truth(self.literal(node.right))
            return self._equals(sides[0].plus(sides[1], -1))
        if isinstance(node, e.Comparison):
            return self._compared(node.operator, self._difference(node))
        raise UnreadError(type(node).__name__)

    def _all(self, literals: list[int]) -> int:
        """The literal that is true where all are."""
        left = sorted({one for one in literals if one != TRUE})
        if FALSE in left or any(one ^ 1 in left for one in left):
            return FALSE
        if len(left) <= 1:
            return left[0] if left else TRUE
        for one in self.known.over(left[0] >> 1):
            if one.name == "All" and sorted(one.arguments["literals"]) == left:
                found: int = one.arguments["literal"]
                return found
        return 2 * self.fresh("All", {"literals": left}, "literal")

    def _compared(self, operator: str, difference: Linear) -> int:
        if operator in ("==", "!="):
            return self._equals(difference) ^ (operator == "!=")
        if operator in (">", ">="):
            difference = difference.scaled(-1)
        if operator in ("<", ">"):
            difference = difference.plus(Linear({}, 1))
        return self._at_most(difference)

    def _at_most(self, linear: Linear) -> int:
        """The literal of ``linear <= 0``."""
        linear = self.simplified(linear)
        low, high = self.ends(linear)
        if high <= 0 or low > 0:
            return TRUE if high <= 0 else FALSE
        terms, common = in_lowest_terms(linear)
        bound = -linear.constant // common
        if len(terms) == 1 and self._is_truth(terms[0][0]):
            return 2 * terms[0][0] + 1 if terms[0][1] > 0 else 2 * terms[0][0]
        wanted = self.expanded(Linear(dict(terms), -bound))
        opposite = wanted.scaled(-1).plus(Linear({}, 1))
        for one in self.known.compared("LinearLeIf", terms[0][0]):
            found = self._normal(one)
            if found is not None and found in (self._key(wanted), self._key(opposite)):
                literal: int = one.arguments["literal"]
                return literal if found == self._key(wanted) else literal ^ 1
        arguments = {"terms": [[a, v] for v, a in terms], "bound": bound}
        return 2 * self.fresh("LinearLeIf", arguments, "literal")

    def _equals(self, linear: Linear) -> int:
        """The literal of ``linear == 0``."""
        linear = self.simplified(linear)
        low, high = self.ends(linear)
        terms, common = in_lowest_terms(linear)
        if not low <= 0 <= high or linear.constant % common:
            return FALSE
        if not terms:
            return TRUE
        bound = -linear.constant // common
        if len(terms) == 1 and self._is_truth(terms[0][0]):
            return 2 * terms[0][0] + (bound * terms[0][1] == 0)
        wanted = self.expanded(Linear(dict(terms), -bound))
        if wanted.constant % in_lowest_terms(wanted)[1]:
            return FALSE
        keys = self._key(wanted), self._key(wanted.scaled(-1))
        for one in self.known.compared("LinearEqIf", terms[0][0]):
            if self._normal(one) in keys:
                literal: int = one.arguments["literal"]
                return literal
        arguments = {"terms": [[a, v] for v, a in terms], "bound": bound}
        return 2 * self.fresh("LinearEqIf", arguments, "literal")

    def _is_truth(self, v: int) -> bool:
        return self.store.root.low[v] == 0 and self.store.root.high[v] == 1

    def _key(self, linear: Linear) -> tuple[object, int]:
        """A key that equal comparisons with 0 share."""
        linear = self.simplified(linear)
        terms, common = in_lowest_terms(linear)
        return terms, -(-linear.constant // common)

    def _normal(self, constraint: ProofConstraint) -> tuple[object, int] | None:
        """The key of what a literal compares with 0; None where an equation has no solution."""
        arguments = constraint.arguments
        total = Linear({}, -arguments["bound"])
        for a, v in arguments["terms"]:
            total = total.plus(Linear({v: 1}, 0), a)
        total = self.expanded(total)
        _, common = in_lowest_terms(total)
        if constraint.name == "LinearEqIf" and total.constant % common:
            return None
        return self._key(total)


_RELATIONS: dict[str, Callable[..., None]] = {
    "all_different": ModelConditions._all_different,
    "circuit": ModelConditions._circuit,
    "subcircuit": ModelConditions._subcircuit,
    "inverse": ModelConditions._inverse,
    "no_overlap": ModelConditions._no_overlap,
    "cumulative": ModelConditions._cumulative,
    "diffn": ModelConditions._rectangles,
    "short_table": ModelConditions._short_table,
}
"""The global constraints that are translated."""
