"""Stretches of the learning search that assume a good objective."""

from __future__ import annotations

from itertools import combinations
from random import Random

from learners import learner

from constrint import Model, Status, sum_
from constrint.learning import analyse, decide, restarts
from constrint.learning.layout import ABOVE, CONFLICTS, GOAL, IS_BELOW, LEVEL, SIDE_AT, TRAIL, WITHIN
from constrint.learning.trail import raise_bound
from constrint.settings import DEFAULT


def test_stretches_that_raise_no_bound_make_the_others_longer() -> None:
    ls, _ = learner(range(10))
    scalar = ls.scalar
    scalar[GOAL] = 0
    lengths = []
    for turn in range(6):
        scalar[CONFLICTS] = scalar[SIDE_AT]
        scalar[WITHIN] = 100
        restarts.change_side(ls)
        assert scalar[IS_BELOW] == 1
        if turn == 3:
            ls.bound[0] = 2  # proved in this stretch
        restarts.change_side(ls)
        assert (scalar[IS_BELOW], scalar[WITHIN]) == (0, 25)
        assert scalar[SIDE_AT] == scalar[CONFLICTS] + scalar[ABOVE]
        lengths.append(scalar[ABOVE] // DEFAULT.learning.stretch_above)
    assert lengths == [2, 4, 8, 1, 2, 4]


def test_a_descent_assumes_an_objective_near_its_bound() -> None:
    ls, st = learner(range(10))
    scalar = ls.scalar
    scalar[GOAL], scalar[IS_BELOW], scalar[WITHIN] = 2, 1, 3  # x is variable 1
    assert raise_bound(ls, st, 2, 2, analyse.DECISION)  # type: ignore[attr-defined]
    assert decide.decide(ls, st)
    assert (scalar[LEVEL], -ls.bound[3]) == (1, 5)  # x <= 2 + 3
    assert ls.trail_bound[scalar[TRAIL] - 1] == 3


def covered(seed: int) -> tuple[Model, int]:
    """A vertex cover of least weight, and its weight by brute force."""
    random = Random(seed)
    n = 9
    edges = [pair for pair in combinations(range(n), 2) if random.random() < 0.5]
    weights = [random.randint(1, 9) for _ in range(n)]
    m = Model()
    xs = [m.bool_var(f"x{i}") for i in range(n)]
    m.add(*(xs[i] | xs[j] for i, j in edges))
    m.minimize(sum_(w * x for w, x in zip(weights, xs, strict=True)))
    least = min(
        sum(w for i, w in enumerate(weights) if chosen >> i & 1)
        for chosen in range(1 << n)
        if all(chosen >> i & 1 or chosen >> j & 1 for i, j in edges)
    )
    return m, least


def test_optima_where_every_stretch_is_short() -> None:
    """The sides change every few conflicts; optima stay those of brute force."""
    short = DEFAULT.with_fields(learning={"stretch_below": 1, "stretch_above": 1, "restart_unit": 1})
    for seed in range(30):
        m, least = covered(seed)
        m.settings = short
        r = m.solve(learn=True, engine="interpreted")
        assert (r.status, r.objective, r.bound) == (Status.OPTIMAL, least, least)


def test_a_long_sum_is_split_and_stays_the_same() -> None:
    random = Random(7)
    m = Model()
    xs = [m.int_var(f"x{i}", 0, 1 + (i % 7 == 0)) for i in range(60)]
    weights = [random.randint(1, 20) for _ in xs]
    sizes = [random.randint(1, 20) for _ in xs]
    m.add(sum_(s * x for s, x in zip(sizes, xs, strict=True)) <= 25)
    gain = sum_(w * x for w, x in zip(weights, xs, strict=True))
    learned = m.solve(maximize=gain, learn=True, time_limit=60)
    table = [0] * 26  # knapsack by dynamic programming
    for x, (w, s) in enumerate(zip(weights, sizes, strict=True)):
        for _ in range(1 + (x % 7 == 0)):
            for room in range(25, s - 1, -1):
                table[room] = max(table[room], table[room - s] + w)
    assert (learned.status, learned.objective) == (Status.OPTIMAL, table[25])
