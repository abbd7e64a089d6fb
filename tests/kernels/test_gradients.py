"""The references' backward passes against numerical differences, and saved values against the states."""

from __future__ import annotations

import numpy as np
import pytest

from kerneltune.cells.recurrence import (
    Array,
    GradientOptions,
    Gradients,
    parameter_gradients,
    recurrent_products,
)
from kerneltune.inputs.descriptions import discover

KERNELS = discover()
STEPS, BATCH, HEADS, DIM = 4, 2, 2, 3
SHIFT = 1e-5


class Case:
    """A small layer and a loss that weighs h of every step and all states after the last."""

    def __init__(self, name: str, seed: int, forward_clip: float = 0.0) -> None:
        self.forward_clip = forward_clip
        spec = KERNELS.cell(name).spec
        self.reference = KERNELS.cell(name).reference_module()
        gates, states = len(spec.gates), len(spec.states)
        random = np.random.default_rng(seed)
        initial = random.standard_normal((states, BATCH, HEADS, DIM))
        for state, label in enumerate(spec.states):
            if label in spec.positive:
                initial[state] = 0.5 + np.abs(initial[state])
        self.inputs = [
            1.5 * random.standard_normal((STEPS, BATCH, HEADS, DIM, gates)),
            random.standard_normal((HEADS, gates, DIM, DIM)),
            random.standard_normal((HEADS, gates, DIM)),
            initial,
        ]
        self.output_gradient = random.standard_normal((STEPS, BATCH, HEADS, DIM))
        self.last_gradient = random.standard_normal((states, BATCH, HEADS, DIM))

    def loss(self) -> float:
        states = self.reference.forward(*self.inputs, self.forward_clip)
        return float(
            (states[0, 1:] * self.output_gradient).sum() + (states[:, -1] * self.last_gradient).sum()
        )

    def backward(self, options: GradientOptions) -> Gradients:
        wx, r, bias, _ = self.inputs
        states = self.reference.forward(*self.inputs)
        found: Gradients = self.reference.backward(
            wx, r, bias, states, self.output_gradient, self.last_gradient, options
        )
        return found

    def analytic(self) -> list[Array]:
        wx, r, bias, _ = self.inputs
        states = self.reference.forward(*self.inputs, self.forward_clip)
        options = GradientOptions(forward_clip=self.forward_clip)
        found = self.reference.backward(
            wx, r, bias, states, self.output_gradient, self.last_gradient, options
        )
        by_r, by_bias = parameter_gradients(found.recurrent, states[0, :-1])
        return [found.input, by_r, by_bias, found.initial]

    def numerical(self, which: int) -> Array:
        array = self.inputs[which]
        slope = np.empty_like(array)
        for index in np.ndindex(array.shape):
            middle = array[index]
            array[index] = middle + SHIFT
            above = self.loss()
            array[index] = middle - SHIFT
            slope[index] = (above - self.loss()) / (2 * SHIFT)
            array[index] = middle
        return slope


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("name", sorted(KERNELS.cells))
def test_gradients_are_numerical_differences(name: str, seed: int) -> None:
    case = Case(name, seed)
    for which, found in enumerate(case.analytic()):
        expected = case.numerical(which)
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7 * np.abs(expected).max())


@pytest.mark.parametrize("name", sorted(KERNELS.cells))
def test_gradients_through_a_clipped_h_are_numerical_differences(name: str) -> None:
    case = Case(name, 8, forward_clip=0.25)
    states = case.reference.forward(*case.inputs, 0.25)
    reached = np.abs(states[0, 1:]) == 0.25
    assert 0.1 < reached.mean() < 0.97
    for which, found in enumerate(case.analytic()):
        expected = case.numerical(which)
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7 * np.abs(expected).max())


@pytest.mark.parametrize("name", sorted(KERNELS.cells))
def test_saved_states_are_those_of_the_forward_pass(name: str) -> None:
    case = Case(name, 4)
    wx, r, bias, _ = case.inputs
    states = case.reference.forward(*case.inputs)
    values, saved = case.reference.saved(wx, r, bias, states)
    assert values.shape[:-1] == wx.shape[:-1]
    assert saved.shape == (STEPS + 1, BATCH, HEADS, DIM, KERNELS.cell(name).spec.saved_states)
    assert values.shape[-1] == KERNELS.cell(name).spec.saved_values
    for state in range(saved.shape[-1]):
        np.testing.assert_array_equal(saved[..., state], states[1 + state])


def test_saved_gates_of_an_lstm_make_its_states() -> None:
    case = Case("lstm", 5)
    wx, r, bias, _ = case.inputs
    states = case.reference.forward(*case.inputs)
    values, _ = case.reference.saved(wx, r, bias, states)
    i, f, z, o = np.moveaxis(values, -1, 0)
    np.testing.assert_allclose(f * states[1, :-1] + i * z, states[1, 1:])
    np.testing.assert_allclose(o * np.tanh(states[1, 1:]), states[0, 1:])


@pytest.mark.parametrize("name", sorted(KERNELS.cells))
def test_clipping_bounds_what_the_gates_get(name: str) -> None:
    case = Case(name, 6)
    exact = case.backward(GradientOptions())
    bound = 0.3 * float(np.abs(exact.recurrent).max())
    clipped = case.backward(GradientOptions(gate_gradient_clip=bound))
    for found, before in ((clipped.input, exact.input), (clipped.recurrent, exact.recurrent)):
        np.testing.assert_array_equal(found[-1], np.clip(before[-1], -bound, bound))  # nothing came before
        assert np.abs(found).max() <= bound
    assert (np.abs(clipped.recurrent) == bound).any()
    wide = case.backward(GradientOptions(gate_gradient_clip=1e9))
    np.testing.assert_array_equal(wide.input, exact.input)


@pytest.mark.parametrize("name", sorted(KERNELS.cells))
def test_cutting_lets_nothing_through_r(name: str) -> None:
    """As if h within R h were a constant: the same gradients as with R = 0 and R h given with W x."""
    case = Case(name, 7)
    wx, r, bias, initial = case.inputs
    states = case.reference.forward(wx, r, bias, initial)
    cut = case.backward(GradientOptions(cut_recurrent_gradient=True))
    products = recurrent_products(r, bias, states[0, :-1])
    if name == "gru":  # whose R_n h + b_n is multiplied with the reset gate first
        reset = case.reference.saved(wx, r, bias, states)[0][..., 0]
        assert np.abs(cut.recurrent[..., 2] - cut.input[..., 2] * reset).max() < 1e-12
        np.testing.assert_array_equal(cut.recurrent[-1], case.backward(GradientOptions()).recurrent[-1])
        return
    alone = case.reference.backward(
        wx + products, 0 * r, 0 * bias, states, case.output_gradient, case.last_gradient
    )
    np.testing.assert_allclose(cut.input, alone.input, atol=1e-12)
    np.testing.assert_allclose(cut.initial, alone.initial, atol=1e-12)
