"""Layers of large batches or wide heads, whose products are a library's, on a GPU."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch")
pytestmark = pytest.mark.gpu
WITHIN = {"bf16": 2e-2, "fp16": 3e-3, "tf32": 3e-3, "fp32": 1e-5}


@pytest.mark.parametrize("tf32", [False, True])
def test_products_of_all_layouts_are_torchs(tf32: bool) -> None:
    """Matrices and batches, by rows, by columns or cut out of a larger one, with and without a sum."""
    from kerneltune.torch.products import multiply

    draw = torch.Generator(device="cuda").manual_seed(1)

    def drawn(shape: tuple[int, ...], layout: str) -> Any:
        if layout == "rows":
            return torch.randn(shape, generator=draw, device="cuda")
        if layout == "columns":
            return torch.randn((*shape[:-2], shape[-1], shape[-2]), generator=draw, device="cuda").mT
        return torch.randn((*shape[:-2], shape[-2], shape[-1] + 3), generator=draw, device="cuda")[..., 1:-2]

    layouts = ("rows", "columns", "cut")
    for left, right, adds, batch in itertools.product(layouts, layouts, (False, True), ((), (3,))):
        for m, k, n in ((5, 7, 9), (1, 8, 4), (6, 1, 3), (4, 5, 1), (3, 0, 2), (0, 3, 2)):
            a, b = drawn((*batch, m, k), left), drawn((*batch, k, n), right)
            add = torch.randn(n, generator=draw, device="cuda") if adds else None
            out = torch.full((*batch, m, n + 2), 7.0, device="cuda")
            found = multiply(a, b, tf32=tf32, add=add, out=out[..., 1:-1])
            expected = a.double() @ b.double() + (0 if add is None else add.double())
            assert torch.allclose(found.double(), expected, atol=2e-2 if tf32 else 1e-5)
            assert (out[..., 0] == 7).all()
            assert (out[..., -1] == 7).all()
            alone = multiply(a, b, tf32=tf32, add=None if add is None else add.expand(found.shape))
            assert torch.allclose(alone.double(), expected, atol=2e-2 if tf32 else 1e-5)


@pytest.mark.parametrize("batch", [1000, 1])
@pytest.mark.parametrize("dtype", sorted(WITHIN))
@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN", "sLSTM"])
def test_wide_heads_are_right(kind: str, dtype: str, batch: int) -> None:
    """Values, states and all gradients against the cells' own operations in float64."""
    import kerneltune.torch as ours
    from kerneltune.inputs.problem import Problem
    from kerneltune.torch.launching import launcher

    before = torch.backends.cudnn.allow_tf32
    torch.backends.cudnn.allow_tf32 = dtype == "tf32"
    try:
        cell = {"LSTM": "lstm", "GRU": "gru", "RNN": "elman", "sLSTM": "slstm"}[kind]
        steps, width = 5, 4096 if batch == 1 else 2048 if dtype == "fp32" else 1536
        problem = Problem(cell, 1, width, batch, dtype, steps, "backward" if batch == 1 else "forward")
        assert launcher().supply.get(problem).candidate.strategy == "product" or kind == "RNN"
        torch.manual_seed(3)
        real = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(dtype, torch.float32)
        layer = getattr(ours, kind)(width, width, device="cuda", dtype=real)
        exact = getattr(ours, kind)(width, width, device="cuda", dtype=torch.float64)
        exact.load_state_dict(layer.state_dict())
        x = torch.randn(steps, batch, width, device="cuda", dtype=real)
        start = [0.5 + torch.rand(1, batch, width, device="cuda", dtype=real) for _ in layer.kind.states]
        by = torch.randn(steps, batch, width, device="cuda", dtype=real)
        found = _gradients(layer, x, start, by)
        with ours.native():
            expected = _gradients(exact, x.double(), [one.double() for one in start], by.double())
        for mine, theirs in zip(found, expected, strict=True):
            error = (mine.double() - theirs).norm() / theirs.norm()
            assert error < WITHIN[dtype]
        again = _gradients(layer, x, start, by)
        assert all(torch.equal(one, other) for one, other in zip(found, again, strict=True))
    finally:
        torch.backends.cudnn.allow_tf32 = before


def _gradients(layer: Any, x: Any, start: list[Any], by: Any) -> list[Any]:
    x, start = x.clone().requires_grad_(), [one.clone().requires_grad_() for one in start]
    output, last = layer(x, start[0] if len(start) == 1 else tuple(start))
    last = (last,) if isinstance(last, torch.Tensor) else last
    # c, n and m of an sLSTM jump where its maximum changes sides; h and the other cells' states do not.
    counted = last[:1] if len(last) > 2 else last
    total = (output * by).sum() + sum(one.sum() for one in counted)
    found = torch.autograd.grad(total, [x, *start, *layer.parameters()])
    return [output.detach(), *(one.detach() for one in last), *found]
