"""Cells of equations in PyTorch: natively, and by what kernels would give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from drawn_cells import DrawnCell
from reference_launcher import ReferenceLauncher

import kerneltune
from kerneltune.errors import InputError
from kerneltune.inputs.descriptions import discover
from kerneltune.inputs.equation_cell import EquationCell
from kerneltune.torch import HeadwiseRNN, Recurrent, recurrence

PEEPHOLE = """
    i = sigmoid(i + p_i * c)
    f = sigmoid(f + p_f * c)
    c' = f * c + i * tanh(z)
    h' = sigmoid(o + p_o * c') * tanh(c')
"""
SHIPPED = sorted(path.stem for path in (discover().root / "cells").glob("*.cell"))
STEPS, BATCH, HEADS, DIM = 4, 3, 2, 8


def peephole() -> EquationCell:
    return EquationCell("peephole", gates="i f z o", states="h c", weights="p_i p_f p_o", equations=PEEPHOLE)


def tensors(cell: EquationCell, seed: int = 0) -> list[torch.Tensor]:
    torch.manual_seed(seed)
    spec, row = cell.spec, (BATCH, HEADS, DIM)
    shapes = [
        (STEPS, *row, len(spec.gates)),
        (HEADS, len(spec.gates), DIM, DIM),
        (HEADS, len(spec.gates), DIM),
        (len(spec.states), *row),
        (HEADS, len(spec.weights), DIM),
    ]
    found = [0.5 * torch.randn(shape, dtype=torch.float64) for shape in shapes if 0 not in shape]
    for number, state in enumerate(spec.states):
        if state in spec.positive:
            found[3][number] = 0.5 + found[3][number].abs()
    return [one.requires_grad_() for one in found]


def run(cell: EquationCell | str, given: list[torch.Tensor], **options: Any) -> tuple[torch.Tensor, ...]:
    return recurrence(cell, *given[:4], weights=given[4] if len(given) > 4 else None, **options)


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_cells_agree_with_the_reference(name: str) -> None:
    """Which `test_references.py` compares with Python's floats."""
    cell = EquationCell.of_file(discover().root / "cells" / f"{name}.cell")
    given = tensors(cell)
    for one in (name, cell):
        output, last = run(one, given)
        states = cell.reference_module().forward(*(part.detach().numpy() for part in given))
        np.testing.assert_allclose(output.detach(), states[0, 1:], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(last.detach(), states[:, -1], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("number", range(12))
def test_drawn_cells_agree_with_the_reference(number: int) -> None:
    cell = EquationCell.of_text("drawn", DrawnCell(number, weights=False).text, "drawn.cell")
    kerneltune.inputs.equation_cell.KNOWN[cell.key] = cell
    given = tensors(cell, number)
    output, last = run(cell, given)
    by = torch.randn_like(output), torch.randn_like(last)
    found = torch.autograd.grad((output, last), given, by, allow_unused=True)
    wx, r, bias, initial = (one.detach().numpy() for one in given)
    reference = cell.reference_module()
    states = reference.forward(wx, r, bias, initial)
    np.testing.assert_allclose(output.detach(), states[0, 1:], rtol=1e-9, atol=1e-12)
    expected = reference.backward(wx, r, bias, states, *(one.numpy() for one in by))
    for gradient, wanted in ((found[0], expected.input), (found[3], expected.initial)):
        given_or_zero = np.zeros_like(wanted) if gradient is None else gradient.numpy()
        np.testing.assert_allclose(given_or_zero, wanted, rtol=1e-8, atol=1e-11)


def test_a_peephole_lstm_passes_gradcheck() -> None:
    cell = peephole()
    given = tensors(cell)
    # By one random direction of each side in place of every entry: 5,000 runs of a cell in Python otherwise.
    assert torch.autograd.gradcheck(lambda *parts: run(cell, list(parts)), given, fast_mode=True)


def test_kernels_and_torch_give_the_same_gradients() -> None:
    """The stand-in for kernels computes by the reference; gradients by weights are summed outside."""
    cell = peephole()
    given = [one.detach().float().requires_grad_() for one in tensors(cell)]
    by = torch.randn(STEPS, BATCH, HEADS, DIM)
    results = []
    for options in ({}, {"runs_on": ReferenceLauncher()}):
        output, last = run(cell, given, **options)
        gradients = torch.autograd.grad((output, last), given, (by, torch.ones_like(last)))
        results.append((output, last, *gradients))
    for native, launched in zip(*results, strict=True):
        torch.testing.assert_close(launched, native, rtol=2e-4, atol=2e-5)


def test_a_layer_of_a_cell_with_weights() -> None:
    layer = HeadwiseRNN(peephole(), 5, HEADS, DIM)
    assert layer.unit_weights.shape == (HEADS, 3, DIM)
    output, last = layer(torch.randn(STEPS, BATCH, 5))
    (output.sum() + last.sum()).backward()
    assert all(torch.isfinite(one.grad).all() and one.grad.abs().sum() > 0 for one in layer.parameters())
    other = HeadwiseRNN(peephole(), 5, HEADS, DIM)
    other.load_state_dict(layer.state_dict())
    assert HeadwiseRNN("lstm", 5, HEADS, DIM).unit_weights is None


def test_weights_are_checked() -> None:
    cell = peephole()
    *given, weights = tensors(cell)
    with pytest.raises(InputError, match=r"bias of peephole is \[2, 7, 8\] here"):
        recurrence(cell, *given)
    with pytest.raises(InputError, match="bias of lstm"):
        recurrence("lstm", *given, weights=weights)


def test_a_file_that_changes_is_another_cell(tmp_path: Path) -> None:
    path = tmp_path / "mine.cell"
    path.write_text("gates a\nstates h\nh' = tanh(a)\n")
    given = tensors(EquationCell.of_file(path))
    first, _ = run(str(path), given)
    path.write_text("gates a\nstates h\nh' = 0.5 * tanh(a)\n")
    second, _ = run(str(path), given)
    torch.testing.assert_close(second[0], 0.5 * first[0])


def test_a_surrogate_slope_is_followed() -> None:
    equations = """
        u = 0.9 * v + a
        s = where(u > 0.2, 1, 0) slope 1 / (1 + abs(u))**2
        v' = u - s
        h' = s
    """
    cell = EquationCell("spiking", gates="a", states="h v", equations=equations)
    given = tensors(cell)
    output, last = run(cell, given)
    assert set(output.unique().tolist()) == {0.0, 1.0}
    by = torch.randn_like(output), torch.randn_like(last)
    found = torch.autograd.grad((output, last), given, by)
    wx, r, bias, initial = (one.detach().numpy() for one in given)
    reference = cell.reference_module()
    states = reference.forward(wx, r, bias, initial)
    expected = reference.backward(wx, r, bias, states, *(one.numpy() for one in by))
    np.testing.assert_allclose(found[0], expected.input, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("batch_first", [False, True])
def test_a_stack_is_torchs(batch_first: bool) -> None:
    options = {"batch_first": batch_first, "bidirectional": True, "dtype": torch.float64}
    layer = torch.nn.LSTM(5, 16, 2, **options)
    stack = Recurrent(str(discover().root / "cells" / "lstm.cell"), 5, 16, 2, **options)
    assert [name for name, _ in stack.named_parameters()] == [name for name, _ in layer.named_parameters()]
    stack.load_state_dict(layer.state_dict())
    x = torch.randn((3, 4, 5) if batch_first else (4, 3, 5), dtype=torch.float64)
    hx = [torch.randn(4, 3, 16, dtype=torch.float64) for _ in range(2)]
    for given in (None, hx):
        found, expected = stack(x, given), layer(x, given and tuple(given))
        torch.testing.assert_close(found[0], expected[0])
        for mine, theirs in zip(found[1], expected[1], strict=True):
            torch.testing.assert_close(mine, theirs)


@pytest.mark.slow
def test_a_stack_of_peepholes_learns() -> None:
    torch.manual_seed(0)
    stack, readout = Recurrent(peephole(), 2, 16, heads=2, num_layers=2, dropout=0.1), torch.nn.Linear(16, 1)
    parameters = [*stack.parameters(), *readout.parameters()]
    optimiser = torch.optim.Adam(parameters, lr=0.01)
    x = torch.randn(8, 32, 2)
    target = (x[..., 0].cumsum(0)[-1] > 0).float()
    losses = []
    for _ in range(60):
        loss = torch.nn.functional.binary_cross_entropy_with_logits(readout(stack(x)[0][-1])[:, 0], target)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < 0.5 * losses[0]
    assert stack.weight_unit_l1.grad.abs().sum() > 0


def test_what_a_stack_refuses() -> None:
    with pytest.raises(InputError, match="must be a multiple of heads=3"):
        Recurrent(peephole(), 2, 10, heads=3)
    with pytest.raises(InputError, match="unknown option 'projection' of Recurrent"):
        Recurrent(peephole(), 2, 16, projection=4)  # type: ignore[call-arg]
    with pytest.raises(InputError, match="unknown option 'forward_clop': did you mean 'forward_clip'"):
        Recurrent(peephole(), 2, 16, options={"forward_clop": 1.0})
    with pytest.raises(InputError, match="num_layers is 0"):
        Recurrent(peephole(), 2, 16, 0)
    stack = Recurrent(peephole(), 2, 16)
    with pytest.raises(InputError, match=r"the input of Recurrent is \[T, B, 2\]"):
        stack(torch.randn(4, 3, 5))
    with pytest.raises(InputError, match=r"hx of Recurrent is \(h, c\), not 1 tensors"):
        stack(torch.randn(4, 3, 2), torch.zeros(1, 3, 16))
    with pytest.raises(InputError, match=r"h of hx is \[1, 3, 16\] here"):
        stack(torch.randn(4, 3, 2), (torch.zeros(2, 3, 16), torch.zeros(1, 3, 16)))
