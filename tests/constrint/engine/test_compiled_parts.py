"""Parts compiled by several processes and loaded into one: each keeps its own functions."""

from __future__ import annotations

import itertools
import json
import random

import pytest
from learners import learner

from constrint import Model, Result, Status
from constrint.engine import cache, native
from constrint.learning import loop
from constrint.learning.layout import BROKEN, FAULT

pytestmark = pytest.mark.timeout(900)  # the first use on a machine compiles


def test_all_parts_are_loaded_side_by_side(filled: None) -> None:
    """Each runs at its own address, under its own name, and needs nothing that others would provide."""
    addresses = []
    for part in cache.PARTS:
        content = cache.read(part)
        assert content is not None
        about = json.loads(content.partition(b"\n")[0])
        assert about["symbol"] == f"constrint_{part}"
        assert about["externals"] == []
        addresses.append(native._linked(about["symbol"], [], content.partition(b"\n")[2]))
    assert len(set(addresses)) == len(cache.PARTS)


def differences() -> Model:
    m = Model()
    xs = [m.int_var(f"x{i}", 0, 5) for i in range(7)]
    m.add(*(a != b for a, b in itertools.combinations(xs, 2)))
    return m


def products() -> Model:
    m = Model()
    y = [m.int_var(f"y{i}", 0, 100) for i in range(3)]
    m.add(y[0] * y[1] == 35, y[1] * y[2] == 77, y[0] < y[1] + 50)
    return m


def ruler() -> Model:
    m = Model()
    x = [m.int_var(f"x{i}", 0, 40) for i in range(7)]
    gaps = [b - a for a, b in itertools.combinations(x, 2)]
    m.add(x[0] == 0, *(a < b for a, b in itertools.pairwise(x)))
    m.add(*(a != b for a, b in itertools.combinations(gaps, 2)), x[1] * x[2] <= 40, x[3] * x[4] >= 50)
    return m


def is_right(name: str, r: Result) -> bool:
    """Whether an answer to one of these models is right."""
    values = tuple(r.values.values())
    if name == "differences":
        return r.status is Status.INFEASIBLE
    if name == "products":
        a, b, c = values
        return r.status is Status.OPTIMAL and a * b == 35 and b * c == 77 and a < b + 50
    return r.status is Status.OPTIMAL and r.objective == 25


ASKED = {"differences": differences, "products": products, "ruler": ruler}
WAYS = [
    {"engine": engine, "learn": learn} for engine in ("compiled", "interpreted") for learn in (True, False)
]


@pytest.mark.parametrize("seed", range(4))
def test_models_one_after_the_other_in_drawn_orders(filled: None, seed: int) -> None:
    """What solved one model must not be what the next is solved with."""
    calls = [(name, way) for name in ASKED for way in WAYS if way["engine"] == "compiled" or name != "ruler"]
    random.Random(seed).shuffle(calls)
    for name, way in calls:
        m = ASKED[name]()
        last = list(m.variables.values())[-1]
        r = m.solve(**({"minimize": last} if name == "ruler" else {}), **way)  # type: ignore[call-overload]
        assert is_right(name, r), (name, way, r)


def test_search_ends_once_there_is_a_fault() -> None:
    ls, st = learner(range(5))
    ls.scalar[FAULT] = 1
    assert loop.run(ls, st, 100) == BROKEN
