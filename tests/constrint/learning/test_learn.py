"""The learning search: answers against brute force, every clause it learns against a checker, its parts."""

from __future__ import annotations

import itertools
import json
import operator
from functools import reduce
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner
from drawn_job_shops import MT06, draw_jobs, job_shop, least_span
from global_models import DRAWN, expected
from global_models import draw_model as draw_globals
from goals import towards
from learners import learner
from proved import checked, is_proved
from random_models import RandomModel, build, draw_model, draw_stride_model

from constrint import Model, ModelError, Status, sum_
from constrint.cli.main import app
from constrint.learning import heap, restarts, session, trail
from constrint.learning import learner_arrays as learn_build
from constrint.learning.layout import DECISION, TRAIL
from constrint.learning.normal import NormalTranslation
from constrint.preparing.options import Engine
from constrint.settings import DEFAULT
from constrint.verification.checker import RejectedAtError

BLOCK = 100


def wrong_answers(drawn: RandomModel, engine: Engine) -> list[str]:
    """What the learning search answers wrongly about a model."""
    expected = drawn.solutions()
    complaints = []
    m = drawn.build()
    names = {**m.variables, **m.lets}
    goal = build(drawn.objective, names)
    worth = [value for s in expected if (value := drawn.value(drawn.objective, s)) is not None]
    for direction, choose in (("minimize", min), ("maximize", max)):
        r = m.solve(**towards(direction, goal), learn=True, engine=engine)
        if (r.status, r.objective) != (
            (Status.OPTIMAL, choose(worth)) if worth else (Status.INFEASIBLE, None)
        ):
            complaints.append(f"{direction}: {r.status}, {r.objective}")
    r = m.solve(learn=True, engine=engine)
    if r.status is not (Status.OPTIMAL if expected else Status.INFEASIBLE):
        complaints.append(f"solve: {r.status}, {len(expected)} solutions")
    goals = [(tree, 1 if way == "min" else -1) for tree, way in drawn.prefer]
    keys = [[drawn.value(tree, s) for tree, _ in goals] for s in expected]
    keys = [
        [sign * value for value, (_, sign) in zip(key, goals, strict=True)]  # type: ignore[operator]
        for key in keys
        if None not in key
    ]
    wanted = [(build(tree, names), way) for tree, way in drawn.prefer]
    r = m.solve(prefer=wanted, learn=True, engine=engine)  # type: ignore[arg-type]
    got = [sign * int(r[expr]) for (expr, _), (_, sign) in zip(wanted, goals, strict=True)] if r else None
    if got != min(keys, default=None):
        complaints.append(f"prefer {drawn.prefer}: {got}, not {min(keys, default=None)}")
    return [f"{complaint}\n{drawn.text()}" for complaint in complaints]


@pytest.mark.parametrize("block", range(10))
def test_random_models_against_brute_force(block: int) -> None:
    for seed in range(50_000 + BLOCK * block, 50_000 + BLOCK * (block + 1)):
        assert wrong_answers(draw_model(seed), "interpreted") == [], f"seed {seed}"


@pytest.mark.parametrize("block", range(4))
def test_random_strides_over_wide_ranges(block: int) -> None:
    for seed in range(BLOCK * block, BLOCK * (block + 1)):
        drawn = draw_stride_model(seed)
        r = drawn.build().solve(learn=True, engine="interpreted")
        assert bool(r) == bool(drawn.solutions()), f"seed {seed}"


@pytest.mark.timeout(900)  # the first use on a machine compiles
def test_random_models_compiled() -> None:
    for seed in range(60_000, 60_000 + BLOCK):
        assert wrong_answers(draw_model(seed), "compiled") == [], f"seed {seed}"


@pytest.mark.parametrize("seed", range(8))
def test_job_shops_against_brute_force(seed: int) -> None:
    jobs = draw_jobs(seed, jobs=3, machines=2 + seed % 2)
    r = job_shop(jobs).solve(learn=True, engine="interpreted")
    assert r.status is Status.OPTIMAL
    assert r.objective == least_span(jobs)


