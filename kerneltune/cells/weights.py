"""Weights of single units in recurrent cells: peepholes.

The kernels use such weights, but do not sum gradients by them: where a weight is multiplied with a state in
the sum of a gate, W x + R h + b + p c, the gradient by it is the sum of the gate's gradients times the state,
over time and batch, as that by the bias is the sum of the gate's gradients.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kerneltune.cells.equations import Equations
from kerneltune.cells.gradients import Gradient, gradients
from kerneltune.cells.graph import Node
from kerneltune.cells.recurrence import Array
from kerneltune.cells.slopes import Factors
from kerneltune.errors import InputError


@dataclass(frozen=True)
class WeightSum:
    """A weight of a unit: its gradient is the sum of a gate's gradients times a state.

    Attributes:
        gate: The gate's number.
        state: The state's number.
        is_after: Whether the state after the step is meant, not the one before it.
    """

    gate: int
    state: int
    is_after: bool


def weight_sums(equations: Equations) -> tuple[WeightSum, ...]:
    """Of each weight of a cell, where it stands; raises `InputError` for one that stands elsewhere."""
    found = gradients(equations.graph, equations.after)
    by_gate = {n: g for n, g in found.items() if n.op in ("total", "product")}
    by_weight = {int(n.value): g for n, g in found.items() if n.op == "weight"}
    sums = []
    for number, name in enumerate(equations.weights):
        one = _sum_of(equations, by_weight[number], by_gate) if number in by_weight else None
        if one is None:
            raise InputError(
                f"{equations.name}: the weight '{name}' is not multiplied with a state in the sum of a gate, "
                f"as in GATE + {name} * STATE; then the gradient by it would follow from those by the gate"
            )
        sums.append(one)
    return tuple(sums)


def _sum_of(equations: Equations, gradient: Gradient, by_gate: dict[Node, Gradient]) -> WeightSum | None:
    if not gradient.factors or gradient.factors[-1].kind != "times":
        return None
    state = _state_of(equations, gradient.factors[-1].node)
    before: tuple[Node, Factors] = gradient.seed, gradient.factors[:-1]
    for leaf, one in by_gate.items():
        if state is not None and (one.seed, one.factors) == before:
            return WeightSum(int(leaf.value), *state)
    return None


def _state_of(equations: Equations, node: Node | None) -> tuple[int, bool] | None:
    """The state that a value is, before or after the step; not h after it, which may be bounded."""
    if node is not None and node.op == "before":
        return int(node.value), False
    after = [number for number, one in enumerate(equations.after) if number and one is node]
    return (after[0], True) if after else None


def summed_gradients(sums: tuple[WeightSum, ...], by_product: Array, states: Array) -> Array:
    """The gradients by a cell's weights.

    Args:
        sums: Of each weight, where it stands.
        by_product: Gradients by R h + b, `[T, B, H, D, G]`.
        states: All states, `[S, T + 1, B, H, D]`.

    Returns:
        `[H, P, D]`.
    """
    found = [
        np.einsum(
            "tbhd,tbhd->hd",
            by_product[..., one.gate],
            states[one.state][1:] if one.is_after else states[one.state][:-1],
        )
        for one in sums
    ]
    return np.stack(found, axis=1)
