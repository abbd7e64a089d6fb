"""Constraints as extremes (`extremes.py`): the entries of which one is at least a bound."""

from __future__ import annotations

from collections.abc import Sequence

from constrint.propagators import Absolute, Maximum, Minimum, Selection

Atom = tuple[int, int]
Entry = tuple[int, Atom | None]  # a bound, and the condition under which it counts
Extreme = tuple[int, list[Entry]]  # a bound, and the entries of which one is at least that

NO_VARIABLE = (-1, 0)  # stands for an atom that no variable has


def reached(node: Maximum | Minimum | Absolute) -> list[Extreme]:
    """An extreme that one of its arguments reaches; none where its variable is among these."""
    side = int(isinstance(node, Minimum))
    if isinstance(node, Absolute):
        entries = [2 * node.x, 2 * node.x + 1]
    else:
        entries = [2 * x + side for x in node.xs]
    if any(b >> 1 == node.z for b in entries):
        return []
    return [(2 * node.z + side, [(b, None) for b in entries])]


def selected(node: Selection, places: Sequence[Atom | bool]) -> list[Extreme]:
    """A selected entry is at least, and at most, the result; none where a place has no atom.

    That each place fixes the result is stated by the parts of the constraint.

    Args:
        node: The constraint.
        places: By entry, the atom that it is selected.
    """
    entries: list[tuple[int, Atom | None]] = []
    for here, x in zip(places, node.xs, strict=True):
        if here == NO_VARIABLE:
            return []
        if not isinstance(here, bool):
            entries.append((x, here))
        elif here:
            entries.append((x, None))
    numbers = {x for x, _ in entries}
    conditions = {condition[0] >> 1 for _, condition in entries if condition is not None}
    if not entries or node.z in numbers | conditions or numbers & conditions:
        return []
    return [(2 * node.z + side, [(2 * x + side, condition) for x, condition in entries]) for side in (0, 1)]
