"""What is derived from equations: gradients against differences and sympy, and what training saves."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawn_cells import DrawnCell

from kerneltune.cells import saving
from kerneltune.cells.cuda import struct_of
from kerneltune.cells.derivation import Derivation
from kerneltune.cells.equations import read_equations
from kerneltune.cells.gradients import gradients, value_of
from kerneltune.cells.graph import SPECIAL, Node, behind
from kerneltune.cells.numbers import computed
from kerneltune.cells.saving import Saved, choose_saved
from kerneltune.cells.symbolic import expressions, symbols
from kerneltune.cells.syntax import Source
from kerneltune.cells.weights import WeightSum
from kerneltune.errors import InputError
from kerneltune.inputs.descriptions import discover

POINTS = 7
SHIFT = 1e-6
EXAMPLES = Path(__file__).parents[3] / "examples" / "cells"
SHIPPED = [*sorted((discover().root / "cells").glob("*.cell")), *sorted(EXAMPLES.glob("*.cell"))]
DRAWN = 150

KNOWN = {
    "lstm": """
gates i f z o
states h c
i = sigmoid(i)
f = sigmoid(f)
z = tanh(z)
o = sigmoid(o)
c' = f * c + i * z
h' = o * tanh(c')""",
    "gru": """
gates r z n
states h
r = sigmoid(r)
z = sigmoid(z)
n = tanh(W.n + r * R.n)
h' = n + z * (h - n)""",
    "elman": "gates a\nstates h\nh' = tanh(a)",
    "relu": "gates a\nstates h\nh' = relu(a)",
    "slstm": """
gates i f z o
states h c n m
kept = m - softplus(-f)
m' = max(kept, i)
grow = exp(i - m')
keep = exp(kept - m')
c' = keep * c + grow * tanh(z)
n' = keep * n + grow
h' = sigmoid(o) * (c' / n')""",
    "peephole": """
gates i f z o
states h c
weights p_i p_f p_o
i = sigmoid(i + p_i * c)
f = sigmoid(f + p_f * c)
c' = f * c + i * tanh(z)
h' = sigmoid(o + p_o * c') * tanh(c')""",
    "delayed": "gates a\nstates h c n\nc' = h\nn' = c\nh' = tanh(a + 0.3 * n * c)",
    "mixed": "gates a\nstates h\nh' = tanh(a) * W.a + 0.5 * R.a",
    "copied": "gates a f\nstates h c\nc' = sigmoid(f) * c + a\nh' = c'",
}


def derived(name: str, text: str) -> Derivation:
    return Derivation(read_equations(name, Source(name, text)))


def of_kind(derivation: Derivation, *kinds: str) -> list[Node]:
    return [node for node in behind(derivation.equations.after) if node.op in kinds]


def drawn_leaves(derivation: Derivation, seed: int) -> dict[Node, Any]:
    random = np.random.default_rng(seed)
    backward = behind(derivation.backward.results)
    nodes = dict.fromkeys([*behind(derivation.equations.after), *backward])
    leaves = [node for node in nodes if not node.args and node.op != "constant"]
    found = {node: random.standard_normal(POINTS) for node in leaves}
    for node in leaves:
        if node.op == "before" and derivation.equations.states[int(node.value)] == "n":
            found[node] = 0.5 + np.abs(found[node])
    total: dict[Any, Any] = {}
    for gate in range(len(derivation.equations.gates)):
        parts = [n for n in leaves if n.op in ("input", "product") and n.value == gate]
        total |= {
            n: sum(found[p] for p in parts) for n in leaves if n.op == "total" and n.value == gate and parts
        }
    return found | total


def gradients_by_leaf(derivation: Derivation, known: dict[Node, Any]) -> dict[Node, Any]:
    """The derived gradients; a gate's sum counts as another leaf than its parts."""
    graph = derivation.equations.graph
    by_leaf = {n: value_of(graph, g) for n, g in gradients(graph, derivation.equations.after).items()}
    values = computed(by_leaf.values(), known)
    return {leaf: np.broadcast_to(values[node], POINTS) for leaf, node in by_leaf.items()}


def check_against_differences(derivation: Derivation, seed: int) -> None:
    known = drawn_leaves(derivation, seed)
    after = derivation.equations.after
    seeds = {n: known[n] for n in known if n.op == "seed"}

    def loss(moved: dict[Node, Any]) -> Any:
        values = computed(after, moved)
        return sum(values[node] * seeds.get(one, 0) for one in seeds for node in [after[int(one.value)]])

    found = gradients_by_leaf(derivation, known)
    for leaf in of_kind(derivation, "total", "input", "product", "before", "weight"):
        above, below = ({**known, leaf: known[leaf] + s} for s in (SHIFT, -SHIFT))
        expected = (loss(above) - loss(below)) / (2 * SHIFT)
        np.testing.assert_allclose(found.get(leaf, 0.0), expected, rtol=2e-5, atol=2e-7, err_msg=f"by {leaf}")


