"""Outputs in Kernel Tuner's call: `run_kernel`, `verify`, `Tunable`, observers."""

from __future__ import annotations

import json
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pretended import COMMANDS

from kerneltune import kernel_tuner
from kerneltune.errors import InfeasibleError, InputError, RunError
from kerneltune.kernel_tuner.accuracy import (
    METRICS,
    AccuracyObserver,
    Tunable,
    TunablePrecision,
    dtype_named,
    error_metric_from_name,
)
from kerneltune.kernel_tuner.interface import tuned_as_asked
from kerneltune.kernel_tuner.kernelbuilder import PythonKernel
from kerneltune.kernel_tuner.launches import description_of
from kerneltune.kernel_tuner.observers import BenchmarkObserver
from kerneltune.kernel_tuner.observers.nvml import NVMLObserver
from kerneltune.kernel_tuner.running import run_as_asked
from kerneltune.tuning import kernel_run

SOURCE = """
__global__ void add(T* c, const T* a, const T* b, int n) { int i = blockIdx.x * block_size_x + threadIdx.x; }
"""
SIZE = 100
OWN = {"gpu": "h100_sxm", "commands": COMMANDS}


@pytest.fixture(autouse=True)
def pretended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_run, "device_name", lambda kernel: "pretended")


def arrays() -> list[Any]:
    """Those of a sum: the stand-in for a GPU adds all arrays that a kernel takes."""
    draw = np.random.default_rng(1)
    a, b = (draw.standard_normal(SIZE).astype(np.float32) for _ in range(2))
    return [np.zeros_like(a), a, b, np.int32(SIZE)]


def bound(
    function: Callable[..., Any], arguments: Any, params: dict[str, Any], **more: Any
) -> dict[str, Any]:
    found = signature(function).bind("add", SOURCE, SIZE, arguments, params, **more)
    found.apply_defaults()
    return found.arguments


def tuned(arguments: Any, params: dict[str, Any], tmp_path: Path, **more: Any) -> list[dict[str, Any]]:
    given = bound(kernel_tuner.tune_kernel, arguments, params, cache=tmp_path / "c", **more)
    return tuned_as_asked(given, OWN)[0]


def test_run_kernel_gives_all_arguments_after_the_run() -> None:
    c, a, b, n = arrays()
    given = bound(kernel_tuner.run_kernel, [c, a, b, n], {"block_size_x": 32, "T": "float"})
    found = run_as_asked(given, OWN)
    assert np.allclose(found[0], a + b)
    assert len(found) == 4
    assert found[3] == n
    assert not c.any()  # the caller's arrays stay as they are


def test_run_kernel_takes_one_array_of_a_tunable() -> None:
    c, a, b, n = arrays()
    arguments = [*(TunablePrecision("T", one) for one in (c, a, b)), n]
    for precision, dtype in (("half", np.float16), ("double", np.float64)):
        given = bound(kernel_tuner.run_kernel, arguments, {"block_size_x": 32, "T": precision})
        found = run_as_asked(given, OWN)
        assert found[0].dtype == dtype
        assert np.allclose(found[0], a + b, atol=1e-2)


def test_run_kernel_refuses_what_cannot_run() -> None:
    with pytest.raises(InfeasibleError, match="threads"):
        run_as_asked(bound(kernel_tuner.run_kernel, arrays(), {"block_size_x": 2048, "T": "float"}), OWN)
    failing = {"block_size_x": 32, "T": "float", "fault": "compile"}
    with pytest.raises(RunError, match="x is undefined"):
        run_as_asked(bound(kernel_tuner.run_kernel, arrays(), failing), OWN)
    failing = {"block_size_x": 32, "T": "float", "fault": "out_of_bounds"}
    with pytest.raises(RunError, match="outside the array"):
        run_as_asked(bound(kernel_tuner.run_kernel, arrays(), failing), OWN)


