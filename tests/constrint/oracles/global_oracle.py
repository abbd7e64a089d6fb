"""Models of several global constraints, built for constrint and for CP-SAT side by side."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from ortools.sat.python import cp_model

import constrint as ci
from constrint.preparing.options import Engine


@dataclass
class Twins:
    """A model under construction, twice.

    Attributes:
        ours: The variables here.
        theirs: The same variables there.
    """

    rng: random.Random
    model: ci.Model = field(default_factory=ci.Model)
    other: cp_model.CpModel = field(default_factory=cp_model.CpModel)
    ours: list[ci.IntExpr] = field(default_factory=list)
    theirs: list[cp_model.IntVar] = field(default_factory=list)

    def variable(self, lo: int, hi: int) -> int:
        """A new variable; its number."""
        name = f"x{len(self.ours)}"
        self.ours.append(self.model.int_var(name, lo, hi))
        self.theirs.append(self.other.new_int_var(lo, hi, name))
        return len(self.ours) - 1

    def take(self, least: int, most: int) -> tuple[list[ci.IntExpr], list[cp_model.IntVar]]:
        """Several distinct variables."""
        chosen = self.rng.sample(range(len(self.ours)), min(len(self.ours), self.rng.randint(least, most)))
        return [self.ours[i] for i in chosen], [self.theirs[i] for i in chosen]

    def counted(self, theirs: list[cp_model.IntVar], value: int) -> list[cp_model.IntVar]:
        """Truth values there of whether each equals a value."""
        found = []
        for y in theirs:
            b = self.other.new_bool_var("")
            self.other.add(y == value).only_enforce_if(b)
            self.other.add(y != value).only_enforce_if(~b)
            found.append(b)
        return found


def _all_different(t: Twins) -> None:
    xs, ys = t.take(3, 6)
    shift = [t.rng.choice([0, 0, 1, i]) for i in range(len(xs))]
    kind = t.rng.choice(["auto", "value", "bounds", "domain"])
    t.model.add(ci.all_different([x + s for x, s in zip(xs, shift, strict=True)], consistency=kind))  # type: ignore[arg-type]
    t.other.add_all_different([y + s for y, s in zip(ys, shift, strict=True)])


def _count(t: Twins) -> None:
    (xs, ys), value = t.take(2, 5), t.rng.randint(0, 4)
    z = t.rng.randrange(len(t.ours))
    t.model.add(ci.count(xs, value) <= t.ours[z])
    t.other.add(sum(t.counted(ys, value)) <= t.theirs[z])


def _among(t: Twins) -> None:
    (xs, ys), values = t.take(2, 5), sorted(t.rng.sample(range(6), 2))
    bound = t.rng.randint(1, 3)
    t.model.add(ci.among(xs, values) == bound)
    t.other.add(sum(b for value in values for b in t.counted(ys, value)) == bound)


def _nvalue(t: Twins) -> None:
    xs, ys = t.take(3, 5)
    bound, is_upper = t.rng.randint(2, 3), t.rng.random() < 0.5
    used = []
    for value in range(-1, 61):
        b = t.other.new_bool_var("")
        t.other.add_max_equality(b, t.counted(ys, value))
        used.append(b)
    t.model.add(ci.nvalue(xs) <= bound if is_upper else ci.nvalue(xs) > bound)
    t.other.add(sum(used) <= bound if is_upper else sum(used) > bound)


def _cardinality(t: Twins) -> None:
    (xs, ys), values = t.take(3, 6), sorted(t.rng.sample(range(6), 3))
    z = t.rng.randrange(len(t.ours))
    counts = [t.rng.randint(0, 2), t.rng.randint(0, 2)]
    t.model.add(ci.global_cardinality(xs, dict(zip(values, [*counts, t.ours[z]], strict=True))))
    for value, count in zip(values, [*counts, t.theirs[z]], strict=True):
        t.other.add(sum(t.counted(ys, value)) == count)


def _element(t: Twins) -> None:
    (xs, ys), width = t.take(3, 3), t.rng.randint(2, 5)
    rows = [[t.rng.randint(0, 8) for _ in range(width)] for _ in range(t.rng.randint(2, 5))]
    t.model.add(ci.element_2d(rows, xs[0], xs[1]) == xs[2])
    t.other.add_allowed_assignments(
        ys, [(i, j, entry) for i, row in enumerate(rows) for j, entry in enumerate(row)]
    )


def _table(t: Twins) -> None:
    xs, ys = t.take(2, 3)
    rows = [[t.rng.randint(0, 6) for _ in xs] for _ in range(t.rng.randint(10, 60))]
    if t.rng.random() < 0.5:
        t.model.add(~ci.table(xs, rows))
        t.other.add_forbidden_assignments(ys, rows)
    else:
        t.model.add(ci.table(xs, rows))
        t.other.add_allowed_assignments(ys, rows)


def _inverse(t: Twins) -> None:
    xs, ys = t.take(6, 6)
    half = len(xs) // 2
    t.model.add(ci.inverse(xs[:half], xs[half : 2 * half]))
    t.other.add_inverse(ys[:half], ys[half : 2 * half])


def _circuit(t: Twins) -> None:
    xs, ys = t.take(3, 6)
    t.model.add(ci.circuit(xs))
    arcs = []
    for i, y in enumerate(ys):
        t.other.add_linear_constraint(y, 0, len(ys) - 1)
        for j in range(len(ys)):
            (b,) = t.counted([y], j)
            if i == j:
                t.other.add(b == 0)  # an arc from a node to itself would leave the node out
            else:
                arcs.append((i, j, b))
    t.other.add_circuit(arcs)


def _arcs(t: Twins) -> None:
    """Arcs by the values of successors; those that leave the depot have variables of their own."""
    xs, ys = t.take(3, 5)
    loops, depot = t.rng.random() < 0.5, t.rng.random() < 0.5
    ours, theirs = [], []
    for i, (x, y) in enumerate(zip(xs, ys, strict=True)):
        for j in range(len(xs)):
            if i == j and (not loops or (depot and i == 0)):
                continue
            if depot and i == 0:
                k = t.variable(0, 1)
                literal, other = t.ours[k] == 1, t.counted([t.theirs[k]], 1)[0]
            else:
                literal, other = x == j, t.counted([y], j)[0]
            ours.append((i, j, literal))
            theirs.append((i, j, other))
    t.model.add(ci.routes(ours, depot=0) if depot else ci.circuit(ours))
    (t.other.add_multiple_circuit if depot else t.other.add_circuit)(theirs)


def _order(t: Twins) -> None:
    (xs, ys), strict, down = t.take(2, 4), t.rng.random() < 0.5, t.rng.random() < 0.5
    t.model.add((ci.decreasing if down else ci.increasing)(xs, strict=strict))
    pairs = zip(ys[1:], ys, strict=False) if down else pairwise(ys)
    for a, b in pairs:
        t.other.add(a + strict <= b)


def _lexicographic(t: Twins) -> None:
    xs, ys = t.take(4, 6)
    half, strict = len(xs) // 2, t.rng.random() < 0.5
    t.model.add((ci.lex_less if strict else ci.lex_less_equal)(xs[:half], xs[half : 2 * half]))
    # Values lie between -1 and 60, so that lists compare as the numbers that they spell do.
    left, right = (
        sum(100 ** (half - 1 - i) * y for i, y in enumerate(part))
        for part in (ys[:half], ys[half : 2 * half])
    )
    t.other.add(left + strict <= right)


def _precede(t: Twins) -> None:
    (xs, ys), order = t.take(3, 6), t.rng.sample(range(5), 3)
    t.model.add(ci.value_precede(order, xs))
    for former, value in pairwise(order):
        before, now = t.counted(ys, former), t.counted(ys, value)
        for i, b in enumerate(now):
            t.other.add_bool_or([~b, *before[:i]])


def _intervals(t: Twins, least: int, most: int) -> Any:
    """Starts here, intervals there, and durations, which are at least 1."""
    xs, ys = t.take(least, most)
    sizes = [t.rng.randint(1, 3) for _ in xs]
    return xs, [t.other.new_fixed_size_interval_var(y, d, "") for y, d in zip(ys, sizes, strict=True)], sizes


def _no_overlap(t: Twins) -> None:
    starts, intervals, sizes = _intervals(t, 3, 5)
    t.model.add(ci.no_overlap(starts, sizes))
    t.other.add_no_overlap(intervals)


def _cumulative(t: Twins) -> None:
    starts, intervals, sizes = _intervals(t, 3, 6)
    demands = [t.rng.randint(1, 3) for _ in starts]
    z = t.rng.randrange(len(t.ours))
    t.model.add(ci.cumulative(starts, sizes, demands, t.ours[z] + 1))
    t.other.add_cumulative(intervals, demands, t.theirs[z] + 1)


def _diffn(t: Twins) -> None:
    xs, ys = t.take(6, 8)
    half = len(xs) // 2
    sizes = [[t.rng.randint(1, 4) for _ in range(half)] for _ in range(2)]
    t.model.add(ci.diffn(xs[:half], xs[half : 2 * half], *sizes))
    t.other.add_no_overlap_2d(
        *[
            [t.other.new_fixed_size_interval_var(y, d, "") for y, d in zip(part, size, strict=True)]
            for part, size in zip((ys[:half], ys[half : 2 * half]), sizes, strict=True)
        ]
    )


def _regular(t: Twins) -> None:
    (xs, ys), states = t.take(3, 6), t.rng.randint(2, 4)
    arcs = [(q, a, t.rng.randrange(states)) for q in range(states) for a in range(9) if t.rng.random() < 0.6]
    if arcs:
        final = t.rng.sample(range(states), 2)
        t.model.add(ci.regular(xs, arcs, 0, final))
        t.other.add_automaton(ys, 0, final, arcs)


def _packing(t: Twins) -> None:
    (xs, ys), (loads, others) = t.take(3, 5), t.take(2, 3)
    sizes = [t.rng.randint(1, 3) for _ in xs]
    t.model.add(ci.bin_packing(xs, sizes, loads))
    for y in ys:
        t.other.add(y <= len(loads) - 1)
        t.other.add(y >= 0)
    for k, load in enumerate(others):
        t.other.add(sum(d * b for d, b in zip(sizes, t.counted(ys, k), strict=True)) == load)


def _knapsack(t: Twins) -> None:
    (xs, ys), z = t.take(3, 5), t.variable(0, 60)
    weights, profits = ([t.rng.randint(0, 4) for _ in xs] for _ in range(2))
    limit = t.rng.randint(5, 30)
    w = t.variable(0, limit)
    t.model.add(ci.knapsack(xs, weights, profits, t.ours[w], t.ours[z]))
    for y in ys:
        t.other.add(y >= 0)
    for factors, total in ((weights, w), (profits, z)):
        t.other.add(sum(a * y for a, y in zip(factors, ys, strict=True)) == t.theirs[total])


KINDS: list[Callable[[Twins], None]] = [
    _all_different,
    _count,
    _among,
    _nvalue,
    _cardinality,
    _element,
    _table,
    _inverse,
    _circuit,
    _arcs,
    _order,
    _lexicographic,
    _precede,
    _no_overlap,
    _cumulative,
    _diffn,
    _regular,
    _packing,
    _knapsack,
]


def draw_twins(seed: int) -> Twins:
    """A model of two to four global constraints; in turn each kind is one of them."""
    rng = random.Random(seed)
    twins = Twins(rng)
    for _ in range(rng.randint(6, 8)):
        low = rng.choice([0, 0, 0, -1, 1])
        twins.variable(low, low + rng.randint(2, 6))
    for kind in [KINDS[seed % len(KINDS)], *rng.sample(KINDS, rng.randint(1, 3))]:
        kind(twins)
    return twins


def wrong_optimum(seed: int, engine: Engine = "auto") -> list[str]:
    """Complaints where the optimum of a random goal differs from CP-SAT's."""
    twins = draw_twins(seed)
    factors = [twins.rng.randint(-3, 3) for _ in twins.ours]
    goal = ci.sum_([a * x for a, x in zip(factors, twins.ours, strict=True)])
    result = twins.model.solve(maximize=goal, engine=engine)
    twins.other.maximize(sum(a * y for a, y in zip(factors, twins.theirs, strict=True)))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    status = solver.solve(twins.other)
    assert status in (cp_model.OPTIMAL, cp_model.INFEASIBLE), solver.status_name(status)
    theirs = round(solver.objective_value) if status == cp_model.OPTIMAL else None
    if (result.objective if result else None) != theirs:
        return [f"CP-SAT: {theirs}, here: {result.status} {result.objective}\n{twins.model.to_text()}"]
    return []
