"""Diagonal cells in PyTorch on a CPU, beside the float64 references and torch's own checks."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from training import losses_of

from kerneltune.errors import InputError
from kerneltune.inputs.scan_descriptions import discover_scans, is_nonlinear
from kerneltune.running.diagonal_reference import DiagonalInputs, backward, forward

torch: Any = pytest.importorskip("torch")
CELLS = {name: cell for name, cell in discover_scans().cells.items() if is_nonlinear(cell)}
FIRST_CELL = [
    cell if k == 0 else pytest.param(cell, marks=pytest.mark.slow) for k, cell in enumerate(sorted(CELLS))
]


@pytest.mark.parametrize("cell", FIRST_CELL)
def test_values_and_gradients_are_the_references(cell: str) -> None:
    from kerneltune.torch import diagonal

    draw, spec = np.random.default_rng(4), CELLS[cell].spec
    shape, reverse = (3, 21, 5), True
    inputs = DiagonalInputs(
        tuple(draw.normal(size=shape) for _ in spec.gates),
        draw.normal(size=(CELLS[cell].constants()["weights"], shape[2])),
        draw.normal(size=(len(spec.states), shape[0], shape[2])),
        np.array([21, 0, 6], np.int32),
        draw.random(shape[:2]) < 0.2,
        reverse,
    )
    module = CELLS[cell].reference_module()
    by_hidden, by_last = draw.normal(size=shape), draw.normal(size=inputs.initial.shape)
    expected = forward(module, inputs)
    by_input, by_initial, by_weights = backward(module, inputs, by_hidden, by_last)
    leaves = [
        torch.tensor(part, dtype=torch.float32, requires_grad=True)
        for part in (*inputs.read, inputs.initial, inputs.weights)
    ]
    options = {"lengths": torch.tensor(inputs.lengths), "resets": torch.tensor(inputs.resets)}
    output, last = diagonal(
        cell, *leaves[:-2], initial=leaves[-2], weights=leaves[-1], reverse=reverse, **options
    )
    np.testing.assert_allclose(output.detach(), expected.hidden, rtol=2e-5, atol=2e-6)
    np.testing.assert_allclose(last.detach(), expected.last, rtol=2e-5, atol=2e-6)
    ((output * torch.tensor(by_hidden)).sum() + (last * torch.tensor(by_last)).sum()).backward()
    for leaf, gradient in zip(leaves, (*by_input, by_initial, by_weights.sum(0)), strict=True):
        np.testing.assert_allclose(leaf.grad, gradient, rtol=2e-4, atol=2e-5)


def test_the_operator_is_registered_as_torch_wants() -> None:
    from kerneltune.torch import diagonal

    inputs = [torch.randn(2, 4, 3, requires_grad=True) for _ in range(3)]
    weights = torch.randn(3, 3, requires_grad=True)
    diagonal("diag_gru", *inputs, weights=weights)
    operator = torch.ops.kerneltune.diagonal.default
    torch.library.opcheck(operator, ("diag_gru", inputs, weights, None, None, None, False, "", True))


@pytest.mark.parametrize("name", ["DiagonalGRU", "DiagonalLSTM", "DiagonalSLSTM"])
def test_layers_train(name: str) -> None:
    import kerneltune.torch as layers

    torch.manual_seed(1)
    layer = getattr(layers, name)(6, 8)
    losses = losses_of(torch, layer)
    assert losses[-1] < 0.7 * losses[0]
    assert float(layer.recurrent.grad.abs().min()) > 0


@pytest.mark.parametrize("cell", sorted(CELLS))
def test_newton_converges_where_states_are_forgotten(cell: str) -> None:
    from kerneltune.torch import diagonal

    torch.manual_seed(2)
    inputs = [torch.randn(2, 300, 4) for _ in CELLS[cell].spec.gates]
    weights = 0.5 * torch.randn(CELLS[cell].constants()["weights"], 4)
    initial = torch.randn(len(CELLS[cell].spec.states), 2, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found, last = diagonal(cell, *inputs, weights=weights, initial=initial, parallel="newton")
    expected, end = diagonal(cell, *inputs, weights=weights, initial=initial)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(last, end, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("cell", sorted(CELLS))
def test_newton_has_the_gradients_of_the_steps_in_order(cell: str) -> None:
    from kerneltune.torch import diagonal

    found = []
    for parallel in ("newton", None):
        torch.manual_seed(4)
        inputs = [torch.randn(2, 37, 4, requires_grad=True) for _ in CELLS[cell].spec.gates]
        weights = (0.5 * torch.randn(CELLS[cell].constants()["weights"], 4)).requires_grad_()
        initial = torch.randn(len(CELLS[cell].spec.states), 2, 4, requires_grad=True)
        h, last = diagonal(cell, *inputs, weights=weights, initial=initial, parallel=parallel)
        (h.sin().sum() + last.cos().sum()).backward()
        found.append([tensor.grad for tensor in (*inputs, weights, initial)])
    for mine, expected in zip(*found, strict=True):
        assert float(expected.abs().max()) > 0
        torch.testing.assert_close(mine, expected, rtol=1e-3, atol=1e-4)


def test_newton_says_where_it_has_not_converged() -> None:
    """A latch: three iterations are the published number, and are not enough."""
    from kerneltune.torch.newton import newton

    torch.manual_seed(3)
    inputs = tuple(torch.randn(1, 400, 16) for _ in range(3))
    weights = 4 * torch.randn(3, 16)
    with pytest.warns(UserWarning, match="has not converged in"):
        found = newton("diag_gru", inputs, weights, iterations=3)
    assert found.iterations == 3
    assert not bool(found.converged.all())


def test_what_does_not_fit_is_refused() -> None:
    from kerneltune.torch import diagonal
    from kerneltune.torch.scan import scan

    x, weights = [torch.zeros(2, 3, 4)] * 3, torch.zeros(3, 4)
    with pytest.raises(InputError, match="unknown diagonal cell"):
        diagonal("diag_gri", *x, weights=weights)
    with pytest.raises(InputError, match="weights is"):
        diagonal("diag_gru", *x, weights=torch.zeros(3, 5))
    with pytest.raises(InputError, match="initial is"):
        diagonal("diag_gru", *x, weights=weights, initial=torch.zeros(2, 4))
    with pytest.raises(InputError, match="unknown parallel"):
        diagonal("diag_gru", *x, weights=weights, parallel="newtons")
    with pytest.raises(InputError, match="is not linear in its state"):
        scan("diag_gru", *x)


def test_a_linear_cell_with_a_positive_state_begins_at_one() -> None:
    """Scans begin at 0, so they refuse it; `diagonal` has it."""
    from kerneltune import Cell
    from kerneltune.torch import diagonal, scan

    cell = Cell("pos", gates="a b", states="h", positive="h", equations="h' = W.a * h + W.b")
    a, b = torch.rand(2, 5, 3), torch.rand(2, 5, 3)
    with pytest.raises(InputError, match="diagonal"):
        scan(cell, a, b)
    hidden, _ = diagonal(cell, a, b)
    torch.testing.assert_close(hidden[:, 0], a[:, 0] + b[:, 0])
    torch.testing.assert_close(hidden[:, 1], a[:, 1] * hidden[:, 0] + b[:, 1])
