"""Time limits, with a clock that advances by a second at each check: every phase checks, and stops."""

from __future__ import annotations

import contextlib
import itertools
import sys
from collections.abc import Callable
from typing import Any

import pytest
from drawn_job_shops import draw_jobs, job_shop
from stepping_clock import Clock

from constrint import (
    IntExpr,
    LimitError,
    Model,
    Status,
    all_different,
    max_,
    sum_,
    table,
)
from constrint.preparing.options import Options
from constrint.preparing.prepared import Prepared
from constrint.search import easy, sliced
from constrint.settings import DEFAULT
from constrint.support import deadline
from constrint.support.deadline import Deadline, Pace, Stopped
from constrint.tuning.spaces import from_tune_params


@pytest.fixture
def stops(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The functions that met the deadline."""
    met = []
    check = Deadline.check

    def noted(self: Any) -> None:
        try:
            check(self)
        except Stopped:
            met.append(sys._getframe(1).f_code.co_qualname)
            raise

    monkeypatch.setattr(Deadline, "check", noted)
    return met


def shop() -> Model:
    m = job_shop(draw_jobs(4, 3, 3))
    xs = [m.int_var(f"x{i}", 0, 9) for i in range(10)]
    m.add(all_different(xs), sum_((i + 1) * x for i, x in enumerate(xs)) % 7 == 3)
    return m


@pytest.mark.parametrize("learn", [True, False])
def test_every_phase_looks_at_the_clock(clock: Clock, stops: list[object], learn: bool) -> None:
    limit = 0
    while True:
        clock.looks = 0
        r = shop().solve(learn=learn, engine="interpreted", time_limit=limit)
        if r.status is Status.OPTIMAL:
            break
        assert r.status in (Status.UNKNOWN, Status.FEASIBLE)
        assert limit <= clock.looks <= limit + 8
        limit += 1 + limit // 16
    phases = {"Prepared._lower", "_propagate", "Stepper._limit"}
    if learn:
        phases = {"Prepared._lower", "_propagate", "Decomposition.__init__", "NormalTranslation.__init__"}
        phases.add("LearningRun._next")
    assert phases <= set(stops)


def wide_cover(n: int = 40) -> tuple[Model, Any]:
    """0/1 variables and triples of them; all ones is a solution."""
    m = Model()
    x = [m.int_var(f"x{i}", 0, 1) for i in range(n)]
    m.add(*[x[i] + x[(7 * i + 1) % n] + x[(3 * i + 2) % n] >= 1 for i in range(n)])
    return m, sum_(x)


def many_kinds() -> tuple[Model, Any]:
    """A model with tables, products, extremes, permutations and conditions."""
    m = Model()
    x = [m.int_var(f"x{i}", 0, 12) for i in range(6)]
    m.add(table(x[:3], {(a, b, (a * b) % 13) for a in range(13) for b in range(13)}))
    m.add(x[0] * x[3] + x[4] <= 80, all_different(x), (x[1] > 3) | (x[2] % 5 == x[5] % 3))
    return m, max_(x[0], x[4]) + abs(x[1] - x[5])


def outcome(call: Callable[..., Any], model: Any, goal: IntExpr, limit: int) -> Any:
    """What an entry point says under a limit; whatever it is, it ends."""
    try:
        return call(model, goal, limit)
    except LimitError:
        return None


ENTRIES = {
    "best": lambda m, g, t: m.solve(minimize=g, time_limit=t, engine="interpreted"),
    "sweep": lambda m, g, t: m.solve(minimize=g, time_limit=t),
    "learn": lambda m, g, t: m.solve(minimize=g, time_limit=t, learn=True, engine="interpreted"),
    "lns": lambda m, g, t: m.solve(minimize=g, time_limit=t, lns=True, engine="interpreted"),
    "list": lambda m, g, t: list(m.iter_solutions(5, time_limit=t, engine="interpreted")),
    "count": lambda m, g, t: m.count(time_limit=t),
    "set": lambda m, g, t: m.solutions(time_limit=t).size,
    "pareto": lambda m, g, t: m.pareto([(g, "min"), (next(iter(m.variables.values())), "max")], time_limit=t),
    "explain": lambda m, g, t: m.explain(assumptions=[g <= -5], time_limit=t),
}


@pytest.mark.parametrize("made", [wide_cover, many_kinds], ids=lambda made: made.__name__)
@pytest.mark.parametrize("entry", ENTRIES)
def test_every_entry_point_ends_soon_after_its_limit(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, entry: str, made: Callable[..., Any]
) -> None:
    """The clock moves on by a second at each look: so many looks after the limit, each call has ended."""
    for module in (
        "answers.several",
        "answers.pareto",
        "answers.assumptions",
        "model",
        "diagrams.planner",
        "diagrams.layers",
        "diagrams.wide",
    ):
        monkeypatch.setattr(f"constrint.{module}.perf_counter", clock)
    for limit in (1, 5, 20, 60, 150, 400):
        model, goal = made()
        clock.looks = 0
        outcome(ENTRIES[entry], model, goal, limit)
        assert clock.looks <= limit + 12, limit


@pytest.mark.parametrize("entry", ["best", "learn", "set"])
def test_work_between_two_looks_is_bounded(clock: Clock, monkeypatch: pytest.MonkeyPatch, entry: Any) -> None:
    """Lowering, root, planner and learner look at the clock after so many calls of functions, at most."""
    # By this clock every slice of a search seems long, so that all of them are as short as they can be.
    most = Counted.longest(monkeypatch, lambda: outcome(ENTRIES[entry], *wide_cover(300), 6000))
    assert most < 15_000


class Counted:
    """Counts the calls of functions between two looks at the clock."""

    @staticmethod
    def longest(monkeypatch: pytest.MonkeyPatch, run: Any) -> int:
        since, most = 0, 0
        look_at = Deadline.check

        def check(self: Any) -> None:
            nonlocal since
            since = 0
            look_at(self)

        def called(frame: Any, event: Any, arg: Any) -> None:
            nonlocal since, most
            if event == "call":
                since += 1
                most = max(most, since)

        monkeypatch.setattr(Deadline, "check", check)
        run()  # what is loaded at first use is no work of a call
        since = most = 0
        sys.setprofile(called)
        try:
            run()
        finally:
            sys.setprofile(None)
        return most


def test_a_limit_that_ends_a_call_leaves_a_solution_that_is_easy_to_find(clock: Clock) -> None:
    for n in (40, 700):
        model, goal = wide_cover(n)
        clock.looks = 0  # the limit comes in the midst of lowering
        told: list[Any] = []
        r = model.solve(minimize=goal, time_limit=n + 20, on_solution=lambda r, told=told: told.append(r))  # type: ignore[misc]
        assert r.status is Status.FEASIBLE
        assert r.objective == n
        assert [one.objective for one in told] == [n]


def test_an_easy_solution_satisfies_all_or_is_none() -> None:
    m = Model()
    x = [m.int_var(f"x{i}", 0, 3) for i in range(3)]
    m.let("half", x[0] // x[1])
    m.add(sum_(x) >= 9)
    found = easy.at_an_end(m, [])
    assert found is not None
    assert set(found.values()) == {3}
    m.add(x[0] != x[1])
    assert easy.at_an_end(m, []) is None


def test_a_dive_finds_what_ends_do_not() -> None:
    m = Model()
    m.settings = DEFAULT.with_fields(search={"small": 20})
    n = 30
    x = [m.int_var(f"x{i}", 0, n) for i in range(n)]
    m.add(
        *[b >= a + 1 for a, b in itertools.pairwise(x)], *[a + b != 3 * n for a, b in itertools.pairwise(x)]
    )
    prepared = Prepared(m, [(x[-1], "min")], [])
    assert prepared.root is not None
    assert not easy.is_small(prepared.variables, prepared.root.propagators, m.settings.search)
    assert easy.at_an_end(m, []) is None
    with deadline.until(Deadline(1e6)):
        assert prepared.root is not None
        found = easy.by_diving(prepared, prepared.root, Options(engine="interpreted"))
    assert found is not None
    assert all(constraint.expr.evaluate(found) for constraint in m.constraints)


def test_slices_grow_while_they_are_short_and_shrink_where_they_are_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    times = iter([0.0, 0.001, 0.001, 0.002, 0.01, 0.02, 1.0, 1.1, 2.0, 2.5, 3.0, 3.9])
    monkeypatch.setattr(deadline, "perf_counter", lambda: next(times))
    pace, works = Pace(20_000, Deadline(1e9, 0.0)), []
    for _ in range(6):
        works.append(pace.work)
        pace.begin()
        pace.end()
    assert works == [1, 4, 16, 64, 16, 4]
    assert pace.work == 1


def test_slices_that_end_early_are_judged_by_their_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search that finds one solution after the other would otherwise never look at the clock."""
    times = iter([0.0, 0.001, 1.0, 1.001, 2.0, 2.02, 3.0, 3.001])
    monkeypatch.setattr(deadline, "perf_counter", lambda: next(times))
    pace = Pace(20_000, Deadline())
    assert pace.work == 500
    works = []
    for done in (500, 10, 400, 2000):
        pace.begin()
        pace.end(done)
        works.append(pace.work)
    # Whole: four times as much. A 200th of it in 1 ms: too much. 400 of 500 in 20 ms: right.
    assert works == [2000, 500, 500, 2000]


def test_a_deadline() -> None:
    assert Deadline().left == float("inf")
    Deadline().check()
    late = Deadline(1.0, started=0.0)
    assert late.is_set
    assert late.left < 0
    with pytest.raises(Stopped):
        late.check()


# ---------------------------------------------------------------- compiling in another process


def labels(n: int) -> tuple[dict[str, list[Any]], list[object]]:
    """Parameters of texts that are compared with each other."""
    return {name: [f"{i}" for i in range(n)] for name in "abc"}, ["a == b", "b != c"]


def many_restrictions(n: int) -> tuple[dict[str, list[Any]], list[object]]:
    """Restrictions that each leave much."""
    names = "abcdef"
    texts = [f"{names[i % 6]} * {names[(5 * i + 1) % 6]} + {i} <= {i + 40 + i % 9}" for i in range(n)]
    return {name: list(range(1, 9)) for name in names}, texts  # type: ignore[return-value]


def callables(n: int) -> tuple[dict[str, list[Any]], list[object]]:
    """A callable that is called for each combination of values."""
    return {name: list(range(n)) for name in "abc"}, [lambda p: hash((p["a"], p["b"], p["c"])) % 3 == 0]


@pytest.mark.parametrize("made", [labels, many_restrictions, callables], ids=lambda made: made.__name__)
def test_spaces_of_tuners_end_soon_after_their_limit(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, made: Callable[..., Any]
) -> None:
    parameters, restrictions = made(12)
    from_tune_params(parameters, restrictions)
    for module in ("tuning.spaces", "tuning.diagnostics", "diagrams.layers"):
        monkeypatch.setattr(f"constrint.{module}.perf_counter", clock)
    for limit in (1, 5, 20, 60, 150, 400):
        clock.looks = 0
        with contextlib.suppress(LimitError):
            from_tune_params(parameters, restrictions, time_limit=limit)
        assert clock.looks <= limit + 12, limit


@pytest.mark.parametrize("made", [labels, many_restrictions, callables], ids=lambda made: made.__name__)
def test_work_between_two_looks_is_bounded_in_spaces_of_tuners(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, made: Callable[..., Any]
) -> None:
    parameters, restrictions = made(40)

    def build() -> None:
        with contextlib.suppress(LimitError):
            from_tune_params(parameters, restrictions, time_limit=10**9)

    assert Counted.longest(monkeypatch, build) < 2_000


def free(n: int) -> Model:
    """Variables without constraints."""
    m = Model()
    for i in range(n):
        m.int_var(f"x{i}", 0, 1)
    return m


def chain(n: int) -> Model:
    """Few conditions of two variables each, and many variables that are free."""
    m = free(n)
    x = list(m.variables.values())
    m.add(*[x[i] + x[i + 1] <= 1 for i in range(20)])
    return m


@pytest.mark.parametrize("made", [free, chain], ids=lambda made: made.__name__)
def test_the_planner_is_linear_in_the_number_of_variables(
    monkeypatch: pytest.MonkeyPatch, made: Callable[..., Any]
) -> None:
    """Twice as many variables run about twice as many lines, not four times."""
    made(30).solutions()
    small, large = (lines_run(made(n).solutions) for n in (300, 600))
    assert large < 2.5 * small


def lines_run(call: Callable[..., Any]) -> int:
    """How many lines of Python a call runs, each turn of a comprehension counted."""
    count = 0

    def traced(frame: Any, event: Any, arg: Any) -> Any:
        nonlocal count
        count += event == "line"
        return traced

    sys.settrace(traced)
    try:
        call()
    finally:
        sys.settrace(None)
    return count


def test_slices_of_long_propagators_are_short_where_little_time_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One propagator of many terms runs no oftener in a slice than the time that is left allows."""
    runs = []
    run = sliced.dfs.run  # type: ignore[attr-defined]

    def noted(state: Any, nodes: Any, propagations: Any) -> Any:
        runs.append((propagations, stepper_of[0]))
        return run(state, nodes, propagations)

    stepper_of = [0.0]
    in_time = sliced.Stepper._in_time

    def with_left(self: Any) -> Any:
        stepper_of[0] = self._limits.deadline.left
        return in_time(self)

    monkeypatch.setattr(sliced.dfs, "run", noted)  # type: ignore[attr-defined]
    monkeypatch.setattr(sliced.Stepper, "_in_time", with_left)
    model = Model()
    model.settings = DEFAULT.with_fields(search={"longest_sum": 10**6})  # else it is divided
    xs = [model.int_var(f"x{i}", 0, 9) for i in range(2000)]
    model.add(sum_(3 * x for x in xs) == 6001 + sum_(7 * x for x in xs[:900]))
    model.solve(time_limit=0.3, engine="interpreted")
    assert runs
    cost = sliced.COST * 2 * 2000
    assert all(propagations <= 1 + max(left, DEFAULT.search.missed) / cost for propagations, left in runs)
