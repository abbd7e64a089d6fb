"""Resources with variables for durations, demands and the capacity, in the learning search.

Answers are held against brute force, explanations against all values, proofs against the checker.
"""

from __future__ import annotations

import itertools
from math import prod
from pathlib import Path
from random import Random
from typing import Any

import pytest
from proved import is_proved
from resource_truth import fits

from constrint import Model, Status, cumulative, cumulative_optional, element, max_, sum_
from constrint.learning import explain
from constrint.learning.layout import NOTHING, OPEN_RESOURCE, PREMISES
from constrint.learning.trail import value_before, weakest

Columns = tuple[list[list[int]], list[list[int]], list[list[int]], list[int]]


def drawn(seed: int) -> tuple[Model, Columns, list[int]]:
    """A model, the values of starts, durations, demands and the capacity, and the objective's weights."""
    random = Random(seed)
    n = random.randint(2, 3)

    def values(low: int, high: int, share: float) -> list[int]:
        chosen = random.sample(range(low, high + 1), 2 if random.random() < share else 1)
        return sorted(chosen)

    starts = [sorted(random.sample(range(7), random.randint(2, 5))) for _ in range(n)]
    durations = [values(0, 5, 0.6) for _ in range(n)]
    demands = [values(0, 4, 0.6) for _ in range(n)]
    capacity = values(2, 5, 0.5)
    m = Model()
    s, d, r = (
        [m.int_var(f"{name}{i}", values=domain) for i, domain in enumerate(domains)]
        for name, domains in (("s", starts), ("d", durations), ("r", demands))
    )
    c = m.int_var("c", values=capacity)
    m.add(cumulative(s, d, r, c))
    weights = [random.randint(-4, 4) for _ in range(3 * n + 1)]
    m.minimize(sum_(w * x for w, x in zip(weights, [*s, *d, *r, c], strict=True)))
    return m, (starts, durations, demands, capacity), weights


@pytest.mark.parametrize("block", range(3))
def test_optima_against_brute_force(block: int) -> None:
    feasible = 0
    for seed in range(40 * block, 40 * (block + 1)):
        m, (starts, durations, demands, capacity), weights = drawn(seed)
        n = len(starts)
        best = min(
            (
                sum(w * x for w, x in zip(weights, row, strict=True))
                for row in itertools.product(*starts, *durations, *demands, capacity)
                if fits(row[:n], row[n : 2 * n], row[2 * n : 3 * n], row[-1])
            ),
            default=None,
        )
        r = m.solve(learn=True, engine="interpreted")
        assert r.objective == best, f"seed {seed}"
        feasible += best is not None
    assert feasible > 30


def crowded(seed: int) -> Model:
    """Tasks whose modes say how long they take and what they need, and some that may be left out."""
    random = Random(seed)
    n = random.randint(5, 7)
    m = Model()
    s = [m.int_var(f"s{i}", random.randint(0, 2), random.randint(6, 11)) for i in range(n)]
    modes = [m.int_var(f"m{i}", 0, 2) for i in range(n)]
    durations = [element(sorted(random.choices(range(1, 6), k=3)), mode) for mode in modes]
    demands = [element(sorted(random.choices(range(4), k=3), reverse=True), mode) for mode in modes]
    capacity = m.int_var("capacity", 3, 5)
    m.add(cumulative(s, durations, demands, capacity))
    present = [m.bool_var(f"p{i}") for i in range(n)]
    m.add(cumulative_optional(s, durations, [2] * n, 4, present))
    m.add(sum_(present) >= n - 2)
    m.minimize(3 * capacity + max_([x + d for x, d in zip(s, durations, strict=True)]))
    return m


def test_every_explanation_implies_what_it_explains(monkeypatch: pytest.MonkeyPatch) -> None:
    """The premises were true before, and leave no values that contradict the atom."""
    explained = dict.fromkeys(["start", "duration", "demand", "capacity", "contradiction"], 0)
    explain_resource = explain.explain_resource  # type: ignore[attr-defined]

    def checked(ls: Any, st: Any, p: int, b: int, k: int, at: int) -> None:
        first = ls.scalar[PREMISES]
        explain_resource(ls, st, p, b, k, at)
        if ls.kind[p] != OPEN_RESOURCE:
            return
        atoms = [(ls.premise_bound[i], ls.premise_at[i]) for i in range(first, ls.scalar[PREMISES])]
        assert all(value_before(ls, bound, at) >= least for bound, least in atoms)
        if b != NOTHING:
            atoms.append((b ^ 1, 1 - weakest(ls, st, b, k)))

        def least(bound: int) -> int:
            return int(max([ls.root[bound], *(value for each, value in atoms if each == bound)]))

        start = ls.start[p]
        n = (ls.start[p + 1] - start - 1) // 3
        terms = ls.term[start : start + 3 * n + 1]
        domains, durations, demands = [], [], []
        for s, r, d in zip(terms[:n], terms[n : 2 * n], terms[2 * n :], strict=False):
            low, high = least(s), -least(s ^ 1)
            # Those that need not be under way in the window can only add to what is demanded.
            if low + least(d) > ls.window_begin[at] and high < ls.window_end[at]:
                domains.append(range(low, high + 1))
                durations.append(least(d))
                demands.append(least(r))
        capacity = -least(terms[3 * n])
        if prod(map(len, domains)) <= 20_000:
            for starts in itertools.product(*domains):
                assert not fits(starts, durations, demands, capacity), (b, k, atoms)
            explained[_named(terms, n, b)] += 1

    monkeypatch.setattr(explain, "explain_resource", checked)
    for seed in range(40):
        crowded(seed).solve(learn=True, engine="interpreted")
    assert all(count > 3 for count in explained.values()), explained


def _named(terms: list[int], n: int, b: int) -> str:
    """What an atom is about."""
    if b == NOTHING:
        return "contradiction"
    at = next(i for i, bound in enumerate(terms) if bound >> 1 == b >> 1)
    return "capacity" if at == 3 * n else ("start", "demand", "duration")[at // n]


def test_what_the_others_leave_is_found_without_search() -> None:
    """Two tasks on 0 .. 4 and 6 .. 9 leave a third one 2 units in the first, and the time between them."""
    m = Model()
    demand, length = m.int_var("demand", 1, 5), m.int_var("length", 1, 9)
    peak = m.int_var("peak", 0, 4)
    m.add(cumulative([0, 6, 1], [4, 3, length], [2, 4, demand], peak))
    for goal, value in ((demand, 2), (length, 5)):
        r = m.solve(maximize=goal, learn=True, engine="interpreted")
        assert (r.objective, r.statistics.failures) == (value, 0)
    assert m.solve(minimize=peak, learn=True, engine="interpreted").objective == 4


@pytest.mark.timeout(900)  # the first use on a machine compiles
def test_compiled_and_interpreted_search_the_same_way() -> None:
    m = crowded(3)
    walks = []
    for engine in ("interpreted", "compiled"):
        r = m.solve(learn=True, engine=engine)
        s = r.statistics
        assert (r.status, s.engine) == (Status.OPTIMAL, engine)
        walks.append((dict(r.values), s.nodes, s.failures, s.propagations, s.learned))
    assert walks[0] == walks[1]


def test_proofs_follow(tmp_path: Path) -> None:
    steps = 0
    for m in (*(drawn(seed)[0] for seed in range(40)), *map(crowded, range(4))):
        path = tmp_path / "proof"
        m.solve(learn=True, proof=path, engine="interpreted")
        text = path.read_text(encoding="utf-8")
        if "\nsearch" in text:
            assert is_proved(text)
            steps += text.count("\nlearned")
    assert steps > 30
