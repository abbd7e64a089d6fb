"""Parts compiled by several processes and loaded into one: each keeps its own functions."""

from __future__ import annotations

import itertools
import json
import random
import re

import pytest
from learners import learner

from constrint import Model, Result, Status
from constrint.engine import cache, native
from constrint.errors import InternalError
from constrint.learning import loop
from constrint.learning.layout import BROKEN, FAULT

pytestmark = pytest.mark.timeout(900)  # the first use on a machine compiles


def symbols(part: str) -> set[str]:
    """The names of all functions of ours in a part's machine code."""
    code = cache.read(part)
    assert code is not None
    return {name.decode() for name in re.findall(rb"_ZN9constrint\w+", code)}


def word(part: str) -> str:
    """How a part's name stands in the names of its functions."""
    name = part.replace("-", "_")
    return f"{len(name)}{name}"


@pytest.mark.parametrize("part", cache.PARTS)
def test_every_function_of_a_part_says_so_in_its_name(filled, part):
    found = symbols(part)
    own = [name for name in found if word(part) in name]
    assert len(own) > (10 if part == "jumps" else 40)
    # `dispatch` is compiled once, and becomes a part of what calls it.
    others = [name for name in found if word(part) not in name and word("dispatch") not in name]
    assert others == []
    assert part != "learn-sums" or len(own) == len(found)


def test_no_two_parts_share_a_function(filled):
    for one, other in itertools.combinations(cache.PARTS, 2):
        shared = symbols(one) & symbols(other)
        assert [name for name in shared if word("dispatch") not in name] == []


def test_all_parts_are_loaded_side_by_side(filled):
    """Each runs at its own address, whatever the process has loaded before."""
    from constrint.engine.making import DISPATCH, dispatch_twin

    addresses = []
    for part in set(cache.PARTS) - {"dispatch"}:
        head, _, code = cache.read(part).partition(b"\n")
        about = json.loads(head)
        assert word(part) in about["symbol"]
        addresses.append(native._linked(about["symbol"], about["externals"], code))
    result = dispatch_twin().overloads[tuple(DISPATCH.args)]
    assert word("dispatch") in result.fndesc.mangled_name
    addresses.append(result.library.get_pointer_to_function(result.fndesc.llvm_cpython_wrapper_name))
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
def test_models_one_after_the_other_in_drawn_orders(filled, seed):
    """What solved one model must not be what the next is solved with."""
    calls = [(name, way) for name in ASKED for way in WAYS if way["engine"] == "compiled" or name != "ruler"]
    random.Random(seed).shuffle(calls)
    for name, way in calls:
        m = ASKED[name]()
        last = list(m.variables.values())[-1]
        r = m.solve(**({"minimize": last} if name == "ruler" else {}), **way)
        assert is_right(name, r), (name, way, r)


# ---------------------------------------------------------------- the stub


def test_a_stub_that_is_called_is_no_answer(monkeypatch):
    from constrint.learning.making import no_propagator

    monkeypatch.setattr(loop, "run_propagator", no_propagator)
    with pytest.raises(InternalError, match="compiled without"):
        products().solve(learn=True, engine="interpreted")


def test_a_stub_that_is_called_is_no_answer_compiled(filled, monkeypatch):
    """The version without kernels is made to search a model that has some."""
    from constrint.learning import compiled

    run = compiled._run(has_propagators=False)
    monkeypatch.setattr(compiled, "_run", lambda has_propagators: run)
    for goal in ({}, {"minimize": "y0"}, {"maximize": "y1"}):
        m = products()
        named = {way: m.variables[name] for way, name in goal.items()}
        with pytest.raises(InternalError, match="compiled without"):
            m.solve(learn=True, engine="compiled", **named)


def test_search_ends_once_there_is_a_fault():
    ls, st = learner(range(5))
    ls.scalar[FAULT] = 1
    assert loop.run(ls, st, 100) == BROKEN
