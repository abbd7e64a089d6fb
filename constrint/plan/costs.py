"""Costs as sums of functions of one variable each, for optima over a diagram."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from constrint.errors import ModelError, Undefined
from constrint.expr import IntExpr, Sum
from constrint.plan.terms import OBJECT, Array

Cost = Callable[[Array], Array]
LARGEST = 1 << 40  # single costs up to this are added in int64: no diagram has 2**22 variables


def separate(cost: IntExpr | Mapping[str, int], names: Sequence[str]) -> tuple[int, dict[int, Cost]]:
    """The constant of a cost, and its function of each variable that it depends on."""
    numbers = {name: i for i, name in enumerate(names)}
    if isinstance(cost, Mapping):
        unknown = [name for name in cost if name not in numbers]
        if unknown:
            raise ModelError(f"the cost names {', '.join(unknown)}; the variables are {', '.join(names)}")
        return 0, {numbers[name]: _times(factor.__index__()) for name, factor in cost.items()}
    terms = cost.terms if isinstance(cost, Sum) else ((1, cost),)
    constant = cost.constant if isinstance(cost, Sum) else 0
    parts: dict[int, list[tuple[int, IntExpr]]] = {}
    for factor, term in terms:
        variables = list(term.variables())
        if not variables:
            constant += factor * int(term.evaluate({}))
            continue
        if len(variables) > 1 or variables[0].name not in numbers:
            names_used = ", ".join(variable.name for variable in variables)
            raise ModelError(
                f"a part of the cost depends on {names_used}: over a set of solutions a cost must be a sum "
                "of functions of one variable of the set each. `solve(minimize=…)` takes any expression"
            )
        parts.setdefault(numbers[variables[0].name], []).append((factor, term))
    return constant, {v: _evaluated(terms) for v, terms in parts.items()}


def _times(factor: int) -> Cost:
    return _by_value(lambda value: factor * value)


def _evaluated(terms: Sequence[tuple[int, IntExpr]]) -> Cost:
    variable = next(iter(terms[0][1].variables()))

    def cost(value: Any) -> int:
        try:
            return sum(factor * int(term.evaluate({variable: value})) for factor, term in terms)
        except Undefined as undefined:
            raise ModelError(f"the cost is undefined for {variable.name} = {value}") from undefined

    return _by_value(cost)


def _by_value(cost: Callable[[Any], int]) -> Cost:
    """A function of one value for arrays: each distinct value is looked at once."""

    def costs(values: Array) -> Array:
        distinct, ids = np.unique(values, return_inverse=True)
        found = [cost(value) for value in distinct.tolist()]
        wide = any(abs(one) >= LARGEST for one in found)
        return np.array(found, dtype=OBJECT if wide else np.int64)[ids]

    return costs
