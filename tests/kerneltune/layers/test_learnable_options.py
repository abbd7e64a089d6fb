"""Options of cells that layers learn: parameters with gradients, in torch."""

from __future__ import annotations

import math

import pytest
import torch

from kerneltune.errors import InputError
from kerneltune.inputs.equation_cell import EquationCell
from kerneltune.torch import HeadwiseRNN, Recurrent, ScanLayer

LEAKY = EquationCell(
    "leaky",
    gates="a",
    states="h",
    options={"alpha": 0.3, "scale": 2.0},
    learnable="alpha",
    equations="h' = (1 - alpha) * h + alpha * tanh(scale * a)",
)
SCANS = {
    "leaky": EquationCell(
        "leaky_scan",
        gates="x",
        states="h",
        options={"alpha": 0.25},
        learnable="alpha",
        equations="h' = (1 - alpha) * h + alpha * tanh(W.x)",
    ),
    "weighted": EquationCell(
        "weighted_scan",
        gates="x",
        states="h",
        weights="u",
        options={"beta": 0.5},
        learnable="beta",
        equations="h' = tanh(W.x + u * h) * beta + 0.1 * h",
    ),
}


def test_an_option_is_a_parameter_of_a_recurrent_layer() -> None:
    layer = Recurrent(LEAKY, 5, 6, 2, heads=2, bidirectional=True, dtype=torch.float64)
    names = dict(layer.named_parameters())
    assert names["weight_ih_l0"].shape == (6, 5)
    assert names["option_alpha_l1_reverse"].shape == ()
    assert float(names["option_alpha_l0"].detach()) == 0.3
    assert not any("scale" in name for name in names)


def test_a_recurrent_layer_is_the_equation_with_its_option() -> None:
    """Step by step, with another value than the default; lengths keep the states."""
    torch.manual_seed(0)
    layer = Recurrent(LEAKY, 3, 4, dtype=torch.float64)
    layer.option_alpha_l0.data.fill_(0.7)
    x = torch.randn(6, 2, 3, dtype=torch.float64)
    output, last = layer(x, lengths=torch.tensor([6, 4]))
    h = torch.zeros(2, 4, dtype=torch.float64)
    for step in range(6):
        a = (
            x[step] @ layer.weight_ih_l0.t()
            + layer.bias_ih_l0
            + h @ layer.weight_hh_l0.t()
            + layer.bias_hh_l0
        )
        new = 0.3 * h + 0.7 * torch.tanh(2 * a)
        counts = torch.tensor([[True], [step < 4]])
        h = torch.where(counts, new, h)
        torch.testing.assert_close(output[step], torch.where(counts, new, 0.0))
    torch.testing.assert_close(last[0], h)


@pytest.mark.parametrize("make", ["recurrent", *SCANS])
def test_gradients_by_options_are_differences(make: str) -> None:
    torch.manual_seed(1)
    x = torch.randn(2, 7, 3)
    if make == "recurrent":
        layer, name = Recurrent(LEAKY, 3, 4, batch_first=True, dtype=torch.float64), "option_alpha_l0"
        x = x.double()
    else:
        layer = ScanLayer(SCANS[make], 3, 4)
        name = "option_alpha" if make == "leaky" else "option_beta"
    option, step = getattr(layer, name), 1e-6 if make == "recurrent" else 1e-2

    def loss() -> torch.Tensor:
        return layer(x)[0].square().sum()

    loss().backward()
    found = float(option.grad)
    ends = []
    for way in (step, -step):
        option.data += way
        ends.append(float(loss()))
        option.data -= way
    assert found == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-6 if make == "recurrent" else 1e-3)
    assert math.isfinite(found)
    assert found != 0.0


def test_options_that_are_not_learnt_are_no_parameters() -> None:
    fixed = EquationCell("fixed", gates="x", states="h", options={"c": 0.5}, equations="h' = c * h + W.x")
    assert {name for name, _ in ScanLayer(fixed, 3, 4).named_parameters()} == {
        "projection.weight",
        "projection.bias",
    }


def test_what_is_no_learnable_option() -> None:
    with pytest.raises(InputError, match="the learnable 'beta' is not among the options of cell 'c'"):
        EquationCell("c", gates="x", states="h", learnable="beta", equations="h' = h + W.x")
    with pytest.raises(InputError, match=r"are biases of leaky@.*: bias=True, without layer_norm"):
        Recurrent(LEAKY, 3, 4, bias=False)
    with pytest.raises(
        InputError, match=r"leaky has options that are learnt: take kerneltune\.torch\.Recurrent"
    ):
        HeadwiseRNN(LEAKY, 3, 1, 4)
