"""Extremes, elements of variables and products in the learning search: answers and explanations."""

from __future__ import annotations

import itertools
from math import prod
from pathlib import Path
from random import Random
from typing import Any

import pytest
from goals import towards
from proved import is_proved

from constrint import IntExpr, Model, Status, element, max_, min_, sum_
from constrint.learning import explain, session
from constrint.learning.layout import NOTHING, PREMISES, Learner
from constrint.learning.normal import NormalTranslation
from constrint.learning.trail import value_before


class Drawn:
    """A small model of nested extremes, absolute values, elements and products."""

    def __init__(self, seed: int, count: int = 4, conditions: int = 2) -> None:
        self.random = random = Random(seed)
        self.model = Model()
        self.domains = [self._domain() for _ in range(random.randint(count, count + 1))]
        self.variables = [self.model.int_var(f"x{i}", values=d) for i, d in enumerate(self.domains)]
        self.conditions = []
        for _ in range(random.randint(conditions, conditions + 2)):
            one, other = self.term(), self.term() if random.random() < 0.6 else random.randint(-4, 8)
            draws = [one <= other, one >= other, one == other, (one <= other) | (self.term() >= 2)]
            self.conditions.append(random.choice(draws))
        self.model.add(*self.conditions)
        self.goal = sum_([random.randint(-3, 3) * x for x in self.variables])

    def _domain(self) -> list[int]:
        kind = self.random.random()
        if kind < 0.25:
            return [0, 1]
        if kind < 0.5:
            return sorted(self.random.sample(range(-6, 9), self.random.randint(2, 4)))
        low = self.random.randint(-5, 3)
        return list(range(low, low + self.random.randint(2, 5)))

    def term(self, depth: int = 0) -> IntExpr:
        random = self.random
        kind = random.random()
        if depth > 1 or kind < 0.2:
            return random.choice(self.variables)
        parts = [self.term(depth + 1) for _ in range(random.randint(2, 3))]
        if kind < 0.4:
            return max_(parts)
        if kind < 0.55:
            return min_(parts)
        if kind < 0.65:
            return abs(parts[0])
        return parts[0] * parts[1] if kind < 0.8 else element(parts, random.choice(self.variables))

    def values(self) -> list[int]:
        """The objective of every solution."""
        found = []
        for row in itertools.product(*self.domains):
            assignment = dict(zip(self.variables, row, strict=True))
            if all(condition.evaluate(assignment) for condition in self.conditions):
                found.append(self.goal.evaluate(assignment))
        return found


@pytest.mark.parametrize("block", range(2))
def test_optima_against_brute_force(block: int) -> None:
    learned = feasible = 0
    for seed in range(100 * block, 100 * (block + 1)):
        drawn = Drawn(seed)
        values = drawn.values()
        for way, best in (("minimize", min(values, default=None)), ("maximize", max(values, default=None))):
            r = drawn.model.solve(**towards(way, drawn.goal), learn=True, engine="interpreted")
            assert (r.status is Status.OPTIMAL, r.objective) == (bool(values), best), f"seed {seed}"
            learned += r.statistics.learned
        feasible += bool(values)
    assert 20 < feasible < 95
    assert learned > 10


def crowded(seed: int) -> Model:
    """Sums of extremes, products and elements near the middle of their ranges, so that much fails."""
    random = Random(seed)
    m = Model()
    xs = [m.int_var(f"x{i}", random.randint(0, 2), random.randint(4, 6)) for i in range(7)]
    places = [m.int_var(f"p{i}", 0, 2) for i in range(2)]

    def term() -> IntExpr:
        x, y, z = random.sample(xs, 3)
        return random.choice(
            [max_(x, y, z), min_(x, y), x * y, abs(x - y), element([x, y, z], random.choice(places))]
        )

    for _ in range(6):
        parts = [random.choice([-1, 1]) * term() for _ in range(3)]
        m.add(
            sum_(parts) == random.randint(-2, 6)
            if random.random() < 0.5
            else (sum_(parts) <= 1) | (term() >= 4)
        )
    m.minimize(sum_([random.randint(-2, 3) * term() for _ in range(3)]))
    return m


def within(ls: Learner, v: int, atoms: Any) -> range:
    low = max([ls.root[2 * v], *(k for b, k in atoms if b == 2 * v)])
    high = -max([ls.root[2 * v + 1], *(k for b, k in atoms if b == 2 * v + 1)])
    return range(low, high + 1)


