"""The float64 references against the equations of a single unit in Python floats."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from kerneltune.inputs.descriptions import discover

KERNELS = discover()
Step = Callable[[list[float], list[float], list[float]], list[float]]


def sigmoid(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-x))


def lstm(x: list[float], recurrent: list[float], state: list[float]) -> list[float]:
    i, f, z, o = (a + b for a, b in zip(x, recurrent, strict=True))
    c = sigmoid(f) * state[1] + sigmoid(i) * math.tanh(z)
    return [sigmoid(o) * math.tanh(c), c]


def gru(x: list[float], recurrent: list[float], state: list[float]) -> list[float]:
    reset, update = sigmoid(x[0] + recurrent[0]), sigmoid(x[1] + recurrent[1])
    candidate = math.tanh(x[2] + reset * recurrent[2])
    return [(1 - update) * candidate + update * state[0]]


def slstm(x: list[float], recurrent: list[float], state: list[float]) -> list[float]:
    """Without the stabiliser: states scaled by exp(m) must give the same h."""
    i, f, z, o = (a + b for a, b in zip(x, recurrent, strict=True))
    scale = math.exp(state[3])
    c = sigmoid(f) * state[1] * scale + math.exp(i) * math.tanh(z)
    n = sigmoid(f) * state[2] * scale + math.exp(i)
    m = max(math.log(sigmoid(f)) + state[3], i)
    return [sigmoid(o) * c / n, c / math.exp(m), n / math.exp(m), m]


def elman(x: list[float], recurrent: list[float], state: list[float]) -> list[float]:
    return [math.tanh(x[0] + recurrent[0])]


def elman_relu(x: list[float], recurrent: list[float], state: list[float]) -> list[float]:
    return [max(x[0] + recurrent[0], 0.0)]


STEPS: dict[str, Step] = {f.__name__: f for f in (lstm, gru, slstm, elman, elman_relu)}


def test_every_cell_has_its_equations_here() -> None:
    assert sorted(STEPS) == sorted(KERNELS.cells)


@pytest.mark.parametrize("forward_clip", [0.0, 0.2])
@pytest.mark.parametrize("name", sorted(KERNELS.cells))
def test_reference_is_the_equations(name: str, forward_clip: float) -> None:
    cell = KERNELS.cell(name)
    gates, count = len(cell.spec.gates), len(cell.spec.states)
    steps, batch, heads, dim = 4, 2, 3, 5
    random = np.random.default_rng(7)
    wx = random.standard_normal((steps, batch, heads, dim, gates))
    r = random.standard_normal((heads, gates, dim, dim))
    bias = random.standard_normal((heads, gates, dim))
    initial = np.abs(random.standard_normal((count, batch, heads, dim))) + 0.1
    found = cell.reference()(wx, r, bias, initial, forward_clip)
    assert found.shape == (count, steps + 1, batch, heads, dim)
    np.testing.assert_array_equal(found[:, 0], initial)
    states = initial.copy()
    for t in range(steps):
        before = states.copy()
        for b, h, u in np.ndindex(batch, heads, dim):
            recurrent = [
                float(bias[h, g, u]) + sum(float(r[h, g, u, k] * before[0, b, h, k]) for k in range(dim))
                for g in range(gates)
            ]
            states[:, b, h, u] = STEPS[name](list(wx[t, b, h, u]), recurrent, list(before[:, b, h, u]))
            if forward_clip:
                states[0, b, h, u] = max(-forward_clip, min(forward_clip, states[0, b, h, u]))
        np.testing.assert_allclose(found[:, t + 1], states, rtol=1e-10, atol=1e-12)
