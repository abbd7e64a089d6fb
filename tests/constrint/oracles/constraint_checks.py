"""Instances of every registered propagator, and the checks against brute force that each must pass."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from lowered_nodes import draw_node

from constrint import propagators as c
from constrint.engine import dfs
from constrint.engine.fixpoint import FAILED, fixpoint
from constrint.engine.select import IN_ORDER
from constrint.engine.state_arrays import LIMIT, Box, Branch, build, grow
from constrint.expr.domain import Domain
from constrint.propagators.member import intervals_of
from constrint.store.domains import contains
from constrint.store.state import EXHAUSTED, FULL, SOLUTION, State


@dataclass(frozen=True)
class Instance:
    node: c.Propagator
    domains: tuple[Domain, ...]

    def assignments(self) -> Iterator[tuple[int, ...]]:
        return itertools.product(*self.domains)

    def solutions(self) -> set[tuple[int, ...]]:
        return {values for values in self.assignments() if self.node.holds(values)}


def draw_domain(rng: random.Random, low: int = -7, high: int = 9) -> Domain:
    kind = rng.randrange(5)
    lo = rng.randint(low, high)
    if kind == 0:
        return Domain.of_range(lo, lo)
    if kind == 1:
        return Domain.of_range(lo, lo + rng.randint(1, 5))
    if kind == 2:
        step = rng.randint(2, 4)
        return Domain.of_range(lo, lo + step * rng.randint(1, 4), step)
    if kind == 3:
        return Domain.of_values([rng.randint(low, high + 6) for _ in range(rng.randint(1, 5))])
    return Domain.of_values([value for value in range(lo, lo + 8) if rng.random() < 0.6] or [lo])


class Drawing:
    """Variables of an instance under construction; `old` may repeat one, so that constraints meet x op x."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.domains: list[Domain] = []

    def new(self, domain: Domain | None = None) -> int:
        self.domains.append(domain or draw_domain(self.rng))
        return len(self.domains) - 1

    def old(self) -> int:
        if self.domains and self.rng.random() < 0.3:
            return self.rng.randrange(len(self.domains))
        return self.new()

    def literal(self) -> int:
        binary = [v for v, d in enumerate(self.domains) if set(d) <= {0, 1}]
        if binary and self.rng.random() < 0.3:
            v = self.rng.choice(binary)
        else:
            v = self.new(
                self.rng.choice([Domain.of_range(0, 1)] * 4 + [Domain.of_range(0, 0), Domain.of_range(1, 1)])
            )
        return 2 * v + self.rng.randint(0, 1)

    def terms(self) -> tuple[tuple[int, int], ...]:
        count = self.rng.randint(1, 3)
        return tuple((self.rng.choice([-4, -3, -2, -1, 1, 1, 2, 3, 5]), self.old()) for _ in range(count))

    def result(self, function: Callable[..., int | None], *inputs: int) -> int:
        """A variable for a function's value: values that occur, others, or a variable that is there."""
        if self.rng.random() < 0.15:
            return self.old()
        occurring = {
            function(*(point[v] for v in inputs))
            for point in itertools.product(*self.domains)
            if len(point) < 5
        }
        pool = sorted(value for value in occurring if value is not None and abs(value) < 1500)
        chosen = self.rng.sample(pool, min(len(pool), self.rng.randint(0, 6)))
        chosen += [self.rng.randint(-8, 30) for _ in range(self.rng.randint(0 if chosen else 1, 3))]
        if self.rng.random() < 0.3:
            return self.new(
                Domain.of_range(
                    min(chosen), max(chosen) if max(chosen) - min(chosen) < 60 else min(chosen) + 60
                )
            )
        return self.new(Domain.of_values(chosen))


def _linear_eq(d: Drawing) -> c.Propagator:
    terms = d.terms()
    point = [d.rng.choice(list(domain)) for domain in d.domains]
    return c.LinearEq(terms, sum(a * point[v] for a, v in terms) + d.rng.choice([0, 0, 0, 1]))


