"""Waves of launches as features: from compile reports of what was tried, estimated for what was not."""

from __future__ import annotations

import importlib
import math
import random
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from constrint.tuning.spaces import from_tune_params
from kerneltune.inputs.hardware import load_profile
from kerneltune.searching.launched import LaunchModel, Waves
from kerneltune.searching.points import Coordinates, Points
from kerneltune.searching.protocol import Outcome
from kerneltune.searching.strategies import strategy
from kerneltune.sources.description import Description
from kerneltune.tiling.occupancy import blocks_per_sm
from kerneltune.tuning.searches import launch_of

H100 = load_profile("h100_sxm")
PARAMS = {"block": [64, 128, 256, 512], "tile": [1, 2, 4, 8], "unroll": [1, 2, 4]}
BENCHMARKS = Path(__file__).resolve().parents[3] / "benchmarks"


def registers(one: Any) -> int:
    return 24 + 8 * int(one["tile"]) + 4 * int(one["unroll"])


def launched(one: Any) -> tuple[int, int, int]:
    return one["block"], math.ceil((1 << 20) / (one["block"] * one["tile"])), 0


def expected(one: Any) -> float:
    threads, blocks, _ = launched(one)
    return blocks / (132 * blocks_per_sm(H100, threads, registers(one), 4 * one["block"] * one["tile"]))


@pytest.fixture
def waves() -> Waves:
    points = Points(from_tune_params(PARAMS))
    model = LaunchModel(launched, partial(blocks_per_sm, H100), 132)
    return Waves(points, Coordinates(points), model)


def report(one: Any) -> dict[str, int]:
    return {"registers": registers(one), "shared_memory": 4 * one["block"] * one["tile"]}


def test_waves_of_reported_points_are_exact(waves: Waves) -> None:
    points = Points(from_tune_params(PARAMS))
    for number in range(points.size):
        waves.learn(number, report(points.configuration(number)))
    found = waves.of(range(points.size))
    true = [expected(points.configuration(number)) for number in range(points.size)]
    assert found[:, 1].tolist() == pytest.approx([one / math.ceil(one) for one in true])
    order = sorted(range(points.size), key=true.__getitem__)
    logs = found[order, 0].tolist()
    assert logs == sorted(logs)


def test_what_was_not_compiled_is_estimated(waves: Waves) -> None:
    points = Points(from_tune_params(PARAMS))
    numbers = list(range(points.size))
    random.Random(1).shuffle(numbers)
    first = waves.of(numbers[16:])
    for number in numbers[:16]:
        waves.learn(number, report(points.configuration(number)))
    late = waves.of(numbers[16:])
    true = [expected(points.configuration(number)) for number in numbers[16:]]
    shares = [one / math.ceil(one) for one in true]
    far = [sum(abs(a - b) for a, b in zip(rows[:, 1], shares, strict=True)) for rows in (first, late)]
    assert far[1] < far[0] / 2


def test_failed_compilations_and_odd_resources_teach_nothing(waves: Waves) -> None:
    before = waves.of([0, 1]).tolist()
    for resources in ({}, {"threads": 64}, {"registers": 0, "shared_memory": 3}):
        waves.learn(0, resources)
    assert waves.of([0, 1]).tolist() == before


def test_only_cuda_kernels_on_a_known_gpu_have_launches() -> None:
    source = 'extern "C" __global__ void k(float* a) { a[threadIdx.x] = BLOCK; }'
    described = Description(
        source, params={"BLOCK": [64, 128]}, grid=(3, 2), block="BLOCK", shared_memory=512
    )
    model = launch_of(described.kernel(H100))
    assert model is not None
    assert model.numbers({"BLOCK": 128}) == (128, 6, 512)
    assert model.resident(128, 32, 0) == 16
    assert launch_of(described.kernel(None)) is None
    assert launch_of(Description(lambda a: 1.0, params={"a": [1, 2]}).kernel(None)) is None


def test_the_recorded_hotspot_is_found_with_fewer_evaluations() -> None:
    sys.path[:0] = [str(BENCHMARKS / "tuning"), str(BENCHMARKS)]
    try:
        problems = importlib.import_module("problems")
        problem = problems.measured_here(BENCHMARKS / "results" / "h100_tuning_hotspot.json")
    finally:
        del sys.path[:2]

    def evaluations(seed: int, launch: LaunchModel | None) -> int:
        search = strategy("auto", problem.space, seed=seed, launch=launch)
        for count in range(1, 200):
            (asked,) = search.ask(1)
            number = problem.space.index(asked)
            time = float(problem.times[number])
            if time <= problem.target:
                return count
            resources = problem.reports[number]
            search.tell(Outcome(asked, {"time": time}, resources=resources))
        return 200

    plain = sum(evaluations(seed, None) for seed in range(8))
    assert sum(evaluations(seed, problem.launch) for seed in range(8)) < 0.85 * plain
