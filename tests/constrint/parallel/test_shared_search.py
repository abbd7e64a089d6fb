"""Parallel search: the same answers as alone, for any workers and any durations of their shares."""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Any, get_args

import pytest
from click.testing import CliRunner
from shared_models import GREAT, Backwards, Drawn, Here, draw

import constrint as ci
from constrint.cli.flatzinc_answers import Options as FlatOptions
from constrint.cli.flatzinc_answers import lines
from constrint.cli.main import app
from constrint.frontends.flatzinc import read_flatzinc
from constrint.modelling.result import Status
from constrint.parallel import processes, share, workers
from constrint.parallel import shared_search as shared_run
from constrint.parallel.walker import Walker
from constrint.preparing.branching import ValueSelector, VariableSelector
from constrint.preparing.options import Options
from constrint.preparing.prepared import Prepared
from constrint.search import subtree as subtrees
from constrint.search.depth_first import Run
from constrint.search.sliced import Limits
from constrint.store.state import AT_LEAST, AT_MOST, EQUAL, EXHAUSTED, SOLUTION

pytestmark = pytest.mark.timeout(900)  # the first use on a machine compiles the engine

VARIABLES = get_args(VariableSelector)
VALUES = get_args(ValueSelector)


@pytest.fixture
def shares(monkeypatch):
    """Nearly everything is done in shares; gives a list with a place for each."""
    handed_out: list[int] = []
    submit = workers.Workers.submit

    def counted(self, common, text):
        handed_out.append(len(text))
        return submit(self, common, text)

    monkeypatch.setattr(workers.Workers, "submit", counted)
    monkeypatch.setattr(shared_run, "WORK_ALONE", 100)
    monkeypatch.setattr(shared_run, "WORK", 150)
    return handed_out


@pytest.fixture
def children(monkeypatch):
    """The processes that are started."""
    started: list[subprocess.Popen[str]] = []
    popen = subprocess.Popen

    def noted(*args, **kwargs):
        process = popen(*args, **kwargs)
        if "constrint.parallel.processes" in str(args):  # others compile in the background
            started.append(process)
        return process

    monkeypatch.setattr(processes.subprocess, "Popen", noted)
    return started


def queens(n: int) -> ci.Model:
    m = ci.Model("queens")
    q = m.int_vars("q", n, 0, n - 1)
    for shift in (-1, 0, 1):
        m.add(ci.all_different([q[i] + shift * i for i in range(n)]))
    return m


def rows(m: ci.Model, **how: Any) -> list[tuple[int, ...]]:
    return [tuple(r.values.values()) for r in m.iter_solutions(**how)]


def endless() -> tuple[ci.Model, ci.IntExpr]:
    """A model that is not searched through in the life of a test."""
    m = ci.Model()
    xs = [m.int_var(f"x{i}", 0, 60) for i in range(14)]
    m.add(ci.all_different(xs), ci.sum_(x * x for x in xs) % 1009 == 17)
    return m, ci.sum_((x * (i + 3)) % 61 for i, x in enumerate(xs))


# ---------------------------------------------------------------- every mode, against brute force


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
@pytest.mark.parametrize("seed", range(8))
def test_every_mode_finds_what_brute_force_finds(seed, count, shares, monkeypatch):
    """Interpreted, compiled and exact, alone and with workers whose timing differs."""
    rnd = random.Random(seed)
    monkeypatch.setattr(shared_run, "WORK_ALONE", rnd.choice([0, 100, 400]))
    monkeypatch.setattr(shared_run, "WORK", rnd.choice([60, 150, 400]))
    brancher = ci.Brancher(rnd.choice(VARIABLES), rnd.choice(VALUES))
    drawn, great = draw(seed), draw(seed, GREAT)
    how = {"workers": count, "branching": brancher, "seed": seed}
    here = answers(drawn, engine="interpreted", executor=Here(), **how)
    assert answers(drawn, engine="compiled", executor=Backwards(), **how) == here
    answers(great, engine="interpreted", executor=Backwards(), **how)
    assert not drawn.truths or shares


@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("engine", ["interpreted", "compiled"])
def test_own_workers_give_the_answers_of_an_executor_with_as_many(engine, count, shares, children):
    """Processes where the search is interpreted, threads where it is compiled; none is left behind."""
    drawn = next(d for d in map(draw, range(99)) if len(d.truths) > 500)
    how = {"engine": engine, "workers": count, "seed": 5}
    expected = [drawn.row(r) for r in drawn.model.iter_solutions(executor=Here(), **how)]
    shares.clear()
    assert [drawn.row(r) for r in drawn.model.iter_solutions(**how)] == expected
    assert len(shares) > 4
    question, rank = drawn.questions()["lexicographic"]
    row = drawn.row(drawn.model.solve(**question, **how))
    assert row == drawn.row(drawn.model.solve(**question, executor=Here(), **how))
    assert rank(row) == min(map(rank, drawn.truths))
    assert (0 < len(children) <= 2 * count) if engine == "interpreted" else not children
    assert all(child.poll() is not None for child in children)


