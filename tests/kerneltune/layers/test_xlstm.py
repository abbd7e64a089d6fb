"""The functions that xlstm and tirex call, against the sLSTM of the xLSTM paper in numpy, float64."""

# mypy: disable-error-code="has-type"
from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kerneltune.errors import InputError

torch = pytest.importorskip("torch")
STEPS, BATCH, HEADS, DIM = 6, 3, 2, 8
SIZE = HEADS * DIM


def paper(wx: Any, states: Any, r: Any, b: Any) -> Any:
    """Equations 8 to 17 of Beck et al. 2024, one unit at a time.

    Args:
        wx: By gate, step, row, head and unit.
        states: h, c, n, m by row, head and unit; n = 0 stands for "no step so far".
        r: By gate, head, output unit and input unit.
        b: By gate, head and unit.

    Returns:
        The states after each step, `[T, 4, B, heads, D]`.
    """
    found = []
    for step in range(STEPS):
        after = np.empty_like(states)
        for row, head, unit in np.ndindex(BATCH, HEADS, DIM):
            h, c, n, m = states[0, row, head], *states[1:, row, head, unit]  # type: ignore[misc]
            i, f, z, o = (
                wx[g, step, row, head, unit] + r[g, head, unit] @ h + b[g, head, unit] for g in range(4)
            )
            log_forget = -np.log1p(np.exp(-f))
            top = i if n == 0 else max(log_forget + m, i)
            grow = np.exp(i - top)
            keep = 0.0 if n == 0 else np.exp(log_forget + m - top)
            c, n = keep * c + grow * np.tanh(z), keep * n + grow
            after[:, row, head, unit] = c / n / (1 + np.exp(-o)), c, n, top
        states = after
        found.append(after)
    return np.stack(found)


@pytest.fixture
def drawn() -> dict[str, Any]:
    random = np.random.default_rng(3)
    return {
        "wx": random.normal(size=(4, STEPS, BATCH, HEADS, DIM)) * 2,
        "r": random.normal(size=(4, HEADS, DIM, DIM)) / 3,
        "b": random.normal(size=(4, HEADS, DIM)),
    }


def first_states(zero: bool) -> Any:
    random = np.random.default_rng(4)
    found = random.normal(size=(4, BATCH, HEADS, DIM))
    found[2] = np.abs(found[2]) + 0.5
    return np.zeros_like(found) if zero else found


@pytest.mark.parametrize("zero", [True, False])
def test_both_functions_are_the_papers(drawn: dict[str, Any], zero: bool) -> None:
    from kerneltune.torch.xlstm import SLSTMFunction, slstm_forward

    start = first_states(zero)
    wanted = paper(drawn["wx"], start, drawn["r"], drawn["b"])
    states = torch.from_numpy(start.reshape(4, BATCH, SIZE))
    x = drawn["wx"].transpose(1, 2, 0, 3, 4).reshape(STEPS, BATCH, 4 * SIZE)
    r = drawn["r"].transpose(1, 0, 2, 3).reshape(HEADS, 4 * DIM, DIM)
    every, last, _ = slstm_forward(  # type: ignore[call-arg]
        *map(torch.from_numpy, (x,)), states, torch.from_numpy(r), torch.from_numpy(drawn["b"].reshape(-1))
    )
    x = drawn["wx"].transpose(1, 2, 3, 0, 4).reshape(STEPS, BATCH, 4 * SIZE)
    r = drawn["r"].transpose(1, 3, 0, 2).reshape(HEADS, DIM, 4 * DIM)
    b = drawn["b"].transpose(1, 0, 2).reshape(-1)
    other = SLSTMFunction.apply(False, torch.from_numpy(x), states, torch.from_numpy(r), torch.from_numpy(b))
    for found in (every, other):
        assert found.shape == (4, STEPS + 1, BATCH, SIZE)
        np.testing.assert_allclose(
            found[0, 1:], wanted[:, 0].reshape(STEPS, BATCH, SIZE), rtol=1e-10, atol=1e-12
        )
        np.testing.assert_allclose(found[:, -1], wanted[-1].reshape(4, BATCH, SIZE), rtol=1e-10, atol=1e-12)
        assert torch.equal(found[:, 0], states)
        assert found[1:, 1:-1].isnan().all()
    assert torch.equal(last, every[:, -1])


