"""A call that its deadline ends at any look at the clock says nothing wrong, and leaves the model as it was.

The clock stands still, and has passed every deadline from its k-th look on: k is drawn between the first look
of a call and its last. What the call then says is compared with brute force, and so is what the same model
says afterwards without a limit. `CONSTRINT_INTERRUPTED` is the number of models, `CONSTRINT_INTERRUPTED_SEED`
draws others.
"""

from __future__ import annotations

import importlib
import json
import math
import os
import pkgutil
import random
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from interrupted_calls import calls
from shared_models import Here
from soak_cases import Case, cases

import constrint as ci
from constrint.cli.main import app
from constrint.frontends.formats import FORMATS, written
from constrint.settings import DEFAULT, using
from constrint.support.deadline import Deadline, Stopped, until

COUNT = int(os.environ.get("CONSTRINT_INTERRUPTED", "4"))
SEED = int(os.environ.get("CONSTRINT_INTERRUPTED_SEED", "1"))
POINTS = 3  # of each call at which it is ended
LIMIT = 1000.0
OPTIONAL = ("integrations", "sympy", "cp_sat", "__main__", "compile_part")


class Clock:
    """Stands still up to a look, and is far beyond every deadline from there on."""

    def __init__(self) -> None:
        self.looks = 0
        self.last = math.inf

    def __call__(self) -> float:
        self.looks += 1
        return 0.0 if self.looks < self.last else 1e9

    def start(self, last: float = math.inf) -> None:
        """Begin anew."""
        self.looks, self.last = 0, last


CLOCK = Clock()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    for found in pkgutil.walk_packages(ci.__path__, "constrint."):
        if not any(part in found.name for part in OPTIONAL):
            importlib.import_module(found.name)
    if find_spec("ortools"):
        importlib.import_module("constrint.backends.cp_sat")
    for name, module in list(sys.modules.items()):
        if name.startswith("constrint.") and hasattr(module, "perf_counter"):
            monkeypatch.setattr(module, "perf_counter", CLOCK)
    # These models are small: without this, no search would be shared, dived for or left to tables.
    search = {"small": 1, "work_alone": 50, "work_of_share": 100}
    with using(DEFAULT.with_fields(search=search, enumeration={"least_combinations": 1})):
        yield CLOCK


def right_result(case: Case, r: ci.Result, goal: bool, limit: float | None) -> None:
    """What a result says is true; without a limit it says all."""
    best = case.best("minimize") if goal else None
    is_there = best is not None if goal else bool(case.truths)
    assert limit is not None or r.status in (ci.Status.OPTIMAL, ci.Status.INFEASIBLE)
    if r.status is ci.Status.INFEASIBLE:
        assert not is_there
    elif r:
        assert case.row(r) in case.truths
        if goal:
            assert r.objective == case.truths[case.row(r)]
            assert r.status is ci.Status.FEASIBLE or r.objective == best


def solved(goal: bool = True, **options: Any) -> Callable[[Case, float | None], None]:
    def ask(case: Case, limit: float | None) -> None:
        wanted = {"minimize": case.goal} if goal else {}
        right_result(case, case.model.solve(**wanted, time_limit=limit, **options), goal, limit)

    return ask


def elsewhere(case: Case, limit: float | None) -> None:
    """By CP-SAT, which refuses models whose numbers it cannot hold."""
    try:
        r = case.model.solve(minimize=case.goal, backend="cp-sat", time_limit=limit)
    except (ci.ModelError, ci.UnboundedError):
        return
    right_result(case, r, True, limit)


def preferred(case: Case, limit: float | None) -> None:
    name = case.names[0]
    r = case.model.solve(prefer=[(case.model.variables[name], "max")], time_limit=limit)
    right_result(case, r, False, limit)
    if r.status is ci.Status.OPTIMAL:
        assert case.row(r)[0] == max(row[0] for row in case.truths)


def iterated(case: Case, limit: float | None) -> None:
    solutions = case.model.iter_solutions(time_limit=limit)
    found = [case.row(r) for r in solutions]
    assert len(set(found)) == len(found)
    assert set(found) <= set(case.truths)
    assert solutions.complete == (len(found) == len(case.truths)) or not solutions.complete
    assert limit is not None or solutions.complete


def counted(**options: Any) -> Callable[[Case, float | None], None]:
    def ask(case: Case, limit: float | None) -> None:
        try:
            assert case.model.count(time_limit=limit, **options) == len(case.truths)
        except ci.LimitError:
            assert limit is not None

    return ask


def listed(case: Case, limit: float | None) -> None:
    try:
        solutions = case.model.solutions(time_limit=limit)
    except ci.LimitError:
        assert limit is not None or case.kind == "unbounded"
        return
    places = [list(solutions.names).index(name) for name in case.names]
    rows = [tuple(int(row[place]) for place in places) for row in map(tuple, solutions.to_numpy().tolist())]
    assert sorted(rows) == sorted(case.truths)


def front(case: Case, limit: float | None) -> None:
    name = case.names[0]
    goals = [(case.goal, "min"), (case.model.variables[name], "max")]
    found = case.model.pareto(goals, time_limit=limit)  # type: ignore[arg-type]
    points = {(value, row[0]) for row, value in case.truths.items() if value is not None}
    best = {p for p in points if not any(q != p and q[0] <= p[0] and q[1] >= p[1] for q in points)}
    assert set(found.objectives) <= best
    assert not found.complete or set(found.objectives) == best
    assert limit is not None or found.complete


def blamed(case: Case, limit: float | None) -> None:
    """A goal better than the best leaves no solution, and a minimal conflict is one."""
    best = case.best("minimize")
    too_good = case.goal <= (best if best is not None else 0) - 1
    try:
        conflict = case.model.explain(assumptions=[too_good], time_limit=limit or 60.0)
    except ci.LimitError:
        assert limit is not None
        return
    assert conflict is not None
    assert limit is not None or conflict.minimal
    check_conflict(case, conflict)


