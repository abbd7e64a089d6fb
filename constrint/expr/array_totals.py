"""Reductions of all elements of an array, without numpy."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

from constrint.errors import ModelError
from constrint.expr import BoolExpr, Const, IntExpr, as_bool, as_expr
from constrint.expr.arithmetic.extremes import max_, min_
from constrint.expr.builders import all_of, any_of, sum_


def truth(value: Any) -> BoolExpr:
    """A condition itself, or the condition that a number is not 0."""
    return value if isinstance(value, BoolExpr) else as_bool(as_expr(value) != 0)


TOTALS: dict[str, Callable[[Sequence[IntExpr]], IntExpr]] = {
    "sum": lambda flat: sum_(flat),
    "prod": lambda flat: functools.reduce(operator.mul, flat, Const(1)),
    "min": lambda flat: _extreme("min", min_, flat),
    "max": lambda flat: _extreme("max", max_, flat),
    "any": lambda flat: any_of([truth(element) for element in flat]),
    "all": lambda flat: all_of([truth(element) for element in flat]),
}


def _extreme(name: str, function: Callable[..., IntExpr], flat: Sequence[IntExpr]) -> IntExpr:
    if not flat:
        raise ModelError(f"{name} of no elements has no value")
    return function(list(flat))
