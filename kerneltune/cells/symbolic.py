"""Values of a graph as sympy expressions. sympy is imported where they are asked for, and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kerneltune.cells.equations import Equations
from kerneltune.cells.graph import Node, behind
from kerneltune.cells.numbers import computed
from kerneltune.errors import MissingExtraError

PREFIXES = {"total": "", "input": "W.", "product": "R."}


def symbols(equations: Equations) -> dict[Node, Any]:
    """A symbol for each leaf of a cell: gates, W.gate, R.gate, states and weights by their names."""
    sympy = sympy_module()
    lists = {"before": equations.states, "weight": equations.weights}
    found = {}
    for node in equations.graph.nodes:
        if node.op in PREFIXES:
            found[node] = sympy.Symbol(PREFIXES[node.op] + equations.gates[int(node.value)], real=True)
        elif node.op in lists:
            suffix = "_before" if node.op == "before" else ""
            found[node] = sympy.Symbol(lists[node.op][int(node.value)] + suffix, real=True)
        elif node.op == "seed":
            found[node] = sympy.Symbol(f"gradient_{equations.states[int(node.value)]}", real=True)
    return found


def expressions(results: Sequence[Node], known: Mapping[Node, object], *, plain: bool = False) -> list[Any]:
    """Results as sympy expressions of known ones; if ``plain``, functions keep their names."""
    sympy = sympy_module()
    whole = {n: sympy.Integer(n.value) for n in behind(results, list(known)) if _is_whole(n)}
    values = computed(results, {**whole, **known}, {**_operations(), **(_plain() if plain else {})})
    return [values[node] for node in results]


def _operations() -> dict[str, Any]:
    sympy = sympy_module()

    def sigmoid(x: Any) -> Any:
        return 1 / (1 + sympy.exp(-x))

    def chosen(met: object, a: object, b: object) -> object:
        return sympy.Piecewise((a, met), (b, True))

    return {
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "mul": lambda a, b: a * b,
        "div": lambda a, b: a / b,
        "neg": lambda a: -a,
        "tanh": sympy.tanh,
        "sigmoid": sigmoid,
        "exp": sympy.exp,
        "log": sympy.log,
        "sqrt": sympy.sqrt,
        "softplus": lambda x: sympy.log(1 + sympy.exp(x)),
        "erf": sympy.erf,
        "abs": sympy.Abs,
        "sign": sympy.sign,
        "relu": lambda x: chosen(x > 0, x, 0),
        "max": lambda a, b: chosen(a >= b, a, b),
        "min": lambda a, b: chosen(b >= a, a, b),
        "at_least": lambda a, b: a >= b,
        "greater": lambda a, b: a > b,
        "not_above_zero": lambda x: x <= 0,
        "select": chosen,
        "surrogate": lambda value, _argument, _slope: value,
        "tanh_slope": lambda y: 1 - y * y,
        "sigmoid_slope": lambda y: y * (1 - y),
    }


def _is_whole(node: Node) -> bool:
    return node.op == "constant" and node.value == int(node.value)


def _plain() -> dict[str, Any]:
    sympy = sympy_module()
    names = {"sigmoid": "sigma", "softplus": "softplus", "relu": "relu"}
    return {
        **{op: sympy.Function(name) for op, name in names.items()},
        "max": lambda a, b: sympy.Max(a, b, evaluate=False),
        "min": lambda a, b: sympy.Min(a, b, evaluate=False),
    }


def sympy_module() -> Any:
    """sympy; raises `MissingExtraError` without it."""
    try:
        import sympy
    except ImportError:
        raise MissingExtraError("showing a cell's equations", "sympy") from None
    return sympy
