"""One objective, and several: what is better, and the Pareto front."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import kerneltune
from kerneltune.errors import InputError
from kerneltune.pipeline.trial import Trial
from kerneltune.searching.protocol import Outcome
from kerneltune.tuning.goals import Gains, Goals, Minimising


def trial(name: int, **objectives: float) -> Trial:
    return Trial({"x": name}, objectives, None if objectives else "failed")


def test_names_with_commas_are_several_objectives() -> None:
    assert Goals.of("time") == Goals(("time",), frozenset())
    assert Goals.of("time, gflops") == Goals(("time", "gflops"), frozenset({"gflops"}))
    assert Goals.of(["gbs"], maximise=False).maximised == frozenset()
    with pytest.raises(InputError, match="names none"):
        Goals.of("time,")
    with pytest.raises(InputError, match="twice"):
        Goals.of("time,time")


def test_the_front_is_what_no_other_beats() -> None:
    goals = Goals.of("time,gflops")
    trials = [
        trial(0, time=3.0, gflops=9.0),
        trial(1, time=1.0, gflops=5.0),
        trial(2, time=2.0, gflops=5.0),  # beaten by 1
        trial(3, time=2.0, gflops=7.0),
        trial(4),
        trial(5, time=0.5),  # lacks an objective
    ]
    assert [one.configuration["x"] for one in goals.front(trials)] == [1, 3, 0]
    assert goals.better(trials[1], trials[0])
    assert not goals.better(trials[4], trials[0])


def test_each_new_point_of_the_front_is_a_gain() -> None:
    gains = Gains(Goals.of("time,energy"))
    told = [(2.0, 2.0), (3.0, 3.0), (1.0, 4.0), (2.0, 2.0), (0.5, 0.5)]
    found = [gains(trial(i, time=time, energy=energy)) for i, (time, energy) in enumerate(told)]
    assert found == [True, False, True, False, True]
    assert not gains(trial(9))


def test_strategies_see_costs_and_predict_in_the_users_sense() -> None:
    class Noted:
        told: Outcome

        def ask(self, count: int) -> list[Any]:
            return []

        def tell(self, outcome: Outcome) -> None:
            self.told = outcome

        def predicted(self, configuration: Any) -> float:
            return -4.0

    noted = Noted()
    search = Minimising(noted, Goals.of("gflops"))
    search.tell(Outcome({"x": 1}, {"gflops": 5.0, "time": 2.0}))
    assert noted.told.objectives == {"gflops": -5.0, "time": 2.0}
    assert search.predicted({"x": 1}) == 4.0


def blocked(x: int, y: int) -> float:
    return 1.0 + abs(x - 5) + 0.1 * y


def heat(configuration: Any, objectives: Any) -> float:
    return float(configuration["x"])


def further(configuration: Any) -> dict[str, float]:
    return {"apart": abs(configuration["x"] - 5.0)}


PARAMS = {"x": list(range(8)), "y": [0, 1, 2]}


def test_tuning_for_two_objectives_gives_the_whole_front(tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    found = kerneltune.tune(
        *(blocked,),
        timer="returned",
        params=PARAMS,
        metrics={"heat": heat},
        objective="time,heat",
        store=tmp_path / "s",
    )
    assert found.goals.names == ("time", "heat")
    assert {(t.configuration["x"], t.configuration["y"]) for t in found.front} == {(x, 0) for x in range(6)}
    assert found.to_json()["front"][0] == {"x": 5, "y": 0}
    assert all(t.samples == 7 for t in found.trials)  # none is given up for its time alone


def test_a_metric_of_a_later_run_is_computed_for_stored_trials(tmp_path: Path) -> None:
    given: dict[str, Any] = {
        "timer": "returned",
        "params": PARAMS,
        "store": tmp_path / "s",
        "strategy": "exhaustive",
    }
    kerneltune.tune(blocked, **given)
    found = kerneltune.tune(blocked, metrics={"heat": heat}, objective="heat", patience=3.0, **given)
    again = kerneltune.tune(blocked, metrics={"heat": heat}, objective="heat", **given)
    assert found.best.objectives["heat"] == 0.0
    assert all(t.stored for t in again.trials)
    assert again.best_configuration["x"] == 0


def test_a_model_says_where_to_begin_and_its_predictions_are_kept(tmp_path: Path) -> None:
    found = kerneltune.tune(
        *(blocked,),
        timer="returned",
        params=PARAMS,
        cycles="1000 + 10 * abs(x - 5) + y",
        strategy="model",
        evaluations=5,
        store=tmp_path / "s",
    )
    assert found.trials[0].configuration == {"x": 5, "y": 0}
    assert [t.predicted for t in found.trials][:2] == [1000.0, 1001.0]


def test_learned_models_predict_and_take_features(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    for strategy in ("gaussian", "trees"):
        found = kerneltune.tune(
            *(blocked,),
            timer="returned",
            params=PARAMS,
            features=further,
            strategy=strategy,
            store=tmp_path / strategy,
        )
        assert sum(t.predicted is not None for t in found.trials) >= 10
        stored = kerneltune.tune(
            blocked, timer="returned", params=PARAMS, strategy="exhaustive", store=tmp_path / strategy
        )
        assert [t.predicted for t in stored.trials if t.predicted is not None]
