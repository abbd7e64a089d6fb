"""Every search method finds what brute force finds, equally on lists, arrays and Python's integers."""

# mypy: disable-error-code="arg-type"
from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from typing import Any, get_args

import pytest
from shared_models import pigeons

import constrint as ci
from constrint.preparing.branching import ValueSelector, VariableSelector, as_brancher
from constrint.preparing.options import Engine, Options
from constrint.preparing.prepared import Prepared
from constrint.preparing.restart_rules import luby
from constrint.preparing.search_protocol import Outcome, SearchTask
from constrint.search.depth_first import DepthFirstRun
from constrint.search.solver import Solver
from constrint.settings import DEFAULT, Settings
from constrint.store.state import NOGOODS

VARIABLES = get_args(VariableSelector)
VALUES = get_args(ValueSelector)
WAYS: list[dict[str, Any]] = [
    {},
    {"restarts": ci.Restarts("luby", 1)},
    {"restarts": ci.Restarts("geometric", 2, 1.2)},
    {"restarts": ci.Restarts("luby", 1, alone=False)},
    {"lns": True},
]


def random_model(seed: int) -> tuple[ci.Model, list[ci.IntVar], ci.IntExpr]:
    draw = random.Random(seed)
    m = ci.Model()
    xs = [m.int_var(f"x{i}", draw.randint(-3, 0), draw.randint(2, 5)) for i in range(4)]
    for _ in range(draw.randint(2, 5)):
        a, b, c = draw.sample(xs, 3)
        kinds = [
            a + b != c,
            a * b <= c + 3,
            ci.all_different([a, b, c]),
            (a <= b) | (c >= 2),
            a * 2 - b >= c - 4,
        ]
        m.add(draw.choice(kinds))
    return m, xs, ci.sum_(draw.randint(-3, 3) * x for x in xs) + xs[0] * xs[1]


def solutions_of(m: ci.Model, xs: list[ci.IntVar]) -> list[tuple[int, ...]]:
    ranges = [range(x.domain.lo, x.domain.hi + 1) for x in xs]  # type: ignore[operator]
    return [
        values
        for values in itertools.product(*ranges)
        if all(c.expr.evaluate(dict(zip(xs, values, strict=True))) for c in m.constraints)
    ]


def random_brancher(draw: random.Random, xs: list[ci.IntVar], goal: ci.IntExpr) -> ci.Brancher:
    plain = [name for name in VARIABLES if name not in ("dom_w_deg", "activity")]
    groups = [
        ci.Group(
            [*draw.sample(xs, 2), *([goal] if draw.random() < 0.3 else [])],
            draw.choice(plain),
            draw.choice(VALUES),
        )
        for _ in range(draw.randrange(3))
    ]
    return ci.Brancher(draw.choice(VARIABLES), draw.choice(VALUES), tuple(groups))


@pytest.mark.parametrize("seed", range(30))
def test_all_ways_find_what_brute_force_finds(seed: int) -> None:
    m, xs, goal = random_model(seed)
    every = solutions_of(m, xs)
    best = min((goal.evaluate(dict(zip(xs, values, strict=True))) for values in every), default=None)
    draw = random.Random(seed)
    for turn in range(3):
        brancher = random_brancher(draw, xs, goal)
        found = [
            tuple(r.values.values())
            for r in m.iter_solutions(branching=brancher, engine="interpreted", seed=turn)
        ]
        assert sorted(found) == every
        for way in WAYS:
            improved: list[int] = []
            r = m.solve(  # type: ignore[call-overload] # `append` gives None
                minimize=goal,
                engine="interpreted",
                branching=brancher,
                seed=turn,
                on_solution=lambda s, improved=improved: improved.append(s.objective),
                **way,
            )
            assert (r.objective, bool(r)) == (best, bool(every))
            assert improved == sorted(set(improved), reverse=True)
            assert improved[-1:] == ([best] if every else [])


