"""The pipeline with children that pretend: a fault costs its candidate, and nothing is lost or doubled."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from meeting import everyone, invite, met
from pretended import COMMANDS, tuned
from processes import children_of

from kerneltune.errors import InputError, RunError
from kerneltune.messages import Answer, Order, SetUp
from kerneltune.pipeline.stages import Commands, Devices
from kerneltune.running.children import Child
from kerneltune.tuning.store import Store

FAULTS = {
    "hang": "no answer within 1.5 s",
    "killed": "SIGKILL",
    "out_of_bounds": "outside the array",
    "nan": "NaN",
    "wrong": "relative error",
    "unsteady": "repeated runs differ",
    "garbage": "no answer that can be used",
    "compile": "refused the kernel",
    "compiler_dies": "exit code 3",
    "registers": "with 3000 registers each fits an SM",
}


def logged(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_faults_cost_their_candidates_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "log"
    monkeypatch.setenv("KERNELTUNE_TEST_LOG", str(log))
    params = {"x": [4, 5, 6], "BLOCK": [64], "fault": ["none", *FAULTS]}
    constraints = ["fault == 'none' or x == 4"]
    found = tuned(tmp_path / "s", params=params, constraints=constraints, timeout=1.5)
    assert len(found.trials) == 3 + len(FAULTS)
    assert {t.configuration["x"] for t in found.trials if t.passed} == {4, 5, 6}
    assert {str(trial.configuration["fault"]) for trial in found.failed} == set(FAULTS)
    for trial in found.failed:
        assert FAULTS[str(trial.configuration["fault"])] in str(trial.failure)
    good = [row["x"] for row in logged(log) if row["fault"] == "none"]
    assert sorted(good) == [4, 5, 6]  # type: ignore[type-var]  # each measured once
    assert found.best_configuration["x"] == 5


def test_a_run_resumes_from_its_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "log"
    monkeypatch.setenv("KERNELTUNE_TEST_LOG", str(log))
    first = tuned(tmp_path / "s", evaluations=4)
    assert len(first.trials) == 4
    second = tuned(tmp_path / "s")
    assert len(second.trials) == 10
    assert sum(trial.stored for trial in second.trials) == 4
    assert sorted(row["x"] for row in logged(log)) == list(range(10))  # type: ignore[type-var]
    again = tuned(tmp_path / "s", again=True)
    assert not any(trial.stored for trial in again.trials)


RUN = """
import sys
sys.path[:0] = {path!r}
from pathlib import Path
from pretended import tuned
tuned(Path({store!r}), params={{"x": list(range(60)), "BLOCK": [64]}})
"""


@pytest.mark.skipif(os.name != "posix", reason="kills processes")
def test_killed_at_any_moment_nothing_is_lost_or_doubled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, store = tmp_path / "log", tmp_path / "s"
    log.touch()
    monkeypatch.setenv("KERNELTUNE_TEST_LOG", str(log))
    monkeypatch.setenv("KERNELTUNE_TEST_SECONDS", "0.01")
    code = RUN.format(path=sys.path, store=str(store))
    for wanted in (5, 20, 40):
        with subprocess.Popen([sys.executable, "-c", code]) as process:
            until = time.monotonic() + 60
            while len(logged(log)) < wanted and time.monotonic() < until:
                time.sleep(0.005)
            process.send_signal(signal.SIGKILL)
    found = tuned(store, params={"x": list(range(60)), "BLOCK": [64]})
    assert sorted(t.configuration["x"] for t in found.trials) == list(range(60))
    measured = [row["x"] for row in logged(log)]
    assert set(measured) == set(range(60))
    # At a kill, one answer may wait to be stored while the next is measured: both are measured once more.
    assert len(measured) <= 60 + 2 * 3


def test_a_full_disk_delays_rows_and_loses_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sqlite3

    writes = []
    real = Store._write

    def full(self: Store) -> None:
        writes.append(len(self._pending))
        if 3 <= len(writes) <= 8:
            error = sqlite3.OperationalError("database or disk is full")
            error.sqlite_errorcode = sqlite3.SQLITE_FULL
            raise error
        real(self)

    monkeypatch.setattr(Store, "_write", full)
    found = tuned(tmp_path / "s")
    assert len(found.trials) == 10
    assert max(writes) > 1  # rows waited
    monkeypatch.undo()
    assert len(Store(tmp_path / "s").rows()) == 10


def test_compilation_overlaps_measurement(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process's second compilation waits for a measurement, and the first measurement for that."""
    meeting = tmp_path / "meeting"
    invite(meeting, "compiling", "measuring")
    monkeypatch.setenv("KERNELTUNE_TEST_MEETING", str(meeting))
    found = tuned(tmp_path / "s", params={"x": list(range(12)), "BLOCK": [64]}, workers=4, timeout=120.0)
    assert len(found.ranked) == 12, [str(trial.failure) for trial in found.failed]
    assert everyone(meeting)
    assert found.first_result is not None
    assert found.first_result < found.seconds


def test_the_reference_is_computed_while_the_first_are_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process's second compilation waits for the reference, and the reference for that."""
    meeting = tmp_path / "meeting"
    invite(meeting, "compiling", "the reference")
    monkeypatch.setenv("KERNELTUNE_TEST_MEETING", str(meeting))

    def reference(a: Any, c: Any, n: Any) -> Any:
        assert met("the reference")
        return 3 * a

    found = tuned(tmp_path / "s", reference=reference, workers=1, timeout=120.0)
    assert len(found.ranked) == 10, [str(trial.failure) for trial in found.failed]
    assert everyone(meeting)


