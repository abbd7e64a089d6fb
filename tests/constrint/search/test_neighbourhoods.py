"""Large neighbourhoods led by a linear relaxation: what is kept, what is tried first, and the same optima."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from random import Random
from time import perf_counter
from typing import Any

import numpy as np
import pytest
from goals import towards
from lowered import hasty
from stepping_clock import Clock

from constrint import Model, Status, element, sum_
from constrint.answers.search_arguments import options_of
from constrint.engine.select import AS_BEST
from constrint.engine.state_arrays import Box, Branch
from constrint.engine.state_arrays import build as build_state
from constrint.modelling.objectives import as_goals
from constrint.preparing.prepared import Prepared
from constrint.preparing.search_protocol import Outcome, SearchTask
from constrint.relaxation.columns import Columns
from constrint.relaxation.highs import has_highs
from constrint.relaxation.point import Point
from constrint.search.admission import MemberMaker
from constrint.search.depth_first import DepthFirstRun
from constrint.search.lns import Neighbourhoods
from constrint.search.relaxed import RelaxedRun, relaxed_run
from constrint.settings import DEFAULT, NeighbourhoodSettings, using
from constrint.store.state import FLOOR, GOAL, HAS_PHASE, State

COUNT = 8
RULES = NeighbourhoodSettings(whole_every=1000)
SHORT = DEFAULT.with_fields(neighbourhoods={"failures": 3, "failures_of_whole": 4})
needs_highs = pytest.mark.skipif(not has_highs(), reason="needs HiGHS")


@pytest.fixture
def state() -> State:
    box = Box([0] * COUNT, [9] * COUNT, [1] * COUNT, [None] * COUNT)
    begun = build_state(box, [], Branch(list(range(COUNT)), [AS_BEST] * COUNT), 1 << 60)
    begun.scalar[GOAL] = 1
    return begun


def point_of(*values: float) -> Point:
    """An optimum with these values of the first variables."""
    columns = Columns(Box([0] * COUNT, [9] * COUNT, [1] * COUNT, [None] * COUNT), [], 100)
    for v in range(len(values)):
        columns.of(v)
    return Point(columns, values)


def led(state: State) -> Neighbourhoods:
    """Neighbourhoods that are all led by the relaxation."""
    found = Neighbourhoods(0, [[]] * COUNT, [0] * COUNT, RULES)
    found.begin(state)
    found._ways = []
    return found


def test_what_agrees_is_kept_and_the_others_try_the_relaxation(state: State) -> None:
    around = led(state)
    best = [1, 2, 3, 4, 5, 6, 7, 8]
    state.phase[:] = best
    state.scalar[HAS_PHASE] = 1
    around.lead(point_of(1, 2, 3.4, 9, 5, 6, 7))
    around.cut(state)
    assert state.keep == [1, 1, 0, 0, 1, 1, 1, 1]
    assert state.phase == [1, 2, 3, 9, 5, 6, 7, 8]
    around.lead(point_of(*best))  # all agree: some are drawn, and the best values are back
    around.cut(state)
    assert (state.keep.count(0), state.phase) == (2, best)


def test_values_that_were_tried_do_not_come_back_after_a_better_solution(state: State) -> None:
    around = led(state)
    state.phase[:] = [1] * COUNT
    state.scalar[HAS_PHASE] = 1
    around.lead(point_of(*[5] * COUNT))
    for tell in (around.solved, around.followed):
        around._led.share = RULES.first_share / 2
        around.cut(state)
        assert 5 in state.phase
        state.phase[:] = [2] * COUNT
        tell()
        around._restore(state)
        assert state.phase == [2] * COUNT


def test_without_a_solution_what_is_integral_is_kept(state: State) -> None:
    around = led(state)
    around.lead(point_of(1, 2.5, 3, 4.25, 5, 6))
    around.cut(state)
    assert state.keep == [1, 0, 1, 0, 1, 1, 1, 1]
    assert state.phase == [1, 2, 3, 4, 5, 6, 0, 0]
    around.lead(point_of(9, 9, 9, 9.5, 9, 9))
    around.cut(state)
    assert state.phase[:3] == [9, 9, 9]
    state.phase[:] = [7] * COUNT
    around.followed()
    around.lead(point_of(*[7] * COUNT))
    around.cut(state)
    assert state.phase == [7] * COUNT


def unled(state: State, way: str, **given: Any) -> Neighbourhoods:
    """Neighbourhoods without a relaxation, all of one kind."""
    found = Neighbourhoods(0, given.get("reached", [[]] * COUNT), given.get("better", [0] * COUNT), RULES)
    found.begin(state)
    found._ways = [kept for kept in found._ways if kept.order.__name__ == way]
    state.phase[:] = [1] * COUNT
    state.scalar[HAS_PHASE] = 1
    return found


def test_variables_of_the_same_constraints_are_searched_together(state: State) -> None:
    reached = [[0, place % 2 + 1] for place in range(COUNT)]
    around = unled(state, "_connected", reached=reached)
    around._ways[0].share = 4 / COUNT / RULES.smaller
    for _ in range(10):
        around._ways[0].share = 4 / COUNT / RULES.smaller
        around.cut(state)
        searched = {place for place, kept in enumerate(state.keep) if not kept}
        assert searched in ({0, 2, 4, 6}, {1, 3, 5, 7})


def test_terms_far_from_their_better_end_are_searched_more_often(state: State) -> None:
    around = unled(state, "_towards_goal", better=[1, -1] * (COUNT // 2))
    state.phase[:] = [
        0,
        9,
        0,
        9,
        9,
        0,
        0,
        9,
    ]  # places 4 and 5 are at the worse ends, the others at the better
    searched = [0] * COUNT
    for _ in range(50):
        around._ways[0].share = 2 / COUNT / RULES.smaller
        around.cut(state)
        assert state.keep.count(0) == 2
        searched = [times + 1 - kept for times, kept in zip(searched, state.keep, strict=True)]
    assert min(searched[4:6]) > 35
    assert max(searched[:4] + searched[6:]) < 15


def test_random_neighbourhoods_grow_when_exhausted_and_shrink_when_cut(state: State) -> None:
    around = unled(state, "_at_random")
    (way,) = around._ways
    around.cut(state)
    sizes, drawn_places = [], set()
    for step in (around.exhausted, around.cut):
        for _ in range(12):
            state.scalar[FLOOR] = 1
            step(state)
            sizes.append(state.keep.count(0))
            drawn_places.add(tuple(state.keep))
    assert sizes[0] == 2
    assert max(sizes) > 4
    assert sizes[-1] < max(sizes)
    assert len(drawn_places) > 10
    assert 0 < way.share <= 1


def test_kinds_that_find_better_solutions_are_chosen_more_often(state: State) -> None:
    around = Neighbourhoods(1, [[]] * COUNT, [0] * COUNT, RULES)
    around.begin(state)
    state.phase[:] = [1] * COUNT
    state.scalar[HAS_PHASE] = 1
    around.lead(point_of(*[2] * COUNT))
    chosen = []
    for _ in range(200):
        around._led.share = RULES.first_share / 2  # a share that leaves something to keep
        around.cut(state)
        assert around._way is not None
        name = around._way.order.__name__
        chosen.append(name)
        if name == "_towards_goal":
            around.solved()
    kinds = {"_at_random", "_connected", "_towards_goal", "_by_relaxation"}
    assert set(chosen) == kinds  # none dies out
    assert chosen.count("_towards_goal") > 100


# Whole searches


def drawn(seed: int, count: int = 9) -> tuple[Model, Any, str, int | None]:
    """A knapsack of several rows over 0/1, holed and looked-up variables; its goal, direction and optimum."""
    r = Random(seed)
    m = Model()
    domains = [r.choice(([0, 1], [0, 1], [0, 2, 3], [-1, 0, 3])) for _ in range(count)]
    xs = [m.int_var(f"x{i}", values=domain) for i, domain in enumerate(domains)]
    points = np.array(list(itertools.product(*domains)))
    holds = np.ones(len(points), bool)
    for _ in range(r.randint(3, 6)):
        row = [r.randint(5, 60) for _ in xs]
        least = r.choice((0, 0, 0, sum(row) // 3))
        most = sum(row) // 3 + r.choice((3, 40))
        total = sum_(a * x for a, x in zip(row, xs, strict=True))
        m.add(total >= least, total <= most)
        holds &= (points @ row >= least) & (points @ row <= most)
    goal, worth = 0, np.zeros(len(points), np.int64)
    for i, (x, domain) in enumerate(zip(xs, domains, strict=True)):
        cost = [r.randint(-30, 30) for _ in range(4)]
        if min(domain) == 0 and r.random() < 0.5:
            goal, worth = goal + element(cost, x), worth + np.array(cost)[points[:, i]]  # type: ignore[assignment]
        else:
            goal, worth = goal + cost[0] * x, worth + cost[0] * points[:, i]  # type: ignore[assignment]
    direction, best = r.choice((("minimize", min), ("maximize", max)))
    return m, goal, direction, best(map(int, worth[holds]), default=None)


def optimum_of(
    m: Model, goal: Any, direction: str, is_led: bool = True, seed: int = 0
) -> tuple[int | None, list[tuple[int, ...]]]:
    """The best value found by neighbourhoods alone, and all that was found, in order."""
    m.settings = SHORT
    prepared = Prepared(m, as_goals([(goal, direction[:3])]), [])  # type: ignore[list-item]
    if prepared.root is None:
        return None, []
    options = options_of(engine="interpreted", lns=True, has_goal=True, seed=seed)
    v = prepared.goals[0][0]
    scale, constant = prepared.scales.get(v, (1, 0))
    root, started = prepared.root, perf_counter()
    task = SearchTask(prepared, root, options, started, prepared.goals[0])
    guide = relaxed_run(task) if is_led else None
    run = DepthFirstRun(task)
    best, found = None, []  # type: ignore[var-annotated]
    while True:
        if isinstance(guide, RelaxedRun):
            guide.allowed = 1
            if guide.next().outcome is Outcome.PAUSED:
                run.lead(guide.point)  # type: ignore[arg-type]
        solution = run.next().found
        if solution is None:
            return best, found
        best = scale * run.value(v) + constant
        found.append((best, *solution.values()))


@needs_highs
def test_drawn_programs_against_brute_force(monkeypatch: pytest.MonkeyPatch) -> None:
    way = Neighbourhoods._by_relaxation
    used = []
    monkeypatch.setattr(
        Neighbourhoods,
        "_by_relaxation",
        lambda self: (used.append(self._has_best), way(self))[1],  # type: ignore[func-returns-value]
    )
    for seed in range(60):
        m, goal, direction, best = drawn(seed)
        assert optimum_of(m, goal, direction)[0] == best, f"seed {seed}"
    assert min(used.count(True), used.count(False)) > 100


@pytest.mark.parametrize("is_led", [pytest.param(True, marks=needs_highs), False])
def test_neighbourhoods_depend_on_the_seed_alone(is_led: bool) -> None:
    differ = 0
    for number in range(12):
        runs = [optimum_of(*drawn(number)[:3], is_led, seed) for seed in (1, 1, 2)]
        assert runs[0] == runs[1]
        assert runs[0][0] == runs[2][0] == drawn(number)[3]
        differ += runs[0] != runs[2]
    assert differ > 0 or is_led  # led ones find all of so small a model in their first neighbourhoods


def cover(seed: int) -> tuple[Model, Any]:
    """Sets that cover elements, at the least cost."""
    r = Random(seed)
    m = Model()
    x = m.bool_vars("x", 60)
    for _ in range(30):
        m.add(sum_(x[j] for j in r.sample(range(60), 5)) >= 1)
    return m, sum_(r.randint(1, 30) * v for v in x)


@pytest.fixture
def turns() -> Iterator[None]:
    """Portfolios whose members take turns at once."""
    portfolio = {
        "alone": 20,
        "weight_of_lns": 50.0,
        "on_others": 0.01,
        "units_of_program": 1.0,
        "nodes_of_turn": 4,
    }
    near = {"failures": 2, "failures_of_whole": 2}
    with using(hasty(least_turn=50, portfolio=portfolio, neighbourhoods=near)):
        yield


@needs_highs
def test_portfolios_with_led_neighbourhoods_against_brute_force(
    monkeypatch: pytest.MonkeyPatch, turns: None
) -> None:
    lead, told = DepthFirstRun.lead, []
    monkeypatch.setattr(DepthFirstRun, "lead", lambda self, point: (told.append(point), lead(self, point))[1])  # type: ignore[func-returns-value]
    for seed in range(40):
        m, goal, direction, best = drawn(seed, 11)
        r = m.solve(**towards(direction, goal), engine="interpreted")
        assert (r.status, r.objective) == (Status.INFEASIBLE if best is None else Status.OPTIMAL, best), seed
    assert len(told) > 10


@needs_highs
def test_a_relaxation_that_had_no_turn_yet_stays(monkeypatch: pytest.MonkeyPatch, turns: None) -> None:
    """The local search joins earlier, and its turn may come before that of the relaxation."""
    joined = []
    run = MemberMaker.relaxation
    monkeypatch.setattr(MemberMaker, "relaxation", lambda self: (joined.append(run(self)), joined[-1])[1])  # type: ignore[func-returns-value]
    m, goal = cover(3)
    m.solve(minimize=goal, engine="interpreted")
    (member,) = joined
    assert member.spent > 0  # type: ignore[union-attr]


@needs_highs
def test_the_answer_depends_on_the_seed_alone_and_a_limit_keeps_the_best_solution(
    monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    given = hasty(least_turn=500, portfolio={"alone": 100, "nodes_of_turn": DEFAULT.portfolio.nodes_of_turn})
    lead, led_at = DepthFirstRun.lead, []
    monkeypatch.setattr(
        DepthFirstRun,
        "lead",
        lambda self, point: (led_at.append(point), lead(self, point))[1],  # type: ignore[func-returns-value]
    )
    answers = []
    for _ in range(2):
        m, goal = cover(3)
        m.settings = given
        r = m.solve(minimize=goal, engine="interpreted", seed=5)
        answers.append((dict(r.values), r.objective, r.statistics.nodes, r.statistics.failures))
    assert answers[0] == answers[1]
    assert led_at
    m, goal = cover(3)
    m.settings = given
    told: list[Any] = []
    r = m.solve(minimize=goal, engine="interpreted", time_limit=150, on_solution=told.append)
    assert r.status in (Status.FEASIBLE, Status.OPTIMAL)
    assert r.objective == told[-1].objective >= answers[0][1]


def test_a_neighbourhood_with_a_better_solution_does_not_shrink_when_cut(state: State) -> None:
    around = unled(state, "_at_random")
    (way,) = around._ways
    way.share = 0.5
    around.cut(state)
    before = way.share
    around.solved()
    around.cut(state)
    assert way.share == before
    around.cut(state)
    assert way.share < before