@pytest.mark.parametrize("variables", VARIABLES)
def test_engines_and_numbers_walk_the_same_tree(variables: Any) -> None:
    """Interpreted, compiled and exact: the same nodes, with every value selector and way."""
    alone = [way for way in WAYS if getattr(way.get("restarts"), "alone", True)]  # a portfolio needs int64
    for values, way in zip(VALUES, itertools.cycle(alone)):
        walks = []
        for engine, offset in (("interpreted", 0), ("compiled", 0), ("interpreted", 10**30)):
            m = ci.Model()
            xs = [m.int_var(f"x{i}", offset, offset + 5) for i in range(6)]
            m.add(ci.all_different(xs), ci.all_different([x + 2 * i for i, x in enumerate(xs)]))
            goal = ci.sum_((-1) ** i * (i + 1) * x for i, x in enumerate(xs))
            brancher = ci.Brancher(variables, values)
            r = m.solve(maximize=goal, engine=engine, branching=brancher, seed=7, **way)  # type: ignore[call-overload]
            s = r.statistics
            assert s.arithmetic == ("exact" if offset else "int64")
            assert s.engine == engine
            walks.append(([x - offset for x in r.values.values()], s.nodes, s.failures, s.solutions))
        assert walks[0] == walks[1]
        # Exact domains may have other branches only where a rule draws from sizes that differ: none does.
        assert walks[0] == walks[2]


@pytest.mark.parametrize("engine", ["interpreted", "compiled"])
@pytest.mark.parametrize("room", [None, 5])
def test_nogoods_exclude_what_was_searched_and_nothing_else(engine: Engine, room: None) -> None:
    """With every restart a path, the search for all solutions meets each exactly once."""
    slice_ = DEFAULT.search.slice if room is None else (room, 20_000)
    for seed in range(12):
        m, xs, _ = random_model(seed)
        m.settings = DEFAULT.with_fields(search={"slice": slice_})
        for values in ("min", "random", "middle"):
            options = Options(
                engine=engine,
                brancher=ci.Brancher("activity", values),
                restarts=ci.Restarts("geometric", 1, 1.3),
            )
            prepared = Prepared(m, (), ())
            found = []
            if prepared.root is not None:
                run = DepthFirstRun(SearchTask(prepared, prepared.root, options, 0.0))
                while (solution := run.next().found) is not None:
                    found.append(tuple(solution[x] for x in xs))
            assert sorted(found) == solutions_of(m, xs)


def test_paths_are_kept_within_their_room() -> None:
    m, _ = pigeons()
    m.settings = DEFAULT.with_fields(search={"most_paths": 3, "most_decisions": 40})
    prepared = Prepared(m, (), ())
    assert prepared.root is not None
    options = Options(engine="interpreted", restarts=ci.Restarts("luby", 2))
    run = DepthFirstRun(SearchTask(prepared, prepared.root, options, 0.0))
    assert run.next().outcome is Outcome.EXHAUSTED
    assert 1 <= run._state.scalar[NOGOODS] <= 3
    assert m.solve(restarts=ci.Restarts("luby", 2)).status is ci.Status.INFEASIBLE


@pytest.mark.parametrize("engine", ["interpreted", "compiled"])
def test_failures_count_once_a_search_is_long(engine: Engine) -> None:
    def nodes(selector: VariableSelector, settings: Settings = DEFAULT) -> int:
        m, _ = pigeons(5)
        m.settings = settings
        # These have nothing to do with it, but few values, and much depends on them.
        a, b, c, d = (m.bool_var(name) for name in "abcd")
        m.add(a | b | c | d, ~a | b | c, a | ~b | d, ~c | a | d, b | ~d | c, ~a | ~b | ~c | ~d)
        r = m.solve(branching=ci.Brancher(selector), engine=engine)
        assert r.status is ci.Status.INFEASIBLE
        return r.statistics.nodes

    thrashing = nodes("dom_deg")
    assert nodes("auto") < thrashing / 2
    assert nodes("dom_w_deg") < thrashing / 2
    assert nodes("auto", DEFAULT.with_fields(search={"failures_before_weights": 10**9})) == thrashing


def test_luby() -> None:
    assert [luby(i) for i in range(1, 16)] == [1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8]
    limits = ci.Restarts("geometric", 10, 2.0).limits()
    assert [next(limits) for _ in range(4)] == [10, 20, 40, 80]


