"""Kernel Tuner's call: simulations on cache files, budgets, strategies, errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pretended import COMMANDS

from kerneltune import kernel_tuner
from kerneltune.errors import InputError
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
    entries["32,2"]["time"] = "RuntimeFailedConfig"
    path = tmp_path / "cache.json"
    data = {"device_name": "a", "tune_params_keys": ["block_size_x", "tile"], "cache": entries}
    path.write_text(json.dumps(data))
    return path


def call(**more: Any) -> Any:
    a = np.ones(100, np.float32)
    return kernel_tuner.tune_kernel("add", SOURCE, 100, [np.zeros_like(a), a, np.int32(100)], PARAMS, **more)


def test_a_simulation_takes_all_from_the_cache(cache: Path) -> None:
    rows, facts = call(cache=str(cache), simulation_mode=True, metrics={"rate": "1000 / time"})
    assert len(rows) == 8  # blocks of 2,048 threads are excluded
    best = min((row for row in rows if "__error__" not in row), key=lambda row: row["time"])
    assert (best["block_size_x"], best["tile"], best["time"]) == (64, 1, 3.0)
    assert best["rate"] == pytest.approx(1000 / 3)
    assert sum("__error__" in row for row in rows) == 1
    assert facts["simulation"]


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
    from dataclasses import replace

    from kerneltune.tuning import kernel_run

    name = kernel_run.device_name
    kernel_run.device_name = lambda kernel: "pretended"  # type: ignore[assignment]
    try:
        rows, facts = call(gpu="h100_sxm", commands=replace(COMMANDS), cache=tmp_path / "c", answer=None)
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
    with pytest.raises(InputError, match="verify is not supported"):
        call(verify=lambda *a: True)
    (tmp_path / "no.json").write_text("[]")
    with pytest.raises(InputError, match="no cache file"):
        call(simulation_mode=True, cache=tmp_path / "no.json")
    with pytest.raises(InputError, match="has the parameters"):
        read_cache(cache, ["other"])
