"""XCSP3 constraints on the order of values in a list: automata, decision diagrams, precedence."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from constrint import globals as g
from constrint.errors import ModelError
from constrint.expr import BoolExpr
from constrint.expr.functions import all_of, any_of
from constrint.frontends.xcsp3.numbers import shown
from constrint.frontends.xcsp3.reader import PartReader
from constrint.frontends.xcsp3.variables import text_of


def _transitions(reader: PartReader, node: Element) -> tuple[dict[str, int], list[tuple[int, int, int]]]:
    """Numbers of the states in order of appearance, and the transitions."""
    names: dict[str, int] = {}
    found = []
    for row in reader.tuples(node.find("transitions"), "transitions"):
        if len(row) != 3:
            raise ModelError(f"({shown(','.join(row))}) is not a transition: (state,value,state)")
        source = names.setdefault(row[0], len(names))
        found.append((source, reader.integer(row[1]), names.setdefault(row[2], len(names))))
    return names, found


def regular(reader: PartReader, node: Element) -> BoolExpr:
    """The condition that an automaton with one start state accepts the list."""
    names, transitions = _transitions(reader, node)

    def states(tag: str) -> list[int]:
        return [names.setdefault(word, len(names)) for word in text_of(node.find(tag)).split()]

    start = states("start")
    if len(start) != 1:
        raise ModelError(f"an automaton has one start, not {len(start)}")
    return g.regular(reader.listed(node), transitions, start[0], states("final"))


def mdd(reader: PartReader, node: Element) -> BoolExpr:
    """The condition that the list is a path of a decision diagram.

    The root is the first state of the first transition; the end is the state without transitions.
    """
    names, transitions = _transitions(reader, node)
    if not transitions:
        raise ModelError("a diagram needs transitions")
    left = {source for source, _, _ in transitions}
    ends = [end for end in names.values() if end not in left]
    return g.regular(reader.listed(node), transitions, transitions[0][0], ends)


def precedence(reader: PartReader, node: Element) -> BoolExpr:
    """The condition that each value first occurs after the one before it."""
    args, part = reader.listed(node), node.find("values")
    if part is None:
        values = reader.all_values(args)
    else:
        values = reader.integers(text_of(part))
    if not values:
        raise ModelError("precedence needs at least one value")
    covered = (
        [any_of([x == values[-1] for x in args])]
        if part is not None and part.get("covered") == "true"
        else []
    )
    return all_of([g.value_precede(values, args), *covered])