def test_a_classic_job_shop_is_proved() -> None:
    r = job_shop(MT06).solve(learn=True, engine="interpreted")
    assert (r.status, r.objective) == (Status.OPTIMAL, 55)
    assert r.statistics.method == "learning"
    assert 0 < r.statistics.learned < 1000


@pytest.mark.timeout(900)
def test_compiled_and_interpreted_search_the_same_way() -> None:
    m = job_shop(draw_jobs(1, 6, 5))
    interpreted, compiled = (m.solve(learn=True, engine=engine) for engine in ("interpreted", "compiled"))
    assert dict(interpreted.values) == dict(compiled.values)
    for name in ("nodes", "failures", "propagations", "learned"):
        assert getattr(interpreted.statistics, name) == getattr(compiled.statistics, name)
    assert (interpreted.statistics.engine, compiled.statistics.engine) == ("interpreted", "compiled")


def test_same_seed_same_answer() -> None:
    first, second, other = (
        job_shop(MT06).solve(learn=True, engine="interpreted", seed=seed) for seed in (3, 3, 4)
    )
    assert dict(first.values) == dict(second.values)
    assert first.statistics.nodes == second.statistics.nodes
    assert other.objective == first.objective


@pytest.mark.parametrize("high", [1001, 99_999_999_998])
def test_bounds_that_a_kernel_finds_are_not_rounded_by_the_stride_that_it_found(high: int) -> None:
    """`a % b` narrowed the stride of a to 48 and its bound to 767, which was then rounded up beyond it."""
    m = Model.from_text(f"a in 2..{high} step 3; b in 1..10000; a * b == 12272; a % b == 15")
    r = m.solve(learn=True, engine="interpreted")
    assert dict(r.values) == {"a": 767, "b": 16}
    assert r.statistics.method == "learning"


def test_pigeons_have_no_holes() -> None:
    m = Model()
    inside = [[m.bool_var(f"in_{p}_{h}") for h in range(5)] for p in range(6)]
    for row in inside:
        m.add(sum_(row) >= 1)
    for h in range(5):
        m.add(sum_([row[h] for row in inside]) <= 1)
    r = m.solve(learn=True, engine="interpreted")
    assert r.status is Status.INFEASIBLE


def test_several_goals_and_preferences_are_lexicographic() -> None:
    m = Model()
    x, y, z = (m.int_var(name, 0, 20) for name in "xyz")
    m.add(x + y + z <= 30, (x >= 5) | (y <= 3), x * y <= 60)
    goals: dict[str, Any] = {"maximize": [x + y, z], "prefer": [(y, "max")]}
    learned, plain = m.solve(**goals, learn=True), m.solve(**goals)
    assert [learned[e] for e in (x + y, z, y)] == [plain[e] for e in (x + y, z, y)]


def test_numbers_beyond_int64_are_searched_without_learning() -> None:
    m = Model()
    x = m.int_var("x", 0, 10**12)
    m.add(x * x * x >= 10**30)
    r = m.solve(minimize=x, learn=True)
    assert r["x"] == 10**10
    assert (r.statistics.method, r.statistics.learned) == ("branching", 0)


def test_search_goes_on_without_learning_where_reasons_are_too_many() -> None:
    few = {"most_trail": 0, "trail_of_variable": 0, "first_trail": 6}
    jobs = draw_jobs(3, jobs=3, machines=3)
    m = job_shop(jobs)
    m.settings = settings = DEFAULT.with_fields(learning=few)
    r = m.solve(learn=True, engine="interpreted")
    assert (r.objective, r.statistics.method) == (least_span(jobs), "branching")
    m = Model()
    m.settings = settings
    xs = [m.int_var(f"x{i}", 0, 50) for i in range(40)]
    m.add(*(x < y for x, y in itertools.pairwise(xs)), xs[5] * xs[7] >= 60)
    assert m.solve(learn=True, engine="interpreted").status is Status.OPTIMAL


def test_time_limit_leaves_the_best_so_far() -> None:
    r = job_shop(draw_jobs(2, 12, 12)).solve(learn=True, engine="interpreted", time_limit=0.7)
    assert r.status in (Status.FEASIBLE, Status.UNKNOWN)


