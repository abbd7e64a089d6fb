"""The operators of scans in PyTorch on a CPU, beside the float64 references and torch's own checks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kerneltune.errors import InputError
from kerneltune.inputs.scan_descriptions import linear_cells
from kerneltune.running.scan_reference import ScanInputs, backward, forward

torch: Any = pytest.importorskip("torch")
CELLS = linear_cells()


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("cell", sorted(CELLS))
def test_values_and_gradients_are_the_references(cell: str, reverse: bool) -> None:
    from kerneltune.torch.scan import scan

    draw = np.random.default_rng(4)
    shape = 3, 11, 5
    read = tuple(draw.normal(size=shape) for _ in CELLS[cell].spec.gates)
    inputs = ScanInputs(
        read,
        draw.normal(size=shape[::2]),
        np.array([11, 0, 6], np.int32),
        draw.random(shape[:2]) < 0.2,
        reverse,
    )
    module = CELLS[cell].reference_module()
    by_hidden, by_last = draw.normal(size=shape), draw.normal(size=shape[::2])
    hidden, last = forward(module, inputs)
    found, by_initial = backward(module, inputs, by_hidden, by_last)
    mine = [torch.tensor(part, dtype=torch.float32, requires_grad=True) for part in (*read, inputs.initial)]
    options = {"lengths": torch.tensor(inputs.lengths), "resets": torch.tensor(inputs.resets)}
    output, end = scan(cell, *mine[:-1], initial=mine[-1], reverse=reverse, **options)
    np.testing.assert_allclose(output.detach(), hidden, rtol=2e-5, atol=2e-6)
    np.testing.assert_allclose(end.detach(), last, rtol=2e-5, atol=2e-6)
    ((output * torch.tensor(by_hidden)).sum() + (end * torch.tensor(by_last)).sum()).backward()
    for tensor, expected in zip(mine, (*found, by_initial), strict=True):
        np.testing.assert_allclose(tensor.grad, expected, rtol=2e-4, atol=2e-5)


def test_the_operator_is_registered_as_torch_wants() -> None:
    from kerneltune.torch.scan import scan

    inputs = [torch.randn(2, 4, 3, requires_grad=True) for _ in range(2)]
    scan("linear", *inputs)
    operator = torch.ops.kerneltune.scan.default
    torch.library.opcheck(operator, ("linear", inputs, None, None, None, False))


@pytest.mark.parametrize("name", ["MinGRU", "MinLSTM"])
def test_layers_train(name: str) -> None:
    import kerneltune.torch.scan as scans

    torch.manual_seed(1)
    layer = getattr(scans, name)(6, 8)
    x, target = torch.randn(4, 12, 6), torch.rand(4, 12, 8)
    optimizer = torch.optim.Adam(layer.parameters(), lr=0.05)
    losses = []
    for _ in range(60):
        optimizer.zero_grad()
        loss = ((layer(x)[0] - target) ** 2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.7 * losses[0]


def test_what_does_not_fit_is_refused() -> None:
    from kerneltune.torch.scan import linear_recurrence, scan

    a = torch.zeros(2, 3, 4)
    with pytest.raises(InputError, match="b is"):
        linear_recurrence(a, torch.zeros(2, 3, 5))
    with pytest.raises(InputError, match="initial is"):
        linear_recurrence(a, a, initial=torch.zeros(2, 3))
    with pytest.raises(InputError, match="unknown scan"):
        scan("mingro", a, a)
    with pytest.raises(InputError, match="not supported"):
        linear_recurrence(a.double(), a.double())