def check_saved(derivation: Derivation, seed: int) -> None:
    """The backward pass finds all it needs among what is saved."""
    known = drawn_leaves(derivation, seed)
    equations, saved = derivation.equations, choose_saved(derivation.equations.after, derivation.ahead)
    values = computed([*equations.after, *saved.values, *derivation.ahead], known)
    given = {node: values[node] for node in saved.values}
    for node in values:
        number = int(node.value)
        if node.op in ("seed", "weight") or (node.op == "before" and 1 <= number <= saved.states):
            given[node] = values[node]
        if node.op == "before" and number == 0 and saved.hidden == 0:
            given[node] = values[node]
        if node.op == "not_above_zero" and node.args[0] is equations.after[0] and saved.hidden == 1:
            given[node] = values[node]
    given |= {node: values[node] for node in equations.after[1 : saved.states + 1]}
    results = derivation.computed
    expected = computed(results, known)
    found = computed(results, given)  # a leaf that is missing is a KeyError
    for node in results:
        np.testing.assert_array_equal(found[node], expected[node])


@pytest.mark.parametrize("name", KNOWN)
def test_gradients_of_known_cells_are_differences(name: str) -> None:
    check_against_differences(derived(name, KNOWN[name]), 1)
    check_saved(derived(name, KNOWN[name]), 2)


