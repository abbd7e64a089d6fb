"""The brief search ahead of the others: of a large model, it ends soon after some solutions."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from constrint import Model, Status, sum_
from constrint.preparing.options import Options
from constrint.preparing.prepared import Prepared
from constrint.preparing.search_protocol import Outcome, SearchTask
from constrint.search.depth_first import DepthFirstRun
from constrint.settings import of_new_models, using


def test_a_search_ends_after_some_more_nodes_and_may_go_on() -> None:
    m = Model()
    x = m.int_vars("x", 4, 0, 2)
    m.add(sum_(x) == 4)
    prepared = Prepared(m, (), ())
    assert prepared.root is not None
    task = SearchTask(prepared, prepared.root, Options(engine="interpreted"), 0.0)
    run = DepthFirstRun(task, most_nodes=1000)
    found = []
    for more in (2000, 3):
        found.append(run.next(checked=True).found)
        run.limit_nodes(more)
    while (step := run.next(checked=True)).found is not None:
        found.append(step.found)
    assert step.outcome is Outcome.GAVE_UP
    run.go_on(Options(engine="interpreted"))
    while (step := run.next(checked=True)).found is not None:
        found.append(step.found)
    assert step.outcome is Outcome.EXHAUSTED
    rows = [tuple(one.values()) for one in found if one is not None]
    assert sorted(rows) == [row for row in product(range(3), repeat=4) if sum(row) == 4]


@pytest.mark.parametrize("nodes", [1, 400, 1000])
def test_nothing_is_lost_by_a_brief_search_that_ends_early(nodes: int) -> None:
    early = of_new_models().with_fields(search={"variables_before_dual": 1, "nodes_of_solution": nodes})
    for seed in range(40):
        random = Random(seed)
        weights = [[random.randint(-9, 9) for _ in range(5)] for _ in range(3)]
        with using(early):
            m = Model()
        x = m.int_vars("x", 5, 0, 3)
        m.add(sum_(a * v for a, v in zip(weights[0], x, strict=True)) <= 7)
        m.add(sum_(a * v * v for a, v in zip(weights[1], x, strict=True)) >= -5)
        r = m.solve(minimize=sum_(a * v for a, v in zip(weights[2], x, strict=True)), engine="interpreted")
        best = min(
            sum(a * v for a, v in zip(weights[2], row, strict=True))
            for row in product(range(4), repeat=5)
            if sum(a * v for a, v in zip(weights[0], row, strict=True)) <= 7
            and sum(a * v * v for a, v in zip(weights[1], row, strict=True)) >= -5
        )
        assert (r.status, r.objective) == (Status.OPTIMAL, best), f"seed {seed}"
