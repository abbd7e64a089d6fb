"""Greatest and least entries of a list, and entries at an index, with ranks: any, the first or the last."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from xml.etree.ElementTree import Element

from constrint.errors import ModelError
from constrint.expr import BoolExpr, Const, IntExpr
from constrint.expr.functions import all_of, any_of, max_, min_
from constrint.frontends.xcsp3.numbers import shown
from constrint.frontends.xcsp3.reader import PartReader
from constrint.frontends.xcsp3.variables import text_of

RANKS = ("any", "first", "last")


def rank_of(node: Element) -> str:
    """The rank of an index: which of several places with the value it is."""
    rank = node.get("rank", "any")
    if rank not in RANKS:
        raise ModelError(f"the rank '{shown(rank)}' is not one of {', '.join(RANKS)}")
    return rank


def at_places(
    reader: PartReader, holds: Sequence[BoolExpr], rank: str, is_place: Callable[[int], BoolExpr]
) -> BoolExpr:
    """The condition that a place is where something holds: any such place, the first or the last.

    Args:
        reader: Counts the translation.
        holds: For each place whether it holds.
        rank: The rank.
        is_place: The condition on the number of a place.
    """
    many = len(holds)
    reader.combine(many, 4 if rank == "any" else 4 + many // 2)
    ways = []
    for place, one in enumerate(holds):
        others = {"any": [], "first": holds[:place], "last": holds[place + 1 :]}[rank]
        ways.append(all_of([is_place(place), one, *(~other for other in others)]))
    return any_of(ways)


def extreme(greatest: bool) -> Callable[[PartReader, Element], BoolExpr]:
    """The rule of <maximum> or <minimum>, whose <index> is a place of that value."""

    def rule(reader: PartReader, node: Element) -> BoolExpr:
        args, index, wanted = reader.listed(node), node.find("index"), node.find("condition")
        top = (max_ if greatest else min_)(args)
        parts = [] if wanted is None else [reader.compared(top, text_of(wanted))]
        if index is not None:
            chosen = reader.term(text_of(index)) - reader.attribute(node.find("list"), "startIndex")
            holds = [x == top for x in args]
            parts.append(at_places(reader, holds, rank_of(index), lambda place: chosen == place))
        if not parts:
            raise ModelError(f"<{node.tag}> needs a condition")
        return all_of(parts)

    return rule


def extreme_place(greatest: bool) -> Callable[[PartReader, Element], BoolExpr]:
    """The rule of <maximumArg> or <minimumArg>: a condition on the place of that value."""

    def rule(reader: PartReader, node: Element) -> BoolExpr:
        args, text = reader.listed(node), text_of(node.find("condition"))
        start = reader.attribute(node.find("list"), "startIndex")
        top = (max_ if greatest else min_)(args)
        holds = [x == top for x in args]
        return at_places(
            reader, holds, rank_of(node), lambda place: reader.compared(Const(place + start), text)
        )

    return rule


def ranked_entry(
    reader: PartReader,
    entries: Sequence[IntExpr],
    index: IntExpr,
    rank: str,
    wanted: Callable[[IntExpr], BoolExpr],
) -> BoolExpr:
    """The condition that the index is the first or the last place whose entry is as wanted."""
    return at_places(reader, [wanted(x) for x in entries], rank, lambda place: index == place)
