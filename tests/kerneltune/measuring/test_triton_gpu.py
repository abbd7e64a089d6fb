"""Triton functions on a GPU: launched by the driver, or by Triton where only it can."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kerneltune import In, Out, tune
from kerneltune.inputs.hardware import load_profile
from kerneltune.sources.description import Description
from kerneltune.sources.triton_code import compiled_function
from kerneltune.tuning.finals import FINALIST_FACTOR

triton = pytest.importorskip("triton")
tl = pytest.importorskip("triton.language")

ROWS, COLUMNS = 300, 1000


@triton.jit  # type: ignore[untyped-decorator, unused-ignore]
def scaled(x, y, total, one, factor, columns, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def, name-defined, unused-ignore]
    """Each program scales a row and sums it; `one` is 1, so it stands in the code."""
    row = tl.program_id(0)
    sums = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        places = start + tl.arange(0, BLOCK)
        given = tl.load(x + row * columns + places * one, mask=places < columns, other=0.0).to(tl.float32)
        tl.store(y + row * columns + places, given * factor, mask=places < columns)
        sums += given
    tl.store(total + row, tl.sum(sums, axis=0))


@triton.jit  # type: ignore[untyped-decorator, unused-ignore]
def doubled(x, y, n, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def, name-defined, unused-ignore]
    """Simple enough for clusters: Triton 3.6 cannot compile sums of a cluster."""
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + places, 2 * tl.load(x + places, mask=places < n), mask=places < n)


def reference(x: Any, y: Any, total: Any, one: Any, factor: Any, columns: Any) -> Any:
    return {"y": (x.astype("f4") * factor).astype(x.dtype), "total": x.astype("f8").sum(axis=1).astype("f4")}


def arguments(dtype: str) -> list[Any]:
    x = np.random.default_rng(0).standard_normal((ROWS, COLUMNS), np.float32).astype(dtype)
    return [In(x, "x"), Out(np.empty_like(x), "y"), Out(np.empty(ROWS, "f4"), "total"), 1, 0.5, COLUMNS]


def described(function: Any, params: dict[str, list[Any]], given: list[Any], grid: Any) -> Description:
    return Description(function, params=params, arguments=given, grid=grid)


WARPS = {"BLOCK": [256, 512], "num_warps": [2, 8]}
CLUSTERS = {"BLOCK": [256, 512], "num_ctas": [1, 2]}


def both() -> list[Any]:
    x = np.arange(5000, dtype=np.float32)
    return [In(x, "x"), Out(np.empty_like(x), "y"), x.size]


def test_they_compile_for_a_gpu_that_is_not_here() -> None:
    """What the tests below launch; a launch is the driver's where there is no cluster."""
    profile = load_profile("h100_sxm")
    for dtype in ("float16", "float32"):
        kernel = described(scaled, WARPS, arguments(dtype), ROWS).kernel(profile)
        for one in kernel.space:
            built = compiled_function(kernel.order(one))
            assert built.launch is not None
            assert built.launch.block == (32 * one["num_warps"], 1, 1)
            assert [bool(kind) for kind in built.launch.types] == [True, True, True, False, True, True]
    kernel = described(doubled, CLUSTERS, both(), "ceildiv(5000, BLOCK)").kernel(profile)
    for one in kernel.space:
        built = compiled_function(kernel.order(one))
        assert built.registers > 0
        assert (built.launch is None) == (one["num_ctas"] == 2)
        assert bool(built.cubin) == (one["num_ctas"] == 1)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_functions_are_verified_and_timed(tmp_path: Path, dtype: str) -> None:
    found = tune(
        scaled,
        params=WARPS,
        arguments=arguments(dtype),
        grid=ROWS,
        reference=reference,
        tolerance=2e-3 if dtype == "float16" else 1e-4,
        store=tmp_path / "s",
        strategy="exhaustive",
    )
    assert len(found.ranked) == 4, [str(trial.failure) for trial in found.failed]
    for trial in found.trials:
        assert trial.relative_error is not None
        assert trial.resources["registers"] > 0
        assert trial.resources["threads"] == 32 * trial.configuration["num_warps"]
    times = [trial.objectives["time"] for trial in found.trials]
    near = sum(time <= FINALIST_FACTOR * min(times) for time in times)
    assert len(found.finals) == (near if near > 1 else 0)


@pytest.mark.gpu
def test_clusters_are_launched_by_triton(tmp_path: Path) -> None:
    from kerneltune.running.detect import detect

    if detect().facts.compute_capability < "9.0":
        pytest.skip("this GPU has no clusters")
    found = tune(
        doubled,
        params=CLUSTERS,
        arguments=both(),
        grid="ceildiv(5000, BLOCK)",
        reference=lambda x, y, n: 2 * x,
        store=tmp_path / "s",
        strategy="exhaustive",
        finalists=0,
    )
    assert len(found.ranked) == 4, [str(trial.failure) for trial in found.failed]


@pytest.mark.gpu
def test_torch_is_not_imported_where_the_driver_launches(tmp_path: Path) -> None:
    found = tune(
        scaled,
        params={"BLOCK": [256]},
        arguments=arguments("float32"),
        grid=ROWS,
        reference=reference,
        store=tmp_path / "s",
        finalists=0,
        observers=[Imports],
    )
    assert found.best.objectives["torch"] == 0


class Imports:
    """Says whether the measuring process has imported torch."""

    def get_results(self) -> dict[str, float]:
        import sys

        return {"torch": float("torch" in sys.modules)}