# ---------------------------------------------------------------- proofs


def proof_of(m: Model, path: Path, **goals: Any) -> str:
    m.solve(learn=True, proof=path, engine="interpreted", **goals)
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("block", range(4))
def test_every_step_of_random_proofs_follows(block: int, tmp_path: Path) -> None:
    followed = 0
    for seed in range(70_000 + BLOCK * block, 70_000 + BLOCK * (block + 1)):
        drawn = draw_model(seed, max_assignments=100)
        m = drawn.build()
        goal = build(drawn.objective, {**m.variables, **m.lets})
        try:
            text = proof_of(m, tmp_path / "proof", maximize=goal)
        except ModelError as error:
            assert "int64" in str(error)  # noqa: PT017 - a few models have numbers that large
            continue
        if "\nsearch" not in text:
            continue
        assert checked(text).claim in ("optimal", "infeasible"), f"seed {seed}"
        followed += 1
    assert followed > 40


@pytest.mark.parametrize("seed", [2, 3, 6, 9, 15])
def test_clauses_over_equal_bounds_are_in_the_proof(seed: int, tmp_path: Path) -> None:
    # x <= 0 and x <= 1 are the same bound where x is 0, 3 or 9, but not the same literal of the model
    random = Random(seed)
    m = Model()
    xs = [m.int_var(f"x{i}", values=(0, 3, 9)) for i in range(12)]
    for _ in range(36):
        members = [(random.choice(xs[:6]), random.choice((1, 2, 3, 4, 9))) for _ in range(4)]
        literals = [x >= k if random.random() < 0.5 else x < k for x, k in members]
        m.add(reduce(operator.or_, literals))
    m.minimize(sum_(random.randint(-9, 9) * x for x in xs))
    assert is_proved(proof_of(m, tmp_path / "proof"))


def test_the_proof_of_a_job_shop_follows(tmp_path: Path) -> None:
    report = checked(proof_of(job_shop(draw_jobs(5, 4, 4)), tmp_path / "proof"))
    assert report.claim == "optimal"
    assert report.learned > 10


def test_a_tampered_proof_is_rejected(tmp_path: Path) -> None:
    text = proof_of(job_shop(draw_jobs(5, 3, 3)), tmp_path / "proof")
    assert is_proved(text)
    start, rest = text[: text.index("solution")], text[text.index("solution") :]
    for step in ("learned 1 <= 9\n", "exhausted\n", rest.splitlines()[0].replace(" 1=", " 1=9") + "\n"):
        with pytest.raises(RejectedAtError):
            checked(start + step + rest)


def test_a_proof_needs_learning(tmp_path: Path) -> None:
    m = Model()
    x = m.int_var("x", 0, 3)
    with pytest.raises(ModelError, match="learn=True"):
        m.solve(minimize=x, proof=tmp_path / "proof")
    m.add(x > 3)
    assert is_proved(proof_of(m, tmp_path / "proof"))


def test_the_command_learns_and_writes_the_proof(tmp_path: Path) -> None:
    text = "x, y in 0..9\nx + 3 <= y or y + 4 <= x\nx * y >= 6\nminimize x + 2 * y\n"
    proof = tmp_path / "proof"

    def run(*options: str) -> Any:
        return CliRunner().invoke(app, ["solve", *options, "-"], input=text)

    result = run("--json", "--learn", "--proof", str(proof))
    answer = json.loads(result.stdout)
    assert (answer["objective"], answer["statistics"]["method"]) == (8, "learning")
    assert is_proved(proof.read_text(encoding="utf-8"))
    assert run("--learn", "--all").exit_code == 2
    assert run("--proof", str(proof)).exit_code == 2
    unwritable = run("--learn", "--proof", str(tmp_path / "nowhere" / "proof"))
    assert unwritable.exit_code == 2
    assert "cannot write the proof" in unwritable.output


# ---------------------------------------------------------------- parts


