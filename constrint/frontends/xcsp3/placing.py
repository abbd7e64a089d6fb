"""XCSP3 constraints on positions in time, in space, in bins and on a circuit."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element

from constrint import globals as g
from constrint.errors import ModelError
from constrint.expr import BoolExpr, Comparison, Const, Implies, IntExpr
from constrint.expr.functions import all_of, any_of, sum_
from constrint.frontends.xcsp3.numbers import shown
from constrint.frontends.xcsp3.reader import PartReader
from constrint.frontends.xcsp3.variables import text_of


def channel(reader: PartReader, node: Element) -> BoolExpr:
    """Positions of the values of one list in another, or of the one value that is 1."""
    lists = node.findall("list")
    value = node.find("value")
    starts = [reader.attribute(part, "startIndex") for part in lists]
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
    reader.combine(len(small) * len(large), 7)
    inside = [(x >= starts[1]) & (x < starts[1] + len(large)) for x in small]
    return all_of(
        [
            *inside,
            *(
                Implies(Comparison("==", x, Const(j)), Comparison("==", y, Const(i)))
                for i, x in enumerate(small, starts[0])
                for j, y in enumerate(large, starts[1])
            ),
        ]
    )


def no_overlap(reader: PartReader, node: Element) -> BoolExpr:
    """Tasks or boxes that do not overlap; those without length may, unless `zeroIgnored` is "false"."""
    origins, lengths = text_of(node.find("origins")), text_of(node.find("lengths"))
    keep_zero = node.get("zeroIgnored") == "false"
    if "(" not in origins:
        starts, durations = reader.terms(origins), reader.terms(lengths)
        if keep_zero:
            return g.no_overlap(starts, durations)
        return g.cumulative(starts, durations, [Const(1)] * len(starts), Const(1))
    corners, sizes = reader.term_rows(origins, "origins"), reader.term_rows(lengths, "lengths")
    if len({*map(len, corners), *map(len, sizes)}) != 1 or len(corners) != len(sizes):
        raise ModelError("each box needs an origin and a length in every direction")
    reader.combine(len(corners) * (len(corners) - 1) // 2, 12 * len(corners[0]))
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


def cumulative(reader: PartReader, node: Element) -> BoolExpr:
    """Tasks whose demands never exceed a capacity."""
    starts = reader.terms(text_of(node.find("origins")))
    lengths = reader.terms(text_of(node.find("lengths")))
    heights = reader.terms(text_of(node.find("heights")))
    text = text_of(node.find("condition"))
    operator, operand = reader.condition_parts(text)
    if operator not in ("le", "lt"):
        raise ModelError(f"cumulative: the condition {shown(text)} is not supported: only le and lt are")
    capacity = reader.term(operand) - (operator == "lt")
    parts = [g.cumulative(starts, lengths, heights, capacity)]
    ends = node.find("ends")
    if ends is not None:
        finished = reader.terms(text_of(ends))
        _same_lengths(origins=starts, ends=finished)
        parts += [s + d == e for s, d, e in zip(starts, lengths, finished, strict=True)]
    return all_of(parts)


def bin_packing(reader: PartReader, node: Element) -> BoolExpr:
    """Loads of bins: given by a condition, by limits or by variables."""
    bins, sizes = reader.listed(node), reader.integers(text_of(node.find("sizes")))
    _same_lengths(list=bins, sizes=sizes)
    wanted, limits, loads = node.find("condition"), node.find("limits"), node.find("loads")
    if limits is None and loads is None:
        places = reader.all_values(bins)
        reader.combine(len(places) * len(bins), 4)
        return all_of([reader.compared(_load(bins, sizes, i), text_of(wanted)) for i in places])
    bounds = reader.terms(text_of(limits if loads is None else loads))
    reader.combine(len(bounds) * len(bins), 4)
    inside = [(one >= 0) & (one < len(bounds)) for one in bins]
    if loads is not None:
        return g.bin_packing(bins, sizes, bounds)
    return all_of([*inside, *(_load(bins, sizes, i) <= most for i, most in enumerate(bounds))])


def _load(bins: Sequence[IntExpr], sizes: Sequence[int], place: int) -> IntExpr:
    return sum_([size * (one == place) for one, size in zip(bins, sizes, strict=True)])


def knapsack(reader: PartReader, node: Element) -> BoolExpr:
    """Weights and profits, each under a condition."""
    args = reader.listed(node)
    conditions = node.findall("condition")
    if len(conditions) != 2:
        raise ModelError(
            f"a knapsack has two conditions, of its weight and its profit, not {len(conditions)}"
        )
    parts = []
    for tag, one in zip(("weights", "profits"), conditions, strict=True):
        factors = reader.integers(text_of(node.find(tag)))
        lists: dict[str, Sequence[object]] = {"list": args, tag: factors}
        _same_lengths(**lists)
        total = sum_([a * x for a, x in zip(factors, args, strict=True)])
        parts.append(reader.compared(total, text_of(one)))
    return all_of(parts)


def _same_lengths(**lists: Sequence[object]) -> None:
    if len({len(part) for part in lists.values()}) > 1:
        said = " and ".join([f"{len(part)} entries in <{tag}>" for tag, part in lists.items()])
        raise ModelError(f"the lists must have one length, not {said}")


def circuit(reader: PartReader, node: Element) -> BoolExpr:
    """The condition that the successors form a circuit of at least two places; fixed points are not on it."""
    start = reader.attribute(node.find("list"), "startIndex")
    args = [x - start for x in reader.listed(node)]
    size = node.find("size")
    length = sum_([1 * (x != i) for i, x in enumerate(args)])
    parts: list[BoolExpr] = [g.subcircuit(args), length >= 2]
    if size is not None:
        parts.append(length == reader.term(text_of(size)))
    return all_of(parts)
