"""Options of wrong values: each is named with what it must be, whichever option it is."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import kerneltune
from kerneltune.errors import InputError
from kerneltune.measuring import measure
from kerneltune.pipeline.run import Budget
from kerneltune.sources import description
from kerneltune.tuning import kernel_run, tune

OWN = sorted(tune.RULES)
OPTIONS = sorted((tune.DESCRIBED | tune.PLANNED | tune.BUDGETED | tune.RUN) - {"bytes"})
NUMBERS = ["finalists", "tasks", "timeout", "runs", "timed", "warm_up", "patience", "energy_seconds", "seed"]
COUNTS = ["workers", "evaluations", "seconds", "no_gain", "tolerance"]


def cost(x: int) -> float:
    return 1.0 + x


def tuned(**given: Any) -> Any:
    plain: dict[str, Any] = {"timer": "returned", "params": {"x": [1, 2, 3]}, "strategy": "exhaustive"}
    return kerneltune.tune(cost, **{**plain, **given})


@pytest.mark.parametrize("name", [*OWN, *OPTIONS])
def test_what_is_no_value_of_an_option_is_named(name: str, tmp_path: Path) -> None:
    for wrong in (object(), b"x", [object()], {1: object()}):
        with pytest.raises(InputError, match=f"{name}|argument 1"):
            tuned(**{"store": tmp_path / "s", name: wrong})


@pytest.mark.parametrize("name", [*NUMBERS, *COUNTS])
@pytest.mark.parametrize("wrong", ["3", -1, True, float("nan"), float("inf"), 1 + 2j, [3]])
def test_numbers_have_a_least(name: str, wrong: object, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"^{name} is .*, but must be a "):
        tuned(store=tmp_path / "s", **{name: wrong})


def test_every_option_has_a_rule() -> None:
    assert set(measure.RULES) == {one.name for one in fields(measure.MeasuringPlan)}
    assert set(kernel_run.RULES) == {one.name for one in fields(kernel_run.RunOptions)} - {"plan", "budget"}
    assert set(description.RULES) == {one.name for one in fields(description.Description)} - {"source"}
    assert {one.name for one in fields(Budget)} == {"evaluations", "seconds", "no_gain"}


def test_paths_may_be_texts(tmp_path: Path) -> None:
    store = tmp_path / "folder" / "store"
    found = kerneltune.tune(cost, timer="returned", params={"x": [1, 2]}, store=str(store))
    assert store.is_file()
    assert found.best_configuration == {"x": 1}


def test_numpy_numbers_are_numbers(tmp_path: Path) -> None:
    numpy = pytest.importorskip("numpy")
    found = tuned(
        store=tmp_path / "s", evaluations=numpy.int64(2), flush=numpy.bool_(False), seed=numpy.int32(3)
    )
    assert len(found.trials) == 2