@pytest.mark.parametrize(
    ("selector", "first"),
    [
        ("input_order", "a"),
        ("first_fail", "c"),
        ("anti_first_fail", "b"),
        ("smallest", "b"),
        ("largest", "d"),
        ("most_constrained", "e"),
        ("occurrence", "e"),
        ("max_regret", "d"),
        ("auto", "e"),
        ("dom_deg", "e"),
        ("dom_w_deg", "e"),
    ],
)
def test_what_selectors_choose_first(selector: Any, first: str) -> None:
    m = ci.Model()
    a = m.int_var("a", 4, 8)
    b = m.int_var("b", 0, 8)
    m.int_var("c", 5, 6)
    d = m.int_var("d", values=[3, 7, 9])
    e = m.int_var("e", 4, 5)
    m.add(a + e <= 12, b + e != 5, ci.all_different([a, e, d]))
    seen = []

    def note(domains: Any) -> None:
        seen.append({x.name: (view.min, view.max, view.size) for x, view in domains.items()})

    m.solve(branching=ci.Brancher(selector, "min", decide=note))
    fixed = [name for name, (low, high, _) in seen[1].items() if low == high]
    assert first in fixed


@pytest.mark.parametrize(
    ("selector", "values"),
    [
        ("min", [0, 1, 2, 3, 4]),
        ("max", [4, 3, 2, 1, 0]),
        ("middle", [2, 1, 3, 0, 4]),
        ("lower_half", [0, 1, 2, 3, 4]),
        ("upper_half", [4, 3, 2, 1, 0]),
    ],
)
def test_the_order_of_values(selector: Any, values: list[int]) -> None:
    m = ci.Model()
    x = m.int_var("x", 0, 4)
    assert [r[x] for r in m.iter_solutions(branching=ci.Brancher(values=selector))] == values


def test_best_so_far_stays_near_the_last_solution() -> None:
    m = ci.Model()
    x, y = m.int_var("x", 0, 9), m.int_var("y", 0, 9)
    m.add(x + y >= 9)
    found = []
    brancher = ci.Brancher("input_order", groups=(ci.Group([y], values="best_so_far"),))
    m.solve(
        maximize=x, branching=brancher, engine="interpreted", on_solution=lambda r: found.append((r[x], r[y]))
    )
    assert found[0] == (9, 0)
    brancher = ci.Brancher(groups=(ci.Group([x], values="min"), ci.Group([y], values="best_so_far")))
    found.clear()
    m.solve(
        maximize=x, branching=brancher, engine="interpreted", on_solution=lambda r: found.append((r[x], r[y]))
    )
    assert found == [(i, 9) for i in range(10)]


def test_groups_are_decided_in_their_order_and_may_hold_expressions() -> None:
    m = ci.Model()
    x, y, z = (m.int_var(name, 0, 3) for name in "xyz")
    groups = [ci.Group([x + y, 7], values="max"), ci.Group([z], values="max")]
    first = next(iter(m.iter_solutions(branching=groups)))
    assert (first["x"], first["y"], first["z"]) == (3, 3, 3)
    assert len(list(m.iter_solutions(branching=groups))) == 64
    last = next(iter(m.iter_solutions(branching=ci.Group([y], values="max"))))
    assert (last["x"], last["y"], last["z"]) == (0, 3, 0)


def test_preferences_come_first_whatever_the_way() -> None:
    m = ci.Model()
    x, y, z = (m.int_var(name, 0, 30) for name in "xyz")
    m.add(ci.all_different([x, y, z]), x + y + z == 40, (x * y + z) % 7 == 3, x * z != 0)
    want = m.solve(prefer=[(y, "max"), (x, "min")])
    for way in ({"restarts": ci.Restarts("luby", 1)}, {"branching": ci.Brancher("dom_w_deg", "random")}):
        got = m.solve(prefer=[(y, "max"), (x, "min")], engine="interpreted", seed=3, **way)
        assert (got[x], got[y]) == (want[x], want[y])

    def last_first(domains: Any) -> Any:
        return ci.Decision(domains.open[-1], "==", domains[domains.open[-1]].max)

    got = m.solve(prefer=[(y, "max"), (x, "min")], branching=last_first)
    assert (got[x], got[y]) == (want[x], want[y])


