"""Parallel search: limits, and searches that end before their end."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from pathlib import Path
from typing import Any

import pytest
from shared_models import Here, endless, improving, queens

import constrint as ci
from constrint.modelling.result import Status
from constrint.parallel import share, workers
from constrint.settings import of_new_models, using

pytestmark = pytest.mark.timeout(900)  # the first use on a machine compiles the engine


def test_a_time_limit_ends_all_workers(children: Any) -> None:
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


def test_a_worker_that_does_not_answer_in_time_is_left_alone(shares: list[object]) -> None:
    class Silent(Executor):
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
            return Future()

    m, goal = endless()
    r = m.solve(maximize=goal, time_limit=0.5, engine="interpreted", executor=Silent(), workers=2)
    assert r.status in (Status.FEASIBLE, Status.UNKNOWN)


def test_ctrl_c_gives_the_best_so_far(shares: list[object], children: Any) -> None:
    # CP-SAT, which other tests compare with, leaves a handler that kills the process.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    m, goal = improving()
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


def test_ctrl_c_while_a_preferred_solution_is_looked_for(shares: list[object]) -> None:
    """What has been found is the answer, though something to the left of it may be better."""

    class Interrupting(Here):
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
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


def test_the_caller_may_end_it(shares: list[object], children: Any) -> None:
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


def test_a_worker_that_ends_is_a_clear_error(shares: list[object], children: Any) -> None:
    m, goal = improving()

    def kill(result: ci.Result) -> None:
        for child in children:
            child.kill()

    with pytest.raises(ci.LimitError, match=r"a worker ended before its answer \(exit code -9\)"):
        m.solve(maximize=goal, engine="interpreted", workers=2, on_solution=kill)
    assert all(child.poll() is not None for child in children)


def test_a_share_that_is_lost_with_its_worker_is_searched_again(shares: list[object], children: Any) -> None:
    m = queens(7)
    goal = ci.sum_((i - 2) ** 2 * x for i, x in enumerate(m.variables.values()))
    wanted = m.solve(minimize=goal, engine="interpreted")
    killed: list[int] = []

    def kill(result: ci.Result) -> None:
        if len(killed) < 2 and children:
            children[-1].kill()
            killed.append(children[-1].wait())

    r = m.solve(minimize=goal, engine="interpreted", workers=2, on_solution=kill)
    assert killed
    assert (r.status, r.objective) == (Status.OPTIMAL, wanted.objective)


class Failing(Executor):
    """An executor that loses all shares after the first ones."""

    def __init__(self, problem: Exception, good: int = 0) -> None:
        self.problem, self.good = problem, good

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        self.good -= 1
        future: Any = Future()
        if self.good >= 0:
            future.set_result(fn(*args))
        elif self.good == -2 and isinstance(self.problem, BrokenExecutor):
            raise self.problem
        else:
            future.set_exception(self.problem)
        return future


@pytest.mark.parametrize("good", [0, 3])
def test_own_processes_take_the_place_of_a_broken_executor(
    good: int, shares: list[object], children: Any
) -> None:
    m = queens(7)
    executor = Failing(BrokenExecutor("killed"), good)
    assert m.count(engine="interpreted", executor=executor, workers=2) == 40
    assert children
    assert all(child.poll() is not None for child in children)


def test_work_that_ends_each_worker_is_an_error(
    shares: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers.Workers, "_processes", lambda self: Failing(BrokenExecutor("killed again")))
    with pytest.raises(ci.LimitError, match=r"a worker ended before its answer \(killed"):
        queens(8).count(engine="interpreted", executor=Failing(BrokenExecutor("killed")), workers=2)


def test_a_failure_of_an_executor_is_an_error(shares: list[object]) -> None:
    with pytest.raises(ci.LimitError, match=r"a worker failed before its answer \(MemoryError: all of it\)"):
        queens(8).count(engine="interpreted", executor=Failing(MemoryError("all of it")), workers=2)


def optimised(**how: Any) -> tuple[Any, int]:
    """The optimum of a model, proved, and the nodes of the search."""
    m = queens(7)
    goal = ci.sum_((i - 2) ** 2 * x for i, x in enumerate(m.variables.values()))
    r = m.solve(minimize=goal, engine="interpreted", workers=2, **how)
    assert r.status is Status.OPTIMAL
    return r.objective, r.statistics.nodes


class Refusing(Here):
    """An executor that is shut down after the first shares."""

    def __init__(self, good: int, answers: bool = True) -> None:
        super().__init__()
        self.good, self.answers = good, answers

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.good -= 1
        if self.good < 0:
            raise RuntimeError("cannot schedule new futures after shutdown")
        return super().submit(fn, *args, **kwargs) if self.answers else Future()


class Losing(Here):
    """Loses every third share: Dask cancels one whose data are lost, or fails in reading it."""

    def __init__(self, problem: Exception) -> None:
        super().__init__()
        self.problem, self.handed = problem, 0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.handed += 1
        if self.handed % 3:
            return super().submit(fn, *args, **kwargs)
        future: Future[Any] = Future()
        future.set_exception(self.problem)
        return future


def test_optimisation_loses_nothing_with_an_executor_that_is_shut_down(
    shares: list[object], children: list[object], capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = optimised(executor=Here())
    assert not children
    assert optimised(executor=Refusing(3)) == wanted
    assert children
    assert capsys.readouterr().err.splitlines() == [
        "constrint: the executor takes no more work (RuntimeError: "
        "cannot schedule new futures after shutdown); "
        "processes of this machine take its place"
    ]


def test_what_a_shut_down_executor_still_has_is_handed_out_again(monkeypatch: pytest.MonkeyPatch) -> None:
    told = []
    monkeypatch.setattr(share, "search_share", lambda common, text: told.append(text) or f"answer to {text}")  # type: ignore[func-returns-value]
    monkeypatch.setattr(workers.Workers, "_processes", lambda self: Here())
    some = workers.Workers(2, Refusing(2, answers=False))
    futures = [some.submit("", text) for text in ("a", "b", "c")]
    assert [some.answer(future, None) for future in futures] == ["answer to a", "answer to b", "answer to c"]
    assert sorted(told) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("problem", "told"),
    [
        (CancelledError(), r"a worker ended before its answer \(CancelledError\)"),
        (ValueError("too many"), r"a worker failed before its answer \(ValueError: too many\)"),
    ],
)
def test_optimisation_loses_nothing_with_shares_that_are_lost(
    problem: Exception, told: str, shares: list[object], children: list[object]
) -> None:
    wanted = optimised(executor=Here())
    losing = Losing(problem)
    with using(of_new_models().with_fields(search={"most_losses": 1000})):
        assert optimised(executor=losing) == wanted
    assert losing.handed > 6
    assert not children
    few = using(of_new_models().with_fields(search={"most_losses": 1}))
    with few, pytest.raises(ci.LimitError, match=told):
        optimised(executor=Losing(problem))


def test_an_executor_that_never_takes_work_is_an_error(shares: list[object]) -> None:
    with pytest.raises(ci.LimitError, match=r"the executor takes no work \(RuntimeError: cannot schedule"):
        optimised(executor=Refusing(0))


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
def test_workers_end_with_a_caller_that_is_killed() -> None:
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