def _division(d: Drawing) -> c.Propagator:
    x, y = d.old(), d.old()
    q = d.result(lambda a, b: a // b if b else None, x, y)
    return c.DivMod(x, y, q, d.result(lambda a, b: a % b if b else None, x, y))


def _power(d: Drawing) -> c.Propagator:
    x = d.old()
    y = d.new(draw_domain(d.rng, -1, 3)) if d.rng.random() < 0.8 else d.old()
    return c.Power(x, y, d.result(lambda a, b: a**b if 0 <= b < 12 else None, x, y))


def _extreme(d: Drawing, greatest: bool) -> c.Propagator:
    xs = tuple(d.old() for _ in range(d.rng.randint(1, 3)))
    z = d.result(max if greatest else min, *xs) if len(xs) > 1 else d.old()
    return c.Maximum(z, xs) if greatest else c.Minimum(z, xs)


def _element(d: Drawing) -> c.Propagator:
    table = tuple(d.rng.randint(-6, 9) for _ in range(d.rng.randint(1, 7)))
    index = d.old()
    return c.Element(table, index, d.result(lambda i: table[i] if 0 <= i < len(table) else None, index))


def _pair(kind: type, function: Callable[..., int | None]) -> Callable[[Drawing], c.Propagator]:
    def draw(d: Drawing) -> c.Propagator:
        x, y = d.old(), d.old()
        return kind(x, y, d.result(function, x, y))  # type: ignore[no-any-return]

    return draw


def _absolute(d: Drawing) -> c.Propagator:
    x = d.old()
    return c.Absolute(x, d.result(abs, x))


def _member(d: Drawing) -> c.Propagator:
    values = [d.rng.randint(-8, 14) for _ in range(d.rng.randint(1, 9))]
    return c.Member(d.literal(), d.old(), intervals_of(values))


def _selection(d: Drawing) -> c.Propagator:
    xs = tuple(d.old() for _ in range(d.rng.randint(1, 3)))
    index = d.old()
    if len(set(xs)) == 1:
        return c.Selection(xs, index, d.old())
    return c.Selection(xs, index, d.result(lambda *a: a[-1], *xs))


def _table(d: Drawing) -> c.Propagator:
    literal, variables = d.literal(), tuple(d.old() for _ in range(d.rng.randint(1, 3)))
    rows = {tuple(d.rng.choice([*d.domains[v], -9]) for v in variables) for _ in range(d.rng.randint(0, 9))}
    return c.Table(literal, variables, tuple(sorted(rows)))


def _views(d: Drawing) -> tuple[tuple[int, int, int], ...]:
    count = d.rng.randint(1, 5)
    return tuple((d.rng.choice([1, 1, 1, -1, 2, -3]), d.old(), d.rng.randint(-3, 3)) for _ in range(count))


def _hull(d: Drawing, views: tuple[tuple[int, int, int], ...]) -> tuple[int, int]:
    """The least value and the number of values that some views span."""
    values = [a * x + b for a, v, b in views for x in d.domains[v]]
    least = min(values) - d.rng.randint(0, 2)
    return least, max(values) - least + 1 + d.rng.randint(0, 2)


def _all_different_domain(d: Drawing) -> c.Propagator:
    views = _views(d)
    return c.AllDifferentDomain(views, *_hull(d, views))


def _small(d: Drawing, low: int = 0, high: int = 3) -> int:
    """A variable of few values near 0, sometimes one that is there."""
    if d.domains and d.rng.random() < 0.15:
        return d.rng.randrange(len(d.domains))
    return d.new(Domain.of_values([d.rng.randint(low, high) for _ in range(d.rng.randint(1, 4))]))


def _smalls(d: Drawing, count: int, low: int = 0, high: int = 3) -> tuple[int, ...]:
    return tuple(_small(d, low, high) for _ in range(count))


def _cardinality(d: Drawing) -> c.Propagator:
    values = sorted({d.rng.randint(-1, 4) for _ in range(d.rng.randint(1, 3))})
    if d.rng.random() < 0.5:
        values = list(range(values[0], values[-1] + 1))
    variables = _smalls(d, d.rng.randint(1, 4), -1, 4)
    counts = _smalls(d, len(values), -1, 4)
    return c.Cardinality(variables, tuple(values), counts, d.rng.random() < 0.5)


def _places(d: Drawing, n: int) -> tuple[int, ...]:
    """Variables that mostly take any of 0 … n - 1."""
    whole = Domain.of_range(0, n - 1)
    return tuple(d.new(whole) if d.rng.random() < 0.6 else _small(d, -1, n) for _ in range(n))


def _inverse(d: Drawing) -> c.Propagator:
    n = d.rng.randint(1, 3)
    return c.Inverse(_places(d, n), _places(d, n))


def _lexicographic(d: Drawing) -> c.Propagator:
    n = d.rng.randint(1, 3)
    literal = d.literal()
    return c.Lexicographic(literal, _smalls(d, n), _smalls(d, n), d.rng.random() < 0.5)


def _no_overlap(d: Drawing) -> c.Propagator:
    n = d.rng.randint(1, 4)
    starts = _smalls(d, n, -2, 8)
    return c.NoOverlap(starts, tuple(_duration(d) for _ in range(n)))


def _no_overlap_optional(d: Drawing) -> c.Propagator:
    n = d.rng.randint(1, 4)
    starts = _smalls(d, n, -2, 6)
    durations = tuple(_duration(d) for _ in range(n))
    return c.NoOverlapOptional(starts, durations, tuple(d.literal() for _ in range(n)))


def _duration(d: Drawing) -> int:
    if d.rng.random() < 0.3:
        return _small(d, -1, 4)
    return d.new(Domain.of_values([d.rng.randint(0, 4)]))


def _cumulative(d: Drawing) -> c.Propagator:
    n = d.rng.randint(1, 4)
    starts = _smalls(d, n, -2, 6)
    durations, demands = (tuple(_duration(d) for _ in range(n)) for _ in range(2))
    return c.Cumulative(starts, durations, demands, _small(d, 1, 5))


def _rectangles(d: Drawing) -> c.Propagator:
    n = d.rng.randint(1, 3)
    xs, ys = _smalls(d, n, 0, 4), _smalls(d, n, 0, 4)
    widths, heights = (tuple(_duration(d) for _ in range(n)) for _ in range(2))
    return c.Rectangles(xs, ys, widths, heights)


def _pairs(d: Drawing) -> c.Propagator:
    def factor() -> int:
        return d.literal() >> 1

    terms = tuple(
        (d.rng.choice([-3, -2, -1, 1, 1, 1, 2]), factor(), factor()) for _ in range(d.rng.randint(1, 4))
    )
    low = d.rng.randint(-3, 2)
    return c.Pairs(terms, low, low + d.rng.choice([0, 0, 1, 2, 5]))


def _short_table(d: Drawing) -> c.Propagator:
    literal, variables = d.literal(), tuple(d.old() for _ in range(d.rng.randint(1, 3)))
    rows = [
        tuple(d.rng.choice([None, None, -9, *d.domains[v]]) for v in variables)
        for _ in range(d.rng.randint(0, 7))
    ]
    return c.ShortTable(literal, variables, tuple(dict.fromkeys(rows)))


# Others are drawn as what global constraints are lowered to.
FACTORIES: dict[type[c.Propagator], Callable[[Drawing], c.Propagator]] = {
    c.LinearLe: lambda d: c.LinearLe(d.terms(), d.rng.randint(-12, 20)),
    c.LinearEq: _linear_eq,
    c.LinearNe: lambda d: c.LinearNe(d.terms(), d.rng.randint(-6, 10)),
    c.LinearLeIf: lambda d: c.LinearLeIf(d.literal(), d.terms(), d.rng.randint(-12, 20)),
    c.LinearEqIf: lambda d: c.LinearEqIf(d.literal(), d.terms(), d.rng.randint(-12, 20)),
    c.Product: _pair(c.Product, lambda a, b: a * b),
    c.Power: _power,
    c.DivMod: _division,
    c.Divides: lambda d: c.Divides(d.literal(), d.old(), d.old()),
    c.Maximum: lambda d: _extreme(d, True),
    c.Minimum: lambda d: _extreme(d, False),
    c.Absolute: _absolute,
    c.Member: _member,
    c.Clause: lambda d: c.Clause(tuple(d.literal() for _ in range(d.rng.randint(0, 4)))),
    c.Element: _element,
    c.Gcd: _pair(c.Gcd, math.gcd),
    c.Lcm: _pair(c.Lcm, math.lcm),
    c.CeilDiv: _pair(c.CeilDiv, lambda a, b: -(-a // b) if a >= 0 and b >= 1 else None),
    c.Selection: _selection,
    c.Table: _table,
    c.AllDifferent: lambda d: c.AllDifferent(_views(d)),
    c.AllDifferentBounds: lambda d: c.AllDifferentBounds(_views(d)),
    c.AllDifferentDomain: _all_different_domain,
    c.Cardinality: _cardinality,
    c.Circuit: lambda d: c.Circuit(_places(d, d.rng.randint(1, 5))),
    c.Inverse: _inverse,
    c.Lexicographic: _lexicographic,
    c.NoOverlap: _no_overlap,
    c.Cumulative: _cumulative,
    c.Rectangles: _rectangles,
    c.Pairs: _pairs,
    c.NoOverlapOptional: _no_overlap_optional,
    c.Subcircuit: lambda d: c.Subcircuit(_places(d, d.rng.randint(1, 5))),
    c.ShortTable: _short_table,
}


def draw_instance(kind: type[c.Propagator], seed: int) -> Instance:
    while True:
        rng = random.Random(seed)
        drawing = Drawing(rng)
        own = FACTORIES.get(kind)
        node, domains = draw_node(kind, rng) if own is None else (own(drawing), tuple(drawing.domains))
        if math.prod(len(list(domain)) for domain in domains) <= 4000:
            return Instance(node, domains)
        seed += 1_000_003


def box_of(domains: tuple[Domain, ...]) -> Box:
    return Box(
        [d.lo for d in domains],  # type: ignore[misc]
        [d.hi for d in domains],  # type: ignore[misc]
        [d.step for d in domains],
        [d.values for d in domains],
    )


def state_of(instance: Instance, huge: int = LIMIT, in_order: bool = False) -> State:
    everything = range(len(instance.domains))
    groups = [(len(everything), IN_ORDER)] if in_order else []
    branch = Branch(list(everything), [v % 5 if v % 5 != 4 else 0 for v in everything], groups=groups)
    return build(box_of(instance.domains), [instance.node], branch, huge)


def members(state: State, v: int) -> set[int]:
    return {x for x in range(state.lo[v], state.hi[v] + 1) if contains(state, v, x)}


def check_root(instance: Instance) -> None:
    """Propagation loses no solution, adds no value, and fails only without solutions."""
    solutions = instance.solutions()
    state = state_of(instance)
    if fixpoint(state, 10_000) == FAILED:
        assert not solutions, f"{instance}: failed, but has {min(solutions)}"
        return
    for v, domain in enumerate(instance.domains):
        left = members(state, v)
        assert left <= set(domain), f"{instance}: variable {v} gained {left - set(domain)}"
        needed = {values[v] for values in solutions}
        assert needed <= left, f"{instance}: variable {v} lost {needed - left}"
        assert {state.lo[v], state.hi[v]} <= left, f"{instance}: a bound of variable {v} is no member"


def check_assigned(instance: Instance, seed: int) -> None:
    """On single values, propagation succeeds exactly where the constraint holds."""
    assignments = list(instance.assignments())
    random.Random(seed).shuffle(assignments)
    solutions = instance.solutions()
    for values in assignments[:12] + sorted(solutions)[:4]:
        fixed = replace(instance, domains=tuple(Domain.of_range(value, value) for value in values))
        outcome = fixpoint(state_of(fixed), 10_000)
        assert (outcome != FAILED) == (values in solutions), f"{instance}: wrong at {values}"


def search(
    instance: Instance, state: State, run: Callable[..., int], grow_state: Callable[[State], State]
) -> list[Any]:
    """All solutions in the order in which they are found, and the counters."""
    found: list[tuple[int, ...]] = []
    while True:
        outcome = run(state, 3, 50)  # small slices: search must resume at any node
        if outcome == SOLUTION:
            found.append(tuple(int(state.lo[v]) for v in range(len(instance.domains))))
        elif outcome == EXHAUSTED:
            return [found, [int(state.scalar[i]) for i in (12, 13, 14)]]  # type: ignore[index]
        elif outcome == FULL:
            state = grow_state(state)


def check_search(instance: Instance) -> None:
    """Search finds every solution once; in the order of values where it decides in the order of variables."""
    solutions = instance.solutions()
    found, counters = search(instance, state_of(instance), dfs.run, grow)
    assert len(found) == len(set(found)), f"{instance}: found a solution twice"
    assert set(found) == solutions, f"{instance}: {set(found) ^ solutions}"
    exact = search(instance, state_of(instance, 1 << 9000), dfs.run, grow)
    assert exact == [found, counters], f"{instance}: exact and int64 differ"
    ordered, _ = search(instance, state_of(instance, in_order=True), dfs.run, grow)
    signs = [1 if v % 5 in (0, 2, 4) else -1 for v in range(len(instance.domains))]
    keys = [tuple(sign * x for sign, x in zip(signs, values, strict=True)) for values in ordered]
    assert keys == sorted(keys), f"{instance}: not in lexicographic order"


def check(instance: Instance, seed: int) -> None:
    check_root(instance)
    check_assigned(instance, seed)
    check_search(instance)
