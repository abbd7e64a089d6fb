"""Triton functions on a GPU: launched by the driver, or by Triton where only it can; both give the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kerneltune import In, Out, tune

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


def reference(x: Any, y: Any, total: Any, one: Any, factor: Any, columns: Any) -> Any:
    return {"y": (x.astype("f4") * factor).astype(x.dtype), "total": x.astype("f8").sum(axis=1).astype("f4")}


def arguments(dtype: str) -> list[Any]:
    x = np.random.default_rng(0).standard_normal((ROWS, COLUMNS), np.float32).astype(dtype)
    return [In(x, "x"), Out(np.empty_like(x), "y"), Out(np.empty(ROWS, "f4"), "total"), 1, 0.5, COLUMNS]


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("special", [{"num_warps": [2, 8]}, {"num_ctas": [1, 2]}])
def test_functions_are_verified_and_timed(tmp_path: Path, dtype: str, special: dict[str, list[int]]) -> None:
    from kerneltune.running.detect import detect

    if "num_ctas" in special and detect().facts.compute_capability < "9.0":
        pytest.skip("this GPU has no clusters")
    found = tune(
        scaled,
        params={"BLOCK": [256, 512], **special},
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
        threads = 32 * trial.configuration.get("num_warps", 4)
        assert trial.resources["threads"] == (threads if trial.configuration.get("num_ctas", 1) == 1 else 1)
    assert len(found.finals) >= 2


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
