"""`workers=`: members of a portfolio side by side give the answers of one worker, the same at any speed."""

# mypy: disable-error-code="list-item"
from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from itertools import product
from math import inf
from typing import Any

import pytest
from drawn_job_shops import MT06, draw_jobs, job_shop, least_span
from goals import towards
from lowered import hasty as hasty_settings
from random_models import build, draw_model
from shared_models import endless

from constrint import InternalError, Model, Status, max_
from constrint.learning.clause_exchange import ClauseExchange, exchange_clauses
from constrint.learning.session import LearningRun
from constrint.preparing.options import Options
from constrint.preparing.prepared import Prepared
from constrint.preparing.search_protocol import Outcome, SearchStep, SearchTask
from constrint.search import rounds
from constrint.search.rounds import RoundGoal, Turn
from constrint.settings import DEFAULT, using
from constrint.support.deadline import Stopped

pytestmark = pytest.mark.timeout(900)  # the first use on a machine compiles


@pytest.fixture
def hasty(monkeypatch: Any) -> Iterator[None]:
    """Turns of a node, and of a few units of work, from the first node on."""
    # Small models are answered by tables before anyone searches.
    monkeypatch.setattr("constrint.search.descent.sweep", lambda *arguments: None)
    with using(hasty_settings(least_turn=3)):
        yield


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Sizes of the clauses that learning searches were told."""
    sizes: list[int] = []
    hear = ClauseExchange.hear

    def noted(self: Any, clauses: Any) -> None:
        sizes.extend(map(len, clauses))
        hear(self, clauses)

    monkeypatch.setattr(ClauseExchange, "hear", noted)
    return sizes


@pytest.mark.parametrize("workers", [2, 5])
def test_random_models_against_brute_force(hasty: None, heard: list[object], workers: Any) -> None:
    methods = set()
    for seed in range(83_000, 83_060):
        drawn = draw_model(seed)
        m = drawn.build()
        goal = build(drawn.objective, {**m.variables, **m.lets})
        solutions = drawn.solutions()
        worth = [value for s in solutions if (value := drawn.value(drawn.objective, s)) is not None]
        for direction, choose in (("minimize", min), ("maximize", max)):
            r = m.solve(**towards(direction, goal), workers=workers)
            assert r.objective == choose(worth, default=None), f"seed {seed}\n{drawn.text()}"
            assert r.status is (Status.OPTIMAL if worth else Status.INFEASIBLE), f"seed {seed}"
            methods.add(r.statistics.method)
        assert bool(m.solve(workers=workers)) == bool(solutions), f"seed {seed}\n{drawn.text()}"
    assert "portfolio" in methods
    assert workers == 2 or heard


@pytest.mark.parametrize("workers", [2, 4])
def test_job_shops(hasty: None, heard: list[object], workers: int) -> None:
    for seed in range(3):
        jobs = draw_jobs(seed, jobs=3, machines=3)
        r = job_shop(jobs).solve(workers=workers)
        assert (r.status, r.objective, r.bound) == (Status.OPTIMAL, least_span(jobs), least_span(jobs))
        assert r.statistics.method == "portfolio"
    assert 1 in heard


def test_the_answer_depends_on_neither_speed_nor_engine(hasty: None, monkeypatch: pytest.MonkeyPatch) -> None:
    start = Turn.start
    walks = []
    for engine, most, is_slow in (("auto", 20_000, False), ("auto", 50, True), ("compiled", 20_000, False)):

        def later(self: Any, is_slow: Any = is_slow) -> None:
            start(self)
            if is_slow:  # the first turns are nearly over before the last begin
                time.sleep(0.005)

        monkeypatch.setattr(Turn, "start", later)
        m = job_shop(draw_jobs(1, 6, 4))
        m.settings = hasty_settings(
            300,
            presolve={"least_tasks": 1 << 60},
            search={"slice": (most, most), "compiled_slice": (most, most)},
            learning={"slice": most, "compiled_slice": most},
        )
        s = (r := m.solve(engine=engine, workers=3)).statistics  # type: ignore[call-overload]
        assert s.method == "portfolio"
        walks.append((dict(r.values), s.nodes, s.failures, s.propagations, s.learned))
    assert walks[0] == walks[1] == walks[2]


def test_a_time_limit_gives_the_best_solution_and_a_bound() -> None:
    m, goal = endless()
    told: list[Any] = []
    before = threading.active_count()
    r = m.solve(maximize=goal, workers=2, time_limit=2.5, on_solution=told.append)
    assert r.status is Status.FEASIBLE
    assert r.objective == told[-1].objective == max(one.objective for one in told)
    assert r.bound >= r.objective
    assert threading.active_count() <= before + 1  # one may load machine code still


def test_ctrl_c_and_the_caller_end_it(hasty: None) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    m, goal = endless()
    for way in ("ctrl-c", "enough"):
        told: list[Any] = []

        def on_solution(result: Any, way: str = way, told: Any = told) -> Any:
            told.append(result)
            if len(told) < 2:
                return True
            if way == "ctrl-c":
                signal.raise_signal(signal.SIGINT)
            return False

        r = m.solve(maximize=goal, workers=2, on_solution=on_solution)
        assert (r.status, r.objective) == (Status.FEASIBLE, told[-1].objective)
        assert r.statistics.method in ("branching", "portfolio")


def test_what_interrupts_a_round_loses_no_solution(hasty: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while threads work: what they had found by then is the answer."""
    run = rounds.Round.run
    found: list[int] = []

    def interrupted(self: Any, watch: Any) -> Any:
        run(self, watch)
        found.extend(turn.found.cost for turn in self.turns if turn.found is not None)
        return KeyboardInterrupt() if found else None

    monkeypatch.setattr(rounds.Round, "run", interrupted)
    r = job_shop(MT06).solve(workers=2)
    assert r.status in (Status.FEASIBLE, Status.OPTIMAL)
    assert r.objective <= min(found)


