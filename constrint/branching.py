"""Branching: which variable search decides next, and which of its values it tries first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from constrint.engine.state import ANY_VALUE, GREATEST, LEAST, LOWER_HALF, UPPER_HALF

VariableSelector: TypeAlias = Literal["first_fail", "input_order"]
ValueSelector: TypeAlias = Literal["min", "max", "lower_half", "upper_half", "random"]

VALUE_RULES: dict[ValueSelector, int] = {
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
        variables: "first_fail" decides the one with the fewest values; "input_order" goes by declaration.
        values: "min" and "max" try the values in order, "lower_half" and "upper_half" split the domain,
            "random" draws a value with the seed of the search.
    """

    variables: VariableSelector = "first_fail"
    values: ValueSelector = "min"
