"""The number of values of a variable is exact after any narrowing and backtracking, in both engines."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from constrint import Brancher, Model, Status, all_different
from constrint.engine import making, native
from constrint.engine.select import ANY_VALUE, FEWEST, MOST, choose_value, select_between
from constrint.engine.state_arrays import WIDEST_BITSET, WIDEST_PLAIN_BITSET, Box, Branch, build, full, grow
from constrint.preparing.branching import VariableSelector
from constrint.preparing.options import Engine
from constrint.store.domains import (
    contains,
    member_count,
    pop_level,
    push_level,
    remove,
    set_class,
    set_hi,
    set_lo,
)
from constrint.store.state import CHANGED, EQUAL, LEVEL, State

COUNTED: tuple[VariableSelector, ...] = ("auto", "dom_deg", "dom_w_deg", "first_fail", "most_constrained")


def narrowed(st: State, v: int, kind: int, x: int, modulus: int) -> int:
    """Narrow a domain in one of four ways; twice the number of its values, and 1 if some are left."""
    holds = True
    if kind == 0:
        holds = set_lo(st, v, x)
    elif kind == 1:
        holds = set_hi(st, v, x)
    elif kind == 2:
        holds = remove(st, v, x)
    elif kind == 3:
        holds = set_class(st, v, modulus, x)
    return 2 * member_count(st, v) + int(holds)


def drawn_box(random: Random) -> Box:
    """Intervals, strides and explicit values, of all widths at which a domain has a bitset or none."""
    lo, hi, step, values = [], [], [], []
    for _ in range(6):
        first, stride = random.randint(-300, 300), random.choice([1, 1, 1, 2, 7])
        places = random.choice([3, 10, 62, 63, 100, WIDEST_PLAIN_BITSET, WIDEST_PLAIN_BITSET + 1, 300])
        listed = None
        if random.random() < 0.5:
            places = random.choice([places, WIDEST_BITSET])
            chosen = random.sample(range(places), min(places, random.choice([3, 60])))
            listed = tuple([first + stride * i for i in sorted({0, places - 1, *chosen})])
        lo.append(first)
        hi.append(first + stride * (places - 1))
        step.append(stride)
        values.append(listed)
    return Box(lo, hi, step, values)


def test_counts_are_those_of_the_values_and_equal_in_compiled_code() -> None:
    compiled = native.loaded(making.code_of(narrowed, "narrowed", checked=True), "narrowed")
    with_holes = 0
    for seed in range(50):
        random = Random(seed)
        state = build(drawn_box(random), [], Branch())
        for _ in range(60):
            level = state.scalar[LEVEL]
            while full(state):
                state = grow(state)
            if random.random() < 0.25:
                push_level(state, level)
                state.scalar[LEVEL] = level + 1
            elif level > 0 and random.random() < 0.2:
                pop_level(state, level - 1)
                state.scalar[LEVEL] = level - 1
            else:
                v, kind, modulus = (
                    random.randrange(6),
                    random.choice([0, 1, 2, 2, 2, 2, 3]),
                    random.choice([2, 3]),
                )
                lo, hi = state.lo[v], state.hi[v]
                x = random.choice([random.randint(lo, hi), lo + 1, hi - 1, (lo + hi) // 2])
                arrays = [np.array(cells, np.int64) for cells in state]
                told = narrowed(state, v, kind, x, modulus)
                assert compiled.bound(native.NativeStructure(arrays).address)(v, kind, x, modulus) == told
                assert [array.tolist() for array in arrays] == list(state), (seed, v, kind)
                if not told & 1:
                    break
                state.scalar[CHANGED] = 0
                state.dirty[v] = 0
            for v in range(6):
                held = [x for x in range(state.lo[v], state.hi[v] + 1) if contains(state, v, x)]
                assert member_count(state, v) == len(held), (seed, v)
                with_holes += len(held) <= (state.hi[v] - state.lo[v]) // state.step[v]
    assert with_holes > 700


def test_rules_count_values_where_the_search_made_holes() -> None:
    state = build(Box([0, 0], [9, 7], [1, 1], [None, None]), [], Branch((0, 1), (ANY_VALUE, 0), (1, 1)))
    assert select_between(state, 0, 2, FEWEST) == 1
    for x in (1, 2, 3, 4, 6, 8):
        assert remove(state, 0, x)
    assert select_between(state, 0, 2, FEWEST) == 0
    assert select_between(state, 0, 2, MOST) == 1
    drawn = set()
    for _ in range(100):
        choose_value(state, 0, 0)
        assert state.level_decision[0] == EQUAL
        drawn.add(state.level_value[0])
    assert drawn == {0, 5, 7, 9}


@pytest.mark.parametrize("selector", COUNTED)
@pytest.mark.parametrize("engine", ["interpreted", "compiled"])
def test_queens_are_placed_in_few_nodes(selector: VariableSelector, engine: Engine) -> None:
    """Widths instead of counts take over two million nodes."""
    Model().solve(engine=engine)  # waits for machine code, without a limit
    model = Model()
    queens = model.int_vars("q", 40, 0, 39)
    model.add(all_different(queens))
    for sign in (1, -1):
        model.add(all_different([queen + sign * i for i, queen in enumerate(queens)]))
    result = model.solve(branching=Brancher(selector, "min"), learn=False, engine=engine, time_limit=20)
    assert result.status is Status.OPTIMAL
    assert result.statistics.nodes < 200