FOUND = SearchStep(Outcome.FOUND, {})
PAUSED, STOPPED, GAVE_UP, EXHAUSTED = map(
    SearchStep, (Outcome.PAUSED, Outcome.STOPPED, Outcome.GAVE_UP, Outcome.EXHAUSTED)
)


class _Member:
    """A member of a round that does what it is told."""

    def __init__(self, *steps: Any) -> None:
        self.run, self.steps = self, list(steps)
        self.found = 0

    def next(self, checked: bool = True) -> Any:
        step = self.steps.pop(0)
        if isinstance(step, BaseException):
            raise step
        return step

    def goes_on(self) -> bool:
        return False

    def value(self, v: int) -> Any:
        return 7


def asked() -> RoundGoal:
    return rounds.RoundGoal((0, "min"), frozenset([0]), rounds.Deadline())  # type: ignore[attr-defined]


def test_failures_in_threads_are_told() -> None:
    with pytest.raises(ZeroDivisionError):
        rounds.Round([_Member(PAUSED), _Member(ZeroDivisionError())], asked()).run(None)
    stopped = rounds.Round([_Member(FOUND, STOPPED), _Member(GAVE_UP)], asked())
    assert isinstance(stopped.run(None), Stopped)
    assert [turn.end for turn in stopped.turns] == [STOPPED, GAVE_UP]
    assert stopped.turns[0].found is not None

    def enough() -> None:
        raise Stopped

    class Slow(_Member):
        def next(self, checked: bool = True) -> Any:
            try:
                while True:
                    time.sleep(0.001)
                    off.check()
            except Stopped:
                return STOPPED

    off = rounds.Round([Slow(), Slow()], asked())
    assert isinstance(off.run(enough), Stopped)


def test_a_proof_that_another_search_refutes_is_an_error() -> None:
    from constrint.search.threaded_portfolio import _is_proven

    wrong = rounds.Round([_Member(EXHAUSTED), _Member(FOUND, PAUSED)], asked())
    wrong.run(None)
    with pytest.raises(InternalError, match="one search has proven"):
        _is_proven(wrong.turns[0], 9, wrong.turns[1].found)
    assert _is_proven(wrong.turns[0], 7, wrong.turns[1].found)
    assert not _is_proven(wrong.turns[1], 9, None)


