"""`learn="auto"`: a portfolio gives the answers of each of its searches alone, for turns of any length."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
from drawn_job_shops import MT06, draw_jobs, job_shop, least_span
from goals import towards
from lowered import hasty as hasty_settings
from random_models import build, draw_model

from constrint import (
    Brancher,
    Domains,
    Model,
    ModelError,
    Status,
    all_different,
    cumulative,
    no_overlap,
    sum_,
)
from constrint.preparing.prepared import Prepared
from constrint.search.weights import kind_of
from constrint.settings import DEFAULT, using
from constrint.settings.portfolio import Kind

NO_MACHINES = {"least_tasks": 1 << 60}


@pytest.fixture
def hasty() -> Iterator[None]:
    """Turns of a node, and of a few units of work, from the first node on."""
    with using(hasty_settings()):
        yield


@pytest.mark.parametrize("block", range(4))
def test_random_models_against_brute_force(hasty: None, block: int) -> None:
    methods = set()
    for seed in range(80_000 + 100 * block, 80_000 + 100 * (block + 1)):
        drawn = draw_model(seed)
        m = drawn.build()
        goal = build(drawn.objective, {**m.variables, **m.lets})
        solutions = drawn.solutions()
        worth = [value for s in solutions if (value := drawn.value(drawn.objective, s)) is not None]
        for direction, choose in (("minimize", min), ("maximize", max)):
            # Tables would find the optima of some of them, so the engine is named.
            r = m.solve(**towards(direction, goal), learn="auto", engine="interpreted")
            best = choose(worth, default=None)
            assert r.objective == best, f"seed {seed}\n{drawn.text()}"
            assert r.status is (Status.OPTIMAL if worth else Status.INFEASIBLE), f"seed {seed}"
            methods.add(r.statistics.method)
        r = m.solve(learn="auto", engine="interpreted")
        assert bool(r) == bool(solutions), f"seed {seed}\n{drawn.text()}"
    assert {"branching", "portfolio"} <= methods


@pytest.mark.parametrize("seed", range(4))
def test_job_shops(hasty: None, seed: int) -> None:
    jobs = draw_jobs(seed, jobs=3, machines=3)
    r = job_shop(jobs).solve(learn="auto", engine="interpreted")
    assert (r.status, r.objective, r.statistics.method) == (Status.OPTIMAL, least_span(jobs), "portfolio")


@pytest.fixture
def without_machines() -> Iterator[None]:
    """Job shops stay sets of disjunctions, which take longer."""
    with using(DEFAULT.with_fields(presolve=NO_MACHINES)):
        yield


def test_short_searches_are_branching_alone(without_machines: None) -> None:
    m = Model()
    xs = [m.int_var(f"x{i}", 0, 4) for i in range(5)]
    m.add(all_different(xs))
    r = m.solve(minimize=xs[0] - xs[4], engine="interpreted")
    assert r.statistics.method == "branching"
    assert job_shop(MT06).solve(engine="interpreted").objective == 55
    jobs = draw_jobs(0, jobs=8, machines=4)
    r = job_shop(jobs).solve(engine="interpreted")
    assert (r.objective, r.statistics.method) == (job_shop(jobs).solve(learn=True).objective, "portfolio")


def decide_first(domains: Domains) -> None:
    """A function that decides, as `branching=` takes it."""
    return


def test_an_annotation_steers_branching_and_leaves_the_others_their_turns(hasty: None) -> None:
    r = job_shop(MT06).solve(branching=Brancher("first_fail"), engine="interpreted")
    assert (r.status, r.objective) == (Status.OPTIMAL, 55)
    assert (r.statistics.method, r.statistics.learned > 0) == ("portfolio", True)


def test_who_says_how_to_branch_has_his_way(hasty: None) -> None:
    m = job_shop(draw_jobs(1, 3, 3))
    for way in ({"branching": decide_first}, {"restarts": "luby"}, {"lns": True}, {"learn": False}):
        assert m.solve(**way, engine="interpreted").statistics.method == "branching"
    with pytest.raises(ModelError, match="learn is True, False"):
        m.solve(learn="always")  # type: ignore[call-overload]


@pytest.mark.timeout(900)  # the first use on a machine compiles
def test_the_path_depends_on_neither_engine_nor_clock() -> None:
    walks = []
    for engine, most in (("interpreted", 20_000), ("interpreted", 7), ("compiled", 20_000)):
        given = DEFAULT.with_fields(
            presolve=NO_MACHINES,
            portfolio={"least_turn": 700},
            search={"nodes_before_dual": 0, "slice": (most, most), "compiled_slice": (most, most)},
            learning={"slice": most, "compiled_slice": most},
        )
        with using(given):
            m = job_shop(draw_jobs(1, 6, 4))
        s = (r := m.solve(engine=engine, learn="auto")).statistics  # type: ignore[call-overload]
        assert (s.engine, s.method) == (engine, "portfolio")
        walks.append((dict(r.values), s.nodes, s.failures, s.propagations, s.learned))
    assert walks[0] == walks[1] == walks[2]


def test_search_goes_on_without_learning_where_reasons_are_too_many() -> None:
    few = {"most_trail": 0, "trail_of_variable": 0, "first_trail": 6}
    jobs = draw_jobs(3, jobs=3, machines=3)
    m = job_shop(jobs)
    m.settings = hasty_settings(learning=few)
    r = m.solve(learn="auto", engine="interpreted")
    assert (r.status, r.objective) == (Status.OPTIMAL, least_span(jobs))


def test_the_share_follows_the_structure() -> None:
    def kind(m: Model) -> Kind:
        root = Prepared(m, (), ()).root
        assert root is not None
        return kind_of(root.propagators)

    assert kind(job_shop(MT06)) == "schedules"
    m = Model()
    s = [m.int_var(f"s{i}", 0, 30) for i in range(6)]
    m.add(no_overlap(s[:3], [3, 4, 5]), cumulative(s, [4] * 6, [2, 3, 1, 2, 2, 1], 4))
    assert kind(m) == "schedules"
    m = Model()
    x = [m.int_var(f"x{i}", 0, 9) for i in range(6)]
    m.add(*(a * b != 30 for a, b in itertools.pairwise(x)), sum_(x) == 20)
    assert kind(m) == "products"
    m = Model()
    y, truth = m.int_vars("y", 9, 0, 20), m.bool_vars("truth", 9)
    m.add(*(truth[i] == (y[i] + 2 * y[(i + 1) % 9] - y[(i + 2) % 9] <= 5) for i in range(9)))
    assert kind(m) == "others"
    m = Model()
    t, d = m.int_vars("t", 4, 0, 30), m.int_vars("d", 4, 1, 9)
    m.add(*((t[i] + d[i] <= t[j]) | (t[j] + d[j] <= t[i]) for i in range(4) for j in range(i)))
    m.settings = DEFAULT.with_fields(presolve={"least_tasks": 1 << 60})
    assert kind(m) == "schedules"
    m = Model()
    b = [m.bool_var(f"b{i}") for i in range(9)]
    m.add(*(p | ~q | r for p, q, r in zip(b, b[1:], b[2:], strict=False)))
    assert kind(m) == "others"
