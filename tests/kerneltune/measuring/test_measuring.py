"""Measuring in this process: verification, timing, cases, callables."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kerneltune
from kerneltune import In, InOut, Out
from kerneltune.errors import InputError, RunError
from kerneltune.measuring.callable_backend import CallableBackend
from kerneltune.measuring.case import Case, expected_outputs
from kerneltune.measuring.measure import MeasuringPlan, summary, timed
from kerneltune.measuring.serving import Server
from kerneltune.messages import Answer, Failed, Order, Request
from kerneltune.sources.arguments import arguments_of


def case(reference: Any = None) -> Case:
    a = np.arange(100, dtype=np.float32)
    arguments = arguments_of([In(a, "a"), Out(np.empty_like(a), "c"), np.float32(3)])
    return Case(arguments, expected_outputs(arguments, reference))


def answer(function: Any, plan: MeasuringPlan | None = None, **configuration: Any) -> Any:
    whole = case(lambda a, c, factor: factor * a)
    server = Server(CallableBackend(whole, function), plan or MeasuringPlan())
    return server.answer(request(4, **configuration))


def request(trial: int, **configuration: Any) -> Request:
    return Request(trial=trial, order=Order(kind="callable", configuration=configuration))


def right(a: Any, c: Any, factor: Any, step: int) -> None:
    c[:] = a * factor


def partly(a: Any, c: Any, factor: Any, step: int) -> None:
    c[:50] = a[:50] * factor


def wrong_once(a: Any, c: Any, factor: Any, step: int) -> None:
    c[:] = a * factor
    c[7] += 20


def nan(a: Any, c: Any, factor: Any, step: int) -> None:
    c[:] = math.nan


def raising(a: Any, c: Any, factor: Any, step: int) -> None:
    raise ValueError("odd step")


def test_a_right_function_is_timed() -> None:
    found = answer(right, step=1)
    assert found.trial == 4
    assert found.timing.samples == 7
    assert 0 < found.timing.fastest <= found.timing.median
    assert found.relative_error == 0


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (partly, "unwritten or are NaN"),  # the first poison reads as NaN
        (wrong_once, "wrong result"),
        (nan, "NaN"),
        (raising, "odd step"),
        (lambda a, c: None, "cannot be called"),
    ],
)
def test_a_wrong_function_is_found(function: Any, said: str) -> None:
    assert said in answer(function, step=1).failure


def test_integers_must_be_equal_and_written() -> None:
    out = np.zeros(4, np.int32)
    arguments = arguments_of([Out(out, "c")])
    expected = expected_outputs(arguments, [np.full(4, -1, np.int32)])

    def lazy(c: Any) -> None:
        """Writes nothing; the first poison looks like the result."""

    server = Server(CallableBackend(Case(arguments, expected), lazy), MeasuringPlan())
    found = server.answer(request(0))
    assert isinstance(found, Failed)
    assert "not written" in found.failure


def test_what_is_read_and_written_is_restored() -> None:
    arguments = arguments_of([InOut(np.ones(4), "a")])

    def twice(a: Any) -> None:
        a *= 2

    whole = Case(arguments, expected_outputs(arguments, lambda a: 2 * a))
    found = Server(CallableBackend(whole, twice), MeasuringPlan()).answer(request(0))
    assert isinstance(found, Answer)
    assert found.relative_error == 0


def test_cases_are_files(tmp_path: Path) -> None:
    whole = case(lambda a, c, factor: factor * a)
    whole.save(tmp_path)
    again = Case.load(tmp_path)
    assert [one.signature() for one in again.arguments] == [one.signature() for one in whole.arguments]
    assert (again.expected["c"] == whole.expected["c"]).all()
    assert again.judge({"c": again.expected["c"] * np.float32(1.01)}).sentence.startswith(
        "relative error 1.00e-02"
    )


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        (lambda a, c, factor: 1 / 0, "the reference fails"),
        ({"d": np.ones(100)}, "'d', which is no output"),
        ([np.ones(3)], "has the shape"),
        ([np.ones(100), np.ones(100)], "gives 2 arrays"),
    ],
)
def test_wrong_references_are_refused(reference: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        case(reference)


class Stepping:
    """A candidate whose times are given."""

    def __init__(self, times: list[float]) -> None:
        self.times = times

    def time(self, count: int, *, flush: bool, warm_up: int) -> list[float]:
        given, self.times = self.times[:count], self.times[count:]
        return given


def test_hopeless_candidates_are_given_up() -> None:
    plan = MeasuringPlan(timed=5)
    given_up = timed(Stepping([9.0] * 9), plan, best=1.0)  # type: ignore[arg-type]
    assert (given_up.samples, given_up.stopped) == (1, True)
    assert timed(Stepping([2.0] * 9), plan, best=1.0).samples == 3  # type: ignore[arg-type]
    assert timed(Stepping([2.0, 1.1, 2.0, 2.0, 2.0]), plan, best=1.0).samples == 5  # type: ignore[arg-type]
    assert timed(Stepping([1.2] * 9), plan, best=1.0).samples == 5  # type: ignore[arg-type]
    assert timed(Stepping([2.0] * 9), MeasuringPlan(timed=3), best=1.0).samples == 3  # type: ignore[arg-type]
    assert not timed(Stepping([9.0] * 9), MeasuringPlan(timed=5, patience=0.0), best=1.0).stopped  # type: ignore[arg-type]
    with pytest.raises(RunError, match="no time"):
        timed(Stepping([math.nan]), plan, best=None)  # type: ignore[arg-type]


def test_a_summary_has_median_and_spread() -> None:
    found = summary([1.0, 2.0, 3.0, 4.0, 100.0, 2.0, 3.0, 3.0])
    assert (found.median, found.fastest, found.samples) == (3.0, 1.0, 8)
    assert found.spread == pytest.approx(1 / 3)


class Counting:
    """An observer."""

    def __init__(self) -> None:
        self.runs = 0

    def before_start(self) -> None:
        self.runs += 1

    def get_results(self) -> dict[str, float]:
        runs, self.runs = self.runs, 0
        return {"runs": runs}


def test_callables_observers_metrics_and_fronts(tmp_path: Path) -> None:
    def model(block: int) -> float:
        return 1 + abs(block - 4)

    found = kerneltune.tune(
        model,
        timer="returned",
        params={"block": range(1, 9)},
        store=tmp_path / "s",
        observers=[Counting],
        metrics={"size": lambda c, o: c["block"], "rate": lambda c, o: c["block"] / o["time"]},
    )
    assert found.best_configuration == {"block": 4}
    assert found.best.objectives["runs"] == 7
    assert sorted(t.configuration["block"] for t in found.pareto(["time", "size"])) == [1, 2, 3, 4]
    most = kerneltune.tune(
        model,
        timer="returned",
        params={"block": range(1, 9)},
        store=tmp_path / "t",
        objective="rate",
        maximise=True,
        metrics={"rate": lambda c, o: c["block"] / o["time"]},
    )
    assert most.best_configuration == {"block": 4}


def test_a_timer_that_has_no_name_times(tmp_path: Path) -> None:
    def kernel(block: int) -> None:
        """Nothing to do."""

    given: dict[str, Any] = {"params": {"block": [1]}, "store": tmp_path / "s"}
    found = kerneltune.tune(kernel, timer=lambda call: call() or 2.5, **given)
    assert found.best.objectives == {"time": 2.5}


def test_finalists_separate_or_are_equal(tmp_path: Path) -> None:
    state = {"n": 0}

    def model(block: int) -> float:
        state["n"] += 1
        noise = 0.02 * (state["n"] % 3)
        return {1: 1.0, 2: 1.001, 3: 1.04, 4: 9.0}[block] + noise

    found = kerneltune.tune(model, timer="returned", params={"block": [1, 2, 3, 4]}, store=tmp_path / "s")
    assert {final.trial.configuration["block"] for final in found.finals} <= {1, 2, 3}
    assert len(found.finals) >= 2


def test_wrong_calls_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="tune has no argument 'parms': did you mean 'params'"):
        kerneltune.tune(right, parms={})
    with pytest.raises(InputError, match="a kernel is a file"):
        kerneltune.tune(3, params={"b": [1]})
    failing = kerneltune.tune(lambda block: 0, timer="returned", params={"block": [1]}, store=tmp_path / "s")
    with pytest.raises(RunError, match="none of 1 candidates passed; 1 of them: the function returned 0"):
        _ = failing.best