def test_the_keywords_of_run_kernel_are_those_of_kernel_tuner() -> None:
    theirs = signature(pytest.importorskip("kernel_tuner.interface").run_kernel).parameters
    ours = signature(kernel_tuner.run_kernel).parameters
    assert [(one.name, one.default) for one in ours.values()] == [
        (one.name, one.default) for one in theirs.values()
    ]


def test_a_function_within_a_function_verifies(tmp_path: Path) -> None:
    c, a, b, n = arrays()
    seen = []

    def verify(answer: Any, results: Any, atol: float) -> Any:
        seen.append((answer, atol))
        return np.isclose(answer[0], np.sum(results[0]), atol=atol)

    params = {"block_size_x": [32, 64], "T": ["float"], "tile": [1, 2]}
    answer = [np.float64(np.sum(a + b)), None, None, None]  # of another shape than the output
    rows = tuned([c, a, b, n], params, tmp_path, answer=answer, verify=verify, atol=1e-3)
    assert {row["tile"] for row in rows if "__error__" in row} == {2}
    assert all("verify returned" in row["__error__"] for row in rows if "__error__" in row)
    assert sum("__error__" not in row for row in rows) == 2
    assert seen[0][1] == 1e-3


def test_a_verify_that_fails_costs_its_candidate(tmp_path: Path) -> None:
    def verify(answer: Any, results: Any) -> bool:
        raise ValueError("no such file")

    rows = tuned(arrays(), {"block_size_x": [32, 64], "T": ["float"]}, tmp_path, verify=verify)
    assert [row["__error__"] for row in rows] == ["verify raised ValueError('no such file')"] * 2


def test_precisions_are_tuned_and_their_error_is_observed(tmp_path: Path) -> None:
    c, a, b, n = arrays()
    arguments = [*(TunablePrecision("T", one.astype("f8")) for one in (c, a, b)), n]
    params = {"block_size_x": [32], "T": ["half", "float", "double"]}
    answer = [a.astype("f8") + b, None, None, None]
    observer = AccuracyObserver("max", "far")
    rows = tuned(arguments, params, tmp_path, answer=answer, observers=[observer])
    far = {row["T"]: row["far"] for row in rows}
    assert far["half"] > 100 * far["float"]
    assert far["double"] < 1e-15
    json.dumps(rows)


def test_answers_of_a_tunable_are_compared_in_its_precision(tmp_path: Path) -> None:
    c, a, b, n = arrays()
    arguments = [*(TunablePrecision("T", one) for one in (c, a, b)), n]
    params = {"block_size_x": [32], "T": ["half", "float"], "tile": [1, 2]}
    rows = tuned(arguments, params, tmp_path, answer=[a + b, None, None, None])
    assert {(row["T"], row["tile"]) for row in rows if "__error__" not in row} == {("half", 1), ("float", 1)}
    assert all(row["__error__"].startswith("wrong result") for row in rows if "__error__" in row)


def test_a_tunable_chooses_by_expressions_functions_and_tunables() -> None:
    inner = Tunable(lambda p: p["y"] > 1, {False: "a", True: "b"})
    outer = Tunable("x * 2", [None, None, inner, None, "c"])
    assert outer({"x": 1, "y": 2}) == "b"
    assert outer.select_for_configuration({"x": 1, "y": 1}) == "a"
    assert outer({"x": 2}) == "c"
    with pytest.raises(KeyError, match=r"6 chooses no array; there are: 0, 1, 2, 3, 4"):
        outer({"x": 3})
    given = bound(
        kernel_tuner.tune_kernel, [Tunable("T", {"float": np.ones(3)})], {"block_size_x": [1], "T": ["int"]}
    )
    assert "'int' chooses no array" in tuned_as_asked(given, OWN)[0][0]["__error__"]