@pytest.mark.parametrize("engine", ["interpreted", "compiled"])
@pytest.mark.parametrize("relation", ["==", "<=", ">=", None])
def test_decisions_of_a_function(engine: Engine, relation: str) -> None:
    m, xs, goal = random_model(3)
    wide = m.int_var("wide", -500, 500)
    m.add(wide == goal * 7 + xs[1])
    draw = random.Random(5)

    def decide(domains: Any) -> Any:
        if relation is None:
            return None
        x = draw.choice(domains.open)
        view = domains[x]
        assert len(list(view)) == view.size > 1
        assert not view.is_fixed
        assert view.min in view
        if relation == "==":
            return ci.Decision(x, "==", draw.choice(list(view)))
        value = draw.randint(view.min, view.max - 1)
        return ci.Decision(x, "<=", value) if relation == "<=" else ci.Decision(x, ">=", value + 1)

    found = [tuple(r[x] for x in xs) for r in m.iter_solutions(branching=decide, engine=engine)]
    plain = [tuple(r[x] for x in xs) for r in m.iter_solutions(engine="interpreted")]
    assert sorted(found) == sorted(plain)
    best = m.solve(maximize=goal, branching=decide, engine=engine)
    assert best.objective == m.solve(maximize=goal).objective


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda x: 3, "gives a Decision or None, not 3"),
        (lambda x: ci.Decision(x + 1, "==", 3), "variable of the model"),
        (lambda x: ci.Decision(x, "<=", 9), "does not divide its values, which lie in 0..9"),
        (lambda x: ci.Decision(x, "!=", 4), "does not divide"),
    ],
)
def test_decisions_that_decide_nothing(answer: Callable[..., Any], message: str) -> None:
    m = ci.Model()
    x = m.int_var("x", 0, 9)
    with pytest.raises(ci.ModelError, match=message):
        m.solve(branching=lambda domains: answer(x))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"restarts": "often"}, '"luby" or "geometric"'),
        ({"restarts": 5}, "Restarts"),
        ({"lns": True}, "give minimize= or maximize="),
        ({"learn": True, "restarts": "luby"}, "has its own restarts"),
        ({"branching": 5}, "a Brancher, a list of Group, a function or names"),
        ({"branching": ["x"]}, "Group"),
    ],
)
def test_ways_that_do_not_fit(arguments: Any, message: str) -> None:
    m = ci.Model()
    m.int_var("x", 0, 9)
    with pytest.raises(ci.ModelError, match=message):
        m.solve(**arguments)


def test_selectors_that_are_none() -> None:
    with pytest.raises(ci.ModelError, match="dom_w_deg"):
        ci.Brancher("largest_first")
    with pytest.raises(ci.ModelError, match="best_so_far"):
        ci.Group([], "input_order", "minimum")
    with pytest.raises(ci.ModelError, match="share one score"):
        ci.Brancher("activity", groups=(ci.Group([], "dom_w_deg"),))
    with pytest.raises(ci.ModelError, match="variables and expressions"):
        ci.Group(["x"])  # type: ignore[list-item]
    with pytest.raises(ci.ModelError, match="unit"):
        ci.Restarts("luby", 0)
    assert as_brancher(None) == ci.Brancher()


def test_a_time_limit_ends_every_way() -> None:
    m = ci.Model()
    xs = [m.int_var(f"x{i}", 0, 60) for i in range(14)]
    m.add(ci.all_different(xs), ci.sum_(x * x for x in xs) % 1009 == 17)
    goal = ci.sum_((x * (i + 3)) % 61 for i, x in enumerate(xs))
    for way in WAYS:
        r = m.solve(maximize=goal, time_limit=0.7, engine="interpreted", **way)
        assert r.status in (ci.Status.FEASIBLE, ci.Status.UNKNOWN)
    solver = Solver(m, Options(time_limit=0.0))
    prepared = Prepared(m, (), ())
    assert prepared.root is not None
    run = DepthFirstRun(SearchTask(prepared, prepared.root, solver.options, solver.work.started))
    assert run.next().outcome is Outcome.STOPPED
