"""Bounds by a constraint of any kind: its assignments within the present bounds, listed."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from constrint.verification.bounds import Bounds, Contradiction
from constrint.verification.intervals import by_difference, by_interval
from constrint.verification.meanings import DEFINITIONS, FUNCTIONS, Arguments, Values


def listed(bounds: Bounds, name: str, arguments: Arguments, variables: Sequence[int], most: int) -> None:
    """Keep the bounds of what a constraint allows, where that can be listed.

    Args:
        bounds: The bounds.
        name: The kind of the constraint.
        arguments: Its arguments.
        variables: The variables of the constraint, each once.
        most: Assignments that are listed at most.
    """
    names, function = FUNCTIONS.get(name, ((), None))
    free = list(dict.fromkeys(arguments[key] for key in names)) if function else variables
    if name.startswith("AllDifferent"):
        by_difference(bounds, arguments["views"])
    if _is_chosen(bounds, name, arguments):
        return
    number = 1
    columns = []
    for v in free:
        values = bounds.values(v)
        try:
            number *= len(values)
        except OverflowError:
            number = most + 1
        if number > most:
            bounds.is_cut = True
            by_interval(bounds, name, arguments)
            return
        columns.append(values)
    low, high = dict[int, int](), dict[int, int]()
    means = DEFINITIONS[name]
    for row in itertools.product(*columns):
        values_of = dict(zip(free, row, strict=True))
        if function:
            _complete(arguments, function(*[values_of[arguments[key]] for key in names]), values_of)
            if not _are_allowed(bounds, variables, values_of):
                continue
        if means(arguments, values_of):
            for v in variables:
                value = values_of[v]
                low[v], high[v] = min(value, low.get(v, value)), max(value, high.get(v, value))
    if not low and variables:
        raise Contradiction
    for v in low:
        bounds.at_least(v, low[v])
        bounds.at_most(v, high[v])


def _complete(arguments: Arguments, found: dict[str, int], values: Values) -> None:
    """Add the values of a function, save those of its own arguments."""
    for key, value in found.items():
        values.setdefault(arguments[key], value)


def _is_chosen(bounds: Bounds, name: str, arguments: Arguments) -> bool:
    """An element whose index is known equals the result: True where that is the whole constraint."""
    if name != "Selection" or not bounds.is_fixed(arguments["index"]):
        return False
    place = bounds.low[arguments["index"]]
    if not 0 <= place < len(arguments["xs"]):
        raise Contradiction
    x, z = arguments["xs"][place], arguments["z"]
    for one, other in ((x, z), (z, x)):
        bounds.at_least(one, bounds.low[other])
        bounds.at_most(one, bounds.high[other])
    return True


def _are_allowed(bounds: Bounds, variables: Sequence[int], values: Values) -> bool:
    """Whether all variables have values, within the bounds."""
    return all(v in values and bounds.may_be(v, values[v]) for v in variables)
