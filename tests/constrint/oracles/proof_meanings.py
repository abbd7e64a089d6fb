"""What each constraint of a proof means, by definition, and which variables it has."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

Arguments = dict[str, Any]
Values = dict[int, int]


def literal(number: int, values: Values) -> bool:
    return values[number >> 1] == 1 - (number & 1)


def total(arguments: Arguments, values: Values) -> int:
    return sum(a * values[v] for a, v in arguments["terms"])


def divides(d: int, x: int) -> bool:
    return x == 0 if d == 0 else x % d == 0


def inside(x: int, intervals: list[int]) -> bool:
    return any(low <= x <= high for low, high in zip(intervals[::2], intervals[1::2], strict=True))


def differ(views: list[list[int]], values: Values) -> bool:
    return all(
        a * values[x] + b != c * values[y] + d for (a, x, b), (c, y, d) in itertools.combinations(views, 2)
    )


def goes_round(successors: list[int]) -> bool:
    """Whether following the successors from place 0 meets every place before it comes back."""
    met: list[int] = []
    place = 0
    while place not in met:
        met.append(place)
        if not 0 <= successors[place] < len(successors):
            return False
        place = successors[place]
    return place == 0 and len(met) == len(successors)


def goes_round_some(successors: list[int]) -> bool:
    """Whether the places that are not their own successors, if any, lie on one cycle."""
    inside = [place for place, after in enumerate(successors) if after != place]
    if not all(after in inside for place, after in enumerate(successors) if place in inside):
        return False
    return not inside or goes_round([inside.index(successors[place]) for place in inside])


TASKS = ("starts", "durations", "demands")


def fits(starts: list[int], durations: list[int], demands: list[int], capacity: int) -> bool:
    if any(number < 0 for number in [*durations, *demands, capacity]):
        return False
    tasks = list(zip(starts, durations, demands, strict=True))
    times = {time for start, duration, _ in tasks for time in range(start, start + duration)}
    return all(sum(r for s, d, r in tasks if s <= time < s + d) <= capacity for time in times)


def in_order(arguments: Arguments, values: Values) -> bool:
    left, right = ([values[v] for v in arguments[key]] for key in ("xs", "ys"))
    return left < right if arguments["strict"] else left <= right


DEFINITIONS: dict[str, Callable[[Arguments, Values], bool]] = {
    "LinearLe": lambda a, v: total(a, v) <= a["bound"],
    "LinearEq": lambda a, v: total(a, v) == a["bound"],
    "LinearNe": lambda a, v: total(a, v) != a["bound"],
    "LinearLeIf": lambda a, v: literal(a["literal"], v) == (total(a, v) <= a["bound"]),
    "LinearEqIf": lambda a, v: literal(a["literal"], v) == (total(a, v) == a["bound"]),
    "Clause": lambda a, v: any(literal(one, v) for one in a["literals"]),
    "Product": lambda a, v: v[a["x"]] * v[a["y"]] == v[a["z"]],
    "Power": lambda a, v: v[a["y"]] >= 0 and v[a["x"]] ** v[a["y"]] == v[a["z"]],
    "DivMod": lambda a, v: v[a["y"]] != 0 and divmod(v[a["x"]], v[a["y"]]) == (v[a["q"]], v[a["r"]]),
    "CeilDiv": lambda a, v: v[a["y"]] != 0 and -(-v[a["x"]] // v[a["y"]]) == v[a["q"]],
    "Divides": lambda a, v: literal(a["literal"], v) == divides(v[a["d"]], v[a["x"]]),
    "Maximum": lambda a, v: v[a["z"]] == max(v[x] for x in a["xs"]),
    "Minimum": lambda a, v: v[a["z"]] == min(v[x] for x in a["xs"]),
    "Absolute": lambda a, v: v[a["z"]] == abs(v[a["x"]]),
    "Gcd": lambda a, v: v[a["z"]] == math.gcd(v[a["x"]], v[a["y"]]),
    "Lcm": lambda a, v: v[a["z"]] == math.lcm(v[a["x"]], v[a["y"]]),
    "Member": lambda a, v: literal(a["literal"], v) == inside(v[a["x"]], a["intervals"]),
    "Element": lambda a, v: 0 <= v[a["index"]] < len(a["table"]) and a["table"][v[a["index"]]] == v[a["z"]],
    "Selection": lambda a, v: 0 <= v[a["index"]] < len(a["xs"]) and v[a["xs"][v[a["index"]]]] == v[a["z"]],
    "AllDifferent": lambda a, v: differ(a["views"], v),
    "AllDifferentBounds": lambda a, v: differ(a["views"], v),
    "AllDifferentDomain": lambda a, v: differ(a["views"], v),
    "Circuit": lambda a, v: goes_round([v[x] for x in a["successors"]]),
    "Subcircuit": lambda a, v: goes_round_some([v[x] for x in a["successors"]]),
    "Cumulative": lambda a, v: fits(*([v[x] for x in a[key]] for key in TASKS), v[a["capacity"]]),
    "Lexicographic": lambda a, v: literal(a["literal"], v) == in_order(a, v),
    "Table": lambda a, v: literal(a["literal"], v) == ([v[x] for x in a["variables"]] in a["rows"]),
}


# Functions, so that only their arguments need listing: argument names, and the values of the others.
FUNCTIONS: dict[str, tuple[tuple[str, ...], Callable[..., dict[str, int]]]] = {
    "Product": (("x", "y"), lambda x, y: {"z": x * y}),
    "Power": (("x", "y"), lambda x, y: {"z": x**y} if y >= 0 else {}),
    "DivMod": (("x", "y"), lambda x, y: {"q": x // y, "r": x % y} if y else {}),
    "CeilDiv": (("x", "y"), lambda x, y: {"q": -(-x // y)} if y else {}),
    "Absolute": (("x",), lambda x: {"z": abs(x)}),
    "Gcd": (("x", "y"), lambda x, y: {"z": math.gcd(x, y)}),
    "Lcm": (("x", "y"), lambda x, y: {"z": math.lcm(x, y)}),
}


LITERALS = ("literal",)


VARIABLES = ("x", "y", "z", "q", "r", "d", "index", "capacity")


def scope(name: str, arguments: Arguments) -> list[int]:
    """The variables of a constraint, each once."""
    if name == "Clause":
        return sorted({one >> 1 for one in arguments["literals"]})
    found = {v for _, v in arguments.get("terms", ())} | set(arguments.get("xs", ()))
    found |= {v for _, v, _ in arguments.get("views", ())}
    for key in ("variables", "ys", "successors", *TASKS):
        found |= set(arguments.get(key, ()))
    found |= {arguments[key] for key in VARIABLES if key in arguments}
    found |= {arguments[key] >> 1 for key in LITERALS if key in arguments}
    return sorted(found)