@pytest.mark.parametrize("number", range(DRAWN))
def test_gradients_of_drawn_cells_are_differences(number: int) -> None:
    derivation = derived("drawn", DrawnCell(number).text)
    check_against_differences(derivation, number)
    check_saved(derivation, number)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_gradients_of_shipped_cells_are_differences(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 13
    derivation = derived(path.stem, text)
    assert derivation.equations.summary
    check_saved(derivation, 2)
    if not any(node.op == "surrogate" for node in derivation.equations.graph.nodes):
        check_against_differences(derivation, 1)


@pytest.mark.parametrize("name", KNOWN)
def test_gradients_are_sympys(name: str) -> None:
    derivation = derived(name, KNOWN[name])
    equations = derivation.equations
    known = drawn_leaves(derivation, 3)
    found = gradients_by_leaf(derivation, known)
    named = symbols(equations)
    written = expressions(equations.after, named)
    loss = sum(
        named[n] * written[int(n.value)] for n in named if n.op == "seed" and int(n.value) < len(written)
    )
    for leaf, values in found.items():
        slope = loss.diff(named[leaf])
        for point in range(POINTS):
            numbers = {named[node]: known[node][point] for node in named if node in known}
            np.testing.assert_allclose(
                values[point], float(slope.subs(numbers).evalf()), rtol=1e-9, atol=1e-12
            )


def test_an_lstm_saves_its_gates_and_c() -> None:
    derivation = derived("lstm", KNOWN["lstm"])
    saved = derivation.saved
    assert [derivation.equations.labels[node] for node in saved.values] == ["i", "f", "z", "o"]
    assert (saved.states, saved.hidden) == (1, -1)


def test_only_a_slope_that_is_needed_is_saved_itself() -> None:
    """1 - h^2 of an h near 1, rounded to 16 bits, would have lost it."""
    saved = derived("elman", KNOWN["elman"]).saved
    assert [node.op for node in saved.values] == ["tanh_slope"]


def test_the_sign_of_h_is_read_from_h() -> None:
    saved = derived("relu", KNOWN["relu"]).saved
    assert (saved.values, saved.hidden) == ((), 1)


@pytest.mark.parametrize("number", range(30))
def test_values_that_are_not_looked_at_would_not_be_saved(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A value that is used for one other value alone: the choice is as good without it."""

    def cost(saved: Saved) -> tuple[int, ...]:
        special = sum(node.op in SPECIAL for node in saved.computed)
        return saved.slots, saved.states, saved.hidden >= 0, special, len(saved.computed)

    derivation = derived("drawn", DrawnCell(number, weights=False).text)
    found = choose_saved(derivation.equations.after, derivation.ahead)
    monkeypatch.setattr(saving, "_dominated", lambda *_: set())
    assert cost(found) == cost(choose_saved(derivation.equations.after, derivation.ahead))


def test_a_comparison_is_not_computed_from_rounded_values() -> None:
    saved = derived("slstm", KNOWN["slstm"]).saved
    assert sum(node.op == "at_least" for node in saved.values) == 1
    assert not any(node.op in ("at_least", "exp") for node in saved.computed)


def test_a_negated_value_that_is_saved_is_not_taken_apart() -> None:
    """softplus(-g) is a logarithm of a sigmoid of g, which is not known where -g is."""
    equations = "gates a b\nstates h c\nv = softplus(-a)\nh' = tanh(b + c)\nc' = tanh(v)"
    derivation = derived("negated", equations)
    (saved,) = [node for node in derivation.saved.values if node.op == "neg"]
    assert saved.args[0].op == "total"
    assert "log_sigmoid(-record.value[" in struct_of(derivation)


def test_little_is_left_to_do_behind_what_a_step_waits_for() -> None:
    """A peephole's product is there before R h is; behind c' there are two operations and a tanh."""
    cell = EXAMPLES / "peephole_lstm.cell"
    lines = struct_of(derived("peephole_lstm", cell.read_text(encoding="utf-8"))).splitlines()
    (gate,) = [line for line in lines if "float i_ =" in line]
    assert "Gate<Math>::of_sum(sum[0], weight[0] * state[1])" in gate
    (hidden,) = [line for line in lines if "float after_0 =" in line]
    assert "Gate<Math>::scaled(t20_, weight[2], new_c_, sum[3], Math::tanh(new_c_))" in hidden
    assert "Gate<Math>" not in struct_of(derived("lstm", KNOWN["lstm"]))


@pytest.mark.parametrize("number", range(DRAWN))
def test_structs_of_drawn_cells_read_only_what_is_there(number: int) -> None:
    """A sum that is read where it is not known is a KeyError."""
    text = struct_of(derived("drawn", DrawnCell(number, weights=False).text))
    backward = text[text.index("void backward(") : text.index("void end_backward(")]
    assert not re.search(r"\b(sum|input|state)\[", backward)


def test_a_surrogate_has_its_own_slope() -> None:
    text = "gates x\nstates h v\nu = 0.9 * v + x\ns = where(u > 1, 1, 0) slope 1 / (1 + abs(u))**2\n"
    derivation = derived("spiking", text + "v' = u - s\nh' = s")
    known = drawn_leaves(derivation, 5)
    (leaf,) = of_kind(derivation, "total")
    u = 0.9 * next(known[n] for n in known if n.op == "before") + known[leaf]
    by_h, by_v = (next(known[n] for n in known if n.op == "seed" and n.value == k) for k in (0, 1))
    expected = by_v + (by_h - by_v) / (1 + np.abs(u)) ** 2
    np.testing.assert_allclose(gradients_by_leaf(derivation, known)[leaf], expected)


def test_a_cell_that_is_too_large_is_an_error() -> None:
    lines = [f"a{k + 1} = tanh(a{k} + a{k} * f)" for k in range(240)]
    text = "\n".join(["gates a0 f", "states h", *lines, "h' = a240 * h"])
    with pytest.raises(InputError, match="the cell is too large"):
        derived("large", text).saved  # noqa: B018


def test_gradients_by_peepholes_are_sums() -> None:
    derivation = derived("peephole", KNOWN["peephole"])
    assert derivation.weight_sums == (WeightSum(0, 1, False), WeightSum(1, 1, False), WeightSum(3, 1, True))
    known = drawn_leaves(derivation, 4)
    values = computed([*derivation.backward.results, *derivation.equations.after], known)
    before = next(known[n] for n in known if n.op == "before" and n.value == 1)
    for one, by_weight in zip(derivation.weight_sums, derivation.backward.weight, strict=True):
        state = values[derivation.equations.after[1]] if one.is_after else before
        expected = values[derivation.backward.product[one.gate]] * state
        np.testing.assert_allclose(values[by_weight], expected, rtol=1e-12)


@pytest.mark.parametrize(
    "equation",
    [
        "h' = p * tanh(a)",
        "h' = tanh(a + p)",
        "h' = tanh(a + p * h + p * h * h)",
        "h' = tanh(a) + p * h",
        "h' = tanh(a + p * h)\nc' = tanh(f + p * c)",
        "h' = tanh(a + p * f)",
        "c' = tanh(f)\nh' = tanh(a + 2 * p * c')",
    ],
)
def test_other_weights_have_no_kernels(equation: str) -> None:
    """The gradient by a weight that stands elsewhere does not follow from what the kernels write."""
    rest = "" if "c'" in equation else "\nc' = f + c"
    derivation = derived("mine", f"gates a f\nstates h c\nweights p\n{equation} {rest}\n")
    with pytest.raises(
        InputError, match="the weight 'p' is not multiplied with a state in the sum of a gate"
    ):
        derivation.weight_sums  # noqa: B018
