"""Parallel search: the same answers as alone, for any workers and any durations of their shares."""

from __future__ import annotations

import json
import random
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from time import perf_counter
from typing import Any, get_args

import pytest
from shared_models import GREAT, Backwards, Drawn, Here, draw, queens, rows

import constrint as ci
from constrint.modelling.result import Status
from constrint.parallel import share
from constrint.parallel.subtree_search import SubtreeSearch
from constrint.preparing.branching import ValueSelector, VariableSelector
from constrint.preparing.options import Engine, Options
from constrint.preparing.prepared import Prepared
from constrint.preparing.search_protocol import SearchTask
from constrint.search import subtree as subtrees
from constrint.search.depth_first import DepthFirstRun
from constrint.search.sliced import SearchLimits
from constrint.settings import DEFAULT, using
from constrint.store.state import AT_LEAST, AT_MOST, EQUAL, EXHAUSTED, SOLUTION

pytestmark = pytest.mark.timeout(900)  # the first use on a machine compiles the engine

VARIABLES = get_args(VariableSelector)
VALUES = get_args(ValueSelector)


def answers(drawn: Drawn, **how: Any) -> list[Any]:
    """The answers in every mode, each compared with the truth."""
    found = [drawn.row(result) for result in drawn.model.iter_solutions(**how)]
    assert len(set(found)) == len(found)
    assert set(found) == set(drawn.truths)
    given = {name: value for name, value in how.items() if name not in ("seed", "branching")}
    assert drawn.model.count(**given) == len(drawn.truths)
    one = []
    for name, (question, rank) in drawn.questions().items():
        result = drawn.model.solve(**question, **how)
        assert result.status is (Status.OPTIMAL if drawn.truths else Status.INFEASIBLE), name
        row = drawn.row(result)
        if row is not None:
            assert rank(row) == min(map(rank, drawn.truths)), name
        one.append(row)
    return [found, *one]


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(n, marks=pytest.mark.slow) for n in range(4, 8))])
def test_every_mode_finds_what_brute_force_finds(seed: int, count: int, shares: list[object]) -> None:
    """Interpreted, compiled and exact, alone and with workers whose timing differs."""
    rnd = random.Random(seed)
    work = {"work_alone": rnd.choice([0, 100, 400]), "work_of_share": rnd.choice([60, 150, 400])}
    brancher = ci.Brancher(rnd.choice(VARIABLES), rnd.choice(VALUES))
    with using(DEFAULT.with_fields(search=work)):
        drawn, great = draw(seed), draw(seed, GREAT)
    how = {"workers": count, "branching": brancher, "seed": seed}
    here = answers(drawn, engine="interpreted", executor=Here(), **how)
    assert answers(drawn, engine="compiled", executor=Backwards(), **how) == here
    answers(great, engine="interpreted", executor=Backwards(), **how)
    assert not drawn.truths or shares


@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("engine", ["interpreted", "compiled"])
def test_own_workers_give_the_answers_of_an_executor_with_as_many(
    engine: Engine, count: int, shares: list[object], children: Any
) -> None:
    """Processes where the search is interpreted, threads where it is compiled; none is left behind."""
    drawn = next(d for d in map(draw, range(99)) if len(d.truths) > 500)
    how: dict[str, Any] = {"engine": engine, "workers": count, "seed": 5}
    expected = [drawn.row(r) for r in drawn.model.iter_solutions(executor=Here(), **how)]
    shares.clear()
    assert [drawn.row(r) for r in drawn.model.iter_solutions(**how)] == expected
    assert len(shares) > 4
    question, rank = drawn.questions()["lexicographic"]
    row = drawn.row(drawn.model.solve(**question, **how))
    assert row == drawn.row(drawn.model.solve(**question, executor=Here(), **how))
    assert row is not None
    assert rank(row) == min(map(rank, drawn.truths))
    assert (0 < len(children) <= 2 * count) if engine == "interpreted" else not children
    assert all(child.poll() is not None for child in children)


def test_a_pool_of_processes_and_one_of_threads(shares: list[object]) -> None:
    expected = sorted(rows(queens(7), engine="interpreted"))
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        found = rows(queens(7), engine="interpreted", executor=pool)
    assert shares
    with ThreadPoolExecutor(2) as pool:
        assert rows(queens(7), engine="interpreted", executor=pool) == found
        assert queens(7).count(engine="compiled", executor=pool) == len(expected)
    assert sorted(found) == expected


def test_a_short_search_ends_before_anyone_is_asked(children: list[object]) -> None:
    m = queens(6)
    assert m.count(engine="interpreted", workers=2) == 4
    assert m.solve(workers=2)
    assert children == []


def test_parts_of_parts_are_disjoint_and_complete(shares: list[object]) -> None:
    """The smallest shares there can be: a part is cut, carried on and cut again many times."""
    expected = sorted(rows(queens(6), engine="interpreted"))
    smallest = DEFAULT.with_fields(search={"work_alone": 0, "work_of_share": 1})
    for values in ("min", "max", "middle", "lower_half", "random"):
        m = queens(6)
        m.settings = smallest
        found = rows(
            m,
            engine="interpreted",
            branching=ci.Brancher("first_fail", values),
            executor=Here(),
            workers=3,
        )
        assert sorted(found) == expected
    assert len(shares) > 100


