"""The admission table of portfolios: a member takes part, or the portfolio says why it does not."""

from __future__ import annotations

import re
from dataclasses import replace
from time import perf_counter
from typing import Any

import pytest
from drawn_job_shops import draw_jobs, job_shop
from lowered import hasty
from random_models import build, draw_model

from constrint import Model, all_different, sum_
from constrint.answers.plan import explain_methods
from constrint.modelling.objectives import as_goals
from constrint.preparing.options import Options
from constrint.preparing.prepared import Prepared
from constrint.preparing.search_protocol import Outcome, SearchStep, SearchTask
from constrint.relaxation.highs import has_highs
from constrint.search.admission import ADMISSIONS, BEGUN, MemberMaker, Standing
from constrint.search.members import AnnealingMember, CountingMember, NeighbourhoodMember
from constrint.search.portfolio import Portfolio
from constrint.settings import DEFAULT, using

MEMBERS = {row.member for row in ADMISSIONS}


def portfolio(m: Model, goals: list[Any]) -> Portfolio | None:
    prepared = Prepared(m, as_goals(goals), ())
    if prepared.root is None or prepared.root.exact:
        return None
    goal = prepared.goals[0] if goals else None
    return Portfolio(SearchTask(prepared, prepared.root, Options(engine="interpreted"), perf_counter(), goal))


def maker(m: Model, goals: list[Any], **options: Any) -> MemberMaker:
    prepared = Prepared(m, as_goals(goals), ())
    assert prepared.root is not None
    task = SearchTask(prepared, prepared.root, Options(**options), perf_counter(), None)
    return MemberMaker(task._replace(goal=prepared.goals[0] if goals else None))


def reason(made: MemberMaker, member: str, now: Standing) -> str | None:
    """Why a member does not join; None if a row lets it."""
    reasons = [row.waits(made, now) for row in ADMISSIONS if row.member == member]
    return None if None in reasons else reasons[-1]


def cover() -> tuple[Model, Any]:
    m = Model()
    x = m.bool_vars("x", 8)
    m.add(*(x[i] + x[(i + 3) % 8] + x[(2 * i + 1) % 8] >= 1 for i in range(8)))
    return m, sum_((i + 2) * v for i, v in enumerate(x))


def test_every_member_takes_part_or_has_a_reason_not_to() -> None:
    ended = absent = 0
    for seed in range(70_000, 70_060):
        drawn = draw_model(seed)
        with using(hasty()):
            m = drawn.build()
        goal = build(drawn.objective, {**m.variables, **m.lets})
        for goals in ([], [(goal, "min")]):
            run = portfolio(m, goals)
            if run is None:
                continue
            assert not run.absent
            while run.next().outcome is Outcome.FOUND and goals:
                pass
            if run._maker is None:
                continue
            joined = {member.name for member in run._members} - {"tree search"}
            assert joined | set(run.absent) == MEMBERS, f"seed {seed}"
            assert all(run.absent.values())
            ended += 1
            absent += len(run.absent)
            assert "relaxation" not in joined or has_highs()
    assert ended > 30
    assert absent > ended


def test_the_tree_search_is_alone_at_first() -> None:
    m, goal = cover()
    made = maker(m, [(goal, "min")])
    rules = DEFAULT.portfolio
    for member in ("restarts", "local search"):
        assert reason(made, member, BEGUN) == (
            f"the tree search has done 0 units, fewer than {rules.alone:,} (portfolio.alone)"
        )
        assert reason(made, member, replace(BEGUN, tree=rules.alone)) is None
        assert reason(made, member, replace(BEGUN, tree=rules.alone, has_best=True)) == "a solution is known"
    assert reason(made, "relaxation", BEGUN) is None
    assert "(portfolio.before_each_part)" in str(reason(made, "learning", BEGUN))
    assert reason(made, "learning", replace(BEGUN, spent=made.alone)) is None


def test_what_comes_before_learning_has_a_limit_whatever_the_size() -> None:
    most = DEFAULT.portfolio.most_before_learning
    waits = []
    for count in (20, 200, 2000):
        m = Model()
        xs = list(m.int_vars("x", count, 0, 29))
        m.add(*(all_different([xs[(i + k) % count] for k in (0, 1, 3, 7, 12)]) for i in range(count)))
        made = maker(m, [(xs[0], "min")])
        waits.append(made.alone)
    assert DEFAULT.portfolio.alone < waits[0] < most == waits[1] == waits[2]
    assert f"fewer than {most:,} (portfolio.most_before_learning)" in str(reason(made, "learning", BEGUN))
    assert reason(made, "learning", replace(BEGUN, spent=most)) is None


def test_too_little_time_is_said() -> None:
    m, goal = cover()
    made = maker(m, [(goal, "min")], time_limit=0.1)
    assert "too little time" in str(reason(made, "learning", replace(BEGUN, spent=made.alone)))


def test_neighbourhoods_need_a_solution_or_a_relaxation() -> None:
    m, goal = cover()
    made = maker(m, [(goal, "min")])
    now = replace(BEGUN, spent=made.alone)
    assert reason(made, "neighbourhoods", now) == "there is no solution yet"
    assert reason(made, "neighbourhoods", replace(now, has_best=True)) is None
    assert reason(made, "neighbourhoods", replace(BEGUN, has_point=True)) is None
    assert reason(maker(m, []), "neighbourhoods", now) == "there is no objective"


