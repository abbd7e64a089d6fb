"""Good solutions of small models with wide domains, by trying points around the best one.

Quadratic and other objectives without many constraints have their optimum far from the ends of the domains
where a search begins, and prove it in few nodes once it is known. Points are tried at distances from half a
domain down to 1 from the best so far, in the direction of one variable or of two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations, product
from typing import TYPE_CHECKING, TypeAlias

from constrint.engine.state_arrays import Box
from constrint.errors import ModelError, Undefined
from constrint.expr import IntExpr
from constrint.expr.evaluation import is_light
from constrint.modelling.objectives import Goal
from constrint.preparing.checks import Assignment, first_violated
from constrint.support.deadline import check_deadline

if TYPE_CHECKING:
    from constrint.preparing.prepared import Prepared
    from constrint.presolve import Root

STARTS = (0, *[sign << power for power in range(1, 21, 3) for sign in (1, -1)])
"""Values near which the first points lie; each of them is the same for all variables."""

Point: TypeAlias = list[int]
Worth: TypeAlias = Callable[[Point], "int | None"]
"""The value of a point, less being better; None where it is no solution."""


def polled(prepared: Prepared, root: Root, goal: Goal) -> Assignment | None:
    """A good solution; None where none is found, or the model is not of this kind.

    Args:
        prepared: The prepared model.
        root: The root of the search.
        goal: The objective.
    """
    model, box = prepared.model, root.box
    variables = list(prepared.variables)
    numbers = [prepared.variables[variable] for variable in variables]
    expressions = [goal[0], *[constraint.expr for constraint in model.constraints]]
    rules = root.settings.search
    if len(variables) > rules.most_polled_variables or len(expressions) > rules.most_polled_constraints:
        return None
    if _is_linear(goal[0]):
        return None
    widths = [box.hi[v] - box.lo[v] for v in numbers]
    limit = 1 << (root.huge.bit_length() // 2)
    is_wide = rules.least_polled_width <= max(widths, default=0) < limit
    if not is_wide or not all(map(is_light, expressions)):
        return None

    def worth(point: Point) -> int | None:
        check_deadline()
        return _worth(prepared, goal, dict(zip(variables, point, strict=True)))

    steps = [box.step[v] for v in numbers]
    points = [
        [_nearest(near, box.lo[v], box.hi[v], box.step[v]) for v, near in zip(numbers, start, strict=True)]
        for start in (
            *[[near] * len(numbers) for near in STARTS],
            [(box.lo[v] + box.hi[v]) // 2 for v in numbers],
        )
    ]
    values = [(value, point) for point in points if (value := worth(point)) is not None]
    if not values:
        return None
    value, point = min(values)
    return dict(zip(variables, _improved(point, value, worth, widths, steps, rules.most_points), strict=True))


def _is_linear(expr: IntExpr) -> bool:
    return all(not part.children for part in expr.children)


def at_point(prepared: Prepared, root: Root, point: Assignment) -> Box | None:
    """The domains of a root with the model's variables fixed; None where the root excludes the point."""
    lo, hi, step, values = list(root.box.lo), list(root.box.hi), list(root.box.step), list(root.box.values)
    for variable, v in prepared.variables.items():
        if not lo[v] <= point[variable] <= hi[v]:
            return None
        lo[v] = hi[v] = point[variable]
        step[v], values[v] = 1, None
    return Box(lo, hi, step, values)


def _worth(prepared: Prepared, goal: Goal, point: Assignment) -> int | None:
    try:
        for variable, value in point.items():
            if not _contains(variable, value):
                return None
        if first_violated(prepared.model.constraints, point) is not None:
            return None
        value = goal[0].evaluate(point)
        for expr in prepared.model.lets.values():
            expr.evaluate(point)
    except (Undefined, ModelError):  # no value, or one too large to be computed
        return None
    return value if goal[1] == "min" else -value


def _contains(variable: IntExpr, value: int) -> bool:
    domain = getattr(variable, "domain", None)
    return value in (0, 1) if domain is None else value in domain


def _nearest(near: int, lo: int, hi: int, step: int) -> int:
    """The value between two bounds that is nearest to a number, or nearly so with a step."""
    return lo + (min(max(near, lo), hi) - lo) // step * step


def _improved(
    point: Point, value: int, worth: Worth, widths: list[int], steps: list[int], left: int
) -> Point:
    """The best point that is reached from one by ever shorter ways, with at most so many points tried."""
    distance = max(width // step for width, step in zip(widths, steps, strict=True))
    distance = 1 << max(0, distance.bit_length() - 1)
    while distance and left > 0:
        is_better = False
        for way in _ways(len(point)):
            moved = point[:]
            for place, sign in way:
                moved[place] += sign * distance * steps[place]
            left -= 1
            found = worth(moved)
            if found is not None and found < value:
                point, value, is_better = moved, found, True
            if left <= 0:
                break
        if not is_better:
            distance //= 2
    return point


def _ways(count: int) -> Iterator[tuple[tuple[int, int], ...]]:
    """The directions of one variable, and of two."""
    for number in (1, 2):
        for places in combinations(range(count), number):
            for signs in product((1, -1), repeat=number):
                yield tuple(zip(places, signs, strict=True))
