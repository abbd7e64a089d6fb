"""Starts that differ: the quick test finds what the windows of a resource find, and nothing else."""

from __future__ import annotations

from itertools import product
from random import Random

from constrint import Model
from constrint.engine.state_arrays import Branch
from constrint.engine.state_arrays import build as build_state
from constrint.learning.distinct import is_narrow, keep_distinct
from constrint.learning.layout import DISTINCT, RESOURCE, TRAIL, Learner
from constrint.learning.learner_arrays import Guide, build
from constrint.learning.normal import LearningNormalForm
from constrint.learning.resource import keep_windows
from constrint.preparing.prepared import Prepared
from constrint.store.state import State


def starts(bounds: list[tuple[int, int]], demand: int = 1) -> tuple[Learner, State]:
    """A learner of tasks of one moment each on one resource."""
    m = Model()
    for i, (low, high) in enumerate(bounds):
        m.int_var(f"s{i}", low, high)
    prepared = Prepared(m, (), ())
    root = prepared.root
    assert root is not None
    tasks = [(v, 1, demand) for v in prepared.variables.values()]
    n = len(root.box.lo)
    guide = Guide([1] * n, [0] * n, root.box.lo, [0] * n)
    ls = build(LearningNormalForm(resources=[(tasks, demand)]), [], root.box, guide)
    return ls, build_state(root.box, [], Branch(), root.huge)


def drawn(seed: int) -> list[tuple[int, int]]:
    random = Random(seed)
    n = random.randint(2, 6)
    lows = [random.randint(-3, 4) for _ in range(n)]
    return [(low, low + random.choice([0, 0, 1, 1, 2, 3, 6])) for low in lows]


def hull(bounds: list[tuple[int, int]]) -> list[tuple[int, int]] | None:
    """The least and greatest value of each start in all assignments of different values."""
    rows = [
        row for row in product(*(range(low, high + 1) for low, high in bounds)) if len(set(row)) == len(row)
    ]
    return [(min(column), max(column)) for column in zip(*rows, strict=True)] if rows else None


def test_it_is_narrow_where_a_bound_moves() -> None:
    narrow = failed = 0
    for seed in range(400):
        bounds = drawn(seed)
        ls, st = starts(bounds)
        assert ls.kind == [DISTINCT]
        wanted = hull(bounds)
        found = is_narrow(ls, 0, len(bounds))
        assert found == (wanted != bounds), f"seed {seed}"
        held = keep_windows(ls, st, 0, len(bounds))
        assert (held and ls.scalar[TRAIL] == 0) == (not found), f"seed {seed}"
        narrow += found
        failed += wanted is None
    assert 100 < narrow < 350
    assert failed > 20


def test_it_propagates_to_the_hull() -> None:
    for seed in range(200):
        bounds = drawn(seed)
        ls, st = starts(bounds)
        held, before = True, -1
        while held and ls.scalar[TRAIL] > before:
            before = int(ls.scalar[TRAIL])
            held = keep_distinct(ls, st, 0)
        wanted = hull(bounds)
        assert held == (wanted is not None), f"seed {seed}"
        if wanted is not None:
            numbers = [b >> 1 for b in ls.term[: len(bounds)]]
            assert [(ls.bound[2 * v], -ls.bound[2 * v + 1]) for v in numbers] == wanted, f"seed {seed}"


def test_other_resources_stay_what_they_are() -> None:
    assert starts([(0, 3), (1, 2)], demand=2)[0].kind == [RESOURCE]


def test_all_permutations_are_left() -> None:
    ls, st = starts([(0, 3)] * 4)
    assert not is_narrow(ls, 0, 4)
    assert keep_distinct(ls, st, 0)
    assert ls.scalar[TRAIL] == 0