@pytest.mark.parametrize("values", [(0, 1, 4, 9, 16), tuple(range(3, 30, 4)), tuple(range(-5, 6))])
def test_bounds_are_rounded_to_the_root_domain(values: tuple[int, ...]) -> None:
    x = 1
    for k in range(values[0] + 1, values[-1] + 1):
        ls, st = learner(values)
        assert trail.raise_bound(ls, st, 2 * x, k, DECISION)
        assert ls.bound[2 * x] == min(value for value in values if value >= k)
        below = max(value for value in values if value < k)
        is_plain = values == tuple(range(-5, 6))
        assert trail.weakest(*learner(values), 2 * x, k) == (k if is_plain else below + 1)
        ls, st = learner(values)
        assert trail.raise_bound(ls, st, 2 * x + 1, -k, DECISION)
        assert -ls.bound[2 * x + 1] == max(value for value in values if value <= k)


def test_an_impossible_bound_is_noted_and_changes_nothing() -> None:
    ls, st = learner((0, 1, 4))
    assert not trail.raise_bound(ls, st, 2, 5, DECISION)
    assert ls.scalar[TRAIL] == 0
    assert ls.bound[2] == 0


def test_the_heap_gives_narrow_and_active_variables_first() -> None:
    n = 8
    ls = learner(range(3))[0]._replace(
        tier=[i % 2 for i in range(n)],
        activity=[5, 9, 7, 1, 7, 3, 0, 2],
        heap=[0] * n,
        place=[-1] * n,
    )
    ls.scalar[heap.HEAP] = 0  # type: ignore[attr-defined]
    for v in range(n):
        heap.push(ls, v)
    heap.bump(ls, 6)
    assert [heap.pop(ls) for _ in range(n)] == [6, 2, 4, 0, 1, 5, 7, 3]


def test_luby() -> None:
    assert [restarts.luby(i) for i in range(1, 16)] == [1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8]


def test_two_orders_of_a_disjunction_are_one_variable() -> None:
    m = Model()
    s, t = m.int_var("s", 0, 30), m.int_var("t", 0, 30)
    m.add((s + 5 <= t) | (t + 7 <= s))
    from constrint.preparing.prepared import Prepared

    root = Prepared(m, (), ()).root
    assert root is not None
    normal = NormalTranslation(root.propagators, root.box, []).normal
    assert len(normal.replaced) == 1
    assert len(normal.at_most) == 2
    assert normal.clauses == []


# ---------------------------------------------------------------- global constraints


@pytest.mark.parametrize("name", sorted(DRAWN))
def test_optima_under_global_constraints(name: str) -> None:
    """Weighted sums as goals, so that the optimum has to be searched for."""
    searched = 0
    for seed in range(60):
        m = draw_globals(name, 1000 + seed)
        xs = list(m.variables.values())
        weights = [(7 * seed + 3 * i) % 11 - 5 for i in range(len(xs))]
        goal = sum_([w * x for w, x in zip(weights, xs, strict=True)])
        best = max((sum(map(operator.mul, weights, values)) for values in expected(m)), default=None)
        r = m.solve(maximize=goal, learn=True, engine="interpreted")
        assert r.objective == best, m.to_text()
        searched += r.statistics.method == "learning"
    assert searched > 10


@pytest.mark.parametrize("engine", ["compiled", "interpreted"])
def test_levels_have_no_limit(monkeypatch: pytest.MonkeyPatch, engine: Engine) -> None:
    """One variable may have many decisions: analysis moves its phase between two of them."""

    def shortened(*arguments: Any) -> Any:
        ls = learn_build.build(*arguments)
        return ls._replace(level_start=ls.level_start[:4], level_seen=ls.level_seen[:4])

    m = Model()
    x = m.int_vars("x", 4, 1, 60)
    m.add(x[0] * x[1] + x[2] * x[3] == 1811, x[0] * x[3] == x[1] * x[2] + 17, x[0] < x[1])
    expected = m.solve(minimize=x[0] + x[3], learn=True, engine=engine)
    monkeypatch.setattr(session, "build", shortened)
    found = m.solve(minimize=x[0] + x[3], learn=True, engine=engine)
    assert (found.objective, found.statistics.failures) == (45, expected.statistics.failures)