def test_a_reference_that_fails_ends_the_processes(tmp_path: Path) -> None:
    def reference(*arrays: Any) -> Any:
        raise ValueError("no such mode")

    others = children_of(os.getpid())  # such as one in which the solver compiles for later tests
    with pytest.raises(InputError, match="the reference fails: ValueError"):
        tuned(tmp_path / "s", reference=reference)
    assert set(children_of(os.getpid())) <= set(others)


def test_a_measuring_process_starts_before_its_case_is_there(tmp_path: Path) -> None:
    began = tmp_path / "began"
    code = f"from pathlib import Path; Path({str(began)!r}).touch(); from measuring_child import main; main()"
    path = f"import sys; sys.path[:0] = {sys.path!r}; "
    ready = threading.Event()
    child = Child((sys.executable, "-c", path + code), SetUp(kind="cuda", plan={}))
    with closing(Devices([child], 60.0, ready)) as devices:
        devices.start()
        until = time.monotonic() + 60
        while not began.exists() and time.monotonic() < until:
            time.sleep(0.01)
        assert began.exists()
        assert child.facts is None
        asked = devices.submit(0, Order(kind="cuda", configuration={"x": 5}), None, None)
        assert not asked.done()
        ready.set()
        assert isinstance(asked.result(60), Answer)
        assert child.facts is not None


def test_budgets_end_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(tuned(tmp_path / "a", evaluations=3).trials) == 3
    params = {"x": [5, 6, 7, 8, 9, 10, 11, 12], "BLOCK": [64]}
    short = tuned(tmp_path / "b", params=params, no_gain=2)
    assert len(short.trials) < 8 + 1
    monkeypatch.setenv("KERNELTUNE_TEST_SECONDS", "0.2")
    timed = tuned(tmp_path / "c", seconds=1.0)
    assert 0 <= len(timed.trials) < 10


def test_what_does_not_fit_is_never_compiled(tmp_path: Path) -> None:
    found = tuned(tmp_path / "s", params={"x": [5], "BLOCK": [64, 2048]})
    assert [t.configuration["BLOCK"] for t in found.trials] == [64]


def test_any_executor_compiles_and_measures(tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as executor:
        found = tuned(tmp_path / "s", executor=executor)
    assert len(found.ranked) == 10
    assert found.best_configuration["x"] == 5
    assert found.best.resources["registers"] == 32


def test_tasks_of_a_dask_cluster_take_turns_on_each_device(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed")
    monkeypatch.setenv("KERNELTUNE_TEST_SPANS", str(tmp_path / "spans"))
    monkeypatch.setenv("KERNELTUNE_TEST_SECONDS", "0.02")
    made = {"processes": False, "n_workers": 1, "threads_per_worker": 4, "dashboard_address": None}
    with (
        distributed.LocalCluster(**made) as cluster,
        distributed.Client(cluster) as client,
        client.get_executor() as executor,
    ):
        found = tuned(tmp_path / "s", executor=executor, tasks=4, devices=[0, 1])
    assert len(found.trials) == 10
    assert found.best_configuration["x"] == 5
    spans = [json.loads(line) for line in (tmp_path / "spans").read_text().splitlines()]
    assert {span["device"] for span in spans} == {"0", "1"}
    for device in ("0", "1"):
        own = sorted((one["from"], one["to"]) for one in spans if one["device"] == device)
        assert all(before[1] <= after[0] for before, after in itertools.pairwise(own))


def test_several_devices_of_a_machine_measure_at_the_same_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first measurement of each device waits for one of the other."""
    meeting = tmp_path / "meeting"
    invite(meeting, "measuring on 0", "measuring on 1")
    monkeypatch.setenv("KERNELTUNE_TEST_MEETING", str(meeting))
    found = tuned(tmp_path / "s", devices=[0, 1], timeout=120.0)
    assert len({t.configuration["x"] for t in found.trials}) == 10
    assert len(found.ranked) == 10, [str(trial.failure) for trial in found.failed]
    assert everyone(meeting)


@pytest.mark.parametrize("slow", ["0", "1"])
def test_a_device_that_starts_slowly_is_left_to_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, slow: str
) -> None:
    """The other takes the first candidates, and none meets a process that is not ready."""
    monkeypatch.setenv("KERNELTUNE_TEST_SLOW_DEVICE", slow)
    found = tuned(tmp_path / "s", devices=[0, 1])
    assert len(found.ranked) == 10, [str(trial.failure) for trial in found.failed]


def test_a_child_that_cannot_start_ends_the_run(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no kernel can be run here"):
        tuned(
            tmp_path / "s", commands=Commands(COMMANDS.compile, (sys.executable, "-c", "raise SystemExit(4)"))
        )


def test_hopeless_candidates_are_given_up(tmp_path: Path) -> None:
    found = tuned(tmp_path / "s", params={"x": [5, 200], "BLOCK": [64]}, workers=1)
    samples = {t.configuration["x"]: t.samples for t in found.trials}
    assert samples[5] == 7
    assert samples[200] == (1 if found.trials[0].configuration["x"] == 5 else 7)
