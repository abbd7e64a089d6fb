"""XCSP3 constraints on places in time, in space, in bins and on a circuit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree.ElementTree import Element

from constrint import globals as g
from constrint.errors import ModelError
from constrint.expr import BoolExpr, Const, IntExpr
from constrint.expr.functions import all_of, any_of, sum_
from constrint.frontends.xcsp3.reader import Reader, values_of
from constrint.frontends.xcsp3.variables import integers, text_of


def channel(reader: Reader, node: Element) -> BoolExpr:
    """Positions of one list in another, or of the one that is 1."""
    lists = node.findall("list")
    value = node.find("value")
    starts = [int(part.get("startIndex") or 0) for part in lists]
    if value is not None:
        args, chosen = reader.listed(node), reader.term(text_of(value))
        indicators = [x.iff(chosen == i) if isinstance(x, BoolExpr) else (x == 1).iff(chosen == i)
                      for i, x in enumerate(args, starts[0] if starts else 0)]  # fmt: skip
        return all_of([*indicators, sum_(args) == 1])
    if len(lists) < 2:
        args = reader.listed(node)
        start = starts[0] if starts else 0
        return g.inverse([x - start for x in args], [x - start for x in args])
    first, second = (reader.terms(text_of(part)) for part in lists)
    if len(first) == len(second):
        return g.inverse([x - starts[1] for x in first], [y - starts[0] for y in second])
    small, large = (first, second) if len(first) < len(second) else (second, first)
    if small is second:
        starts = starts[::-1]
    inside = [(x >= starts[1]) & (x < starts[1] + len(large)) for x in small]
    return all_of(
        [
            *inside,
            *(
                (x == j).implies(y == i)
                for i, x in enumerate(small, starts[0])
                for j, y in enumerate(large, starts[1])
            ),
        ]
    )


def no_overlap(reader: Reader, node: Element) -> BoolExpr:
    """Tasks or boxes of which no two overlap; without length they may, unless `zeroIgnored` is "false"."""
    origins, lengths = text_of(node.find("origins")), text_of(node.find("lengths"))
    keep_zero = node.get("zeroIgnored") == "false"
    if "(" not in origins:
        starts, durations = reader.terms(origins), reader.terms(lengths)
        if keep_zero:
            return g.no_overlap(starts, durations)
        return g.cumulative(starts, durations, [Const(1)] * len(starts), Const(1))
    corners = [reader.terms(row.replace(",", " ")) for row in re.findall(r"\(([^()]*)\)", origins)]
    sizes = [reader.terms(row.replace(",", " ")) for row in re.findall(r"\(([^()]*)\)", lengths)]
    pairs = [(i, j) for i in range(len(corners)) for j in range(i)]
    return all_of([_apart(corners, sizes, i, j, keep_zero) for i, j in pairs])


def _apart(
    corners: Sequence[Sequence[IntExpr]], sizes: Sequence[Sequence[IntExpr]], i: int, j: int, keep_zero: bool
) -> BoolExpr:
    sides = [
        side
        for a, b, u, v in zip(corners[i], corners[j], sizes[i], sizes[j], strict=True)
        for side in (a + u <= b, b + v <= a)
    ]
    if not keep_zero:
        sides += [size == 0 for size in (*sizes[i], *sizes[j])]
    return any_of(sides)


def cumulative(reader: Reader, node: Element) -> BoolExpr:
    """Tasks whose demands never exceed a capacity."""
    starts = reader.terms(text_of(node.find("origins")))
    lengths = reader.terms(text_of(node.find("lengths")))
    heights = reader.terms(text_of(node.find("heights")))
    text = text_of(node.find("condition"))
    match = re.fullmatch(r"\s*\(\s*(\w+)\s*,(.*)\)\s*", text)
    if match is None or match[1] not in ("le", "lt"):
        raise ModelError(f"cumulative: the condition {text} is not supported: only le and lt are")
    capacity = reader.term(match[2]) - (match[1] == "lt")
    parts = [g.cumulative(starts, lengths, heights, capacity)]
    ends = node.find("ends")
    if ends is not None:
        finished = reader.terms(text_of(ends))
        parts += [s + d == e for s, d, e in zip(starts, lengths, finished, strict=True)]
    return all_of(parts)


def bin_packing(reader: Reader, node: Element) -> BoolExpr:
    """Loads of bins, by a condition, by limits or by variables."""
    bins, sizes = reader.listed(node), integers(text_of(node.find("sizes")))
    wanted, limits, loads = node.find("condition"), node.find("limits"), node.find("loads")
    if limits is None and loads is None:
        places = sorted({value for one in bins for value in values_of(one)})
        return all_of([reader.compared(_load(bins, sizes, i), text_of(wanted)) for i in places])
    bounds = reader.terms(text_of(limits if loads is None else loads))
    inside = [(one >= 0) & (one < len(bounds)) for one in bins]
    if loads is not None:
        return g.bin_packing(bins, sizes, bounds)
    return all_of([*inside, *(_load(bins, sizes, i) <= most for i, most in enumerate(bounds))])


def _load(bins: Sequence[IntExpr], sizes: Sequence[int], place: int) -> IntExpr:
    return sum_([size * (one == place) for one, size in zip(bins, sizes, strict=True)])


def knapsack(reader: Reader, node: Element) -> BoolExpr:
    """Weights and profits under a condition each."""
    args = reader.listed(node)
    conditions = node.findall("condition")
    totals = [
        sum_([a * x for a, x in zip(integers(text_of(node.find(tag))), args, strict=True)])
        for tag in ("weights", "profits")
    ]
    return all_of(
        [reader.compared(total, text_of(one)) for total, one in zip(totals, conditions, strict=True)]
    )


def circuit(reader: Reader, node: Element) -> BoolExpr:
    """Places that point to themselves are not on the circuit, which has at least two places."""
    holder = node.find("list")
    start = int((holder.get("startIndex") if holder is not None else None) or 0)
    args = [x - start for x in reader.listed(node)]
    size = node.find("size")
    n = len(args)
    on = [x != i for i, x in enumerate(args)]
    length = sum_([1 * one for one in on])
    # A partial circuit: one cycle over the places that are on it. Positions along it count from the first
    # of them, so each step to a place that is not the first counts one more.
    first = [all_of([one, *(~other for other in on[:i])]) for i, one in enumerate(on)]
    parts: list[BoolExpr] = [g.all_different(args), length >= 2, *((x >= 0) & (x < n) for x in args)]
    parts.append(_one_cycle(args, on, first))
    if size is not None:
        parts.append(length == reader.term(text_of(size)))
    return all_of(parts)


def _one_cycle(args: Sequence[IntExpr], on: Sequence[BoolExpr], first: Sequence[BoolExpr]) -> BoolExpr:
    """Following the circuit from its first place meets every place that is on it."""
    n = len(args)
    reached: list[BoolExpr] = list(first)
    for _ in range(n - 1):
        reached = [
            any_of([reached[j], *(reached[i] & (args[i] == j) for i in range(n) if i != j)]) for j in range(n)
        ]
    return all_of([one.implies(there) for one, there in zip(on, reached, strict=True)])
