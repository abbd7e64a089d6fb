"""Branching: which variable search decides next, and which of its values it tries first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from constrint.engine.state import ANY_VALUE, GREATEST, LEAST, LOWER_HALF, UPPER_HALF

if TYPE_CHECKING:
    from constrint.constraints import Node

VariableSelector: TypeAlias = Literal["first_fail", "input_order"]
ValueSelector: TypeAlias = Literal["auto", "min", "max", "lower_half", "upper_half", "random"]

VALUE_RULES: dict[ValueSelector, int] = {
    "auto": LEAST,
    "min": LEAST,
    "max": GREATEST,
    "lower_half": LOWER_HALF,
    "upper_half": UPPER_HALF,
    "random": ANY_VALUE,
}


@dataclass(frozen=True, slots=True)
class Brancher:
    """A way to branch.

    Attributes:
        variables: "first_fail" decides the one with the fewest values for what depends on it; "input_order"
            goes by declaration.
        values: "auto" tries first what makes the goal better, and "min" where that is unknown; "min" and
            "max" try the values in order, "lower_half" and "upper_half" split the domain, "random" draws
            a value with the seed of the search.
    """

    variables: VariableSelector = "first_fail"
    values: ValueSelector = "auto"


Inputs: TypeAlias = Mapping[int, tuple[tuple[int, int], ...]]


def dependents(count: int, nodes: Sequence[Node], inputs: Inputs) -> list[int]:
    """For each variable how many constraints it takes part in, itself or through functions of it."""
    reached = [0] * count
    for number, node in enumerate(nodes):
        bit = 1 << number
        for v in node.scope():
            reached[v] |= bit
    # A function has a greater number than its arguments, unless the argument's variable was there before.
    for z in sorted(inputs, reverse=True):
        for v, _ in inputs[z]:
            reached[v] |= reached[z]
    return [bits.bit_count() for bits in reached]


def directions(goal: int, inputs: Inputs) -> dict[int, int]:
    """How a goal depends on each variable: 1 for never down as that goes up, -1 never up, 0 unknown."""
    known: dict[int, int] = {goal: 1}
    for z in sorted(inputs, reverse=True):
        if z not in known:
            continue
        for v, direction in inputs[z]:
            direction *= known[z]
            known[v] = direction if known.get(v, direction) == direction else 0
    return known
