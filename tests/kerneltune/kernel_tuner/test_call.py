"""Kernel Tuner's call: simulations on cache files, budgets, strategies, errors."""

from __future__ import annotations

import importlib
import json
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pretended import COMMANDS

from kerneltune import kernel_tuner
from kerneltune.errors import InputError
from kerneltune.kernel_tuner.directions import HIGHER_IS_BETTER
from kerneltune.kernel_tuner.interface import tuned_as_asked
from kerneltune.kernel_tuner.strategies import STRATEGIES, check_strategy
from kerneltune.tuning import kernel_run
from kerneltune.tuning.cache_files import read_cache

SOURCE = """
__global__ void add(float* c, const float* a, int n) { int i = blockIdx.x * block_size_x + threadIdx.x; }
"""
PARAMS = {"block_size_x": [32, 64, 128, 256, 2048], "tile": [1, 2]}


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    entries = {
        f"{block},{tile}": {"block_size_x": block, "tile": tile, "time": block / 64 + 64 / block + tile}
        for block in (32, 64, 128, 256)
        for tile in (1, 2)
    }
    entries["32,2"]["time"] = "RuntimeFailedConfig"  # type: ignore[assignment]
    path = tmp_path / "cache.json"
    data = {"device_name": "a", "tune_params_keys": ["block_size_x", "tile"], "cache": entries}
    path.write_text(json.dumps(data))
    return path


def call(**more: Any) -> Any:
    a = np.ones(100, np.float32)
    return kernel_tuner.tune_kernel("add", SOURCE, 100, [np.zeros_like(a), a, np.int32(100)], PARAMS, **more)


class Silent:
    """An observer that could report anything, and reports nothing."""

    def before_start(self) -> None:
        """Nothing."""


def asked(**more: Any) -> dict[str, Any]:
    """All arguments of a call."""
    a = np.ones(100, np.float32)
    arguments = [np.zeros_like(a), a, np.int32(100)]
    bound = signature(kernel_tuner.tune_kernel).bind("add", SOURCE, 100, arguments, PARAMS, **more)
    bound.apply_defaults()
    return bound.arguments


def test_a_simulation_takes_all_from_the_cache(cache: Path) -> None:
    rows, facts = call(cache=str(cache), simulation_mode=True, metrics={"rate": "1000 / time"})
    assert len(rows) == 8  # blocks of 2,048 threads are excluded
    best = min((row for row in rows if "__error__" not in row), key=lambda row: row["time"])
    assert (best["block_size_x"], best["tile"], best["time"]) == (64, 1, 3.0)
    assert best["rate"] == pytest.approx(1000 / 3)
    assert sum("__error__" in row for row in rows) == 1
    assert facts["simulation"]