def test_a_pool_of_processes_and_one_of_threads(shares):
    expected = sorted(rows(queens(7), engine="interpreted"))
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        found = rows(queens(7), engine="interpreted", executor=pool)
    assert shares
    with ThreadPoolExecutor(2) as pool:
        assert rows(queens(7), engine="interpreted", executor=pool) == found
        assert queens(7).count(engine="compiled", executor=pool) == len(expected)
    assert sorted(found) == expected


def test_a_short_search_ends_before_anyone_is_asked(children):
    m = queens(6)
    assert m.count(engine="interpreted", workers=2) == 4
    assert m.solve(workers=2)
    assert children == []


def test_parts_of_parts_are_disjoint_and_complete(shares, monkeypatch):
    """The smallest shares there can be: a part is cut, carried on and cut again many times."""
    monkeypatch.setattr(shared_run, "WORK_ALONE", 0)
    monkeypatch.setattr(shared_run, "WORK", 1)
    expected = sorted(rows(queens(6), engine="interpreted"))
    for values in ("min", "max", "middle", "lower_half", "random"):
        found = rows(
            queens(6),
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
    state = Run(prepared, prepared.root, Options(engine="interpreted"), 0.0)._state
    walker = Walker(state, "interpreted", False, Limits())
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


def test_a_solution_above_the_first_node_of_a_part_is_in_it_or_not():
    """After x <= 0 is decided, y is 1: a solution, before the decisions about y have been come to."""
    first, second = (0, 1), (1, 0)
    assert walk([]) == [first, second]
    assert walk([("x", AT_MOST, 0, 0)]) == [first, second]
    assert walk([("x", AT_MOST, 0, 1)]) == [second]
    assert walk([], [("x", AT_MOST, 0, 0)]) == [first]
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


def test_what_led_the_search_is_handed_on(shares):
    """Failures counted before, and in earlier shares, lead the next ones."""
    m = queens(8)
    seen: list[share.Share] = []
    ask = share.search_share

    class Listening(Here):
        def submit(self, fn, /, *args, **kwargs):
            told = share.Share(*json.loads(args[1]))
            seen.append(told)
            return super().submit(fn, *args, **kwargs)

    m.count(engine="interpreted", executor=Listening(), workers=2)
    sums = [sum(told.memory[0]) for told in seen]
    assert ask is share.search_share
    assert sums[-1] > sums[0] > 0


def test_the_best_bound_is_shared(shares):
    m, bounds = ci.Model(), []
    xs = [m.int_var(f"x{i}", 0, 9) for i in range(5)]
    m.add(ci.all_different(xs))
    goal = ci.sum_((i + 1) * x for i, x in enumerate(xs)) + xs[0] * xs[4]

    class Listening(Here):
        def submit(self, fn, /, *args, **kwargs):
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


# ---------------------------------------------------------------- limits, and ends before the end


def test_a_time_limit_ends_all_workers(children):
    m, goal = endless()
    for engine in ("interpreted", "compiled"):
        r = m.solve(maximize=goal, time_limit=1.5, engine=engine, workers=2)
        assert r.status in (Status.FEASIBLE, Status.UNKNOWN)
        assert all(child.poll() is not None for child in children)
    solutions = m.iter_solutions(time_limit=1.0, workers=2)
    found = [tuple(r.values.values()) for r in solutions]
    assert len(set(found)) == len(found)
    assert not solutions.complete
    with pytest.raises(ci.LimitError, match=r"time limit of 0\.5 s"):
        m.count(time_limit=0.5, workers=2, engine="interpreted")


def test_a_worker_that_does_not_answer_in_time_is_left_alone(shares):
    class Silent(Executor):
        def submit(self, fn, /, *args, **kwargs):
            return Future()

    m, goal = endless()
    r = m.solve(maximize=goal, time_limit=0.5, engine="interpreted", executor=Silent(), workers=2)
    assert r.status in (Status.FEASIBLE, Status.UNKNOWN)


def test_ctrl_c_gives_the_best_so_far(shares, children):
    # CP-SAT, which other tests compare with, leaves a handler that kills the process.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    m, goal = endless()
    told: list[ci.Result] = []

    def interrupt(result: ci.Result) -> None:
        told.append(result)
        if children:
            signal.raise_signal(signal.SIGINT)

    r = m.solve(maximize=goal, engine="interpreted", workers=2, on_solution=interrupt)
    assert r.status is Status.FEASIBLE
    assert r.objective == told[-1].objective
    assert 0 < len(children) <= 2
    assert all(child.poll() is not None for child in children)


def test_ctrl_c_while_a_preferred_solution_is_looked_for(shares):
    """What has been found is the answer, though something to the left of it may be better."""

    class Interrupting(Here):
        def submit(self, fn, /, *args, **kwargs):
            future = super().submit(fn, *args, **kwargs)
            answer = share.answer_of(future.result(), False)
            if self.found and not answer.found:
                future = Future()
                future.set_exception(KeyboardInterrupt())
            self.found = self.found or bool(answer.found)
            return future

        found = False

    m = queens(8)
    xs = list(m.variables.values())
    order: list[Any] = [(x, "min") for x in xs]
    r = m.solve(prefer=order, engine="interpreted", executor=Interrupting(), workers=4)
    assert r
    assert r.status in (Status.FEASIBLE, Status.OPTIMAL)


def test_the_caller_may_end_it(shares, children):
    m, goal = endless()
    seen: list[ci.Result] = []

    def enough(result: ci.Result) -> bool:
        seen.append(result)
        return len(seen) < 3

    r = m.solve(maximize=goal, engine="interpreted", workers=2, on_solution=enough)
    assert (r.status, r.objective) == (Status.FEASIBLE, seen[-1].objective)
    some = m.iter_solutions(workers=2, engine="interpreted")
    first = [next(some).values for _ in range(3)]
    assert len({tuple(values.values()) for values in first}) == 3
    del some
    assert children
    assert all(child.poll() is not None for child in children)
    few = list(queens(8).iter_solutions(limit=5, workers=2, engine="interpreted"))
    assert len(few) == 5


def test_a_worker_that_ends_is_a_clear_error(shares, children):
    m, goal = endless()

    def kill(result: ci.Result) -> None:
        for child in children:
            child.kill()

    with pytest.raises(ci.LimitError, match=r"a worker ended before its answer \(exit code -9\)"):
        m.solve(maximize=goal, engine="interpreted", workers=2, on_solution=kill)
    assert all(child.poll() is not None for child in children)


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (BrokenExecutor("killed"), r"a worker ended before its answer \(killed\)"),
        (MemoryError("all of it"), r"a worker failed before its answer \(MemoryError: all of it\)"),
    ],
)
def test_what_befalls_workers_of_an_executor(problem, message, shares):
    class Failing(Executor):
        def submit(self, fn, /, *args, **kwargs):
            future = Future()
            future.set_exception(problem)
            return future

    with pytest.raises(ci.LimitError, match=message):
        queens(8).count(engine="interpreted", executor=Failing(), workers=2)


