"""On a machine with a GPU and torch: diagonal cells there beside the same on the CPU."""

from __future__ import annotations

import random
from typing import Any

import pytest

from kerneltune.inputs.scan_descriptions import discover_scans, is_nonlinear

pytestmark = pytest.mark.gpu

CELLS = {name: cell for name, cell in discover_scans().cells.items() if is_nonlinear(cell)}
LIMIT = {"bfloat16": 8e-3, "float16": 2e-3, "float32": 2e-5}


def relative(found: Any, expected: Any) -> float:
    found, expected = found.detach().cpu().double(), expected.detach().double()
    return float((found - expected).norm() / (expected.norm() + 0.03 * expected.numel() ** 0.5))


@pytest.mark.parametrize("dtype", sorted(LIMIT))
@pytest.mark.parametrize("parallel", [None, "sequential", "overlap"])
@pytest.mark.parametrize("cell", sorted(CELLS))
def test_a_gpu_gives_what_the_cpu_gives(cell: str, parallel: str | None, dtype: str) -> None:
    """Drawn shapes and options, values and gradients; inputs are parts of one tensor."""
    import torch

    from kerneltune.torch import diagonal

    draw = random.Random(f"{cell} {dtype} {parallel}")
    spec = CELLS[cell].spec
    for case in range(2):
        torch.manual_seed(case)
        batch, steps, channels = draw.randint(1, 5), draw.randint(1, 3000), draw.choice([1, 3, 8, 64, 200])
        gates = len(spec.gates)
        whole = torch.randn(batch, steps, gates * channels).to(getattr(torch, dtype))
        weights = 0.5 * torch.randn(
            CELLS[cell].constants()["weights"], channels
        )  # larger ones amplify roundings
        options: dict[str, Any] = {"weights": weights}
        if draw.random() < 0.5:
            options["initial"] = torch.randn(len(spec.states), batch, channels)
        fixed: dict[str, Any] = {"reverse": draw.random() < 0.5, "parallel": parallel}
        if draw.random() < 0.5:
            fixed["lengths"] = torch.randint(0, steps + 1, (batch,))
        if draw.random() < 0.5:
            fixed["resets"] = torch.rand(batch, steps) < 0.02
        weight, last_weight = (
            torch.randn(batch, steps, channels),
            torch.randn(len(spec.states), batch, channels),
        )
        found = []
        for device in ("cpu", "cuda"):
            x = whole.detach().to(device, copy=True).requires_grad_()
            learnt = {n: v.detach().to(device, copy=True).requires_grad_() for n, v in options.items()}
            there = {n: v.to(device) if isinstance(v, torch.Tensor) else v for n, v in fixed.items()}
            h, last = diagonal(cell, *x.chunk(gates, dim=-1), **learnt, **there)
            ((h.float() * weight.to(device)).sum() + (last * last_weight.to(device)).sum()).backward()
            found.append([h, last, x.grad, *(tensor.grad for tensor in learnt.values())])
        for mine, expected in zip(found[1], found[0], strict=True):
            assert relative(mine, expected) < LIMIT[dtype], (case, batch, steps, channels, fixed.keys())


