"""The language of cells: what it means, and errors that name the place."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from kerneltune.cells.equations import Equations, read_equations
from kerneltune.cells.graph import Node
from kerneltune.cells.numbers import computed
from kerneltune.cells.syntax import MOST_CHARACTERS, Source
from kerneltune.errors import InputError

HEAD = "gates i f\nstates h c\nweights p\noption alpha = 0.5\n"


def read(text: str, **options: float) -> Equations:
    return read_equations("mine", Source("mine.cell", text), options)


def value(expression: str, h: float = 0.3, i: float = -1.2) -> float:
    """An expression of the gate i and the state h, with the language's own meaning of h'."""
    equations = read(f"gates i\nstates h\nh' = {expression} + 0 * (i + h)")
    known: dict[Node, Any] = {}
    for node in equations.graph.nodes:
        if node.op in ("total", "before"):
            known[node] = np.float64(i if node.op == "total" else h)
    return float(computed(equations.after, known)[equations.after[0]])


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("1 + 2 * 3", 7.0),
        ("-2**2", -4.0),
        ("2**-1", 0.5),
        ("2**3**2", 512.0),
        ("1 - 2 - 3", -4.0),
        ("8 / 2 / 2", 2.0),
        ("(1 + i) * h", (1 - 1.2) * 0.3),
        ("h**0.5", 0.3**0.5),
        ("clip(i, -1, 1)", -1.0),
        ("max(i, h, 0.1)", 0.3),
        ("min(i, h, 0.1)", -1.2),
        ("where(i < h, 2 * i, h)", -2.4),
        ("where(i >= h, 2 * i, h)", 0.3),
        ("silu(i)", -1.2 / (1 + np.exp(1.2))),
        ("softplus(i)", np.log1p(np.exp(-1.2))),
        ("gelu(h)", 0.3 * 0.6179114221889526),
        ("relu(i)", 0.0),
        ("abs(i)", 1.2),
        ("(\n1 +\n2)", 3.0),
        ("1e-1 + .5 + 2.", 2.6),
    ],
)
def test_an_expression_is_pythons(expression: str, expected: float) -> None:
    assert value(expression) == pytest.approx(expected, rel=1e-12)


def test_a_gate_is_its_sum_until_an_equation_gives_its_name_to_another_value() -> None:
    equations = read("gates i\nstates h\ni = tanh(i)\nh' = i * h")
    assert [n.op for n in equations.after[0].args] == ["tanh", "before"]
    assert equations.adds_input(0)
    assert equations.recurs


def test_parts_of_a_gate() -> None:
    equations = read("gates n r\nstates h\nh' = tanh(W.n + r * R.n)")
    assert not equations.adds_input(0)
    assert equations.adds_input(1)
    assert not read("gates n\nstates h\nh' = 0.5 * h + W.n").recurs


def test_options_have_defaults_and_other_values() -> None:
    text = "gates i\nstates h\noption alpha = -0.5\nh' = alpha * tanh(i)"
    assert read(text).options == {"alpha": -0.5}
    assert read(text, alpha=2.0).after[0].args[0].value == 2.0
    with pytest.raises(InputError, match="mine has no option 'beta'"):
        read(text, beta=1.0)


def test_the_comment_at_the_beginning_is_the_summary() -> None:
    assert read("# One\n# two\ngates i\nstates h\n# three\nh' = i").summary == "One two"


ENOUGH = "\nh' = i * p * alpha\nc' = f * h"
WRONG = {
    "a = @": "5:5: '@' is not allowed: R is the only matrix",
    "a = i ^ 2": r"5:7: unexpected '\^': a power is written x\*\*2",
    "a = i $ 2": r"5:7: unexpected character '\$'",
    "a = sigmoid(j)": "5:13: unknown name 'j': known:",
    "a = alhpa * i": "5:5: unknown name 'alhpa': did you mean 'alpha'",
    "h = 1": "5:1: 'h' is the state before the step: the state after it is h'",
    "p = 1": "5:1: 'p' is a weight, which is not assigned",
    "alpha = 1": "5:1: 'alpha' is an option, which is not assigned",
    "tanh = 1": "5:1: 'tanh' is a word of the language",
    "z' = i": "5:1: 'z' is not a state",
    "i = i\ni = f": "6:1: 'i' is assigned twice",
    "h' = i\nh' = f": "6:1: 'h'' is assigned twice",
    "a = b + i": "5:5: unknown name 'b': the bias is in a gate's name and in R.GATE already",
    "a = h' + i\nh' = a": "5:5: 'h'' is used before the equation that makes it, in line 6",
    "a = z + i\nz = 1": "5:5: 'z' is used before the equation that makes it, in line 6",
    "a = sign(i)": r"5:5: sign\(x\) has no derivative but 0: give the one to train with",
    "a = where(i > 0, 1, 0)": "5:5: where.* has no derivative but 0",
    "a = floor(i)": "5:5: unknown function 'floor', or one without a derivative",
    "a = tanh(i, f)": "5:5: tanh takes 1 arguments, not 2",
    "a = where(i, f, h)": "5:11: where begins with a comparison",
    "a = where(i == 0, f, h)": "5:13: numbers are compared by <, <=, > or >=",
    "a = tanh(i < 0)": "5:10: a comparison stands only in where",
    "a = i +": "the text ends|5:8: the line ends too early",
    "a = i\n+ f": "6:1: unexpected '\\+'|6:",
    "a = i ** f": "5:10: an exponent is a whole number up to 16",
    "a = i ** 17": "an exponent is a whole number up to 16",
    "a = i / 0": "5:5: this is a division by zero",
    "a = 1e39 * i": "5:5: this number is too large for float32",
    "a = G.i": "5:5: unknown part 'G.i': a gate has the parts W.i and R.i",
    "a = W.a * W.a[0]": r"5:14: '\[' is not allowed: every value is of one unit. Inputs that units share",
    "a = R.h": "5:5: R is multiplied with h before the step alone, as R.GATE says: a product with 'h'",
    "a = W.x": "5:5: 'x' is not a gate",
    "a = W * i": "5:5: 'W' is a matrix: write W.GATE",
    "a = tanh": "5:5: 'tanh' is a function",
    "a = i": "5:1: the value 'a' is never used",
    "a = i * f slope 1": "5:5: an equation with a slope depends on one name, .* here f, i",
    "gates a": "5:1: there is a line 'gates' already",
    "gates": "5:6: the line ends too early|unexpected",
    "positive x": "the positive state 'x' is not a state",
    "positive h h": "5:1: a name stands twice among the positive",
    "option i = 1": "5:8: 'i' is declared twice",
    "option tanh = 1": "5:8: the option cannot have the name 'tanh'",
    "option beta = 1": "5:8: the option 'beta' is never used",
    "gain 0": "5:1: the gain is 0, but must be above 0",
}


@pytest.mark.parametrize("lines", WRONG)
def test_errors_name_the_place(lines: str) -> None:
    rest = ENOUGH.splitlines()
    kept = [line for line in rest if line[:2] not in lines] if lines.count("h' =") else rest
    with pytest.raises(InputError, match=WRONG[lines]) as error:
        read("\n".join([HEAD + lines, *kept]))
    assert str(error.value).startswith("mine.cell")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "the line 'gates NAME …' is missing"),
        ("gates i", "the line 'states NAME …' is missing"),
        ("gates i j\nstates h\nh' = i", "mine.cell:1:9: the gate 'j' is never used"),
        ("gates i\nstates h c\nh' = i", "mine.cell:2:10: the state 'c' is never written"),
        ("gates i\nstates h c\nh' = i + c'", "2:10: the state 'c'|'c'' is used, but never written"),
        ("gates i\nstates h\nweights p\nh' = i", "mine.cell:3:9: the weight 'p' is never used"),
        ("gates i\nstates i\ni' = i", "mine.cell:2:8: 'i' is declared twice"),
        ("gates W\nstates h\nh' = W", "mine.cell:1:7: the gate cannot have the name 'W'"),
        ("gates " + " ".join(f"g{i}" for i in range(80)), "more than 64 gates"),
    ],
)
def test_errors_of_whole_texts(text: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        read(text)


@pytest.mark.parametrize(
    "line",
    [
        "h' = " + "(" * 5000 + "i",
        "h' = " + "-" * 5000 + "i",
        "h' = " + "i + " * 4000 + "i",
        "h' = " + "tanh(" * 3000 + "i" + ")" * 3000,
        "h' = " + "i ** " * 3000 + "2",
        "x" * (MOST_CHARACTERS + 1),
        "\x00",
        "h' = ((2**16)**16)**16 * i",
        "\n".join(f"a{k + 1} = a{k} * a{k}" for k in range(2000)),
    ],
)
def test_bad_input_ends_soon_with_an_error(line: str) -> None:
    started = time.perf_counter()
    with pytest.raises(InputError):
        read(f"gates i\nstates h\n{line}\n")
    assert time.perf_counter() - started < 5


def test_shared_values_do_not_multiply_work() -> None:
    lines = [f"a{k + 1} = tanh(a{k} + a{k} * a{k})" for k in range(200)]
    text = "\n".join(["gates a0", "states h", *lines, "h' = a200"])
    assert len(read(text).graph.nodes) < 1000


def test_files_end_in_any_way() -> None:
    for end in ("", "\n", "\n\n  \n", "  # done", "\r\n"):
        assert read(f"\n\n# a\n\ngates i\nstates h\n\nh' = i{end}").states == ("h",)