def check_conflict(case: Case, conflict: Any) -> None:
    """The constraints contradict each other; all of them are needed where it says so."""
    CLOCK.start()
    assert with_constraints(case, conflict.constraints).solve().status is ci.Status.INFEASIBLE
    for left_out in conflict.constraints if conflict.minimal else ():
        rest = [one for one in conflict.constraints if one is not left_out]
        assert with_constraints(case, rest).solve().status is not ci.Status.INFEASIBLE


def with_constraints(case: Case, constraints: Any) -> ci.Model:
    part = case.model.copy()
    part.constraints[:] = constraints
    return part


def assumed(case: Case, limit: float | None) -> None:
    best = case.best("minimize")
    too_good = case.goal <= (best if best is not None else 0) - 1
    first = case.model.variables[case.names[0]]
    r = case.model.solve(assumptions=[first == first, too_good], time_limit=limit)
    assert r.status is ci.Status.INFEASIBLE or (limit is not None and r.status is ci.Status.UNKNOWN)
    assert limit is not None or (r.conflict is not None and r.conflict.minimal)
    if r.conflict is not None:
        CLOCK.start()
        guilty = [*case.model.constraints, *r.conflict.constraints]
        assert with_constraints(case, guilty).solve().status is ci.Status.INFEASIBLE


def command(flags: list[str], check: Callable[[Case, int, dict[str, Any]], None]) -> Any:
    def ask(case: Case, limit: float | None, tmp_path: Any) -> None:
        model = case.model.copy()
        model.minimize(case.goal)
        path = tmp_path / "model.json"
        path.write_text(model.to_json(), encoding="utf-8")
        seconds = [] if limit is None else ["--time-limit", str(limit)]
        result = CliRunner().invoke(app, [*flags, str(path), *seconds])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code in ((0, 1, 3) if limit is not None else (0, 1))
        if result.exit_code != 3:
            check(case, result.exit_code, json.loads(result.stdout))

    ask.needs_folder = True  # type: ignore[attr-defined]  # noted for `asked`
    return ask


def said_of_one(case: Case, code: int, said: dict[str, Any]) -> None:
    best = case.best("minimize")
    assert code == (1 if best is None else 0)
    if code == 0:
        row = tuple(int(said["values"][name]) for name in case.names)
        assert said["objective"] == case.truths[row]
        assert said["status"] == "feasible" or said["objective"] == best


def said_of_count(case: Case, code: int, said: dict[str, Any]) -> None:
    assert code == (0 if case.truths else 1)
    if code == 0:
        assert said["count"] == len(case.truths) or not said["complete"]
        assert said["count"] <= len(case.truths)


def said_of_check(case: Case, code: int, said: dict[str, Any]) -> None:
    assert code == 0
    assert said["methods"]


def planned(case: Case, limit: float | None) -> None:
    assert case.model.plan(time_limit=limit).lines


ENTRIES: dict[str, Any] = {
    "best": solved(),
    "interpreted": solved(engine="interpreted", learn=False),
    "first": solved(goal=False),
    "learn": solved(learn=True, engine="interpreted"),
    "lns": solved(lns=True, engine="interpreted"),
    "restarts": solved(restarts="luby", engine="interpreted"),
    "shared": solved(executor=Here(), workers=2, engine="interpreted"),
    "prefer": preferred,
    "iter_solutions": iterated,
    "count": counted(),
    "count searched": counted(engine="interpreted"),
    "count shared": counted(executor=Here(), workers=2),
    "solutions": listed,
    "pareto": front,
    "explain": blamed,
    "assumptions": assumed,
    "plan": planned,
    "cli": command(["solve", "--json"], said_of_one),
    "cli count": command(["solve", "--count", "--json"], said_of_count),
    "cli check": command(["check", "--explain", "--json"], said_of_check),
}
ENTRIES |= calls(CLOCK.start)
if find_spec("ortools"):
    ENTRIES["cp-sat"] = elsewhere


def asked(entry: Any, case: Case, limit: float | None, tmp_path: Any) -> None:
    if getattr(entry, "needs_folder", False):
        entry(case, limit, tmp_path)
    else:
        entry(case, limit)


@pytest.mark.fuzz
@pytest.mark.parametrize("name", ENTRIES)
def test_a_call_that_is_ended_at_any_look_says_nothing_wrong(clock: Clock, tmp_path: Path, name: str) -> None:
    entry, rng = ENTRIES[name], random.Random(f"{SEED} {name}")
    for case in cases(COUNT, SEED):
        clock.start()
        asked(entry, case, LIMIT, tmp_path)
        looks = clock.looks
        for _ in range(POINTS):
            early = math.exp(rng.uniform(0, math.log(looks + 1)))
            clock.start(round(rng.choice([early, rng.uniform(1, looks)])))
            asked(entry, case, LIMIT, tmp_path)
        clock.start()
        asked(entry, case, None, tmp_path)


@pytest.mark.parametrize("name", [name for name, one in FORMATS.items() if one.writer and not one.extra])
def test_writers_look_at_the_clock_for_each_constraint(clock: Clock, name: str) -> None:
    m = ci.Model()
    xs = m.int_vars("x", 6, 0, 9)
    m.add(*[xs[i % 6] + 2 * xs[(i + 1) % 6] <= 9 + i for i in range(10)])
    clock.start()
    with until(Deadline(LIMIT)):
        written(m, name)
        looks = clock.looks
        assert looks >= 10
        clock.start(looks // 2)
        with pytest.raises(Stopped):
            written(m, name)
