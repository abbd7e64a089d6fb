"""The local search: sums and violated rows are kept true, scores are differences, both engines move alike."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from time import perf_counter
from typing import Any

import pytest

from constrint import Model, Status, all_different, global_cardinality, sum_
from constrint.answers.search_arguments import options_of
from constrint.local_search import moves
from constrint.local_search.compiled_jumps import CompiledJumps
from constrint.local_search.jump_arrays import build
from constrint.local_search.layout import (
    CHOSEN,
    HEAVIEST,
    PLAIN,
    STEPS,
    THRESHOLD,
    UNLIMITED,
    VIOLATED,
    WIDTH,
    WORK,
    Jumps,
)
from constrint.local_search.separable_rows import SeparableRows
from constrint.preparing.prepared import Prepared
from constrint.preparing.search_protocol import Outcome, SearchTask
from constrint.search.admission import MemberMaker
from constrint.search.feasibility_jump import FeasibilityJumpRun, feasibility_jump_run
from constrint.settings import DEFAULT


def drawn(seed: int) -> Model:
    """Variables with and without holes in sums, conditions, counts and permutations; few have solutions."""
    random = Random(seed)
    m = Model()
    x = list(m.int_vars("x", 6, -3, 9))
    y = [m.int_var(f"y{i}", values=[-4, 0, 1, 5, 7, 20]) for i in range(3)]
    b = list(m.bool_vars("b", 4))
    for _ in range(3):
        chosen = random.sample([*x, *y, *b], 4)
        total = sum_(random.randint(-5, 5) * v for v in chosen)
        m.add(random.choice([total == random.randint(-9, 30), total <= random.randint(-9, 9)]))
        m.add(sum_(random.sample(x, 3)) != random.randint(0, 9))
    for literal in b:
        one, other = random.sample([*x, *y], 2)
        value = random.randint(-3, 9)
        m.add(literal == random.choice([one == value, one <= value, one - 2 * other <= value]))
    m.add(all_different(random.sample(x, 4)), global_cardinality(x, {1: y[0], 4: 1}))
    m.add(sum_(b) >= 1, abs(x[0]) + y[1] >= 6)
    return m


def states(count: int, first: int = 5_000) -> Iterator[Jumps]:
    """States of drawn models, and of one with wide variables."""
    for seed, model in enumerate([*map(drawn, range(first, first + count)), wide()]):
        root = Prepared(model, [], [], may_postpone=True).root
        if root is not None:
            yield build(SeparableRows(root), seed, {})


def wide() -> Model:
    m = Model()
    x = m.int_vars("x", 5, -1000, 5000)
    b = m.bool_vars("b", 5)
    m.add(sum_((i + 2) * v for i, v in enumerate(x)) == 12_345, x[0] - x[1] >= 100, x[2] != x[3])
    m.add(*(b[i] == (x[i] <= 40 * i - 7) for i in range(5)), sum_(b) == 2, (x[4] == 77) | b[0])
    return m


def check(s: Jumps) -> None:
    """Everything that is kept agrees with what follows from the values."""
    totals = [0] * len(s.total)
    for v in range(len(s.value)):
        assert s.least[v] <= s.value[v] <= s.most[v]
        assert s.holes[v] < 0 or s.inside[s.holes[v] + s.value[v] - s.least[v]] == 1
        for e in range(s.first[v], s.first[v + 1]):
            totals[s.row[e]] += moves.image(s, e, s.least[v], s.value[v])
    assert totals == list(s.total)
    violated = {r for r in range(len(totals)) if moves.excess(s, r, totals[r]) > 0}
    count = s.scalar[VIOLATED]
    assert len(violated) == count
    assert set(s.violated[:count]) == violated
    assert all((s.place[r] >= 0) == (r in violated) for r in range(len(totals)))


def weighted(s: Jumps) -> int:
    return sum(s.weight[r] * moves.excess(s, r, s.total[r]) for r in range(len(s.total)))


def test_scores_are_what_a_move_changes() -> None:
    compared, kinds = 0, set()
    for s in states(60):
        random = Random(compared)
        s.weight[:] = [random.randint(1, 9) for _ in s.weight]
        for v in range(len(s.value)):
            if s.least[v] == s.most[v] or s.first[v] == s.first[v + 1]:
                continue
            kinds |= {s.kind[e] for e in range(s.first[v], s.first[v + 1])}
            best = moves.best_of(s, v)
            if best == UNLIMITED:  # a wide variable, whose rows want it as it is
                continue
            before, kept = weighted(s), s.value[v]
            moves.assign(s, v, s.scalar[CHOSEN])
            assert weighted(s) - before == best
            check(s)
            if s.most[v] - s.least[v] < WIDTH:  # no other value is better
                for x in range(s.least[v], s.most[v] + 1):
                    if x != kept and (s.holes[v] < 0 or s.inside[s.holes[v] + x - s.least[v]]):
                        moves.assign(s, v, x)
                        assert weighted(s) - before >= best
            moves.assign(s, v, kept)
            compared += 1
    assert compared > 200
    assert kinds == set(range(PLAIN, THRESHOLD + 1))


def test_sums_and_violated_rows_are_kept_true() -> None:
    solved = steps = 0
    for s in states(80):
        for _ in range(4):
            solved += moves.jump(s, 2_000) == 0
            check(s)
            moves.scatter(s, 0, len(s.value))
            check(s)
        steps += s.scalar[STEPS]
    assert solved > 15
    assert steps > 500


def test_both_engines_move_alike(filled: None) -> None:
    moved = 0
    for s in states(40, 6_000):
        compiled = CompiledJumps(Jumps(*map(list, s)))  # type: ignore[arg-type]
        for work in (300, 1, 5_000):
            assert compiled.run(work) == moves.jump(s, work)
            assert all(list(a) == list(b) for a, b in zip(compiled.state, s, strict=True))  # type: ignore[call-overload]
        moved += s.scalar[STEPS]
    assert moved > 200


def test_weights_stay_small() -> None:
    m = Model()
    x = m.int_vars("x", 3, 0, 1)
    m.add(all_different(x[0] + x[1], x[1] + x[2], x[0] + x[2], 5 * x[0]), x[0] + x[1] + x[2] == 1)
    root = Prepared(m, [], [], may_postpone=True).root
    if root is None:
        pytest.fail("presolve proves it: the test needs another model")
    s = build(SeparableRows(root), 0, {})
    s.scalar[HEAVIEST] = 40
    moves.jump(s, 100_000)
    assert s.scalar[VIOLATED] > 0
    assert 1 < max(s.weight) <= 41


# As a member of the portfolio


def planted(count: int, seed: int) -> Model:
    """Clauses of three literals that one drawn assignment fulfils, near where they are hardest."""
    random = Random(seed)
    plan = [random.random() < 0.5 for _ in range(count)]
    m = Model()
    x = m.bool_vars("x", count)
    stated = 0
    while stated < 4 * count:
        chosen = random.sample(range(count), 3)
        signs = [random.random() < 0.5 for _ in chosen]
        if any(plan[v] == sign for v, sign in zip(chosen, signs, strict=True)):
            m.add(sum_(x[v] if sign else 1 - x[v] for v, sign in zip(chosen, signs, strict=True)) >= 1)
            stated += 1
    return m


def run_of(model: Model, **options: Any) -> FeasibilityJumpRun | None:
    prepared = Prepared(model, [], [], may_postpone=True)
    assert prepared.root is not None
    return feasibility_jump_run(SearchTask(prepared, prepared.root, options_of(**options), perf_counter()))  # type: ignore[return-value]


def test_it_finds_a_solution_alone(filled: None) -> None:
    found = []
    for engine in ("interpreted", "compiled", "auto"):
        run = run_of(planted(60, 3), engine=engine)
        assert not isinstance(run, str)
        assert run is not None
        assignment = run.next().found
        assert assignment is not None
        found.append({variable.name: value for variable, value in assignment.items()})  # type: ignore[attr-defined]
    assert found[0] == found[1] == found[2]


def test_turns_end_at_the_same_step_for_any_slices() -> None:
    ends: list[Any] = []
    for size in (7, 400, 1_000_000):
        model = planted(120, 5)
        model.settings = DEFAULT.with_fields(local_search={"slice": size})
        run = run_of(model, engine="interpreted")
        assert not isinstance(run, str)
        ends.append([])
        found = None
        while found is None:
            assert run is not None
            run.allowed = 500
            assert run is not None
            found = run.next().found
            if found is None:
                assert run is not None
                ends[-1].append(run._moves.state.scalar[WORK])
    assert len(ends[0]) > 3
    assert ends[0] == ends[1] == ends[2]


def test_points_that_lead_nowhere_end_it() -> None:
    """Where rows say too little, points without violated rows are no solutions."""
    m = Model()
    x = m.int_vars("x", 30, 2, 60)
    for i in range(0, 30, 3):
        m.add(x[i] * x[i + 1] * x[i + 2] == 30_030)
    m.add(*(x[i] != x[i + 1] for i in range(29)))
    assert "(local_search.one_left_out)" in str(run_of(m))
    m.settings = DEFAULT.with_fields(local_search={"one_left_out": 0, "nodes_of_dive": 0})
    run = run_of(m)
    assert not isinstance(run, str)
    assert run is not None
    assert run.next().outcome is Outcome.GAVE_UP
    assert run is not None
    assert run._dives == DEFAULT.local_search.most_dives
    assert run is not None
    assert run.next().outcome is Outcome.GAVE_UP


def test_the_portfolio_finds_first_solutions_with_it(monkeypatch: pytest.MonkeyPatch, filled: None) -> None:
    made = []
    plain = MemberMaker.local_search

    def noted(self: Any) -> Any:
        made.append(plain(self))
        return made[-1]

    monkeypatch.setattr(MemberMaker, "local_search", noted)
    model, other = planted(150, 8), planted(150, 8)
    model.settings = other.settings = DEFAULT.with_fields(portfolio={"alone": 0})
    found = model.solve(learn="auto", seed=1)
    assert found.status is Status.OPTIMAL
    assert len(made) == 1
    again = other.solve(learn="auto", seed=1)
    assert {v: found[v] for v in model.variables} == {v: again[v] for v in model.variables}
