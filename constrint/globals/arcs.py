"""Graphs whose arcs have literals: `arc_circuit`, which `circuit` is given arcs, `routes`, and `along`."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from constrint.errors import ModelError
from constrint.expr import (
    And,
    BoolConst,
    BoolExpr,
    Comparison,
    Const,
    IfThenElse,
    IntExpr,
    IntLike,
    Or,
    linear,
    placed,
)
from constrint.expr.build import as_bool, as_expr
from constrint.expr.builders import all_of, implies
from constrint.expr.global_expr import Definition, Field, Relation
from constrint.globals.posting import require_all
from constrint.globals.truths import conditions_of
from constrint.propagators import Arcs
from constrint.propagators.arcs import NO_DEPOT, are_routes
from constrint.support.arguments import integer
from constrint.support.deadline import watched

if TYPE_CHECKING:
    from constrint.lowering.conditions import Lowering

__all__ = ["along", "arc_circuit", "routes"]

Pairs = tuple[tuple[int, int], ...]
Exprs = tuple[IntExpr, ...]
GivenArcs: TypeAlias = Iterable[tuple[Hashable, Hashable, object]]
"""Arcs as (tail, head, literal); nodes are any hashable labels."""
Label = TypeVar("Label", bound=Hashable)
Values: TypeAlias = Mapping[Label, IntLike] | Sequence[IntLike]
"""A value for each label; a list, where labels are 0, 1, …."""


def _nodes(arcs: Pairs) -> list[int]:
    return sorted({node for arc in arcs for node in arc})


def _conditions(name: str, literals: Exprs) -> tuple[BoolExpr, ...]:
    try:
        return conditions_of(literals)
    except ModelError as error:
        raise ModelError(f"{name}: the literals of arcs are conditions: {error}") from None


def _check(name: str, arcs: Pairs, literals: Exprs, depot: int | None = None) -> None:
    """Raise `ModelError` for what is no graph of arcs with literals."""
    loops: set[int] = set()
    for arc in arcs:
        if len(arc) != 2:
            raise ModelError(f"{name}: an arc has a tail and a head, not {list(arc)}")
        if arc[0] == arc[1]:
            if arc[0] == depot:
                raise ModelError(
                    f"{name}: no arc leads from the depot {depot} to itself: it is never left out"
                )
            if arc[0] in loops:
                raise ModelError(f"{name}: two arcs lead from node {arc[0]} to itself: join them by `|`")
            loops.add(arc[0])
    if depot is not None and not any(depot in arc for arc in arcs):
        raise ModelError(f"{name}: no arc leaves or enters the depot {depot}")
    _conditions(name, literals)


def _taken(arcs: Pairs, literals: Sequence[int]) -> list[tuple[int, int]]:
    return [arc for arc, literal in zip(arcs, literals, strict=True) if literal]


def _degrees(arcs: Pairs, literals: Sequence[BoolExpr], depot: int | None) -> list[BoolExpr]:
    """Exactly one true arc leaves and enters each node but the depot."""
    ends: dict[tuple[int, int], list[BoolExpr]] = {}
    for (tail, head), literal in zip(arcs, literals, strict=True):
        ends.setdefault((tail, 0), []).append(literal)
        ends.setdefault((head, 1), []).append(literal)
    return [
        Comparison("==", linear([(1, literal) for literal in ends.get((node, side), [])]), Const(1))
        for node in _nodes(arcs)
        if node != depot
        for side in (0, 1)
    ]


def _after(arcs: Pairs, literals: Sequence[BoolExpr], node: int, place: Mapping[int, int]) -> IntExpr:
    """The place of the node after a node with exactly one true arc."""
    entered = zip(arcs, literals, strict=True)
    return linear([(place[head], literal) for (tail, head), literal in entered if tail == node])


def entry_at(entries: Sequence[IntExpr], index: IntExpr) -> IntExpr:
    """The entry at an index, which is one of the places."""
    found = entries[-1]
    for i in range(len(entries) - 2, -1, -1):
        found = IfThenElse(Comparison("==", index, Const(i)), entries[i], found)
    return found


def _lead_back(arcs: Pairs, literals: Exprs, depot: int | None) -> BoolExpr:
    """Degrees, and where the walk from each node is after as many steps as there are nodes, or more.

    With a depot, every node that is not left out leads to it. Without one, it takes the first node that is
    not left out in its place.
    """
    conditions = conditions_of(literals)
    nodes = _nodes(arcs)
    place = {node: i for i, node in enumerate(nodes)}
    count = len(nodes)
    after = [Const(place[node]) if node == depot else _after(arcs, conditions, node, place) for node in nodes]
    is_out: list[BoolExpr] = [
        Comparison("==", after[i], Const(i)) if node != depot else BoolConst(False)
        for i, node in enumerate(nodes)
    ]
    goal: IntExpr
    if depot is not None:
        goal = Const(place[depot])
    else:
        goal = Const(count - 1)
        for i in range(count - 2, -1, -1):
            goal = IfThenElse(is_out[i], goal, Const(i))
        after = [IfThenElse(Comparison("==", goal, Const(i)), goal, one) for i, one in enumerate(after)]
    steps = 1
    while steps < count:
        after = [entry_at(after, one) for one in watched(after)]
        steps *= 2
    reached = [Or((is_out[i], Comparison("==", after[i], goal))) for i in range(count)]
    return And((*_degrees(arcs, conditions, depot), *reached))


def _post(lowering: Lowering, arcs: Pairs, literals: Exprs, depot: int | None) -> None:
    conditions = conditions_of(literals)
    require_all(lowering, _degrees(arcs, conditions, depot))
    place = {node: i for i, node in enumerate(_nodes(arcs))}
    joined: dict[tuple[int, int], list[BoolExpr]] = {}
    for (tail, head), condition in zip(arcs, conditions, strict=True):
        joined.setdefault((place[tail], place[head]), []).append(condition)
    listed = [
        (*ends, lowering.literal(lowering.kept(parallel[0] if len(parallel) == 1 else Or(tuple(parallel)))))
        for ends, parallel in sorted(joined.items(), key=itemgetter(0))
    ]
    if listed:
        tails, heads, chosen = zip(*listed, strict=True)
        at = NO_DEPOT if depot is None else place[depot]
        lowering.problem.propagators.append(Arcs(len(place), tails, heads, chosen, at))


ARC_CIRCUIT = Definition(
    "arc_circuit",
    (Field("arcs", "rows"), Field("literals", "exprs")),
    lambda arcs, literals: are_routes(_taken(arcs, literals), _nodes(arcs)),
    lambda arcs, literals: _lead_back(arcs, literals, None),
    lambda lowering, arcs, literals: _post(lowering, arcs, literals, None),
    lambda arcs, literals: _check("arc_circuit", arcs, literals),
    equal="arcs literals",
)

ROUTES = Definition(
    "routes",
    (Field("arcs", "rows"), Field("literals", "exprs"), Field("depot", "int")),
    lambda arcs, literals, depot: are_routes(_taken(arcs, literals), _nodes(arcs), depot),
    lambda arcs, literals, depot: _lead_back(arcs, literals, depot),
    lambda lowering, arcs, literals, depot: _post(lowering, arcs, literals, depot),
    lambda arcs, literals, depot: _check("routes", arcs, literals, depot),
    equal="arcs literals",
)


def are_arcs(values: object) -> bool:
    """Whether a list has triples, as arcs with literals are given."""
    return (
        isinstance(values, list | tuple)
        and bool(values)
        and all(isinstance(one, tuple | list) and len(one) == 3 for one in values)
    )


def _read(given: GivenArcs, name: str, depot: Hashable = None) -> tuple[Pairs, Exprs, dict[Any, int]]:
    """Arcs by numbers of nodes, their literals, and the number of each label: itself, if all are integers."""
    listed = list(given)
    for arc in listed:
        if not isinstance(arc, tuple | list) or len(arc) != 3:
            raise ModelError(f"{name}: an arc is (tail, head, literal), not {arc!r}")
    labels = dict.fromkeys([label for tail, head, _ in listed for label in (tail, head)])
    if depot is not None and depot not in labels:
        raise ModelError(f"{name}: no arc leaves or enters the depot {depot!r}")
    integers = {label: label for label in labels if isinstance(label, int) and not isinstance(label, bool)}
    number: dict[Any, int] = {label: i for i, label in enumerate(labels)}
    if len(integers) == len(labels):
        number.update(integers)
    literals = _conditions(name, tuple([as_expr(cast(IntLike, literal)) for _, _, literal in listed]))
    return tuple([(number[tail], number[head]) for tail, head, _ in listed]), literals, number


def arc_circuit(arcs: GivenArcs) -> BoolExpr:
    """The condition that the true ones among arcs `(tail, head, literal)` form one cycle.

    The cycle passes through all nodes but those with a true arc to themselves, which are left out; if all
    are, there is none. `circuit` does the same if it is given arcs. Chains do not close early (Caseau and
    Laburthe, ICLP 1997), and every node is reachable: O(nodes + arcs). Negated, or as a truth value, it
    follows the walks from all nodes by repeated squaring, O(n² log n) conditions.
    """
    pairs, literals, _ = _read(arcs, "circuit")
    return placed(Relation(ARC_CIRCUIT, ARC_CIRCUIT.checked((pairs, literals))))


def routes(arcs: GivenArcs, depot: Hashable = 0, vehicles: IntLike | None = None) -> BoolExpr:
    """The condition that the true ones among arcs `(tail, head, literal)` are routes from a depot and back.

    Each other node is on exactly one route, unless a true arc from it to itself leaves it out.

    Args:
        arcs: The arcs; nodes are integers or any other hashable labels.
        depot: The node where all routes begin and end.
        vehicles: The number of routes; by default any. A variable gives a range.

    Propagation is that of `arc_circuit`. What vehicles carry, and when they are where, is said by `along`.
    """
    pairs, literals, number = _read(arcs, "routes", depot)
    found = placed(Relation(ROUTES, ROUTES.checked((pairs, literals, number[depot]))))
    if vehicles is None:
        return found
    leaving = [(1, one) for (tail, _), one in zip(pairs, literals, strict=True) if tail == number[depot]]
    return found & (linear(leaving) == vehicles)


def along(
    arcs: GivenArcs,
    values: Values[Label],
    steps: Values[tuple[Label, Label]],
    depot: Hashable = None,
) -> BoolExpr:
    """The condition that a value grows along true arcs, such as a load or a time.

    For each true arc, `values[head] >= values[tail] + step`. Arcs into the depot, and from a node to itself,
    are free.

    Args:
        arcs: Arcs `(tail, head, literal)`, as for `routes`.
        values: The value at each node, by its label: a mapping, or a list where nodes are 0, 1, …. A depot
            without a value starts at 0.
        steps: The least step along each arc: a list in the order of the arcs, or a mapping by `(tail, head)`.
        depot: The depot of `routes`; by default, none.
    """
    listed = list(arcs)
    _read(listed, "along", depot)
    if not isinstance(steps, Mapping) and len(steps) != len(listed):
        raise ModelError(f"along: there are {len(listed)} arcs and {len(steps)} steps")
    parts: list[BoolExpr] = []
    for place, (tail, head, literal) in enumerate(listed):
        if head in (depot, tail):
            continue
        step = _given(steps, (tail, head) if isinstance(steps, Mapping) else place, "a step for the arc")
        start = 0 if tail == depot and not _has(values, tail) else _given(values, tail, "a value for node")
        grows = as_expr(_given(values, head, "a value for node")) >= as_expr(start) + step
        parts.append(implies(as_bool(literal), grows))
    return all_of(parts)


def _has(values: Values[Any], key: Any) -> bool:
    if isinstance(values, Mapping):
        return key in values
    return isinstance(key, int) and 0 <= key < len(values)


def _given(values: Values[Any], key: Any, what: str) -> IntLike:
    if not isinstance(values, Mapping):
        integer(key, "a node, where values are a list,")
    if not _has(values, key):
        raise ModelError(f"along: {what} {key!r} is missing")
    return values[key]