def walk(path: list[Any], fixed: tuple[Any, ...] = ()) -> list[tuple[int, ...]]:
    """The solutions in a part of the tree of x != y, x and y in 0..1, where propagation decides y after x."""
    m = ci.Model()
    x, y = m.int_var("x", 0, 1), m.int_var("y", 0, 1)
    m.add(x != y)
    prepared = Prepared(m, (), (), brancher=ci.Brancher("input_order"))
    assert prepared.root is not None
    state = DepthFirstRun(SearchTask(prepared, prepared.root, Options(engine="interpreted"), 0.0))._state
    walker = SubtreeSearch(state, "interpreted", False, SearchLimits())
    numbers = {name: prepared.variables[variable] for name, variable in m.variables.items()}
    steps = [[(numbers[v], *step) for v, *step in items] for items in (fixed, path)]
    outcome = walker.descend(subtrees.Subtree(*steps))
    found = []
    while outcome != EXHAUSTED:
        outcome = walker._advance() if outcome is None else outcome
        if outcome == SOLUTION:
            found.append(tuple(map(walker.value, numbers.values())))
            outcome = None
    return found


def test_a_solution_above_the_first_node_of_a_part_is_in_it_or_not() -> None:
    """After x <= 0 is decided, y is 1: a solution, before the decisions about y have been come to."""
    first, second = (0, 1), (1, 0)
    assert walk([]) == [first, second]
    assert walk([("x", AT_MOST, 0, 0)]) == [first, second]
    assert walk([("x", AT_MOST, 0, 1)]) == [second]
    assert walk([], [("x", AT_MOST, 0, 0)]) == [first]  # type: ignore[arg-type]
    # y <= 0 is open: its opposite, y = 1, is left; or it was refuted, and y = 1 is what is left.
    assert walk([("x", AT_MOST, 0, 0), ("y", AT_MOST, 0, 0)]) == [first, second]
    assert walk([("x", AT_MOST, 0, 0), ("y", AT_MOST, 0, 1)]) == [first, second]
    # y >= 1 was refuted: another part has the solution.
    assert walk([("x", AT_MOST, 0, 0), ("y", AT_LEAST, 1, 1)]) == [second]
    assert walk([("x", AT_MOST, 0, 0), ("y", AT_LEAST, 1, 0), ("y", EQUAL, 1, 1)]) == [second]
    assert walk([("x", AT_MOST, 0, 0), ("y", EQUAL, 0, 0), ("y", AT_LEAST, 1, 1)]) == [first, second]
    # The node fails, and the opposite of the decision before is a solution: of this part in any case.
    failing = [("x", AT_MOST, 0, 0), ("y", AT_LEAST, 1, 1)]
    assert walk(failing) == [second]
    assert walk([*failing, ("y", AT_MOST, 0, 0), ("x", AT_LEAST, 1, 1)]) == [second]
    assert walk([("x", AT_MOST, 0, 0), ("x", AT_MOST, 0, 1), ("y", AT_MOST, 0, 0)]) == [second]
    assert walk([("y", AT_MOST, 1, 1)]) == []


def test_what_led_the_search_is_handed_on(shares: list[object]) -> None:
    """Failures counted before, and in earlier shares, lead the next ones."""
    m = queens(8)
    seen: list[share.Share] = []
    ask = share.search_share

    class Listening(Here):
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
            told = share.Share(*json.loads(args[1]))
            seen.append(told)
            return super().submit(fn, *args, **kwargs)

    m.count(engine="interpreted", executor=Listening(), workers=2)
    sums = [sum(told.memory[0]) for told in seen]
    assert ask is share.search_share
    assert sums[-1] > sums[0] > 0


@pytest.mark.parametrize("kind", [Here, ThreadPoolExecutor])
def test_a_share_that_waited_for_its_worker_ends_with_the_call(shares: list[object], kind: type[Any]) -> None:
    """On this machine a share knows when the call ends, not how long it may take from its own start."""
    texts: list[tuple[str, str]] = []

    class Listening(kind):  # type: ignore[misc]
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
            texts.append(args)
            return super().submit(fn, *args, **kwargs)

    with Listening() as executor:
        queens(8).count(engine="interpreted", executor=executor, workers=2, time_limit=1000)
    common, text = texts[0]
    told = share.Share(*json.loads(text))
    assert told.seconds is not None
    assert (told.ends is not None) == (kind is ThreadPoolExecutor)

    def ended(ends: float | None) -> str:
        late = told._replace(ends=ends)
        return share.answer_of(share.search_share(common, share.share_text(late, False)), False).end

    assert ended(None) == ended(told.ends) == ""
    assert ended(perf_counter() - 1) == "stopped"


def test_the_best_bound_is_shared(shares: list[object]) -> None:
    m, bounds = ci.Model(), []
    xs = [m.int_var(f"x{i}", 0, 9) for i in range(5)]
    m.add(ci.all_different(xs))
    goal = ci.sum_((i + 1) * x for i, x in enumerate(xs)) + xs[0] * xs[4]

    class Listening(Here):
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
            bounds.append(share.Share(*json.loads(args[1])).bound)
            return super().submit(fn, *args, **kwargs)

    improved: list[int] = []
    how: dict[str, Any] = {"engine": "interpreted", "branching": ci.Brancher("input_order", "min")}
    r = m.solve(
        maximize=goal, executor=Listening(), on_solution=lambda s: improved.append(s.objective), **how
    )
    assert r.objective == m.solve(maximize=goal, **how).objective == improved[-1]
    assert improved == sorted(set(improved))
    known = [bound for bound in bounds if bound is not None]
    assert known == sorted(known)
    assert known[-1] == r.objective + 1
    assert len(set(known)) > 2
