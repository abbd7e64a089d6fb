"""Parallel search: what workers are told, and who can be one."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from concurrent.futures import Future
from importlib.metadata import PackageNotFoundError
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from shared_models import Here, queens, rows

import constrint as ci
from constrint.cli.flatzinc_answers import MiniZincOptions as FlatOptions
from constrint.cli.flatzinc_answers import lines
from constrint.cli.main import app
from constrint.frontends.flatzinc import read_flatzinc
from constrint.modelling.result import Status
from constrint.parallel import share, workers

pytestmark = pytest.mark.timeout(900)  # the first use on a machine compiles the engine


def test_unbounded_variables_are_for_one_search(shares: list[object]) -> None:
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
        assert m.solve(minimize=x + y, engine="interpreted", **how).objective == 13  # type: ignore[call-overload]
        m.add(x * x - 2 * y * y == 1)
        assert not m.solve(engine="interpreted", **how)  # type: ignore[call-overload]
        free = ci.Model()
        z = free.int_var("z", 0, None)
        free.add(z % 7 == 3)
        with pytest.raises(ci.UnboundedError):
            list(free.iter_solutions(engine="interpreted", **how))  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "value"), [("is_wider", True), ("end", "unbounded")])
def test_what_a_worker_finds_out_about_bounds(name: Any, value: bool | str, shares: list[object]) -> None:
    """Its answer says so; the caller does what one search alone would."""

    class Wide(Here):
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
            answer = json.loads(fn(*args))
            names = [each.name for each in share.fields(share.Answer)]  # type: ignore[attr-defined]
            answer[names.index(name)] = value
            answer[names.index("unbounded")] = 0
            future: Any = Future()
            future.set_result(json.dumps(answer))
            return future

    with pytest.raises(ci.UnboundedError):
        queens(8).count(engine="interpreted", executor=Wide(), workers=2)


def test_ways_that_cannot_be_shared_say_so() -> None:
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
            m.solve(workers=wrong)  # type: ignore[arg-type]
    with pytest.raises(ci.ModelError, match=r"executor must be an executor of concurrent\.futures"):
        m.solve(executor="threads")  # type: ignore[call-overload]


def test_assumptions_and_progress_go_with_workers(shares: list[object]) -> None:
    m = queens(8)
    x, y, *_ = m.variables.values()
    r = m.solve(assumptions=[x == 0], minimize=y, engine="interpreted", executor=Here(), progress=True)
    assert (r[x], r.objective) == (0, 4)
    r = m.solve(assumptions=[x == 0, y == 1], executor=Here())
    assert r.status is Status.INFEASIBLE
    assert r.conflict is not None


def test_a_worker_of_another_version_is_told_apart(shares: list[object]) -> None:
    tasks: list[Any] = []

    class Listening(Here):
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
            tasks.append((fn, *args))
            return super().submit(fn, *args, **kwargs)

    queens(6).count(engine="interpreted", executor=Listening())
    function, common, text = tasks[0]
    assert function is share.search_share
    with pytest.raises(ci.ModelError, match=r"the worker has constrint .* and its caller 0\.0\.1"):
        function(json.dumps({**json.loads(common), "version": "0.0.1"}), text)


def test_numbers_too_long_for_decimal_json(shares: list[object]) -> None:
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


def test_the_command_takes_workers(shares: list[object], monkeypatch: pytest.MonkeyPatch) -> None:
    # Tables and diagrams answer so small a model before anyone searches.
    monkeypatch.setattr("constrint.diagrams.planner.count_planned", lambda model, time_limit: None)
    monkeypatch.setattr("constrint.search.descent.sweep", lambda *arguments: None)
    for arguments in (["--count"], ["--all"], ["--sample", "3"], ["--no-learn"]):
        text = QUEENS if arguments != ["--no-learn"] else QUEENS + "maximize 3 * q1 + q2"
        ways = []
        for workers_given in ([], ["--workers", "2"]):
            shares.clear()
            answer = CliRunner().invoke(app, ["solve", *arguments, *workers_given, "-"], input=text)
            assert answer.exit_code == 0
            assert bool(shares) == (bool(workers_given) and arguments != ["--sample", "3"])
            ways.append(answer.output.splitlines())
        if arguments != ["--no-learn"]:
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


def test_flatzinc_takes_workers(shares: list[object], monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_dask_with_two_worker_processes(shares: list[object]) -> None:
    from distributed import Client, LocalCluster

    cluster = LocalCluster(  # type: ignore[no-untyped-call]
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    )
    with cluster, Client(cluster) as client:  # type: ignore[no-untyped-call]
        executor = client.get_executor()
        m = queens(7)
        x, y, *_ = m.variables.values()
        assert sorted(rows(m, engine="interpreted", executor=executor, workers=2)) == sorted(rows(m))
        r = m.solve(maximize=3 * x + y, engine="interpreted", executor=executor, workers=2)
        assert r.objective == m.solve(maximize=3 * x + y).objective
    assert shares


MPI_SCRIPT = """
import constrint as ci
from constrint.settings import DEFAULT, using
from mpi4py.futures import MPIPoolExecutor

if __name__ == "__main__":
    m = ci.Model()
    q = m.int_vars("q", 7, 0, 6)
    for shift in (-1, 0, 1):
        m.add(ci.all_different([q[i] + shift * i for i in range(7)]))
    shared = using(DEFAULT.with_fields(search={"work_alone": 100, "work_of_share": 100}))
    with shared, MPIPoolExecutor() as executor:
        count = m.count(engine="interpreted", executor=executor)
        best = m.solve(maximize=3 * q[0] + q[1], engine="interpreted", executor=executor)
    print(count, best.objective)
"""


def test_mpi_with_two_worker_processes(tmp_path: Path) -> None:
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


def test_sources_that_are_not_installed_have_workers_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.version", missing)
    workers.own_version.cache_clear()
    try:
        assert workers.own_version() == "unknown"
        workers.check_version("unknown")
    finally:
        workers.own_version.cache_clear()
