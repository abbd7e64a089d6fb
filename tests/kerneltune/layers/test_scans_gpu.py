"""On a machine with a GPU and torch: the operators of scans there beside the same on the CPU."""

from __future__ import annotations

import random
from typing import Any

import pytest

from kerneltune.inputs.scan_descriptions import linear_cells
from kerneltune.running.scan_arrays import state_width, widths_of

pytestmark = pytest.mark.gpu

CELLS = linear_cells()
LIMIT = {"bfloat16": 6e-3, "float16": 2e-3, "float32": 1e-5}


def relative(found: Any, expected: Any) -> float:
    found, expected = found.detach().cpu().double(), expected.detach().double()
    return float((found - expected).norm() / expected.norm().clamp_min(1e-30))


@pytest.mark.parametrize("dtype", sorted(LIMIT))
@pytest.mark.parametrize("cell", sorted(CELLS))
@pytest.mark.parametrize("case", range(4))
def test_a_gpu_gives_what_the_cpu_gives(cell: str, dtype: str, case: int) -> None:
    """Drawn shapes and options; inputs are parts of one tensor, as a projection leaves them."""
    import torch

    from kerneltune.torch.scan import scan

    draw = random.Random(f"{cell} {dtype} {case}")
    torch.manual_seed(case)
    batch, steps, channels = draw.randint(1, 5), draw.randint(1, 3000), draw.choice([1, 3, 8, 64, 200, 520])
    widths, state = [channels * width for width in widths_of(CELLS[cell])], state_width(CELLS[cell])
    sequences = draw.choice([0, 0, 5])
    batch = 1 if sequences else batch
    rows = sequences or batch
    whole = torch.randn(batch, steps, sum(widths), dtype=getattr(torch, dtype))
    if CELLS[cell].spec.gates[0] == "a":
        whole[..., : widths[0]].uniform_(-0.2 / state, 1.0 / state)
    options: dict[str, Any] = {"reverse": draw.random() < 0.5}
    if draw.random() < 0.5:
        options["initial"] = torch.randn(rows, channels * state)
    if sequences:
        inner = torch.randint(0, steps + 1, (sequences - 1,)).sort().values
        options["cu_seqlens"] = torch.cat([torch.tensor([0]), inner, torch.tensor([steps])])
    elif draw.random() < 0.5:
        options["lengths"] = torch.randint(0, steps + 1, (batch,))
    if draw.random() < 0.5:
        options["resets"] = torch.rand(batch, steps) < 0.02
    weight, last_weight = torch.randn(batch, steps, channels * state), torch.randn(rows, channels * state)
    found = []
    for device in ("cpu", "cuda"):
        x = whole.detach().to(device, copy=True).requires_grad_()
        there = {
            n: v.detach().to(device, copy=True) if isinstance(v, torch.Tensor) else v
            for n, v in options.items()
        }
        if "initial" in there:
            there["initial"].requires_grad_()
        h, last = scan(cell, *x.split(widths, dim=-1), **there)
        ((h.float() * weight.to(device)).sum() + (last * last_weight.to(device)).sum()).backward()
        initial = [there["initial"].grad] if "initial" in there else []
        found.append([h, last, x.grad, *initial])
    for mine, expected in zip(found[1], found[0], strict=True):
        assert relative(mine, expected) < LIMIT[dtype]


def test_launches_replay_from_a_graph_and_on_two_streams() -> None:
    """Words carry the mark of their launch, which no launch gets from the host."""
    import torch

    from kerneltune.torch.scan import linear_recurrence

    a = torch.rand(2, 20000, 64, device="cuda")
    b = torch.randn_like(a)
    expected, _ = linear_recurrence(a, b)
    streams = [torch.cuda.Stream() for _ in range(2)]
    torch.cuda.synchronize()
    results = []
    for _ in range(5):
        for stream in streams:
            with torch.cuda.stream(stream):
                results.append(linear_recurrence(a, b)[0])
    torch.cuda.synchronize()
    assert all(torch.equal(result, expected) for result in results)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.stream(streams[0]), torch.cuda.graph(graph, stream=streams[0]):
        captured, _ = linear_recurrence(a, b)
    for _ in range(5):
        captured.fill_(float("nan"))
        graph.replay()
        torch.cuda.synchronize()
        assert torch.equal(captured, expected)


def test_a_million_steps_keep_the_accuracy_of_float32() -> None:
    import torch

    from kerneltune.torch.scan import linear_recurrence

    a = torch.rand(1, 2**20, 4) * 0.001 + 0.999
    b = torch.randn_like(a)
    found, _ = linear_recurrence(a.cuda(), b.cuda())
    state, error, norm = torch.zeros(4, dtype=torch.float64), 0.0, 0.0
    wide_a, wide_b, got = a[0].double(), b[0].double(), found[0].double().cpu()
    for step in range(2**20):
        state = wide_a[step] * state + wide_b[step]
        if step % 64 == 0:
            error += float(((got[step] - state) ** 2).sum())
            norm += float((state**2).sum())
    assert (error / norm) ** 0.5 < 1e-6


@pytest.mark.parametrize("way", ["scan", "diagonal", "layer"])
def test_kernels_are_loaded_by_a_thread_that_never_asked_for_the_gpu(way: str) -> None:
    """As autograd's threads are, which have no context then."""
    import threading

    import torch

    import kerneltune.torch as ours
    from kerneltune.torch.diagonal import diagonal

    x = torch.randn(1, 5, 24, device="cuda")
    weights, layer = torch.randn(3, 24, device="cuda"), ours.LSTM(24, 24).cuda()
    ways = {
        "scan": lambda: ours.linear_recurrence(x, x),
        "diagonal": lambda: diagonal("diag_gru", x, x, x, weights=weights),
        "layer": lambda: layer(x),
    }
    found: list[Any] = []

    def call() -> None:
        with torch.no_grad():
            found.append(ways[way]())  # type: ignore[no-untyped-call]

    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
    assert found
    assert torch.equal(found[0][0], ways[way]()[0])  # type: ignore[no-untyped-call]
