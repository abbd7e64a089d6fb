"""Machines in disjunctions: tasks of which, pairwise, one ends before the other starts get one `no_overlap`.

A literal may imply an order ``x + p <= y`` by itself, by a binary clause, or in a sum with a large factor.
Where one of two literals holds, and one implies ``x + p <= y``, the other ``y + q <= x``, the tasks x and y
exclude each other. Cliques of such pairs become one constraint, in addition to what was written: it sees
intervals of time that no pair sees. A task whose durations differ by partner, as with times to set up, has
the least of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from constrint.presolve.cliques import cliques
from constrint.propagators import Clause, LinearEq, LinearLe, LinearLeIf, NoOverlap, Propagator
from constrint.settings import DEFAULT, PresolveSettings
from constrint.support.deadline import check_deadline

if TYPE_CHECKING:
    from constrint.lowering.problem import Problem

CONSTANT = -1


class TaskOrder(NamedTuple):
    """``first + duration + least <= second``; the duration is a variable, or `CONSTANT` for 0."""

    first: int
    second: int
    duration: int
    least: int


def add_machines(problem: Problem, rules: PresolveSettings = DEFAULT.presolve) -> bool:
    """Add a `NoOverlap` for each clique of tasks that exclude each other; returns whether there is one."""
    propagators = problem.propagators
    count = sum([isinstance(node, LinearLeIf | LinearLe) for node in propagators])
    if not rules.least_tasks <= count <= rules.most_orders:
        return False
    orders = _orders(propagators, problem.lo, problem.hi)
    if len(orders) < rules.least_tasks:
        return False
    excluding = _excluding(propagators, orders, problem.lo, problem.hi, rules.most_orders)
    if len(excluding) < rules.least_tasks:
        return False
    found = cliques({frozenset(pair) for pair in excluding}, rules.least_tasks)
    known = {frozenset(node.starts) for node in propagators if isinstance(node, NoOverlap)}
    added = [tasks for tasks in found if frozenset(tasks) not in known]
    for tasks in added:
        durations = [_duration(problem, [excluding[x, y] for y in tasks if y != x]) for x in tasks]
        propagators.append(NoOverlap(tuple(tasks), tuple(durations)))
    return bool(added)


def _duration(problem: Problem, orders: Sequence[TaskOrder]) -> int:
    """The variable of a duration that is no longer than those of the orders from one task."""
    first = orders[0]
    if first.duration != CONSTANT and all((o.duration, o.least) == (first.duration, 0) for o in orders):
        return first.duration
    return problem.constant(min(_shortest(order, problem.lo) for order in orders))


def _shortest(order: TaskOrder, lo: Sequence[int]) -> int:
    return order.least + (0 if order.duration == CONSTANT else lo[order.duration])


def _orders(
    propagators: Sequence[Propagator], lo: Sequence[int], hi: Sequence[int]
) -> dict[int, list[TaskOrder]]:
    """The orders that each literal implies by a constraint of its own, of positive duration."""
    orders: dict[int, list[TaskOrder]] = {}
    for node in propagators:
        if isinstance(node, LinearLeIf) and len(node.terms) <= 3:
            turned = tuple((-a, v) for a, v in node.terms)
            implied = [(node.literal, node.terms, node.bound), (node.literal ^ 1, turned, -node.bound - 1)]
        elif isinstance(node, LinearLe) and len(node.terms) == 3:
            implied = [
                (
                    2 * b + 1 - value,
                    tuple(term for term in node.terms if term[1] != b),
                    node.bound - m * value,
                )
                for m, b in node.terms
                if lo[b] == 0 and hi[b] == 1
                for value in (0, 1)
            ]
        else:
            continue
        for literal, terms, bound in implied:
            order = _order(terms, bound, lo, hi)
            if order is not None:
                orders.setdefault(literal, []).append(order)
    return orders


def _order(
    terms: Sequence[tuple[int, int]], bound: int, lo: Sequence[int], hi: Sequence[int]
) -> TaskOrder | None:
    """The order that a sum of at most a bound states; None if it states none that can fail."""
    earlier = [v for a, v in terms if a == 1]
    later = [v for a, v in terms if a == -1]
    if len(later) != 1 or len(earlier) + 1 != len(terms) or not 1 <= len(earlier) <= 2:
        return None
    (y,) = later
    if len(earlier) == 1:
        (x,) = earlier
        order = TaskOrder(x, y, CONSTANT, -bound)
    else:  # the start is the variable of the wider range
        x, d = sorted(earlier, key=lambda v: lo[v] - hi[v])
        if bound != 0 or lo[d] < 0:
            return None
        order = TaskOrder(x, y, d, 0)
    return order if _shortest(order, lo) > 0 and len({x, y, order.duration}) == 3 else None


def _clauses(
    propagators: Sequence[Propagator], lo: Sequence[int], hi: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """Pairs of literals of which one holds."""
    for node in propagators:
        if isinstance(node, Clause):
            if len(node.literals) == 2:
                yield node.literals[0], node.literals[1]
        elif isinstance(node, LinearLe | LinearEq) and len(node.terms) == 2:
            (a, x), (b, y) = node.terms
            if lo[x] == 0 and hi[x] == 1 and lo[y] == 0 and hi[y] == 1:
                for i, j in product((0, 1), repeat=2):
                    total = a * i + b * j
                    if total > node.bound or (isinstance(node, LinearEq) and total < node.bound):
                        yield 2 * x + i, 2 * y + j


def _excluding(
    propagators: Sequence[Propagator],
    orders: dict[int, list[TaskOrder]],
    lo: Sequence[int],
    hi: Sequence[int],
    most: int,
) -> dict[tuple[int, int], TaskOrder]:
    """For tasks (x, y) that exclude each other the order from x to y, both ways."""
    clauses = list(_clauses(propagators, lo, hi))
    implied: dict[int, list[TaskOrder]] = {literal: list(known) for literal, known in orders.items()}
    for one, other in clauses:
        for cause, effect in ((one ^ 1, other), (other ^ 1, one)):
            if effect in orders:
                implied.setdefault(cause, []).extend(orders[effect])
    found: dict[tuple[int, int], TaskOrder] = {}
    work = 0
    pairs = [*clauses, *[(literal, literal ^ 1) for literal in implied if not literal & 1]]
    for one, other in pairs:
        if one not in implied or other not in implied:
            continue
        work += len(implied[one]) * len(implied[other])
        if work > most:
            break
        check_deadline()
        for order, back in product(implied[one], implied[other]):
            if (order.first, order.second) == (back.second, back.first):
                found.setdefault((order.first, order.second), order)
                found.setdefault((back.first, back.second), back)
    return found
