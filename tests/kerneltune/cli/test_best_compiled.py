"""The best tilings that compile as promised: as many as asked for, whatever some of them break."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from kerneltune.cli import main
from kerneltune.compiling import compile as compiling
from kerneltune.compiling import feedback
from kerneltune.inputs.descriptions import discover
from kerneltune.inputs.hardware import load_profile
from kerneltune.inputs.problem import Problem
from kerneltune.tiling.space import TilingSpace

PROBLEM = Problem("lstm", 1, 32, 16, "bf16", 64)


@pytest.mark.parametrize(("keeps", "found"), [(1, 3), (2, 3), (3, 3), (10**9, 0)])
def test_as_many_as_asked_for(monkeypatch: pytest.MonkeyPatch, keeps: int, found: int) -> None:
    tried: list[Any] = []

    class Compiler:
        def __init__(self, *_: Any, **__: Any) -> None: ...

        def compile(self, candidate: Any) -> Any:
            tried.append(candidate)
            broken = ["a spill"] if len(tried) % keeps else []
            report = SimpleNamespace(broken_promises=lambda: broken)
            return SimpleNamespace(candidate=candidate, report=report)

    def settle(space: TilingSpace, compiler: Any) -> Any:
        return SimpleNamespace(compiled=None, tightenings=(), space=space)

    monkeypatch.setattr(compiling, "Compiler", Compiler)
    monkeypatch.setattr(feedback, "settle", settle)
    space = TilingSpace(PROBLEM, load_profile("h100_sxm"), discover())
    kept = main._best_compiled(space, "nvrtc", 3)
    assert len(kept) == found
    assert len(tried) == (3 * keeps if found else main.TRIED * 3)
    assert all(tried.count(one) == 1 for one in tried)
    order = space.candidates(len(tried))
    assert tried == order
