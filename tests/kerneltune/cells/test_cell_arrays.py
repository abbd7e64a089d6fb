"""Cells with arrays of several numbers a channel: the language, its errors, and scans on a CPU."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from kerneltune import Cell
from kerneltune.cells.scan_reference import DerivedScanReference
from kerneltune.errors import InputError
from kerneltune.inputs.equation_cell import EquationCell


def cell_of(gates: str, states: str, *rest: str) -> EquationCell:
    text = "\n".join([f"gates {gates}", f"states {states}", *rest])
    return EquationCell.of_text("mine", text, "mine.cell")


def test_numbers_of_arrays_are_gates_and_states() -> None:
    equations = cell_of("m(a b) n(x y)", "h(p q)", *STEP).derivation.equations
    assert [(one.name, one.first, one.width) for one in equations.input_arrays] == [("m", 0, 2), ("n", 2, 2)]
    assert [(one.name, one.first, one.width) for one in equations.state_arrays] == [("h", 0, 2)]
    assert equations.gates == ("a", "b", "x", "y")
    assert equations.states == ("p", "q")


STEP = ("p' = W.a * p - W.b * q + W.x", "q' = W.b * p + W.a * q + W.y")
TWO, PAIR = "m(a b) n(x y)", "h(p q)"
WRONG = [
    (
        TWO,
        PAIR,
        ("weights w(u v)", *STEP),
        "3:9: gates and states have arrays of several numbers, not weights",
    ),
    ("m(a b) m(x y)", PAIR, STEP, "1:14: 'm' is declared twice"),
    ("m(a b) n(x a)", PAIR, STEP, "1:18: .*twice"),
    ("m(a) n(x y)", PAIR, STEP, "1:7: an array in brackets has two numbers and more: write a"),
    ("m() n(x y)", PAIR, STEP, "1:7: an array in brackets has two numbers and more$"),
    ("m(a b", PAIR, STEP, "2:1: unexpected 'states'"),
    ("m(a (b c)) n(x y)", PAIR, STEP, "1:11: "),
    (TWO, "h(p q r)", (*STEP, "r' = r"), "2:8: .*one array of two, such as h.p q., not h of 3"),
    (TWO, "p q", STEP, "2:8: .*one array of two, such as h.p q., not p of 1 q of 1"),
    ("m(a b c) n(x y)", PAIR, ("p' = W.a * p + W.b * q + W.x", "q' = W.c * q + W.y"), "1:7: the first array"),
    ("m(a b) n(x y z)", PAIR, ("p' = W.a * p + W.x", "q' = W.b * q + W.y + W.z"), "1:14: the last array"),
    ("m(a b) z n(x y)", PAIR, ("p' = W.a * p + W.x", "q' = W.b * q + W.y + W.z"), "1:14: an array behind"),
    ("b x(c d e f)", PAIR, ("p' = W.b * p + W.c + W.e", "q' = W.d * q + W.f"), "1:9: the last array"),
    ("m(a b c d)", PAIR, ("p' = W.a * p + W.b", "q' = W.c * q + W.d"), "1:7: the last array has two numbers"),
    (TWO, PAIR, ("weights u", "p' = u * W.a * p + W.x", "q' = W.b * q + W.y"), "3:9: .* such as 'u'"),
    (TWO, PAIR, ("option u = 1 learnable", "p' = u * W.a * p + W.x", "q' = W.b * q + W.y"), "3:8: .* 'u'"),
    (TWO, PAIR, ("positive q", "p' = W.a * p + W.x", "q' = W.b * q + exp(W.y)"), "2:12: .* as positive"),
    (TWO, PAIR, ("p' = tanh(W.a * p) + W.x", "q' = W.b * q + W.y"), "2:10: p' .*linear in their states"),
    (TWO, PAIR, ("p' = W.a * p + W.x", "q' = W.b * p + W.y"), "2:12: no step reads 'q'"),
    (TWO, PAIR, ("p' = W.a * p + x", "q' = W.b * q + W.y"), "1:16: 'x' has R h, but arrays"),
]


@pytest.mark.parametrize(("gates", "states", "rest", "said"), WRONG)
def test_errors_name_the_place(gates: str, states: str, rest: tuple[str, ...], said: str) -> None:
    with pytest.raises(InputError, match=f"^mine.cell:{said}"):
        cell_of(gates, states, *rest).derivation  # noqa: B018


def test_errors_name_the_argument() -> None:
    for gates, weights, said in (
        ("a b(x)", "", "cell 'mine', gates: an array in brackets has two numbers and more: write x"),
        ("a a", "", "cell 'mine', gates: 'a' is declared twice"),
        ("a", "u(x y)", "cell 'mine', weights: gates and states have arrays"),
    ):
        with pytest.raises(InputError, match="^" + re.escape(said)):
            Cell("mine", states="h", equations="h' = W.a * h", gates=gates, weights=weights)


CLOSE: dict[str, Any] = {"rtol": 1e-4, "atol": 1e-5}
CELLS = {
    "scaled": ("a b(x y)", "p' = W.a * p + W.x\nq' = W.a * q + W.y"),
    "gated": (
        "a(re im) g(u v) b(x y)",
        "f = 0.5 * sigmoid(W.u)\np' = f * W.re * p - f * W.im * q + sigmoid(W.v) * W.x\n"
        "q' = f * W.re * q + f * W.im * p + sigmoid(W.v) * W.y",
    ),
    "mixed": (
        "m(a b c d) n(x y)",
        "p' = tanh(W.a) / 2 * p + W.b * q + W.x * W.d\nq' = W.c * p + 0.3 * q + sigmoid(W.y)",
    ),
    "fixed": ("b(x y)", "p' = 0.9 * p - 0.1 * q + W.x\nq' = 0.5 * q + W.y"),
}


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("name", CELLS)
def test_scans_on_a_cpu_are_steps_of_the_equations(name: str, reverse: bool) -> None:
    torch: Any = pytest.importorskip("torch")
    pytest.importorskip("numba")
    from kerneltune.torch import scan

    gates, equations = CELLS[name]
    cell = Cell(name, gates=gates, states="h(p q)", equations=equations)
    arrays, steps, channels = cell.derivation.equations.input_arrays, 9, 5
    draw = np.random.default_rng(7)
    inputs = [0.5 * draw.normal(size=(2, steps, channels * one.width)) for one in arrays]
    initial, by = draw.normal(size=(2, 2 * channels)), draw.normal(size=(2, steps, 2 * channels))
    given = [torch.tensor(one, dtype=torch.float32, requires_grad=True) for one in (*inputs, initial)]
    hidden, last = scan(cell, *given[:-1], initial=given[-1], reverse=reverse)
    (hidden * torch.tensor(by, dtype=torch.float32)).sum().backward()

    module = DerivedScanReference(cell.derivation)
    order = range(steps)[::-1] if reverse else range(steps)

    def numbers(step: int) -> list[Any]:
        return [
            a[:, step, i :: one.width]
            for a, one in zip(inputs, arrays, strict=True)
            for i in range(one.width)
        ]

    states = [[initial[:, ::2], initial[:, 1::2]]]
    for step in order:
        states.append(list(module.step(numbers(step), (), states[-1])))
    for place, step in enumerate(order):
        for i in (0, 1):
            np.testing.assert_allclose(
                hidden.detach()[:, step, i::2], states[place + 1][i], rtol=1e-4, atol=1e-5
            )
    np.testing.assert_allclose(last.detach()[:, ::2], states[-1][0], **CLOSE)
    carried: list[Any] = [np.zeros((2, channels))] * 2
    for place, step in reversed(list(enumerate(order))):
        whole = [carried[i] + by[:, step, i::2] for i in (0, 1)]
        carried, by_numbers, _ = (
            list(part) for part in module.backward(numbers(step), (), states[place], whole)
        )
        for one, tensor in zip(arrays, given, strict=False):
            for i in range(one.width):
                expected = by_numbers[one.first + i] * np.ones((2, channels))  # type: ignore[operator]
                np.testing.assert_allclose(
                    tensor.grad[:, step, i :: one.width], expected, rtol=1e-4, atol=1e-5
                )
    for i in (0, 1):
        np.testing.assert_allclose(given[-1].grad[:, i::2], carried[i], **CLOSE)
