"""The meaning of each constraint of a proof, by definition, and the variables that it has.

A literal is 2 v for ``v == 1`` and 2 v + 1 for ``v == 0``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

MOST_BITS = 1 << 20  # of a power; the solver's numbers have an eighth of that at most

Arguments = dict[str, Any]
Values = dict[int, int]


def literal(number: int, values: Values) -> bool:
    """Whether a literal is true."""
    return values[number >> 1] == 1 - (number & 1)


def total(arguments: Arguments, values: Values) -> int:
    """The value of a sum."""
    return sum(a * values[v] for a, v in arguments["terms"])


def divides(d: int, x: int) -> bool:
    """Whether a number is a multiple of another; only 0 is one of 0."""
    return x == 0 if d == 0 else x % d == 0


def is_power(x: int, y: int, z: int) -> bool:
    """Whether ``x ** y == z``, for an exponent that is not negative."""
    if y < 0 or y * (abs(x).bit_length() - 1) > z.bit_length():
        return False
    return bool(x**y == z)


def inside(x: int, intervals: list[int]) -> bool:
    """Whether a number lies in one of some intervals, given by their ends."""
    return any(low <= x <= high for low, high in zip(intervals[::2], intervals[1::2], strict=True))


def differ(views: list[list[int]], values: Values) -> bool:
    """Whether the multiples of variables plus constants all differ."""
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


def are_routes(arguments: Arguments, values: Values) -> bool:
    """Whether the true arcs are one cycle, or routes from the depot, and loops at the other places."""
    depot = arguments["depot"]
    ends = zip(arguments["tails"], arguments["heads"], arguments["literals"], strict=True)
    true = [(tail, head) for tail, head, one in ends if literal(one, values)]
    for place in range(arguments["count"]):
        if place != depot and not (
            sum(tail == place for tail, _ in true) == 1 == sum(head == place for _, head in true)
        ):
            return False
    after = {tail: head for tail, head in true if tail != depot}
    if depot < 0:
        return goes_round_some([after[place] for place in range(arguments["count"])])
    for place in after:
        met: list[int] = []
        while place != depot and place not in met:
            met.append(place)
            place = after[place]
        if place != depot and len(met) > 1:
            return False
    return True


TASKS = ("starts", "durations", "demands")


def fits(starts: list[int], durations: list[int], demands: list[int], capacity: int) -> bool:
    """Whether the running tasks fit the capacity whenever one starts; nothing is negative."""
    if any(number < 0 for number in [*durations, *demands, capacity]):
        return False
    tasks = list(zip(starts, durations, demands, strict=True))
    times = {start for start, duration, _ in tasks if duration}
    return all(sum(r for s, d, r in tasks if s <= time < s + d) <= capacity for time in times)


def is_within(arguments: Arguments, values: Values) -> bool:
    """Whether at every moment the running tasks fit the capacity; nothing is negative."""
    starts, durations, demands = ([values[v] for v in arguments[key]] for key in TASKS)
    return fits(starts, durations, demands, values[arguments["capacity"]])


def known_tasks(arguments: Arguments, values: Values) -> list[tuple[int, int]]:
    """Start and duration of each task that is present."""
    present = arguments.get("literals")
    tasks = zip(arguments["starts"], arguments["durations"], strict=True)
    return [
        (values[s], values[d])
        for i, (s, d) in enumerate(tasks)
        if present is None or literal(present[i], values)
    ]


def are_apart(arguments: Arguments, values: Values) -> bool:
    """Whether durations are non-negative, and of any two tasks one ends before the other starts."""
    tasks = known_tasks(arguments, values)
    return all(d >= 0 for _, d in tasks) and all(
        s + d <= t or t + e <= s for (s, d), (t, e) in itertools.combinations(tasks, 2)
    )


def lie_apart(arguments: Arguments, values: Values) -> bool:
    """Whether no rectangle has a negative side or overlaps another."""
    sides = [[values[v] for v in arguments[key]] for key in ("xs", "widths", "ys", "heights")]
    boxes = list(zip(*sides, strict=True))
    return all(w >= 0 and h >= 0 for _, w, _, h in boxes) and all(
        a + c <= x or x + w <= a or b + d <= y or y + h <= b
        for (a, c, b, d), (x, w, y, h) in itertools.combinations(boxes, 2)
    )


def are_inverse(arguments: Arguments, values: Values) -> bool:
    """Whether two lists are permutations of places, each the inverse of the other."""
    xs, ys = ([values[v] for v in arguments[key]] for key in ("xs", "ys"))
    return all(0 <= x < len(xs) and 0 <= y < len(xs) for x, y in zip(xs, ys, strict=True)) and all(
        ys[x] == i for i, x in enumerate(xs)
    )


def are_counted(arguments: Arguments, values: Values) -> bool:
    """Whether each listed value occurs as often as its count says; if closed, no other value occurs."""
    found = [values[v] for v in arguments["variables"]]
    listed = arguments["values"]
    if arguments["closed"] and not set(found) <= set(listed):
        return False
    return all(found.count(x) == values[z] for x, z in zip(listed, arguments["counts"], strict=True))


def matches(found: list[int], row: list[int | None]) -> bool:
    """Whether values match a row, in which None matches every value."""
    return all(entry is None or entry == value for entry, value in zip(row, found, strict=True))


def fits_row(arguments: Arguments, values: Values) -> bool:
    """Whether values match one of the rows."""
    found = [values[v] for v in arguments["variables"]]
    return any(matches(found, row) for row in arguments["rows"])


def is_between(arguments: Arguments, values: Values) -> bool:
    """Whether a sum of products lies between its bounds."""
    total_ = sum(a * values[x] * values[y] for a, x, y in arguments["terms"])
    return bool(arguments["low"] <= total_ <= arguments["high"])


def is_quotient(arguments: Arguments, values: Values) -> bool:
    """Whether a variable is the sum divided by a constant, rounded down."""
    dividend: int = total(arguments, values) + arguments["constant"]
    return bool(values[arguments["q"]] == dividend // arguments["divisor"])


def in_order(arguments: Arguments, values: Values) -> bool:
    """Whether a list comes before another in the order of a dictionary."""
    left, right = ([values[v] for v in arguments[key]] for key in ("xs", "ys"))
    return bool(left < right if arguments["strict"] else left <= right)


DEFINITIONS: dict[str, Callable[[Arguments, Values], bool]] = {
    "LinearLe": lambda a, v: total(a, v) <= a["bound"],
    "LinearEq": lambda a, v: total(a, v) == a["bound"],
    "LinearNe": lambda a, v: total(a, v) != a["bound"],
    "LinearLeIf": lambda a, v: literal(a["literal"], v) == (total(a, v) <= a["bound"]),
    "LinearEqIf": lambda a, v: literal(a["literal"], v) == (total(a, v) == a["bound"]),
    "Clause": lambda a, v: any(literal(one, v) for one in a["literals"]),
    "Product": lambda a, v: v[a["x"]] * v[a["y"]] == v[a["z"]],
    "Power": lambda a, v: is_power(v[a["x"]], v[a["y"]], v[a["z"]]),
    "DivMod": lambda a, v: v[a["y"]] != 0 and divmod(v[a["x"]], v[a["y"]]) == (v[a["q"]], v[a["r"]]),
    "CeilDiv": lambda a, v: v[a["x"]] >= 0 < v[a["y"]] and -(-v[a["x"]] // v[a["y"]]) == v[a["q"]],
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
    "Arcs": are_routes,
    "Cumulative": is_within,
    "Lexicographic": lambda a, v: literal(a["literal"], v) == in_order(a, v),
    "Table": lambda a, v: literal(a["literal"], v) == ([v[x] for x in a["variables"]] in a["rows"]),
    "ShortTable": lambda a, v: literal(a["literal"], v) == fits_row(a, v),
    "NoOverlap": are_apart,
    "NoOverlapOptional": are_apart,
    "Rectangles": lie_apart,
    "Inverse": are_inverse,
    "Cardinality": are_counted,
    "Pairs": is_between,
    "Quotient": is_quotient,
    "All": lambda a, v: literal(a["literal"], v) == all(literal(one, v) for one in a["literals"]),
}


# Functions, so that only their arguments need listing: argument names, and the values of the others.
FUNCTIONS: dict[str, tuple[tuple[str, ...], Callable[..., dict[str, int]]]] = {
    "Product": (("x", "y"), lambda x, y: {"z": x * y}),
    "Power": (("x", "y"), lambda x, y: {"z": x**y} if y >= 0 and y * x.bit_length() <= MOST_BITS else {}),
    "DivMod": (("x", "y"), lambda x, y: {"q": x // y, "r": x % y} if y else {}),
    "CeilDiv": (("x", "y"), lambda x, y: {"q": -(-x // y)} if x >= 0 < y else {}),
    "Absolute": (("x",), lambda x: {"z": abs(x)}),
    "Gcd": (("x", "y"), lambda x, y: {"z": math.gcd(x, y)}),
    "Lcm": (("x", "y"), lambda x, y: {"z": math.lcm(x, y)}),
}


SINGLE = ("x", "y", "z", "q", "r", "d", "index", "capacity")
LISTS = ("xs", "ys", "variables", "successors", "counts", "widths", "heights", *TASKS)


def scope(arguments: Arguments) -> list[int]:
    """The variables of a constraint, each once."""
    found = {v for term in arguments.get("terms", ()) for v in term[1:]}
    found |= {v for _, v, _ in arguments.get("views", ())}
    for key in LISTS:
        found.update(arguments.get(key, ()))
    found.update(arguments[key] for key in SINGLE if key in arguments)
    found.update(one >> 1 for one in arguments.get("literals", ()))
    if "literal" in arguments:
        found.add(arguments["literal"] >> 1)
    return sorted(found)