def test_schedules_are_left_to_learning_at_first() -> None:
    m = job_shop(draw_jobs(0, 3, 3))
    m.settings = DEFAULT.with_fields(presolve={"least_tasks": 1 << 60})
    made = maker(m, m.goals)
    assert made.kind == "schedules"
    now = Standing(10**9, 1e9, 0.0, has_best=True, has_point=False, rows=None, workers=1)
    assert "relaxations are weak" in str(reason(made, "relaxation", now))
    assert "(portfolio.lns_after)" in str(reason(made, "neighbourhoods", now))
    later = replace(now, learned=float(made.rules.lns_after))
    assert reason(made, "neighbourhoods", later) is None


SIZES: dict[str, tuple[dict[str, dict[str, Any]], str, str]] = {
    "columns": (
        {"relaxation": {"most_columns": 3}},
        "relaxation",
        r"the relaxation of \d+ constraints has more than 3 columns \(relaxation\.most_columns\)",
    ),
    "factors": (
        {"relaxation": {"most_entries": 5}},
        "relaxation",
        r"the relaxation of \d+ constraints has more than 5 factors in its rows \(relaxation\.most_entries\)",
    ),
    "entries": (
        {"local_search": {"most_entries": 2}},
        "local search",
        r"rows of \d+ constraints have more than 2 entries \(local_search\.most_entries\)",
    ),
    "items": (
        {"presolve": {"most_items": 9}},
        "symmetries",
        r"\d+ constraints have \d\d items, more than 9 \(presolve\.most_items\)",
    ),
}


@pytest.mark.skipif(not has_highs(), reason="needs HiGHS")
@pytest.mark.parametrize("limit", SIZES)
def test_a_limit_of_size_is_named_before_and_after_the_search(limit: str) -> None:
    given, member, said = SIZES[limit]
    m, goal = cover()
    m.settings = hasty(**given)  # type: ignore[arg-type]
    if member == "local search":
        m.add(sum_(m.variables.values()) * 0 >= 0)
    else:
        m.minimize(goal)
    pattern = re.compile(f"portfolio: {member}: takes no part: {said}")
    assert any(map(pattern.fullmatch, explain_methods(m)))
    if member != "local search":  # without a goal the first turn finds a solution
        work = m.solve(engine="interpreted").statistics
        assert re.fullmatch(said, work.absent[member])
        assert work.method == "portfolio"
    m.settings = hasty()
    assert not any(f"{member}: takes no part" in line for line in explain_methods(m))
    assert member not in m.solve(engine="interpreted").statistics.absent or member == "local search"


def test_the_plan_says_what_members_wait_for() -> None:
    m, goal = cover()
    m.minimize(goal)
    lines = explain_methods(m)
    assert "portfolio: relaxation: takes part from the first turn on" in lines or not has_highs()
    assert any(
        line.startswith("portfolio: learning: not yet: the others have done 0 units") for line in lines
    )
    m = job_shop(draw_jobs(0, 3, 3))
    m.settings = DEFAULT.with_fields(presolve={"least_tasks": 1 << 60})
    assert any(line.startswith("portfolio: relaxation: takes no part: most") for line in explain_methods(m))


def test_few_equations_are_counted() -> None:
    m = Model()
    x = m.bool_vars("x", 8)
    m.add(*(x[i] | x[(i + 3) % 8] | x[(i + 4) % 8] for i in range(8)))
    said = "0 of 8 constraints are equations of three variables or more, fewer than 3"
    sums = "; 0 of 8 constraints are sums of three variables or more, fewer than 2 (relaxation.least_sums)"
    lines = explain_methods(m)
    assert any(said in line and line.endswith(sums) for line in lines)


def test_statistics_say_why_there_is_no_portfolio() -> None:
    m, goal = cover()
    m.settings = DEFAULT.with_fields(search={"nodes_before_dual": 0})
    work = m.solve(minimize=goal, learn=False).statistics
    assert work.absent == {"portfolio": "learn=False"}
    work = m.solve(minimize=goal, restarts="luby").statistics
    assert work.absent == {"portfolio": "restarts= asks for 'luby' restarts"}
    assert "portfolio" not in m.solve(minimize=goal).statistics.absent


def test_a_limit_of_time_in_the_first_turn_is_said() -> None:
    m, goal = cover()
    run = portfolio(m, [(goal, "min")])
    assert run is not None
    assert run.statistics().absent == {}
    run._task = run._task._replace(options=Options(time_limit=0.0))
    assert "the first turn" in run.statistics().absent["other members"]


class Spent:
    """A search that has given up."""

    allowed = None

    def next(self, checked: bool = True) -> SearchStep:
        return SearchStep(Outcome.GAVE_UP)


def test_a_member_that_gives_up_leaves_and_says_so() -> None:
    m, goal = cover()
    run = portfolio(m, [(goal, "min")])
    assert run is not None
    member = CountingMember("local search", Spent(), m.settings.portfolio, 1.0, 1.0)  # type: ignore[arg-type]  # a part
    run._admit(member)
    assert "local search" not in run.absent
    run._playing = [member]
    assert run._play().outcome is Outcome.PAUSED
    assert run.absent["local search"] == "it gave up"
    assert member not in run._members


def test_a_weight_that_has_faded_comes_back_as_its_kind_has_it() -> None:
    rules = Model().settings.portfolio
    for member, least, full in (
        (NeighbourhoodMember("neighbourhoods", Spent(), rules, 0.7), rules.least_of_lns, 0.7),  # type: ignore[arg-type]  # a part
        (
            AnnealingMember("annealing", Spent(), rules, rules.trial_of_annealing, 1.0),  # type: ignore[arg-type]  # a part
            rules.least_of_annealing,
            rules.annealing,
        ),
    ):
        for _ in range(50):
            member.over()
        assert member.weight == least
        member.found = 1
        member.over()
        assert member.weight == full
