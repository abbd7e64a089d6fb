"""Known products and sums of squares: factorisation lists the possible factors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import gcd

from constrint.lowering.problem import Problem
from constrint.number_theory.factors import divisors_of
from constrint.number_theory.squares import weighted_squares
from constrint.propagators import LinearEq, Power, Product
from constrint.settings import DEFAULT, PresolveSettings


def list_factors(problem: Problem, rules: PresolveSettings = DEFAULT.presolve) -> bool:
    """Restrict factors to those that a known product or sum of squares allows.

    Whether anything was narrowed.
    """
    changed = False
    lo, hi = problem.lo, problem.hi
    squares = {
        node.z: node.x
        for node in problem.propagators
        if isinstance(node, Power) and problem.lo[node.y] == problem.hi[node.y] == 2
    }
    for node in list(problem.propagators):
        if isinstance(node, Product):
            if lo[node.z] == hi[node.z]:
                changed |= _list_divisors(problem, node, rules)
        elif squares and isinstance(node, LinearEq):
            changed |= _list_roots(problem, node, squares, rules)
    return changed


def _is_wide(problem: Problem, v: int, least: int) -> bool:
    return problem.values[v] is None and (problem.hi[v] - problem.lo[v]) // problem.step[v] >= least


def _list_divisors(problem: Problem, node: Product, rules: PresolveSettings) -> bool:
    product = problem.lo[node.z]
    if product == 0:
        return False
    wide = [v for v in (node.x, node.y) if _is_wide(problem, v, rules.narrow)]
    divisors = divisors_of(abs(product)) if wide else None
    if divisors is None:
        return False
    both = [-d for d in reversed(divisors)] + divisors
    for v, other in ((node.x, node.y), (node.y, node.x)):
        if v in wide:
            lo, hi = problem.lo[other], problem.hi[other]
            problem.keep_values(v, [d for d in both if lo <= product // d <= hi])
    return True


def _list_roots(problem: Problem, node: LinearEq, squares: dict[int, int], rules: PresolveSettings) -> bool:
    """Handle ``a * x ** 2 + b * y ** 2 + rest == n`` if the rest has few possible values."""
    least = rules.narrow
    wide = [(a, v) for a, v in node.terms if v in squares and _is_wide(problem, squares[v], least)]
    if len(wide) == 1:  # the other square may be narrow
        wide += [(a, v) for a, v in node.terms if v in squares and v != wide[0][1]][:1]
    if len(wide) != 2:
        return False
    (a, first), (b, second) = wide
    x, y = squares[first], squares[second]
    rest = [term for term in node.terms if term not in wide]
    totals = _totals(problem, rest, rules.most_totals)
    if x == y or totals is None:
        return False
    if a < 0:
        a, b = -a, -b
    pairs: set[tuple[int, int]] = set()
    for total in totals:
        n = node.bound - total if a == wide[0][0] else total - node.bound
        found = weighted_squares(a, b, n) if n or b > 0 else None
        if found is None:
            return False
        pairs |= found
    _keep_signed(problem, x, {pair[0] for pair in pairs})
    _keep_signed(problem, y, {pair[1] for pair in pairs})
    return True


def _totals(problem: Problem, terms: Sequence[tuple[int, int]], most: int) -> range | None:
    """The possible values of a sum; None if they are too many."""
    lo, hi = problem.lo, problem.hi
    low = sum(a * (lo[v] if a > 0 else hi[v]) for a, v in terms)
    high = sum(a * (hi[v] if a > 0 else lo[v]) for a, v in terms)
    step = gcd(*(a * problem.step[v] for a, v in terms if lo[v] < hi[v])) or 1
    return range(low, high + 1, step) if high - low < most * step else None


def _keep_signed(problem: Problem, v: int, sizes: Iterable[int]) -> None:
    problem.keep_values(v, sorted({signed for size in sizes for signed in (-size, size)}))