def test_every_explanation_implies_what_it_explains(monkeypatch: pytest.MonkeyPatch) -> None:
    """The premises were true before, and leave no values of a constraint that contradict the atom."""
    explained = {"explain_extreme": 0, "explain_propagator": 0}

    def check(name: str, holds: Any, ls: Any, p: Any, b: int, k: int, at: Any, variables: Any) -> None:
        first = 0
        atoms = [(ls.premise_bound[i], ls.premise_at[i]) for i in range(first, ls.scalar[PREMISES])]
        assert all(value_before(ls, bound, at) >= least for bound, least in atoms)
        if b != NOTHING:
            atoms.append((b ^ 1, 1 - k))
        domains = [within(ls, v, atoms) for v in variables]
        if prod(map(len, domains)) <= 6000:
            for row in itertools.product(*domains):
                assert not holds(dict(zip(variables, row, strict=True))), (name, b, k, atoms)
            explained[name] += 1

    def value(values: Any, b: Any) -> Any:
        return -values[b >> 1] if b & 1 else values[b >> 1]

    explain_extreme = explain.explain_extreme  # type: ignore[attr-defined]

    def extreme(ls: Any, st: Any, p: Any, b: int, k: int, at: Any) -> None:
        explain_extreme(ls, st, p, b, k, at)
        start, end = ls.start[p], ls.start[p + 1]
        n = (end - start) // 2
        rows = [(ls.term[i], ls.term[i + n], ls.factor[i + n]) for i in range(start, start + n)]

        def holds(values: dict[str, int]) -> bool:
            return any(
                value(values, entry) >= value(values, ls.limit[p])
                and (condition < 0 or value(values, condition) >= least)
                for entry, condition, least in rows
            )

        used = {ls.limit[p] >> 1, *(c >> 1 for row in rows for c in row[:2] if c >= 0)}
        check("explain_extreme", holds, ls, p, b, k, at, sorted(used))

    explain_propagator = explain.explain_propagator  # type: ignore[attr-defined]
    nodes: list[Any] = []

    def propagator(ls: Any, st: Any, p: Any, b: int, k: int, at: Any) -> None:
        explain_propagator(ls, st, p, b, k, at)
        node, base = nodes[-1].propagators[ls.limit[p]], nodes[-1].box

        def holds(values: Any) -> Any:
            inside = all(base.values[v] is None or x in base.values[v] for v, x in values.items())
            return inside and node.holds([values.get(v, 0) for v in range(max(values) + 1)])

        check("explain_propagator", holds, ls, p, b, k, at, sorted(set(node.scope())))

    class Noting(NormalTranslation):
        def __init__(self, *given: Any, **named: Any) -> None:
            super().__init__(*given, **named)
            nodes.append(self)

    monkeypatch.setattr(explain, "explain_extreme", extreme)
    monkeypatch.setattr(explain, "explain_propagator", propagator)
    monkeypatch.setattr(session, "NormalTranslation", Noting)
    for seed in range(60):
        crowded(seed).solve(learn=True, engine="interpreted", time_limit=60)
    assert min(explained.values()) > 30, explained


def test_every_step_of_their_proofs_follows(tmp_path: Path) -> None:
    followed = 0
    for seed in range(100, 145):
        path = tmp_path / "proof"
        crowded(seed).solve(learn=True, proof=path, engine="interpreted")
        text = path.read_text(encoding="utf-8")
        if "\nsearch" not in text or not 3 < text.count("learned") < 40:
            continue
        assert is_proved(text), f"seed {seed}"
        followed += 1
    assert followed > 3


def test_a_greatest_value_is_explained_by_what_bounds_it() -> None:
    """Ten pairs of tasks of which one is late, and none needs the others' bounds."""
    m = Model()
    xs = [m.int_var(f"x{i}", 0, 9) for i in range(12)]
    late = [m.bool_var(f"late{i}") for i in range(12)]
    m.add(*(x >= 4 + 2 * b for x, b in zip(xs, late, strict=True)), sum_(late) >= 1)
    r = m.solve(minimize=max_(xs), learn=True, engine="interpreted")
    assert (r.status, r.objective) == (Status.OPTIMAL, 6)
    assert r.statistics.failures < 30
