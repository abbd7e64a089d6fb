"""Cells of equations in JAX: recurrences and scans against the float64 references; a layer that learns."""

# mypy: disable-error-code="union-attr"
from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kerneltune.errors import InputError
from kerneltune.inputs.descriptions import discover
from kerneltune.inputs.equation_cell import EquationCell
from kerneltune.inputs.scan_descriptions import discover_scans, is_nonlinear
from kerneltune.running import diagonal_reference, scan_reference

jax = pytest.importorskip("jax")
jnp = jax.numpy
EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "cells"
PATHS = {path.stem: path for path in sorted(EXAMPLES.glob("*.cell"))}
RECURRENT = [name for name, path in PATHS.items() if EquationCell.of_file(path).derivation.equations.recurs]
SCANS = [name for name in PATHS if name not in RECURRENT]
STEPS, BATCH, HEADS, DIM, CHANNELS = 5, 3, 2, 8, 6


@pytest.fixture(autouse=True)
def double() -> Any:
    with jax.enable_x64(True):
        yield


@pytest.mark.parametrize("name", RECURRENT)
def test_a_recurrence_is_the_reference(name: str) -> None:
    from kerneltune.jax import recurrence

    cell, draw = discover().cell(str(PATHS[name])), np.random.default_rng(0)
    spec, row = cell.spec, (BATCH, HEADS, DIM)
    gates, units = len(spec.gates), len(spec.weights)
    shapes = [(STEPS, *row, gates), (HEADS, gates, DIM, DIM), (HEADS, gates, DIM), (len(spec.states), *row)]
    arrays = [draw.normal(size=shape) / 2 for shape in shapes]
    weights = draw.normal(size=(HEADS, units, DIM)) if units else None
    given: dict[str, Any] = {} if weights is None else {"weights": jnp.asarray(weights)}
    module = cell.reference_module()
    module = module.with_weights(weights) if units else module
    states = module.forward(*arrays)
    product, recurrent, bias, initial = map(jnp.asarray, arrays)
    output, last = recurrence(str(PATHS[name]), product, recurrent, bias, initial, **given)
    np.testing.assert_allclose(output, states[0, 1:], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(last, states[:, -1], rtol=1e-10, atol=1e-12)
    by = [draw.normal(size=one.shape) for one in (output, last)]

    def loss(product: Any, initial: Any, units: Any) -> Any:
        more: dict[str, Any] = {} if units is None else {"weights": units}
        recurrent, bias = map(jnp.asarray, arrays[1:3])
        found = recurrence(str(PATHS[name]), product, recurrent, bias, initial, **more)
        return sum((one * weight).sum() for one, weight in zip(found, by, strict=True))

    inputs = jnp.asarray(arrays[0]), jnp.asarray(arrays[3]), given.get("weights")
    found = jax.grad(loss, argnums=(0, 1, 2) if units else (0, 1))(*inputs)
    wanted = module.backward(*arrays[:3], states, *by)
    np.testing.assert_allclose(found[0], wanted.input, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(found[1], wanted.initial, rtol=1e-8, atol=1e-10)
    if units:
        summed = module.summed(wanted.recurrent, states)
        np.testing.assert_allclose(found[2], summed, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("name", SCANS)
def test_a_scan_is_the_reference(name: str, reverse: bool) -> None:
    from kerneltune.jax import diagonal, scan

    cell, draw = discover_scans().cell(str(PATHS[name])), np.random.default_rng(0)
    spec = cell.spec
    read = tuple(draw.normal(size=(BATCH, STEPS, CHANNELS)) / 2 for _ in spec.gates)
    lengths = np.array([STEPS, 2, 0], np.int32)
    resets = (draw.random((BATCH, STEPS)) < 0.2) & (not spec.positive)
    marks = {"lengths": jnp.asarray(lengths), "resets": jnp.asarray(resets), "reverse": reverse}
    module = cell.reference_module()
    if is_nonlinear(cell):
        weights = draw.normal(size=(len(spec.weights), CHANNELS)) / 2
        initial = np.abs(draw.normal(size=(len(spec.states), BATCH, CHANNELS))) + 0.5
        inputs = diagonal_reference.DiagonalInputs(read, weights, initial, lengths, resets, reverse)
        expected = diagonal_reference.forward(module, inputs)
        hidden, last = diagonal(
            *(str(PATHS[name]), *map(jnp.asarray, read)),
            weights=jnp.asarray(weights),
            initial=initial,
            **marks,
        )
        wanted, ends = expected.hidden, expected.last
    else:
        initial = draw.normal(size=(BATCH, CHANNELS))
        given = scan_reference.ScanInputs(read, initial, lengths, resets, reverse)
        wanted, ends = scan_reference.forward(module, given)
        hidden, last = scan(str(PATHS[name]), *map(jnp.asarray, read), initial=jnp.asarray(initial), **marks)
    np.testing.assert_allclose(hidden, wanted, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(last, ends, rtol=1e-9, atol=1e-11)


def test_a_layer_of_equations_learns() -> None:
    pytest.importorskip("flax")
    from kerneltune.jax.layers import RecurrentLayer

    layer = RecurrentLayer(16, heads=2, cell=str(PATHS["peephole_lstm"]))
    x = jax.random.normal(jax.random.key(0), (STEPS, BATCH, 4))
    parameters = layer.init(jax.random.key(1), x)
    assert parameters["params"]["unit_weights"].shape == (2, 3, 8)

    def loss(values: Any) -> Any:
        return ((layer.apply(values, x)[1] - 0.5) ** 2).mean()

    first = loss(parameters)
    for _ in range(20):
        gradient = jax.grad(loss)(parameters)
        parameters = jax.tree.map(lambda value, by: value - 0.5 * by, parameters, gradient)
    assert loss(parameters) < 0.8 * first


def test_what_is_refused() -> None:
    from kerneltune.jax import diagonal, scan

    x = jnp.zeros((1, 2, 8))
    with pytest.raises(InputError, match=r"sru is for kerneltune\.jax\.diagonal"):
        scan(str(PATHS["sru"]), x, x, x)
    with pytest.raises(InputError, match=r"mingru is for kerneltune\.jax\.scan"):
        diagonal(str(PATHS["mingru"]), x, x)
    with pytest.raises(InputError, match="mgu has R h"):
        scan(str(PATHS["mgu"]), x)


def test_a_layer_learns_an_option() -> None:
    """The gradient by it is that of differences."""
    pytest.importorskip("flax")
    from kerneltune.jax.layers import RecurrentLayer

    cell = EquationCell(
        "leaky",
        gates="a",
        states="h",
        options={"alpha": 0.3},
        learnable="alpha",
        equations="h' = (1 - alpha) * h + alpha * tanh(a)",
    )
    layer = RecurrentLayer(DIM, cell=cell, heads=HEADS)
    x = jax.random.normal(jax.random.key(0), (STEPS, BATCH, 3), jnp.float64)
    given = layer.init(jax.random.key(1), x)["params"]
    assert given["option_alpha"].shape == ()
    assert given["weight"].shape == (3, HEADS, DIM // HEADS, 1)

    def loss(alpha: Any) -> Any:
        return jnp.sum(layer.apply({"params": {**given, "option_alpha": alpha}}, x)[1] ** 2)

    found = jax.grad(loss)(jnp.float64(0.3))
    np.testing.assert_allclose(found, (loss(0.3 + 1e-6) - loss(0.3 - 1e-6)) / 2e-6, rtol=1e-6)