def test_the_best_configuration_is_a_fact_and_is_printed_when_asked(
    cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given: dict[str, Any] = {"cache": cache, "simulation_mode": True}
    for more, best in (
        (dict[str, Any](), 64),
        ({"objective": "rate", "objective_higher_is_better": False}, 256),
    ):
        rows, facts = call(**given, metrics={"rate": "1000 / time"}, **more)
        assert facts["best_config"] in rows
        assert facts["best_config"]["block_size_x"] == best
    assert not capsys.readouterr().out
    call(**given, verbose=True, quiet=True)
    assert not capsys.readouterr().out
    call(**given, verbose=True)
    said = capsys.readouterr().out.splitlines()
    assert len(said) == 9
    assert "block_size_x=32, tile=2, RuntimeFailedConfig" in said
    assert said[-1] == "best configuration for time: block_size_x=64, tile=1, time=3.000ms"


def t1_file(cache: Path, **more: Any) -> Path:
    parameters = [
        {"Name": "block_size_x", "Type": "int", "Values": "[32, 64, 128, 256]"},
        {"Name": "tile", "Type": "int", "Values": "[1, 2]"},
    ]
    data = {
        "ConfigurationSpace": {"TuningParameters": parameters, "Conditions": []},
        "KernelSpecification": {
            "KernelName": "add",
            "Language": "CUDA",
            "ProblemSize": 100,
            "SimulationInput": str(cache),
            "Arguments": [
                {"Name": "c", "Type": "float", "MemoryType": "Vector", "Size": "2 * ProblemSize"}
                | {"FillType": "Constant", "FillValue": 0.0},
                {"Name": "n", "Type": "int32", "MemoryType": "Scalar", "FillValue": 100},
            ],
        },
        "Search": {"Name": "random_sample"},
        "Budget": [{"Type": "ConfigurationCount", "BudgetValue": 5}],
        **more,
    }
    path = cache.with_name("t1.json")
    path.write_text(json.dumps(data))
    return path


def test_a_t1_file_is_tuned_and_gives_t4(cache: Path) -> None:
    metadata, results = kernel_tuner.tune_kernel_T1(t1_file(cache), simulation_mode=True)
    assert set(metadata) == {"hardware"}
    assert len(results["results"]) == 5
    assert {one["invalidity"] for one in results["results"]} <= {"correct", "runtime"}
    rows, facts = kernel_tuner.tune_kernel_T1(
        t1_file(cache), simulation_mode=True, output_T4=False, strategy="genetic_algorithm"
    )
    assert len(rows) == 5
    assert facts["best_config"]["time"] == min(row["time"] for row in rows if "__error__" not in row)
    theirs = pytest.importorskip("kernel_tuner.interface").tune_kernel_T1
    assert list(signature(kernel_tuner.tune_kernel_T1).parameters) == list(signature(theirs).parameters)


def test_wrong_t1_files_are_refused(cache: Path) -> None:
    with pytest.raises(InputError, match="there is no KernelSpecification"):
        kernel_tuner.tune_kernel_T1(t1_file(cache, KernelSpecification=3))
    with pytest.raises(InputError, match="Budget: the Type is one of"):
        kernel_tuner.tune_kernel_T1(t1_file(cache, Budget=[{"Type": "Coins"}]))
    wrong = {"KernelName": "a", "Arguments": [{"Name": "c", "MemoryType": "Texture"}]}
    with pytest.raises(InputError, match="Arguments: c: the MemoryType is Vector or Scalar"):
        kernel_tuner.tune_kernel_T1(t1_file(cache, KernelSpecification=wrong))
    with pytest.raises(InputError, match="KernelFile: there is no file"):
        kernel_tuner.tune_kernel_T1(
            t1_file(cache, KernelSpecification={"KernelName": "a", "KernelFile": "x.cu"})
        )


def test_budgets_and_starting_points(cache: Path) -> None:
    given: dict[str, Any] = {"cache": cache, "simulation_mode": True}
    options = {"max_fevals": 3, "x0": [128, 2]}
    rows, _ = call(**given, strategy="genetic_algorithm", strategy_options=options)
    assert len(rows) == 3
    assert (rows[0]["block_size_x"], rows[0]["tile"]) == (128, 2)
    rows, _ = call(**given, strategy="random_sample", strategy_options={"fraction": 0.3})
    assert len(rows) == 3
    with pytest.raises(ValueError, match="no starting point"):
        call(**given, strategy="random_sample", strategy_options=options)
    with pytest.raises(ValueError, match="strategy"):
        call(**given, strategy="greedy")


def test_kernels_run_in_our_pipeline(tmp_path: Path) -> None:
    name = kernel_run.device_name
    kernel_run.device_name = lambda kernel: "pretended"
    try:
        given = asked(cache=tmp_path / "c")
        rows, facts = tuned_as_asked(given, {"gpu": "h100_sxm", "commands": replace(COMMANDS)})
    finally:
        kernel_run.device_name = name
    assert len(rows) == 8
    assert facts["total_benchmark_time"] >= 0
    kept = read_cache(tmp_path / "c.json", ["block_size_x", "tile"])
    assert kept["64,1"]["time"] == rows[0]["time"] > 0


def test_a_cut_off_cache_is_read_to_its_last_entry(cache: Path) -> None:
    text = cache.read_text()
    cache.write_text(text[: text.rindex("}}") - 1])
    assert len(read_cache(cache, ["block_size_x", "tile"])) >= 7


def test_wrong_calls_are_refused(cache: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="simulation_mode needs cache"):
        call(simulation_mode=True)
    (tmp_path / "no.json").write_text("[]")
    with pytest.raises(InputError, match="not a cache file"):
        call(simulation_mode=True, cache=tmp_path / "no.json")
    with pytest.raises(InputError, match="has the parameters"):
        read_cache(cache, ["other"])


def test_the_keywords_are_those_of_kernel_tuner() -> None:
    theirs = pytest.importorskip("kernel_tuner.interface").tune_kernel
    ours = signature(kernel_tuner.tune_kernel).parameters
    expected = signature(theirs).parameters
    assert list(ours) == list(expected)
    assert {name: one.default for name, one in ours.items()} == {
        name: one.default for name, one in expected.items()
    }


@pytest.mark.parametrize("wrong", ["restrictons", "strategie", "gpu", "workers"])
def test_an_unknown_keyword_is_an_error(wrong: str, cache: Path) -> None:
    with pytest.raises(TypeError, match=wrong):
        call(**{wrong: ["block_size_x > 32"]}, simulation_mode=True, cache=cache)


def test_strategies_take_the_options_that_they_take_in_kernel_tuner() -> None:
    strategies = pytest.importorskip("kernel_tuner.interface").strategy_map
    common = importlib.import_module("kernel_tuner.strategies.common")
    assert list(strategies) == sorted(STRATEGIES, key=list(strategies).index)
    for name, known in STRATEGIES.items():
        try:
            own = importlib.import_module(strategies[name]._module_path)._options
        except ImportError:
            continue  # the strategy's package is not installed
        assert known.options.split() == list(own), name
        with pytest.raises(ValueError, match="no option 'popsizes'"):
            check_strategy(name, {"popsizes": 3})
        with pytest.raises(ValueError, match="Unrecognized option"):
            common.get_options({"popsizes": 3}, own)


def test_objectives_that_no_result_has_are_refused(cache: Path) -> None:
    given: dict[str, Any] = {"cache": cache, "simulation_mode": True}
    with pytest.raises(InputError, match=r"has no 'energy' for .*; it has: time"):
        call(**given, objective="energy")
    with pytest.raises(InputError, match="has no 'energy'"):
        call(**given, objectives={"energy": True})
    with pytest.raises(ValueError, match="give objective_higher_is_better for the objective 'rate'"):
        call(**given, objective="rate", metrics={"rate": "1000 / time"})
    rows, _ = call(
        **given, objective="rate", metrics={"rate": "1000 / time"}, objective_higher_is_better=True
    )
    assert max(row["rate"] for row in rows if "__error__" not in row) == pytest.approx(1000 / 3)
    rows, _ = call(**given, objective="GB/s", metrics={"GB/s": lambda p: 1000 / p["time"]})
    assert len(rows) == 8
    with pytest.raises(ValueError, match="with their direction"):
        call(**given, objectives=["time"])
    known = importlib.import_module("kernel_tuner.util").objective_default_map
    assert known == HIGHER_IS_BETTER


def test_what_only_kernel_tuner_has_is_left_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    package = pytest.importorskip("kernel_tuner.interface")
    asked_of: list[dict[str, Any]] = []
    monkeypatch.setattr(package, "tune_kernel", lambda **given: asked_of.append(given) or ([], {}))  # type: ignore[func-returns-value]
    for one in (
        {"device": 1},
        {"platform": 1},
        {"texmem_args": {"t": np.zeros(3)}},
        {"compiler": "clang"},
        {"parallel": True},
        {"objectives": {"time": False, "energy": False}},
        {"lang": "OpenCL"},
        {"strategy": object()},
    ):
        call(**one)
        assert one.items() <= asked_of.pop().items()


def test_parameters_with_forbidden_names_are_refused() -> None:
    with pytest.raises(ValueError, match="'time'"):
        kernel_tuner.tune_kernel("add", SOURCE, 100, [], {"time": [1, 2]})
    with pytest.raises(ValueError, match="parallel"):
        call(simulation_mode=True, parallel=True, cache="c")


def test_objectives_that_nothing_measures_are_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(kernel_run, "device_name", lambda kernel: "pretended")
    given = asked(objective="fitness", cache=tmp_path / "c")
    with pytest.raises(InputError, match="unknown 'fitness'"):
        tuned_as_asked(given, {"gpu": "h100_sxm", "commands": replace(COMMANDS)})
    given = asked(objective="fitness", cache=tmp_path / "d", observers=[Silent])
    with pytest.raises(InputError, match="nothing measured 'fitness', only: time"):
        tuned_as_asked(given, {"gpu": "h100_sxm", "commands": replace(COMMANDS)})