def saturated(torch: Any, steps: int, channels: int) -> tuple[list[Any], Any]:
    """A GRU that holds a sign and changes it at some steps, as one that computes a parity."""
    x = [torch.full((1, steps, channels), value) for value in (8.0, 0.0, 0.0)]
    changes = torch.rand(1, steps, channels) < 0.01
    x[2] = torch.where(changes, 6.0 * torch.sign(torch.randn(1, steps, channels)), x[2])
    weights = torch.stack([torch.zeros(channels), torch.full((channels,), 8.0), torch.full((channels,), 6.0)])
    return x, weights


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_states_that_are_never_forgotten_are_repaired(dtype: str) -> None:
    """Whatever the guesses are worth, the answer is that of the steps in order."""
    import torch

    from kerneltune.torch import diagonal

    torch.manual_seed(0)
    cases = {"held": saturated(torch, 20000, 8)}
    slow = [torch.randn(1, 20000, 8) for _ in range(3)]
    slow[0] -= 9.0  # a gate that is shut nearly always: what was is kept for thousands of steps
    cases["slow"] = slow, torch.randn(3, 8)
    wild = [torch.randn(1, 20000, 8) for _ in range(3)]
    cases["wild"] = wild, 4 * torch.randn(3, 8)
    for name, (x, weights) in cases.items():
        x = [part.to(getattr(torch, dtype)).cuda() for part in x]
        weights = weights.cuda()
        initial = torch.ones(1, 1, 8, device="cuda")
        expected, last = diagonal("diag_gru", *x, weights=weights, initial=initial, parallel="sequential")
        options: dict[str, Any] = {
            "weights": weights,
            "initial": initial,
            "parallel": "overlap",
            "report": True,
        }
        found, end, repaired = diagonal("diag_gru", *x, **options)
        again, _, _ = diagonal("diag_gru", *x, **options)
        moved, rounds, _, boundaries = repaired.tolist()
        assert 0 < moved <= boundaries, name
        assert rounds > 0, name
        assert torch.equal(found, again), name
        if name != "wild":  # where a rounding grows, two right answers differ
            torch.testing.assert_close(found.float(), expected.float(), rtol=1e-2, atol=1e-5)
            torch.testing.assert_close(end, last, rtol=1e-3, atol=1e-5)


def test_a_million_steps_satisfy_the_recurrence_at_every_one() -> None:
    """Each step is the cell's step from the one before, by float64, to the rounding of float32."""
    import numpy as np
    import torch

    from kerneltune.torch import diagonal

    torch.manual_seed(2)
    for sigma in (0.5, 4.0):
        x = [torch.randn(1, 2**20, 2) for _ in range(3)]
        weights = sigma * torch.randn(3, 2)
        options: dict[str, Any] = {"weights": weights.cuda(), "parallel": "overlap"}
        found, _ = diagonal("diag_gru", *(part.cuda() for part in x), **options)
        h = found[0].double().cpu().numpy()
        before = np.concatenate([np.zeros((1, 2)), h[:-1]])
        read = tuple(part[0].double().numpy() for part in x)
        (after,) = CELLS["diag_gru"].reference_module().step(read, tuple(weights.double().numpy()), (before,))
        assert np.abs(after - h).max() < 1e-6


@pytest.mark.parametrize("parallel", ["sequential", "overlap"])
@pytest.mark.parametrize("special", [float("nan"), float("inf")])
def test_what_is_no_number_stays_in_its_row_and_channel(parallel: str, special: float) -> None:
    import torch

    from kerneltune.torch import diagonal

    torch.manual_seed(3)
    x = [torch.randn(3, 3000, 40, device="cuda") for _ in range(3)]
    weights = torch.randn(3, 40, device="cuda")
    expected, _ = diagonal("diag_gru", *x, weights=weights, parallel=parallel)
    x[0][1, 700, 5] = special
    x[2][1, 700, 5] = special
    found, _ = diagonal("diag_gru", *x, weights=weights, parallel=parallel)
    changed = found != expected
    changed[1, 700:, 5] = False
    assert not changed.any()
    assert bool(torch.isnan(found[1, 700:, 5]).all()) == (special != special)


def test_launches_replay_from_a_graph_and_on_two_streams() -> None:
    import torch

    from kerneltune.torch import diagonal

    x = [torch.randn(2, 20000, 8, device="cuda") for _ in range(3)]
    weights = 2 * torch.randn(3, 8, device="cuda")
    expected, _ = diagonal("diag_gru", *x, weights=weights, parallel="overlap")
    streams = [torch.cuda.Stream() for _ in range(2)]
    torch.cuda.synchronize()
    results = []
    for _ in range(5):
        for stream in streams:
            with torch.cuda.stream(stream):
                results.append(diagonal("diag_gru", *x, weights=weights, parallel="overlap")[0])
    torch.cuda.synchronize()
    assert all(torch.equal(result, expected) for result in results)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.stream(streams[0]), torch.cuda.graph(graph, stream=streams[0]):
        captured, _ = diagonal("diag_gru", *x, weights=weights, parallel="overlap")
    for _ in range(5):
        captured.fill_(float("nan"))
        graph.replay()
        torch.cuda.synchronize()
        assert torch.equal(captured, expected)
