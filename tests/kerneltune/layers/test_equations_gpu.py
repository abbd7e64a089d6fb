"""On a machine with a GPU and torch: layers of cells of equations there beside the same on the CPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kerneltune.inputs.equation_cell import EquationCell

pytestmark = pytest.mark.gpu

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "cells"
CELLS = {
    path.stem: EquationCell.of_file(path).derivation.equations.recurs for path in EXAMPLES.glob("*.cell")
}
LIMIT = {"bfloat16": 5e-2, "float16": 2e-2, "float32": 2e-3}  # products of float32 are in TF32


def relative(found: Any, expected: Any) -> float:
    found, expected = found.detach().cpu().double(), expected.detach().double()
    return float((found - expected).norm() / (expected.norm() + 0.03 * expected.numel() ** 0.5))


def both(layer: Any, dtype: str, x: Any, options: dict[str, Any]) -> list[list[Any]]:
    """Outputs, last states and gradients, on the CPU in float64 and on the GPU."""
    import torch

    found = []
    for device, type_ in (("cpu", torch.float64), ("cuda", getattr(torch, dtype))):
        mine = layer.to(device, type_)
        mine.zero_grad()
        read = x.detach().to(device, type_, copy=True).requires_grad_()
        there = {name: one.to(device) for name, one in options.items()}
        output, last = mine(read, **there)
        last = last if isinstance(last, tuple) else (last,)
        (output.double().square().sum() + sum(one.double().sum() for one in last)).backward()
        found.append([output, *last, read.grad, *(one.grad.clone() for one in mine.parameters())])
        mine.to("cpu", torch.float64)
    return found


def check(found: list[list[Any]], dtype: str, factor: float = 1.0) -> None:
    expected, mine = found
    for number, (one, other) in enumerate(zip(mine, expected, strict=True)):
        assert one.isfinite().all(), number
        assert relative(one, other) < factor * LIMIT[dtype], number


@pytest.mark.parametrize("dtype", sorted(LIMIT))
@pytest.mark.parametrize("kind", ["even", "lengths", "reset", "cu_seqlens"])
@pytest.mark.parametrize(
    "name", sorted(name for name, recurs in CELLS.items() if recurs and name != "spiking")
)
def test_recurrent(name: str, kind: str, dtype: str) -> None:
    import torch

    from kerneltune.torch import Recurrent

    torch.manual_seed(0)
    layer = Recurrent(str(EXAMPLES / f"{name}.cell"), 24, 48, 2, heads=2, bidirectional=True)
    x = torch.randn(13, 5, 24).to(getattr(torch, dtype))
    options = {
        "even": {},
        "lengths": {"lengths": torch.tensor([13, 1, 7, 0, 12])},
        "reset": {"reset": torch.rand(13, 5) < 0.2},
        "cu_seqlens": {"cu_seqlens": torch.tensor([0, 5, 6, 40, 65])},
    }[kind]
    given = x.flatten(0, 1) if kind == "cu_seqlens" else x
    check(
        both(layer, dtype, given, options), dtype, factor=15.0 if name == "li_gru" else 1.0
    )  # relu: it jumps


def test_a_neuron_whose_states_no_input_keeps() -> None:
    """Spikes are exact where float32 takes no other turn than float64."""
    import torch

    from kerneltune.torch import Recurrent

    torch.manual_seed(0)
    layer = Recurrent(str(EXAMPLES / "spiking.cell"), 24, 48, heads=2)
    x = torch.randn(13, 5, 24)
    for options in ({"lengths": torch.tensor([13, 1, 7, 0, 12])}, {"reset": torch.rand(13, 5) < 0.2}):
        check(both(layer, "float32", x, options), "float32")


@pytest.mark.parametrize("dtype", sorted(LIMIT))
@pytest.mark.parametrize("options", ["", "lengths", "resets", "reverse"])
@pytest.mark.parametrize("name", sorted(name for name, recurs in CELLS.items() if not recurs))
def test_scans(name: str, options: str, dtype: str) -> None:
    import torch

    from kerneltune.torch import ScanLayer

    if name == "wkv" and options == "resets":
        pytest.skip("a cell with positive states has no resets")
    torch.manual_seed(0)
    layer = ScanLayer(str(EXAMPLES / f"{name}.cell"), 24, 64)
    with torch.no_grad():
        for parameter in layer.parameters():  # so that products with h stay below 1
            parameter.mul_(0.4)
    given = {
        "lengths": {"lengths": torch.tensor([333, 0, 77])},
        "resets": {"resets": torch.rand(3, 333) < 0.05},
    }.get(options, {})
    x = torch.randn(3, 333, 24).to(getattr(torch, dtype))
    found = both_of_scan(layer, dtype, x, given, reverse=options == "reverse")
    check(found, dtype)


def both_of_scan(
    layer: Any, dtype: str, x: Any, options: dict[str, Any], *, reverse: bool
) -> list[list[Any]]:
    """Scans have no float64: float32 on the CPU, whose states are float64 there."""
    import torch

    found = []
    for device, type_ in (("cpu", torch.float32), ("cuda", getattr(torch, dtype))):
        mine = layer.to(device, type_)
        mine.zero_grad()
        read = x.detach().to(device, type_, copy=True).requires_grad_()
        output, last = mine(read, reverse=reverse, **{name: one.to(device) for name, one in options.items()})
        (output.float().square().sum() + last.sum()).backward()
        found.append([output, last, read.grad, *(one.grad.clone() for one in mine.parameters())])
        mine.to("cpu", torch.float32)
    return found


@pytest.mark.parametrize("dtype", sorted(LIMIT))
@pytest.mark.parametrize("name", ["lru", "rg_lru", "qrnn"])
def test_several_states_weights_and_outputs_look_back(name: str, dtype: str) -> None:
    import torch

    from kerneltune.torch import ScanLayer

    torch.manual_seed(0)
    layer = ScanLayer(str(EXAMPLES / f"{name}.cell"), 24, 48, parallel="look_back_states")
    if layer.recurrent is not None:
        layer.recurrent.data.mul_(0.5)
    x = torch.randn(3, 1000, 24).to(getattr(torch, dtype))
    check(both_of_scan(layer, dtype, x, {"lengths": torch.tensor([1000, 517, 0])}, reverse=False), dtype)
