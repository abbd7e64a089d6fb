"""Fixtures for the tests of kerneltune: stand-in kernels, and a separate cache folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from made import FAKE_KERNELS

from kerneltune.compiling.cubin_cache import CACHE_VARIABLE
from kerneltune.inputs.descriptions import Kernels, discover
from kerneltune.inputs.hardware import load_profile
from kerneltune.inputs.problem import Problem
from kerneltune.tiling.space import TilingSpace


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))


@pytest.fixture
def fake_kernels() -> Kernels:
    return discover(FAKE_KERNELS)


@pytest.fixture
def echo_space(fake_kernels: Kernels) -> TilingSpace:
    problem = Problem("echo", heads=12, head_dim=64, batch=16, dtype="bf16", steps=8)
    return TilingSpace(problem, load_profile("h100_sxm"), fake_kernels)
