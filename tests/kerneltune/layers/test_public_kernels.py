"""Benchmark of public kernels: each cell of equations is the formula that its peers compute, on a CPU."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
PATH = Path(__file__).resolve().parents[3] / "benchmarks" / "scans" / "public_kernels.py"
STEPS = 40


def benchmark() -> Any:
    spec = importlib.util.spec_from_file_location("public_kernels", PATH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclass looks for it there
    spec.loader.exec_module(module)
    return module


def linear(a: Any, b: Any) -> Any:
    """h' = a h + b, step by step."""
    state, found = torch.zeros_like(b[:, 0]), []
    for step in range(STEPS):
        state = a[:, step] * state + b[:, step]
        found.append(state)
    return torch.stack(found, 1)


def wkv(k: Any, v: Any, w: Any, u: Any) -> Any:
    """RWKV-4's sums as they are, without a maximum that stabilises them."""
    a, b, found = torch.zeros_like(v[:, 0]), torch.ones_like(v[:, 0]), []
    for step in range(STEPS):
        key, value = k[:, step], v[:, step]
        found.append((a + (u + key).exp() * value) / (b + (u + key).exp()))
        kept = (-w.exp()).exp()
        a, b = kept * a + key.exp() * value, kept * b + key.exp()
    return torch.stack(found, 1)


FORMULAS = {"wkv": wkv, "hgrn": lambda g, x: linear(g.exp(), x), "linear": linear}


@pytest.mark.parametrize("name", sorted(FORMULAS))
def test_own_side_is_the_formula(name: str) -> None:
    module = benchmark()
    assert set(module.CONTESTS) == set(FORMULAS)
    torch.manual_seed(0)
    contest, shape = module.CONTESTS[name], (2, STEPS, 16)
    arrays, weight = contest.draw(torch, shape, "cpu"), torch.randn(shape)
    own = module.both_passes(contest.own, arrays, weight)
    formula = module.both_passes(FORMULAS[name], arrays, weight)
    assert max(module.relative(x, y) for x, y in zip(own, formula, strict=True)) < 1e-5
    assert module.relative(own[0] * 1.01, formula[0]) > 5e-3
