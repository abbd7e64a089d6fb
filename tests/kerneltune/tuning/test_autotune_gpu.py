"""`kerneltune.autotune` around Triton's own functions and decorators; launches need a GPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import kerneltune
from kerneltune.tuning.best import best_known

triton = pytest.importorskip("triton")
tl = pytest.importorskip("triton.language")
torch = pytest.importorskip("torch")


@triton.jit  # type: ignore[untyped-decorator, unused-ignore]
def doubled(x, y, n, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def, name-defined, unused-ignore]
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + places, 2 * tl.load(x + places, mask=places < n), mask=places < n)


def listed() -> list[Any]:
    return [triton.Config({"BLOCK": block}, num_warps=warps) for block in (256, 1024) for warps in (2, 4)]


def grid(meta: dict[str, Any]) -> tuple[int]:
    return (triton.cdiv(meta["n"], meta["BLOCK"]),)


def test_tritons_decorator_is_read(tmp_path: Path) -> None:
    both = triton.autotune(configs=listed(), key=["n"], restore_value=["y"])(doubled)
    tuned = kerneltune.autotune(store=tmp_path / "s")(both)
    assert tuned.name == "doubled"
    assert tuned.arg_names == ["x", "y", "n", "BLOCK"]


@pytest.mark.gpu
@pytest.mark.parametrize("how", ["params", "configs", "triton"])
def test_a_triton_function_is_tuned_once(tmp_path: Path, how: str) -> None:
    n = 100_000
    x = torch.randn(n, device="cuda")

    def decorated() -> Any:
        more: dict[str, Any] = {"outputs": ["y"], "store": tmp_path / "s"}
        if how == "triton":
            return kerneltune.autotune(**more)(triton.autotune(configs=listed(), key=["n"])(doubled))
        if how == "configs":
            return kerneltune.autotune(listed(), ["n"], **more)(doubled)
        params = {"BLOCK": [256, 1024], "num_warps": [2, 4]}
        return kerneltune.autotune(params=params, key=["n"], **more)(doubled)

    for number in range(2):
        tuned, y = decorated(), torch.zeros_like(x)
        tuned[grid](x, y, n)
        assert torch.equal(y, 2 * x)
        assert (tuned.tuned is None) == (number == 1)
    assert tuned.best_config["BLOCK"] in (256, 1024)
    assert best_known("doubled", {"n": n}, store=tmp_path / "s") is not None