def learner(m: Model, goals: Any = (), seed: int = 0) -> LearningRun:
    prepared = Prepared(m, goals, ())
    assert prepared.root is not None
    options = Options(seed=seed, engine="interpreted")
    goal = prepared.goals[0] if goals else None
    return LearningRun(SearchTask(prepared, prepared.root, options, 0.0, goal), exchanges=True)


def test_what_searches_tell_holds_in_all_better_solutions() -> None:
    checked = 0
    for seed in range(85_000, 85_120):
        drawn = draw_model(seed)
        m = drawn.build()
        goal = build(drawn.objective, {**m.variables, **m.lets})
        root = Prepared(m, [(goal, "min")], ()).root
        if root is None or root.exact:
            continue
        searches = [learner(m, [(goal, "min")], seed) for seed in range(2)]
        numbers = {v: str(variable) for variable, v in searches[0].prepared.variables.items()}
        worth = [
            (s, value) for s in drawn.solutions() if (value := drawn.value(drawn.objective, s)) is not None
        ]
        best = inf
        while not any(search._is_over for search in searches):
            for search in searches:
                search.allowed = 5
                if (found := search.next().found) is not None:
                    best = min(best, goal.evaluate(found))
                    for each in searches:
                        each.demand_better(search.value(search.prepared.goals[0][0]))
                for clause in [*search.exchange._short, *search.exchange.exported(search._ls)]:  # type: ignore[union-attr]
                    if all(b >> 1 in numbers for b, _ in clause):
                        checked += 1
                        for solution, value in worth:
                            holds = ((-1 if b & 1 else 1) * solution[numbers[b >> 1]] >= k for b, k in clause)
                            assert value >= best or any(holds), f"seed {seed}: {clause}\n{drawn.text()}"
            exchange_clauses(searches)
        assert best == min((value for _, value in worth), default=inf)
    assert checked > 20


def test_an_inbox_is_filled_as_often_as_it_has_room() -> None:
    """Clauses that say all of the problem decide it."""
    for left in product((0, 1), repeat=3):
        m = Model()
        xs = m.bool_vars("x", 3)
        m.add(xs[0] + xs[1] + xs[2] <= 3)
        search = learner(m)
        numbers = [search.prepared.variables[x] for x in xs]
        assert search.exchange is not None
        search.exchange.hear(
            tuple((2 * v + 1, 0) if value else (2 * v, 1) for v, value in zip(numbers, point, strict=True))
            for point in product((0, 1), repeat=3)
            if point != left
        )
        assert search.next().found == dict(zip(xs, left, strict=True))
    m.settings = DEFAULT.with_fields(learning={"inbox_cells": 8})
    search = learner(m)
    a, b, c = (2 * v for v in numbers)
    assert search.exchange is not None
    search.exchange.hear([((a + 1, 0), (b, 1)), ((a, 1),), ((b + 1, 0), (c, 1)), ((c + 1, 0),)])
    search.allowed = 0
    assert search.next() == PAUSED
    for _ in range(2):  # each time there is room for two clauses
        assert search.exchange is not None
        search.exchange.fill(search._ls)
        search.allowed = 1
        assert search.next() in (PAUSED, EXHAUSTED)
    assert search._is_over


def test_what_one_worker_proves_at_once_starts_no_other_member(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("constrint.search.descent.sweep", lambda *arguments: None)
    found = []
    for workers in (1, 2):
        model = Model()
        boxes = model.int_vars("box", 14, 0, 6)
        for i, j in product(range(14), repeat=2):
            if i < j and (i * j) % 3 == 1:
                model.add(boxes[i] != boxes[j])
        found.append(model.solve(minimize=max_(boxes), workers=workers))
    one, two = found
    assert one.status is two.status is Status.OPTIMAL
    assert one.objective == two.objective
    assert one.statistics.method == two.statistics.method == "branching"
    assert two.statistics.nodes == one.statistics.nodes