@pytest.mark.parametrize("name", ["f16", "float", "kdouble", "single", 64, "int32"])
def test_precisions_by_name(name: Any) -> None:
    theirs = pytest.importorskip("kernel_tuner.accuracy")._to_float_dtype
    assert np.dtype(dtype_named(name)) == np.dtype(theirs(name))


def test_wrong_precisions_are_refused() -> None:
    with pytest.raises(InputError, match="there is no type 'flot': did you mean 'float'"):
        TunablePrecision("T", np.ones(2), ["flot"])


def test_errors_are_those_of_kernel_tuner() -> None:
    theirs = pytest.importorskip("kernel_tuner.accuracy").error_metric_from_name
    draw = np.random.default_rng(2)
    one, other = draw.random(50) + 0.1, draw.random(50) + 0.1
    for name in (*METRICS, "MSE", "max relative error", "mean absolute error", "RMSE error"):
        assert error_metric_from_name(name)(one, other) == pytest.approx(theirs(name)(one, other)), name
    with pytest.raises(ValueError, match="there is no error metric 'mess'"):
        error_metric_from_name("mess")


class Twice(BenchmarkObserver):
    """Counts runs, by a factor that its object was given."""

    def __init__(self, factor: float) -> None:
        self.given = {"factor": factor}
        self.factor, self.runs = factor, 0

    def after_finish(self) -> None:
        self.runs += 1

    def get_results(self) -> dict[str, float]:
        return {"counted": self.factor * self.runs}


class Plain(BenchmarkObserver):
    """One without arguments."""

    def get_results(self) -> dict[str, float]:
        return {"three": 3}


def test_objects_with_arguments_observe_in_the_measuring_process(tmp_path: Path) -> None:
    params = {"block_size_x": [32], "T": ["float"]}
    rows = tuned(arrays(), params, tmp_path, observers=[Twice(1.5), Plain()], iterations=4)
    assert (rows[0]["counted"], rows[0]["three"]) == (6.0, 3)

    class Within(Twice):
        """One that no other process finds."""

    with pytest.raises(InputError, match="cannot be found by name"):
        tuned(arrays(), params, tmp_path, observers=[Within(2.0)])
    with pytest.raises(InputError, match=r"give an object of AccuracyObserver"):
        tuned(arrays(), params, tmp_path, observers=[AccuracyObserver])


def test_nvml_is_asked_by_name() -> None:
    assert NVMLObserver(["nvml_energy"]).energy_seconds == 1.0
    assert NVMLObserver(["temperature"]).energy_seconds == 0.0
    with pytest.raises(ValueError, match="NVMLObserver knows no 'temprature': did you mean 'temperature'"):
        NVMLObserver(["temprature"])


@pytest.mark.parametrize(
    ("params", "more"),
    [
        ({"block_size_x": 16, "block_size_y": 4}, {}),
        ({"block_size_x": 16, "block_size_y": 4}, {"grid_div_x": ["block_size_x", 2]}),
        ({"block_size_x": 16, "block_size_y": 4}, {"grid_div_x": [], "grid_div_y": "block_size_y * 2"}),
        ({"tile": 3}, {}),
        ({"bx": 8, "by": 2}, {"block_size_names": ["bx", "by"]}),
        ({"block_size_x": 48}, {"grid_div_x": ["block_size_x/32"]}),
    ],
)
def test_launches_are_those_of_kernel_tuner(params: dict[str, int], more: dict[str, Any]) -> None:
    util = pytest.importorskip("kernel_tuner.util")
    names = [*more.get("block_size_names", []), *util.default_block_size_names][:3]
    if "block_size_names" in more:
        names = [*more["block_size_names"], "block_size_z"]
    divisors = tuple(more.get(f"grid_div_{axis}") for axis in "xyz")
    expected = util.setup_block_and_grid((100, 60, 1), divisors, params, names)
    given = bound(
        kernel_tuner.tune_kernel, arrays(), {name: [value] for name, value in params.items()}, **more
    )
    given["problem_size"] = (100, 60)
    from constrint.tuning.spaces import from_tune_params
    from kerneltune.inputs.hardware import load_profile

    space = from_tune_params(given["tune_params"], [])
    order = description_of(given, space).kernel(load_profile("h100_sxm")).order(next(iter(space)))
    assert (order.block, order.grid) == (tuple(expected[0]), tuple(expected[1]))


