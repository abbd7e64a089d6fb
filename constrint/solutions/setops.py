"""Union, intersection and difference of solution sets, for any orders and components.

Both sets are first brought to the numbers and codes of the left one. Components that neither set connects
stay apart: an intersection is a product of intersections, and unions and differences are confined to the
components in which the sets differ. Within a component, the right set is reordered to the left set's order,
or the left set to the right's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from constrint.diagrams import merge
from constrint.diagrams.diagram import Diagram, Layer
from constrint.diagrams.layers import EdgeBudget, TooLargeDiagram
from constrint.diagrams.reorder import reordered
from constrint.diagrams.terms import Array
from constrint.errors import LimitError, ModelError

Table = Mapping[Any, object]
"""The values that the codes of a variable stand for."""
EXACT_FLOAT = 1 << 53


@dataclass(frozen=True)
class Side:
    """A set as an operand.

    Attributes:
        names: Its variables.
        diagrams: Its diagrams.
        tables: By number, the table of each variable whose codes are not its values.
    """

    names: Sequence[str]
    diagrams: Sequence[Diagram]
    tables: Mapping[int, Table]


def combined(left: Side, right: Side, keep: merge.Chooser) -> tuple[list[Diagram], dict[int, Table]]:
    """The solutions that `keep` selects; no diagram if there are none.

    Args:
        left: One set; it has at least one solution.
        right: The other, over the same variables; it has at least one solution.
        keep: Whether solutions are kept, given whether the left and the right set have them, as arrays of
            Booleans.

    Returns:
        Diagrams in the numbers of the left set's names, and the tables of their codes.
    """
    ours, theirs, tables = _aligned(left, right)
    both = bool(keep(np.array([True]), np.array([True]))[0])
    one_side = [bool(keep(np.array([a]), np.array([not a]))[0]) for a in (True, False)]
    pairs = [_in_one_order(*group) for group in _groups(ours, theirs)]
    if both and not any(one_side):  # intersection
        found = [merge.combined(a, b, keep) for a, b in pairs]
        return (found if all(diagram.size for diagram in found) else []), tables
    same = [_equal(a, b) for a, b in pairs]
    shared = [a for (a, _), equal in zip(pairs, same, strict=True) if equal]
    others = [pair for pair, equal in zip(pairs, same, strict=True) if not equal]
    if not others:
        return (shared if both else []), tables
    changed = merge.combined(
        merge.chained([a for a, _ in others]), merge.chained([b for _, b in others]), keep
    )
    return ([*shared, changed] if changed.size else []), tables


def _equal(one: Diagram, other: Diagram) -> bool:
    """Whether two diagrams of the same order have the same solutions."""
    return one.size == other.size == merge.combined(one, other, np.logical_and).size


def _groups(ours: Sequence[Diagram], theirs: Sequence[Diagram]) -> list[tuple[list[Diagram], list[Diagram]]]:
    """Groups of diagrams of both sides that share variables, directly or through other diagrams."""
    groups: list[tuple[set[int], list[Diagram], list[Diagram]]] = []
    for side, diagrams in enumerate((ours, theirs)):
        for diagram in diagrams:
            variables = set(diagram.variables)
            touched = [group for group in groups if group[0] & variables]
            groups = [group for group in groups if not group[0] & variables]
            lists: tuple[list[Diagram], list[Diagram]] = ([], [])
            for group in touched:
                variables |= group[0]
                lists[0].extend(group[1])
                lists[1].extend(group[2])
            lists[side].append(diagram)
            groups.append((variables, *lists))
    return [(one, other) for _, one, other in groups]


def _in_one_order(ours: Sequence[Diagram], theirs: Sequence[Diagram]) -> tuple[Diagram, Diagram]:
    one, other = merge.chained(ours), merge.chained(theirs)
    try:
        return one, reordered(other, one.variables, EdgeBudget())
    except TooLargeDiagram:
        pass
    try:
        return reordered(one, other.variables, EdgeBudget()), other
    except TooLargeDiagram as problem:
        raise LimitError(
            "the sets order their variables differently, and in a common order one of "
            "them does not fit its memory limit. Add the constraints of both to one model instead"
        ) from problem


# Numbers and codes


def _aligned(left: Side, right: Side) -> tuple[list[Diagram], list[Diagram], dict[int, Table]]:
    """Both sides with the left set's numbers of variables and common codes."""
    number = {name: v for v, name in enumerate(left.names)}
    place = [number[name] for name in right.names]
    ours = list(left.diagrams)
    theirs = [Diagram([place[v] for v in d.variables], d.layers, d.counts) for d in right.diagrams]
    right_tables = {place[v]: table for v, table in right.tables.items()}
    tables: dict[int, Table] = {}
    for v, name in enumerate(left.names):
        one, other = left.tables.get(v), right_tables.get(v)
        if one is None and other is None:
            continue
        one = _plain(ours, v) if one is None else one
        other = _plain(theirs, v) if other is None else other
        if _is_numeric(one) and _is_numeric(other):
            merged = {**other, **one}
            _check_exact(name, merged)
            tables[v] = dict(sorted(merged.items()))
            continue
        tables[v], codes = _joined(one, other)
        ours = [_recoded(diagram, v, codes[0]) for diagram in ours]
        theirs = [_recoded(diagram, v, codes[1]) for diagram in theirs]
    return ours, theirs, tables


def _plain(diagrams: Sequence[Diagram], v: int) -> dict[object, object]:
    """The identity table of a variable whose codes are its values."""
    for diagram in diagrams:
        if v in diagram.variables:
            values = np.unique(diagram.layers[diagram.variables.index(v)].value).tolist()
            return dict(zip(values, values, strict=True))
    return {}


def _is_numeric(table: Table) -> bool:
    """Whether the codes are numbers that equal the values."""
    return all(isinstance(value, bool | int | float) and value == code for code, value in table.items())


def _check_exact(name: str, table: Table) -> None:
    if any(isinstance(value, float) for value in table.values()) and any(
        isinstance(value, int) and abs(value) > EXACT_FLOAT for value in table.values()
    ):
        raise ModelError(f"'{name}' has fractions in one set and integers beyond 2**53 in the other")


def _joined(
    one: Table, other: Table
) -> tuple[dict[int, object], tuple[dict[object, int], dict[object, int]]]:
    """One table for two, and the mapping from each one's old codes to the new codes."""
    labels = list(one.values())
    codes: tuple[dict[object, int], dict[object, int]] = ({code: i for i, code in enumerate(one)}, {})
    for code, label in other.items():
        place = next((i for i, known in enumerate(labels) if known == label), len(labels))
        if place == len(labels):
            labels.append(label)
        codes[1][code] = place
    return dict(enumerate(labels)), codes


def _recoded(diagram: Diagram, v: int, codes: Mapping[object, int]) -> Diagram:
    """The diagram with new codes for the values of a variable."""
    if v not in diagram.variables or all(old == new for old, new in codes.items()):
        return diagram
    k = diagram.variables.index(v)
    layer = diagram.layers[k]
    values, ids = np.unique(layer.value, return_inverse=True)
    changed: Array = np.array([codes[value] for value in values.tolist()], dtype=np.int64)[ids]
    order = np.lexsort((changed, layer.sources()))
    layers = list(diagram.layers)
    layers[k] = Layer(layer.first, changed[order], layer.target[order])
    return Diagram(diagram.variables, layers, diagram.counts)


KEPT: Mapping[str, Callable[[Array, Array], Array]] = {
    "union": np.logical_or,
    "intersection": np.logical_and,
    "difference": lambda left, right: left & ~right,
}