def test_gradients_reach_all_that_is_given(drawn: dict[str, Any]) -> None:
    from kerneltune.torch.xlstm import SLSTMFunction

    given = [
        torch.from_numpy(drawn["wx"].transpose(1, 2, 3, 0, 4).reshape(STEPS, BATCH, 4 * SIZE)[:3].copy()),
        torch.from_numpy(first_states(False).reshape(4, BATCH, SIZE)),
        torch.from_numpy(drawn["r"].transpose(1, 3, 0, 2).reshape(HEADS, DIM, 4 * DIM).copy()),
        torch.from_numpy(drawn["b"].transpose(1, 0, 2).reshape(-1).copy()),
    ]
    for tensor in given:
        tensor.requires_grad_()

    def loss(*parts: Any) -> Any:
        every = SLSTMFunction.apply(True, *parts)
        return (every[0, 1:] ** 2).sum() + every[:, -1].sum()

    found = torch.autograd.grad(loss(*given), given)
    step = 1e-6
    for tensor, gradient in zip(given, found, strict=True):
        for place in (0, tensor.numel() // 2, tensor.numel() - 1):
            moved = []
            for sign in (1, -1):
                parts = [one.detach().clone() for one in given]
                next(new for new, old in zip(parts, given, strict=True) if old is tensor).view(-1)[place] += (
                    sign * step
                )
                moved.append(float(loss(*parts)))
            slope = (moved[0] - moved[1]) / (2 * step)
            assert abs(slope - float(gradient.reshape(-1)[place])) < 1e-5 * max(1.0, abs(slope))


def test_a_sequence_in_two_parts_is_the_whole(drawn: dict[str, Any]) -> None:
    from kerneltune.torch.xlstm import SLSTMFunction

    x = torch.from_numpy(drawn["wx"].transpose(1, 2, 3, 0, 4).reshape(STEPS, BATCH, 4 * SIZE))
    r = torch.from_numpy(drawn["r"].transpose(1, 3, 0, 2).reshape(HEADS, DIM, 4 * DIM))
    b = torch.from_numpy(drawn["b"].transpose(1, 0, 2).reshape(-1))
    zeros = torch.zeros(4, BATCH, SIZE, dtype=torch.float64)
    whole = SLSTMFunction.apply(False, x, zeros, r, b)
    first = SLSTMFunction.apply(False, x[:4], zeros, r, b)
    rest = SLSTMFunction.apply(False, x[4:], first[:, -1], r, b)
    torch.testing.assert_close(rest[0, 1:], whole[0, 5:], rtol=1e-12, atol=1e-12)


def test_shapes_that_do_not_fit_are_named() -> None:
    from kerneltune.torch.xlstm import SLSTMFunction, slstm_forward

    x, states = torch.zeros(5, 2, 64), torch.zeros(4, 2, 16)
    with pytest.raises(InputError, match=r"with R of 2 heads of 8 units, x is \[T, B, 64\]"):
        slstm_forward(x[..., :60], states, torch.zeros(2, 32, 8), torch.zeros(64))
    with pytest.raises(InputError, match=r"states are \[4, 2, 16\] here, not \[4, 3, 16\]"):
        SLSTMFunction.apply(True, x, torch.zeros(4, 3, 16), torch.zeros(2, 8, 32), torch.zeros(64))


@pytest.mark.gpu
@pytest.mark.parametrize("zero", [True, False])
def test_on_a_gpu(drawn: dict[str, Any], zero: bool) -> None:
    from kerneltune.torch.xlstm import SLSTMFunction

    start = first_states(zero)
    wanted = paper(drawn["wx"], start, drawn["r"], drawn["b"])
    arrays = SimpleNamespace(
        x=drawn["wx"].transpose(1, 2, 3, 0, 4).reshape(STEPS, BATCH, 4 * SIZE),
        states=start.reshape(4, BATCH, SIZE),
        r=drawn["r"].transpose(1, 3, 0, 2).reshape(HEADS, DIM, 4 * DIM),
        b=drawn["b"].transpose(1, 0, 2).reshape(-1),
    )
    given = [torch.tensor(one, dtype=torch.float32, device="cuda") for one in vars(arrays).values()]
    given[2].requires_grad_()
    found = SLSTMFunction.apply(True, *given)
    hidden = wanted[:, 0].reshape(STEPS, BATCH, SIZE)
    np.testing.assert_allclose(found[0, 1:].detach().cpu(), hidden, rtol=2e-4, atol=2e-5)
    found[0, 1:].sum().backward()
    assert given[2].grad.isfinite().all()
    assert float(given[2].grad.abs().sum()) > 0


def test_a_layer_of_the_library_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """With xlstm installed: its sLSTM layer, replaced as docs/kerneltune-xlstm.md says."""
    cell = pytest.importorskip("xlstm.blocks.slstm.cell")
    from xlstm.blocks.slstm.layer import sLSTMLayer, sLSTMLayerConfig

    from kerneltune.torch.xlstm import slstm_forward

    torch.manual_seed(0)
    config = sLSTMLayerConfig(
        embedding_dim=32, num_heads=4, conv1d_kernel_size=0, backend="vanilla", dtype="float32"
    )
    layer = sLSTMLayer(config)
    layer.reset_parameters()
    x = torch.randn(2, 7, 32, requires_grad=True)
    calls: list[int] = []

    def counted(*arguments: Any, **named: Any) -> Any:
        calls.append(1)
        return slstm_forward(*arguments, **named)

    found = []
    for ours in (False, True):
        if ours:
            monkeypatch.setattr(cell, "slstm_forward", counted)
        output = layer(x)
        found.append([output, *torch.autograd.grad(output.pow(2).sum(), [x, *layer.parameters()])])
    assert calls == [1]
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-6)