def test_strategies_are_named_as_modules() -> None:
    """Kernel Tuner's own example has `strategy=kernel_tuner.strategies.minimize`."""
    found = [getattr(kernel_tuner.strategies, name) for name in kernel_tuner.strategies.STRATEGIES]
    assert found == list(kernel_tuner.strategies.STRATEGIES)
    with pytest.raises(AttributeError, match="no strategy 'minimise': did you mean 'minimize'"):
        kernel_tuner.strategies.minimise  # noqa: B018


def test_kernels_are_called_as_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[dict[str, Any]] = []

    def run_as_asked(given: dict[str, Any], own: Any) -> list[Any]:
        seen.append(given)
        return [one + 1 if place == 0 else one for place, one in enumerate(given["arguments"])]

    monkeypatch.setattr("kerneltune.kernel_tuner.running.run_as_asked", run_as_asked)
    c, a, b, n = arrays()
    params = {"block_size_x": 64}
    kernel = PythonKernel(
        "add", SOURCE, SIZE, [c, a, b, n], params, [False, True, True, True], [True, False, False, False],
        grid_div_x=["block_size_x"], verbose=False,
    )  # fmt: skip
    (found,) = kernel(c - 9, a, b, n)
    assert np.array_equal(found, c + 1)  # c is no input: it is as it was
    assert (seen[0]["params"], seen[0]["grid_div_x"]) == (params, ["block_size_x"])
    with pytest.raises(InputError, match="has 4 arguments, not 1"):
        kernel(c)
    with pytest.raises(InputError, match="inputs has 1 entries, but there are 4 arguments"):
        PythonKernel("add", SOURCE, SIZE, [c, a, b, n], params, [True])
    with pytest.raises(InputError, match="files of results are not read"):
        PythonKernel("add", SOURCE, SIZE, [c, a, b, n], params, results_file="a.json")
    with pytest.raises(TypeError, match="no argument 'grid_div'"):
        PythonKernel("add", SOURCE, SIZE, [c, a, b, n], params, grid_div=1)


def test_divisors_and_answers_that_make_no_sense_are_refused() -> None:
    given = bound(kernel_tuner.tune_kernel, arrays(), {"block_size_x": [32], "T": ["float"]}, grid_div_x=[0])
    rows, _ = tuned_as_asked(given, OWN)
    assert "grid_div_x: the divisor is 0, but must be above 0" in rows[0]["__error__"]
    given = bound(
        kernel_tuner.tune_kernel, arrays(), {"block_size_x": [32], "T": ["float"]}, answer=[None, 1]
    )
    with pytest.raises(InputError, match="answer has 2 entries, but there are 4 arguments"):
        tuned_as_asked(given, OWN)


@pytest.mark.gpu
def test_run_kernel_on_a_gpu() -> None:
    source = """
    __global__ void add(float* c, const float* a, const float* b, int n) {
        int i = blockIdx.x * block_size_x + threadIdx.x;
        if (i < n) c[i] = a[i] + b[i];
    }
    """
    c, a, b, n = arrays()
    found = kernel_tuner.run_kernel("add", source, SIZE, [c, a, b, n], {"block_size_x": 64})
    assert np.allclose(found[0], a + b)
    rows, _ = kernel_tuner.tune_kernel(
        "add",
        source,
        SIZE,
        [c, a, b, n],
        {"block_size_x": [32, 64]},
        answer=[a + b, None, None, None],
        verify=lambda answer, results, atol: np.allclose(answer[0], results[0], atol=atol),
    )
    assert all("__error__" not in row for row in rows)
