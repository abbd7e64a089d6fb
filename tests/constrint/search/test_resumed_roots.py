"""Searches resumed from the root's fixpoint, compared with searches whose state is built from scratch."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from random_models import draw_model

from constrint import Model, sum_
from constrint.engine.compiled import load
from constrint.preparing.options import Options
from constrint.preparing.prepared import Prepared
from constrint.preparing.search_protocol import SearchTask
from constrint.search.depth_first import DepthFirstRun

SEEDS = range(200)


def listed(prepared: Prepared, engine: str) -> tuple[list[tuple[int, ...]], int]:
    """All solutions in the order in which they are found, and how many nodes that took."""
    assert prepared.root is not None
    run = DepthFirstRun(SearchTask(prepared, prepared.root, Options(engine=engine), 0.0))  # type: ignore[arg-type]
    found = []
    while (solution := run.next().found) is not None:
        found.append(tuple(solution.values()))
    return found, run.statistics().nodes


def resumed_and_built(model: Model, may_compile: bool) -> tuple[Prepared, Prepared] | None:
    """Two plans of a model, the second without the state of the first fixpoint; None where none has one."""
    resumed, built = (Prepared(model, (), (), may_compile=may_compile) for _ in range(2))
    if resumed.root is None or resumed.root.settled is None or built.root is None or built.root.exact:
        return None
    built.root = replace(built.root, settled=None)
    return resumed, built


def models() -> Iterator[Model]:
    for seed in SEEDS:
        yield draw_model(seed).build()
    for n in (4, 5):  # large enough for a root that is propagated compiled
        m = Model()
        x = m.bool_vars("x", (n, n))
        for i in range(n):
            m.add(x[i, :].sum() == 2, x[:, i].sum() == 2)
            m.add(sum_(x[i, j] * x[i - 1, j] for j in range(n)) <= 1)
        yield m


@pytest.mark.parametrize(
    ("engine", "may_compile"), [("interpreted", False), ("compiled", False), ("compiled", True)]
)
def test_the_same_solutions_in_the_same_order_by_the_same_nodes(engine: str, may_compile: bool) -> None:
    if may_compile:
        load()
    compared = sessions = 0
    for model in models():
        pair = resumed_and_built(model, may_compile)
        if pair is not None:
            resumed, built = pair
            assert resumed.root is not None
            settled = resumed.root.settled
            assert settled is not None
            sessions += settled.session is not None
            assert listed(resumed, engine) == listed(built, engine)
            assert settled.is_taken
            compared += 1
    assert compared > 20
    assert (sessions > 0) == may_compile


def test_a_root_is_resumed_once_and_only_as_it_was_left() -> None:
    m = Model()
    x, y, z = (m.int_var(name, 0, 9) for name in "xyz")
    m.add(x + y + z == 10, x < y)
    prepared = Prepared(m, (), ())
    root = prepared.root
    assert root is not None
    assert root.settled is not None
    narrowed = replace(root, box=replace(root.box, hi=[min(hi, 4) for hi in root.box.hi]))
    first = set(_solutions(prepared, narrowed))
    assert not root.settled.is_taken  # it has the domains of the root, not the narrower ones
    assert first == {key for key in _solutions(prepared, root) if max(key) <= 4}
    assert root.settled.is_taken
    assert len(_solutions(prepared, root)) == len(list(m.iter_solutions()))  # built anew


def _solutions(prepared: Prepared, root: object) -> list[tuple[int, ...]]:
    run = DepthFirstRun(SearchTask(prepared, root, Options(engine="interpreted"), 0.0))  # type: ignore[arg-type]
    found = []
    while (solution := run.next().found) is not None:
        found.append(tuple(solution.values()))
    return found
