"""Known products and sums of squares: the factors are divisors, which factorisation lists."""

from __future__ import annotations

from collections.abc import Iterable

from constrint.constraints import LinearEq, Power, Product
from constrint.ir import Problem
from constrint.numbers import differences_of_two_squares, divisors_of, sums_of_two_squares

NARROW = 4096  # domains up to this wide are left to propagation


def list_factors(problem: Problem) -> bool:
    """Leave the factors that a known product or sum of squares can have; whether anything was narrowed."""
    changed = False
    squares = {
        node.z: node.x
        for node in problem.nodes
        if isinstance(node, Power) and problem.lo[node.y] == problem.hi[node.y] == 2
    }
    for node in list(problem.nodes):
        if isinstance(node, Product):
            changed |= _list_divisors(problem, node)
        elif isinstance(node, LinearEq):
            changed |= _list_roots(problem, node, squares)
    return changed


def _is_wide(problem: Problem, v: int) -> bool:
    return problem.values[v] is None and (problem.hi[v] - problem.lo[v]) // problem.step[v] >= NARROW


def _list_divisors(problem: Problem, node: Product) -> bool:
    product = problem.lo[node.z]
    if product == 0 or product != problem.hi[node.z]:
        return False
    wide = [v for v in (node.x, node.y) if _is_wide(problem, v)]
    divisors = divisors_of(abs(product)) if wide else None
    if divisors is None:
        return False
    both = [-d for d in reversed(divisors)] + divisors
    for v, other in ((node.x, node.y), (node.y, node.x)):
        if v in wide:
            lo, hi = problem.lo[other], problem.hi[other]
            problem.keep_values(v, [d for d in both if lo <= product // d <= hi])
    return True


def _list_roots(problem: Problem, node: LinearEq, squares: dict[int, int]) -> bool:
    """For ``x ** 2 + y ** 2 == n`` or ``x ** 2 - y ** 2 == n``."""
    bound = node.bound
    terms = []
    for a, v in node.terms:
        if problem.lo[v] == problem.hi[v]:
            bound -= a * problem.lo[v]
        else:
            terms.append((a, v))
    if len(terms) != 2 or any(v not in squares for _, v in terms) or abs(terms[0][0]) != abs(terms[1][0]):
        return False
    (a, first), (b, second) = terms
    x, y = squares[first], squares[second]
    if bound % a or x == y or not (_is_wide(problem, x) or _is_wide(problem, y)):
        return False
    n = bound // a
    if a == b:
        pairs = sums_of_two_squares(n) if n >= 0 else set()
    else:
        pairs = differences_of_two_squares(n) if n else None
    if pairs is None:
        return False
    _keep_signed(problem, x, {pair[0] for pair in pairs})
    _keep_signed(problem, y, {pair[1] for pair in pairs})
    return True


def _keep_signed(problem: Problem, v: int, sizes: Iterable[int]) -> None:
    problem.keep_values(v, sorted({signed for size in sizes for signed in (-size, size)}))
