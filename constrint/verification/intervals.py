"""Bounds by a constraint that is a function: of its value, and of some arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from constrint.verification.bounds import Bounds, Contradiction
from constrint.verification.linear_rows import least, negative
from constrint.verification.meanings import Arguments

Interval: TypeAlias = tuple[int, int]


class Partial(Exception):  # noqa: N818 - an answer, not a fault
    """A definition has no value for some values of its arguments."""


def _hull(bounds: Bounds, v: int) -> Interval:
    return bounds.low[v], bounds.high[v]


def _product(arguments: Arguments, bounds: Bounds) -> dict[int, Interval]:
    corners = [a * b for a in _hull(bounds, arguments["x"]) for b in _hull(bounds, arguments["y"])]
    return {arguments["z"]: (min(corners), max(corners))}


def _power(arguments: Arguments, bounds: Bounds) -> dict[int, Interval]:
    (low, high), (least_, most) = _hull(bounds, arguments["x"]), _hull(bounds, arguments["y"])
    if least_ < 0:
        raise Partial
    base = max(abs(low), abs(high))
    if most * base.bit_length() > _MOST_BITS:
        raise Partial
    top = max(1, base**most)
    return {arguments["z"]: (0 if low >= 0 else -top, top)}


_MOST_BITS = 1 << 20


def _needs_divisor(arguments: Arguments, bounds: Bounds) -> None:
    if bounds.may_be(arguments["y"], 0):
        raise Partial


def _divmod(arguments: Arguments, bounds: Bounds) -> dict[int, Interval]:
    _needs_divisor(arguments, bounds)
    most = max(abs(x) for x in _hull(bounds, arguments["x"]))
    low, high = _hull(bounds, arguments["y"])
    rest = min(0, low + 1), max(0, high - 1)
    return {arguments["q"]: (-most - 1, most + 1), arguments["r"]: rest}


def _ceildiv(arguments: Arguments, bounds: Bounds) -> dict[int, Interval]:
    if bounds.low[arguments["x"]] < 0 or bounds.low[arguments["y"]] < 1:
        raise Partial
    return {arguments["q"]: (0, bounds.high[arguments["x"]])}


def _quotient(arguments: Arguments, bounds: Bounds) -> dict[int, Interval]:
    if arguments["divisor"] < 1:
        raise Partial
    terms, constant = arguments["terms"], arguments["constant"]
    low, high = least(bounds, terms), -least(bounds, negative(terms))
    divisor = arguments["divisor"]
    return {arguments["q"]: ((low + constant) // divisor, (high + constant) // divisor)}


def _absolute(arguments: Arguments, bounds: Bounds) -> dict[int, Interval]:
    return {arguments["z"]: (0, max(abs(x) for x in _hull(bounds, arguments["x"])))}


def _extreme(choose: Callable[..., int]) -> Callable[[Arguments, Bounds], dict[int, Interval]]:
    def of(arguments: Arguments, bounds: Bounds) -> dict[int, Interval]:
        xs = arguments["xs"]
        if not xs:
            raise Partial
        return {arguments["z"]: (choose(bounds.low[x] for x in xs), choose(bounds.high[x] for x in xs))}

    return of


def _gcd(arguments: Arguments, bounds: Bounds) -> dict[int, Interval]:
    most = max(abs(x) for key in ("x", "y") for x in _hull(bounds, arguments[key]))
    return {arguments["z"]: (0, most)}


def _lcm(arguments: Arguments, bounds: Bounds) -> dict[int, Interval]:
    x, y = (max(map(abs, _hull(bounds, arguments[key]))) for key in ("x", "y"))
    return {arguments["z"]: (0, x * y)}


def _chosen(arguments: Arguments, bounds: Bounds, key: str) -> list[int]:
    """The entries that an index may select."""
    low, high = _hull(bounds, arguments["index"])
    if low < 0 or high >= len(arguments[key]):
        raise Partial
    left: list[int] = arguments[key][low : high + 1]
    return left


def _element(arguments: Arguments, bounds: Bounds) -> dict[int, Interval]:
    left = _chosen(arguments, bounds, "table")
    return {arguments["z"]: (min(left), max(left))}


def _selection(arguments: Arguments, bounds: Bounds) -> dict[int, Interval]:
    left = _chosen(arguments, bounds, "xs")
    return {arguments["z"]: (min(bounds.low[x] for x in left), max(bounds.high[x] for x in left))}


REACHED: dict[str, Callable[[Arguments, Bounds], dict[int, Interval]]] = {
    "Product": _product,
    "Power": _power,
    "DivMod": _divmod,
    "CeilDiv": _ceildiv,
    "Quotient": _quotient,
    "Absolute": _absolute,
    "Maximum": _extreme(max),
    "Minimum": _extreme(min),
    "Gcd": _gcd,
    "Lcm": _lcm,
    "Element": _element,
    "Selection": _selection,
}
"""The least and greatest value of each variable that a constraint of a kind defines."""


def by_difference(bounds: Bounds, views: list[list[int]]) -> None:
    """Known values of ``a * v + b`` exclude the ends of the others that all differ from them."""
    is_moving = True
    while is_moving:
        is_moving = False
        known: set[int] = set()
        for a, v, b in views:
            if bounds.is_fixed(v):
                if a * bounds.low[v] + b in known:
                    raise Contradiction
                known.add(a * bounds.low[v] + b)
        for a, v, b in views:
            while not bounds.is_fixed(v) and a * bounds.low[v] + b in known:
                bounds.at_least(v, bounds.low[v] + 1)
                is_moving = True
            while not bounds.is_fixed(v) and a * bounds.high[v] + b in known:
                bounds.at_most(v, bounds.high[v] - 1)
                is_moving = True


def by_interval(bounds: Bounds, name: str, arguments: Arguments) -> None:
    """The bounds that a constraint gives without listing what it allows."""
    if name not in REACHED:
        return
    try:
        found = REACHED[name](arguments, bounds)
    except Partial:
        return
    for v, (low, high) in found.items():
        bounds.at_least(v, low)
        bounds.at_most(v, high)
    if name in ("Maximum", "Minimum"):
        z = arguments["z"]
        for x in arguments["xs"]:
            if name == "Maximum":
                bounds.at_most(x, bounds.high[z])
            else:
                bounds.at_least(x, bounds.low[z])
    elif name == "Absolute":
        most = bounds.high[arguments["z"]]
        bounds.at_least(arguments["x"], -most)
        bounds.at_most(arguments["x"], most)
    elif name == "Product" and arguments["x"] != arguments["y"]:
        for x, y in ((arguments["x"], arguments["y"]), (arguments["y"], arguments["x"])):
            _divide(bounds, x, y, arguments["z"])


def _divide(bounds: Bounds, x: int, y: int, z: int) -> None:
    """The bounds of a factor that is not negative, where the other one is positive."""
    low, high = bounds.low[y], bounds.high[y]
    if low > 0 and bounds.low[z] >= 0:
        bounds.at_least(x, -(-bounds.low[z] // high))
        bounds.at_most(x, bounds.high[z] // low)