SCRIPT = """
import sys, constrint as ci
from constrint.parallel import processes
from constrint.parallel import shared_search as shared_run
shared_run.WORK_ALONE = 100
shared_run.WORK = 2000
m = ci.Model()
xs = [m.int_var(f"x{i}", 0, 60) for i in range(14)]
m.add(ci.all_different(xs), ci.sum_(x * x for x in xs) % 1009 == 17)
popen = processes.subprocess.Popen
def started(*args, **kwargs):
    child = popen(*args, **kwargs)
    print(child.pid, flush=True)
    return child
processes.subprocess.Popen = started
print(m.count(engine="interpreted", workers=2))
"""


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks at Linux's list of processes")
def test_workers_end_with_a_caller_that_is_killed():
    """The script has no guard either: a worker does not run it again."""
    caller = subprocess.Popen([sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, text=True)
    assert caller.stdout is not None
    pid = int(caller.stdout.readline())
    caller.kill()
    caller.wait()
    caller.stdout.close()
    while not is_over(pid):
        time.sleep(0.1)  # they end with the share that they are at; the test has a limit of its own


def is_over(pid: int) -> bool:
    """Whether a process has ended, and only waits for someone to take note."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


# ---------------------------------------------------------------- what does not fit into finite trees


def test_unbounded_variables_are_for_one_search(shares):
    for how in ({}, {"workers": 2, "executor": Here()}):
        m = ci.Model()
        x, y = m.int_var("x", 1, None), m.int_var("y", 1, None)
        m.add(x * y == 36, x + y >= 13)
        assert sorted(rows(m, engine="interpreted", **how)) == [
            (1, 36),
            (2, 18),
            (3, 12),
            (4, 9),
            (9, 4),
            (12, 3),
            (18, 2),
            (36, 1),
        ]
        assert m.solve(minimize=x + y, engine="interpreted", **how).objective == 13
        m.add(x * x - 2 * y * y == 1)
        assert not m.solve(engine="interpreted", **how)
        free = ci.Model()
        z = free.int_var("z", 0, None)
        free.add(z % 7 == 3)
        with pytest.raises(ci.UnboundedError):
            list(free.iter_solutions(engine="interpreted", **how))


@pytest.mark.parametrize(("name", "value"), [("is_wider", True), ("end", "unbounded")])
def test_what_a_worker_finds_out_about_bounds(name, value, shares):
    """Its answer says so; the caller does what one search alone would."""

    class Wide(Here):
        def submit(self, fn, /, *args, **kwargs):
            answer = json.loads(fn(*args))
            names = [each.name for each in share.fields(share.Answer)]
            answer[names.index(name)] = value
            answer[names.index("unbounded")] = 0
            future = Future()
            future.set_result(json.dumps(answer))
            return future

    with pytest.raises(ci.UnboundedError):
        queens(8).count(engine="interpreted", executor=Wide(), workers=2)


# ---------------------------------------------------------------- who can work, and what they are told


def test_ways_that_cannot_be_shared_say_so():
    m = queens(5)
    x, *_ = m.variables.values()
    with pytest.raises(
        ci.ModelError, match="learn makes clauses of failures in all of the tree: leave that out, or workers"
    ):
        m.solve(learn=True, workers=2)
    with pytest.raises(ci.ModelError, match=r"restarts goes over .* leave that out, or workers"):
        m.solve(restarts="luby", executor=Here())
    with pytest.raises(ci.ModelError, match=r"lns goes over .* leave that out, or workers"):
        m.solve(minimize=x, lns=True, workers=2)
    with pytest.raises(ci.ModelError, match="a branching function works with one worker only"):
        m.solve(branching=lambda domains: None, workers=2)
    assert m.solve(learn=True, workers=1)
    for wrong in (0, -1, True, 1.5, "2"):
        with pytest.raises(ci.ModelError, match="number of workers"):
            m.solve(workers=wrong)
    with pytest.raises(ci.ModelError, match=r"executor must be an executor of concurrent\.futures"):
        m.solve(executor="threads")


def test_assumptions_and_progress_go_with_workers(shares):
    m = queens(8)
    x, y, *_ = m.variables.values()
    r = m.solve(assumptions=[x == 0], minimize=y, engine="interpreted", executor=Here(), progress=True)
    assert (r[x], r.objective) == (0, 4)
    r = m.solve(assumptions=[x == 0, y == 1], executor=Here())
    assert r.status is Status.INFEASIBLE
    assert r.conflict is not None


def test_a_worker_of_another_version_is_told_apart(shares):
    tasks: list[Any] = []

    class Listening(Here):
        def submit(self, fn, /, *args, **kwargs):
            tasks.append((fn, *args))
            return super().submit(fn, *args, **kwargs)

    queens(6).count(engine="interpreted", executor=Listening())
    function, common, text = tasks[0]
    assert function is share.search_share
    with pytest.raises(ci.ModelError, match=r"the worker has constrint .* and its caller 0\.0\.1"):
        function(json.dumps({**json.loads(common), "version": "0.0.1"}), text)


def test_numbers_too_long_for_decimal_json(shares):
    """Python reads no decimal integer of more than 4,300 digits."""
    m = ci.Model()
    base = 1 << 15_000
    x, y = m.int_var("x", base, base + 30), m.int_var("y", base, base + 30)
    m.add((x - base) * (y - base) == 24)
    found = {(r[x] - base, r[y] - base) for r in m.iter_solutions(engine="interpreted", executor=Here())}
    assert found == {(a, 24 // a) for a in (1, 2, 3, 4, 6, 8, 12, 24)}


QUEENS = """
q1, q2, q3, q4, q5, q6, q7 in 1..7
all_different([q1, q2, q3, q4, q5, q6, q7])
all_different([q1, q2 + 1, q3 + 2, q4 + 3, q5 + 4, q6 + 5, q7 + 6])
all_different([q1, q2 - 1, q3 - 2, q4 - 3, q5 - 4, q6 - 5, q7 - 6])
"""


def test_the_command_takes_workers(shares, monkeypatch):
    # Tables and diagrams answer so small a model before anyone searches.
    monkeypatch.setattr("constrint.diagrams.planner.count_planned", lambda model, time_limit: None)
    monkeypatch.setattr("constrint.search.descent.sweep", lambda *arguments: None)
    for arguments in (["--count"], ["--all"], ["--sample", "3"], []):
        text = QUEENS if arguments else QUEENS + "maximize 3 * q1 + q2"
        ways = []
        for workers_given in ([], ["--workers", "2"]):
            shares.clear()
            answer = CliRunner().invoke(app, ["solve", *arguments, *workers_given, "-"], input=text)
            assert answer.exit_code == 0
            assert bool(shares) == (bool(workers_given) and arguments != ["--sample", "3"])
            ways.append(answer.output.splitlines())
        if arguments:
            assert sorted(ways[0]) == sorted(ways[1])
            assert len(ways[0]) == {"--count": 1, "--all": 40, "--sample": 3}[arguments[0]]
        else:
            assert ways[0][-1] == ways[1][-1]
            assert "maximal" in ways[0][-1]
    answer = CliRunner().invoke(app, ["solve", "--learn", "--workers", "2", "-"], input=QUEENS)
    assert (answer.exit_code, "leave that out, or workers" in answer.output) == (2, True)


FLAT = """
predicate fzn_all_different_int(array [int] of var int: x);
var 1..6: a :: output_var; var 1..6: b :: output_var; var 1..6: c :: output_var;
var 1..6: d :: output_var; var 1..6: e :: output_var; var 1..6: f :: output_var;
var 0..100: z :: output_var;
constraint fzn_all_different_int([a,b,c,d,e,f]);
constraint int_lin_eq([1,2,3,4,5,6,-1],[a,b,c,d,e,f,z],0);
constraint int_lin_le([5,-3,1],[a,d,f],4);
"""


def test_flatzinc_takes_workers(shares, monkeypatch):
    monkeypatch.setattr("constrint.search.descent.sweep", lambda *arguments: None)
    for text, options in (
        (FLAT + "solve satisfy;", {"all_solutions": True}),
        (FLAT + "solve :: restart_luby(50) maximize z;", {}),
    ):
        alone, many = (
            list(lines(read_flatzinc(text), FlatOptions(workers=count, **options))) for count in (1, 2)
        )
        assert alone[-1] == many[-1] == "=========="
        if options:
            assert sorted(alone) == sorted(many)
        else:
            assert [x for x in alone if "z =" in x] == [x for x in many if "z =" in x]
    assert shares


def test_dask_with_two_worker_processes(shares):
    from distributed import Client, LocalCluster

    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    )
    with cluster, Client(cluster) as client:
        executor = client.get_executor()
        m = queens(7)
        x, y, *_ = m.variables.values()
        assert sorted(rows(m, engine="interpreted", executor=executor, workers=2)) == sorted(rows(m))
        r = m.solve(maximize=3 * x + y, engine="interpreted", executor=executor, workers=2)
        assert r.objective == m.solve(maximize=3 * x + y).objective
    assert shares


MPI_SCRIPT = """
import constrint as ci
from constrint.parallel import shared_search as shared_run
from mpi4py.futures import MPIPoolExecutor

if __name__ == "__main__":
    shared_run.WORK_ALONE = shared_run.WORK = 100
    m = ci.Model()
    q = m.int_vars("q", 7, 0, 6)
    for shift in (-1, 0, 1):
        m.add(ci.all_different([q[i] + shift * i for i in range(7)]))
    with MPIPoolExecutor() as executor:
        count = m.count(engine="interpreted", executor=executor)
        best = m.solve(maximize=3 * q[0] + q[1], engine="interpreted", executor=executor)
    print(count, best.objective)
"""


def test_mpi_with_two_worker_processes(tmp_path):
    if find_spec("mpi4py") is None:
        pytest.skip("mpi4py is not installed (extra: test)")
    beside = Path(sys.executable).with_name("mpiexec")
    mpiexec = str(beside) if beside.exists() else shutil.which("mpiexec")
    if mpiexec is None:
        pytest.skip("there is no mpiexec")
    script = tmp_path / "by_mpi.py"
    script.write_text(MPI_SCRIPT, encoding="utf-8")
    done = subprocess.run(
        [mpiexec, "-n", "3", sys.executable, "-m", "mpi4py.futures", str(script)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    m = queens(7)
    x, y, *_ = m.variables.values()
    assert done.stdout.split() == ["40", str(m.solve(maximize=3 * x + y).objective)], done.stderr
