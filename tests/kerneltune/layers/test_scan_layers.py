"""Layers of scans of equations: against steps in order, in every use that scans have."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import kerneltune
from kerneltune.errors import InputError
from kerneltune.inputs.equation_cell import EquationCell
from kerneltune.torch import DiagonalGRU, MinGRU, MinimalBlock, Recurrent, ScanLayer, diagonal, scan
from kerneltune.torch.scan_native import native_diagonal, native_scan
from kerneltune.torch.scan_options import Options, converted

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "cells"
CELLS = [
    path
    for path in sorted(EXAMPLES.glob("*.cell"))
    if not EquationCell.of_file(path).derivation.equations.recurs
]
BATCH, STEPS, SIZE, CHANNELS = 4, 21, 5, 16


def options_of(layer: ScanLayer, reverse: bool) -> dict[str, Any]:
    lengths = torch.tensor([STEPS, 3, 5, 0])
    resets = torch.rand(BATCH, STEPS) < 0.1
    found: dict[str, Any] = {"lengths": lengths, "reverse": reverse}
    return found if "wkv" in layer.cell else {**found, "resets": resets}


def states_of(layer: ScanLayer) -> torch.Tensor:
    from kerneltune.torch.scan import scan_cell

    count = len(scan_cell(layer.cell).spec.states)
    shape = (count, BATCH, CHANNELS) if layer.nonlinear else (BATCH, CHANNELS)
    return 0.5 + torch.rand(shape)


@pytest.fixture(params=CELLS, ids=lambda path: path.stem)
def layer(request: pytest.FixtureRequest) -> ScanLayer:
    torch.manual_seed(0)
    return ScanLayer(str(request.param), SIZE, CHANNELS)


@pytest.mark.parametrize("reverse", [False, True])
def test_a_layer_is_its_steps_in_order(layer: ScanLayer, reverse: bool) -> None:
    x = torch.randn(BATCH, STEPS, SIZE, requires_grad=True)
    initial, given = states_of(layer).requires_grad_(), options_of(layer, reverse)
    parts = layer.projection(x).chunk(layer.gates, -1)
    weights = torch.zeros(0, CHANNELS) if layer.recurrent is None else layer.recurrent
    natively = native_diagonal if layer.nonlinear else native_scan
    options = converted(Options(initial=initial, weights=weights, **given))
    results = [layer(x, initial, **given), natively(layer.cell, list(parts), options)]
    inputs = [x, initial, *layer.parameters()]
    found = [(*one, *torch.autograd.grad(one[0].sum() + one[1].square().sum(), inputs)) for one in results]
    for mine, expected in zip(*found, strict=True):
        torch.testing.assert_close(mine, expected, rtol=1e-4, atol=1e-5)


def test_second_derivatives_vmap_and_compiling(layer: ScanLayer) -> None:
    x = torch.randn(2, 6, SIZE, requires_grad=True)
    (first,) = torch.autograd.grad(layer(x)[0].square().sum(), x, create_graph=True)
    assert torch.autograd.grad(first.sum(), x)[0].isfinite().all()
    mapped = torch.func.vmap(lambda part: layer(part)[0])(x.detach()[:, None])
    torch.testing.assert_close(mapped[:, 0], layer(x.detach())[0])


@pytest.mark.parametrize("name", ["mingru", "sru"])
def test_a_layer_is_compiled_and_saved(name: str, tmp_path: Path) -> None:
    layer = ScanLayer(str(EXAMPLES / f"{name}.cell"), SIZE, CHANNELS, heads=1)
    x = torch.randn(2, 6, SIZE)
    torch.testing.assert_close(torch.compile(layer, fullgraph=True)(x)[0], layer(x)[0])
    torch.save(layer, tmp_path / "layer.pt")
    loaded = torch.load(tmp_path / "layer.pt", weights_only=False)
    torch.testing.assert_close(loaded(x), layer(x))
    block = MinimalBlock(8, functools.partial(ScanLayer, str(EXAMPLES / f"{name}.cell")))
    block(torch.randn(2, 9, 8)).sum().backward()
    assert all(one.grad is not None for one in block.parameters())


def test_equations_of_a_shipped_scan_give_its_results() -> None:
    torch.manual_seed(0)
    mine, shipped = ScanLayer(str(EXAMPLES / "mingru.cell"), SIZE, CHANNELS), MinGRU(SIZE, CHANNELS)
    mine.load_state_dict(shipped.state_dict())
    x = torch.randn(BATCH, STEPS, SIZE)
    torch.testing.assert_close(mine(x), shipped(x))
    assert isinstance(DiagonalGRU(SIZE, CHANNELS), ScanLayer)


def refused() -> Iterator[tuple[str, object]]:
    lstm, sru = str(EXAMPLES / "peephole_lstm.cell"), str(EXAMPLES / "sru.cell")
    parts = [torch.zeros(1, 2, 8) for _ in range(3)]
    yield "peephole_lstm has R h: it is for", lambda: ScanLayer(lstm, 2, 8)
    yield "no gate of sru has R h: it is a scan", lambda: Recurrent(sru, 2, 8)
    yield "sru is not linear in its state", lambda: scan(sru, *parts)
    yield "mingru is linear in its state", lambda: diagonal(str(EXAMPLES / "mingru.cell"), *parts[:2])
    yield "unknown scan 'mingro': did you mean 'mingru'", lambda: ScanLayer("mingro", 2, 8)
    yield "unknown diagonal cell 'diag_gro'", lambda: diagonal("diag_gro", *parts)
    yield r"weights is \[2, 8\]", lambda: diagonal(sru, *parts)
    yield (
        "wkv has no resets",
        lambda: ScanLayer(str(EXAMPLES / "wkv.cell"), 2, 8)(torch.zeros(1, 2, 2), resets=torch.zeros(1, 2)),
    )


@pytest.mark.parametrize(
    ("message", "call"), list(refused()), ids=lambda part: part if isinstance(part, str) else ""
)
def test_what_is_refused(message: str, call: object) -> None:
    with pytest.raises(InputError, match=message):
        call()  # type: ignore[operator]


def test_a_cell_written_in_python() -> None:
    cell = kerneltune.Cell("decay", gates="a x", states="h", equations="h' = sigmoid(W.a) * h + W.x")
    a, x = torch.randn(2, BATCH, STEPS, CHANNELS)
    hidden, last = scan(cell, a, x)
    expected = torch.zeros(BATCH, CHANNELS)
    for step in range(STEPS):
        expected = torch.sigmoid(a[:, step]) * expected + x[:, step]
        torch.testing.assert_close(hidden[:, step], expected, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(last, expected, rtol=1e-5, atol=1e-5)
