"""Costs as sums of functions of one variable each, for optima over a diagram."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from constrint.diagrams.terms import FLOAT, OBJECT, Array
from constrint.errors import ModelError, Undefined
from constrint.expr import IntExpr, Sum

Cost = Callable[[Array], Array]
Part = float | Callable[[Any], float] | Mapping[Any, float]
"""The contribution of a variable to a cost: a factor, or a function or table of its values."""
LARGEST_COST = 1 << 40  # costs up to this are added in int64: no diagram has 2**22 variables


def separate(
    cost: IntExpr | Mapping[str, Part], names: Sequence[str], labels: Mapping[int, Mapping[object, object]]
) -> tuple[int, dict[int, Cost]]:
    """The constant of a cost, and its function of each variable on which it depends.

    Args:
        cost: An expression; or for each variable a factor, or a function or table of its values.
        names: The variables.
        labels: The values of a variable's codes, where codes are not the values.
    """
    numbers = {name: i for i, name in enumerate(names)}
    if isinstance(cost, Mapping):
        unknown = [str(name) for name in cost if name not in numbers]
        if unknown:
            raise ModelError(f"the cost names {', '.join(unknown)}; the variables are {', '.join(names)}")
        return 0, {
            numbers[name]: _by_value(_part(name, part, labels.get(numbers[name])))
            for name, part in cost.items()
        }
    if not isinstance(cost, IntExpr):
        raise ModelError(
            f"a cost is an expression, or a dict such as {{'{names[0] if names else 'x'}': 2}}, not {cost!r}"
        )
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


def _part(name: str, part: Part, labels: Mapping[Any, Any] | None) -> Callable[[Any], Any]:
    """The cost of a code of one variable."""
    of_value: Callable[[Any], Any]
    if isinstance(part, Mapping):
        of_value = part.__getitem__
    elif callable(part):
        of_value = part
    elif isinstance(part, int | float | np.integer | np.floating):
        factor = part.item() if isinstance(part, np.generic) else part
        if labels is not None and not all(isinstance(label, bool | int | float) for label in labels.values()):
            raise ModelError(
                f"the values of '{name}' are not numbers: give a function or dict of their costs"
            )

        def of_value(value: Any) -> Any:
            return factor * value
    else:
        raise ModelError(f"the cost of '{name}' is a number, a function or a dict by value, not {part!r}")

    def cost(code: object) -> object:
        value = code if labels is None else labels[code]
        try:
            found = of_value(value)
        except (LookupError, ArithmeticError, TypeError, ValueError) as problem:
            raise ModelError(f"the cost has no value for {name} = {value!r}: {problem!r}") from problem
        found = found.item() if isinstance(found, np.generic) else found
        if not isinstance(found, int | float) or found != found:
            raise ModelError(f"the cost of {name} = {value!r} is {found!r}, which is not a number")
        return found

    return cost


def _evaluated(terms: Sequence[tuple[int, IntExpr]]) -> Cost:
    variable = next(iter(terms[0][1].variables()))

    def cost(value: Any) -> int:
        try:
            return sum(factor * int(term.evaluate({variable: value})) for factor, term in terms)
        except Undefined as undefined:
            raise ModelError(f"the cost is undefined for {variable.name} = {value}") from undefined

    return _by_value(cost)


def _by_value(cost: Callable[[object], int]) -> Cost:
    """A function of one value applied to arrays: it is called once for each distinct value."""

    def costs(values: Array) -> Array:
        distinct, ids = np.unique(values, return_inverse=True)
        found = [cost(value) for value in distinct.tolist()]
        if any(isinstance(one, float) for one in found):
            return np.array(found, dtype=FLOAT)[ids]
        wide = any(abs(one) >= LARGEST_COST for one in found)
        return np.array(found, dtype=OBJECT if wide else np.int64)[ids]

    return costs
