"""Global constraints for which CP-SAT has a counterpart with the same meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from constrint import propagators as c
from constrint.frontends.cp_sat.rules import limit
from constrint.propagators.arcs import NO_DEPOT

if TYPE_CHECKING:
    from collections.abc import Callable

    from ortools.sat.python.cp_model_helper import Literal

    from constrint.backends.cp_sat import CpSatTranslation
    from constrint.propagators.handlers import Kind


def _all_different(
    t: CpSatTranslation, node: c.AllDifferent | c.AllDifferentBounds | c.AllDifferentDomain
) -> None:
    t.model.add_all_different([t.sum([(a, v)], b) for a, v, b in node.views])


def _equals(t: CpSatTranslation, v: int, value: int) -> Literal:
    """A Boolean variable that is true exactly if a variable has a value."""
    literal, value = t.model.new_bool_var(""), limit(value)
    t.model.add(t.variables[v] == value).only_enforce_if(literal)
    t.model.add(t.variables[v] != value).only_enforce_if(~literal)
    return literal


def _cardinality(t: CpSatTranslation, node: c.Cardinality) -> None:
    if node.closed:
        for v in node.variables:
            t.model.add_allowed_assignments(t.all([v]), [(limit(value),) for value in node.values])
    for value, count in zip(node.values, node.counts, strict=True):
        t.model.add(sum(_equals(t, v, value) for v in node.variables) == t.variables[count])


def _circuit(t: CpSatTranslation, node: c.Circuit) -> None:
    arcs = []
    n = len(node.successors)
    for i, v in enumerate(node.successors):
        t.model.add(t.variables[v] >= 0)
        t.model.add(t.variables[v] < n)
        for j in range(n):
            literal = _equals(t, v, j)
            if i != j:
                arcs.append((i, j, literal))
            elif n > 1:
                t.model.add(literal == 0)
    if arcs:
        t.model.add_circuit(arcs)


def _subcircuit(t: CpSatTranslation, node: c.Subcircuit) -> None:
    """A circuit in which the arc from a node to itself leaves the node out; it may be empty."""
    n = len(node.successors)
    arcs = []
    for i, v in enumerate(node.successors):
        t.model.add(t.variables[v] >= 0)
        t.model.add(t.variables[v] < n)
        arcs += [(i, j, _equals(t, v, j)) for j in range(n)]
    t.model.add_circuit(arcs)


def _arcs(t: CpSatTranslation, node: c.Arcs) -> None:
    """A circuit of arcs, or routes; CP-SAT's depot is node 0."""
    place = {node.depot: 0, 0: node.depot} if node.depot > 0 else {}
    ends = zip(node.tails, node.heads, node.literals, strict=True)
    arcs = [(place.get(i, i), place.get(j, j), t.literal(one)) for i, j, one in ends]
    if node.depot == NO_DEPOT:
        t.model.add_circuit(arcs)
    else:
        t.model.add_multiple_circuit(arcs)


def _short_table(t: CpSatTranslation, node: c.ShortTable) -> None:
    """A Boolean variable for each row: it is taken exactly if its entries are equal."""
    equal: dict[tuple[int, int], Literal] = {}
    rows = []
    for row in node.rows:
        entries = [(v, value) for v, value in zip(node.variables, row, strict=True) if value is not None]
        for entry in entries:
            if entry not in equal:
                equal[entry] = _equals(t, *entry)
        taken = t.model.new_bool_var("")
        literals = [equal[entry] for entry in entries]
        t.model.add_bool_or([taken, *[~literal for literal in literals]])
        for literal in literals:
            t.model.add_implication(taken, literal)
        rows.append(taken)
    literal = t.literal(node.literal)
    t.model.add_bool_or([~literal, *rows])
    for taken in rows:
        t.model.add_implication(taken, literal)


def _inverse(t: CpSatTranslation, node: c.Inverse) -> None:
    for v in (*node.xs, *node.ys):
        t.model.add(t.variables[v] >= 0)
        t.model.add(t.variables[v] < len(node.xs))
    t.model.add_inverse(t.all(node.xs), t.all(node.ys))


def _lexicographic(t: CpSatTranslation, node: c.Lexicographic) -> None:
    """At the first place where the lists may differ they are in order, or equal with the rest in order."""
    literal = t.literal(node.literal)
    _in_order(t, literal, node.xs, node.ys, node.strict)
    _in_order(t, literal.negated(), node.ys, node.xs, not node.strict)


def _in_order(
    t: CpSatTranslation, holds: Literal, xs: tuple[int, ...], ys: tuple[int, ...], strict: bool
) -> None:
    for v, w in zip(xs, ys, strict=True):
        x, y = t.variables[v], t.variables[w]
        goes_on = t.model.new_bool_var("")
        t.model.add(x <= y).only_enforce_if(holds)
        t.model.add(x < y).only_enforce_if([holds, ~goes_on])
        holds = _both(t, holds, goes_on)
    if strict:
        t.model.add_bool_or([~holds])


def _both(t: CpSatTranslation, left: Literal, right: Literal) -> Literal:
    both = t.model.new_bool_var("")
    t.model.add_bool_or([~left, ~right, both])
    return both


def _before(t: CpSatTranslation, start: int, size: int, other: int) -> Literal:
    """A Boolean variable that implies that one task ends before another starts."""
    literal = t.model.new_bool_var("")
    t.model.add(t.sum([(1, start), (1, size), (-1, other)]) <= 0).only_enforce_if(literal)
    return literal


def _not_negative(t: CpSatTranslation, variables: tuple[int, ...]) -> None:
    for v in variables:
        t.model.add(t.variables[v] >= 0)


def _no_overlap(t: CpSatTranslation, node: c.NoOverlap) -> None:
    """A disjunction for each pair: CP-SAT allows tasks with duration 0 inside others."""
    _not_negative(t, node.durations)
    tasks = list(zip(node.starts, node.durations, strict=True))
    for i, (s, d) in enumerate(tasks):
        for other, e in tasks[:i]:
            t.model.add_bool_or([_before(t, s, d, other), _before(t, other, e, s)])


def _no_overlap_optional(t: CpSatTranslation, node: c.NoOverlapOptional) -> None:
    """Optional intervals; one whose duration may be negative gets a duration that counts where present."""
    intervals = []
    for start, duration, literal in zip(node.starts, node.durations, node.literals, strict=True):
        present = t.literal(literal)
        low, high = t.bounds[0][duration], t.bounds[1][duration]
        size = t.variables[duration]
        if low < 0:
            size = t.model.new_int_var(0, max(0, high), "")
            t.model.add(size == t.variables[duration]).only_enforce_if(present)
        begin = t.variables[start]
        end = t.model.new_int_var(t.bounds[0][start], t.bounds[1][start] + max(0, high), "")
        intervals.append(t.model.new_optional_interval_var(begin, size, end, present, ""))
    t.model.add_no_overlap(intervals)


def _rectangles(t: CpSatTranslation, node: c.Rectangles) -> None:
    _not_negative(t, (*node.widths, *node.heights))
    boxes = list(zip(node.xs, node.ys, node.widths, node.heights, strict=True))
    for i, (x, y, w, h) in enumerate(boxes):
        for u, v, p, q in boxes[:i]:
            sides = ((x, w, u), (u, p, x), (y, h, v), (v, q, y))
            t.model.add_bool_or([_before(t, *side) for side in sides])


def _cumulative(t: CpSatTranslation, node: c.Cumulative) -> None:
    _not_negative(t, (*node.durations, *node.demands, node.capacity))
    intervals = []
    for start, duration in zip(node.starts, node.durations, strict=True):
        low, high = (bound[start] + bound[duration] for bound in t.bounds)
        end = t.model.new_int_var(low, high, "")  # an interval makes it start + duration
        intervals.append(t.model.new_interval_var(t.variables[start], t.variables[duration], end, ""))
    t.model.add_cumulative(intervals, t.all(node.demands), t.variables[node.capacity])


RULES: dict[Kind | tuple[Kind, ...], Callable[[CpSatTranslation, Any], None]] = {
    c.DIFFERENT: _all_different,
    c.Cardinality: _cardinality,
    c.Circuit: _circuit,
    c.Subcircuit: _subcircuit,
    c.Arcs: _arcs,
    c.ShortTable: _short_table,
    c.Inverse: _inverse,
    c.Lexicographic: _lexicographic,
    c.NoOverlap: _no_overlap,
    c.NoOverlapOptional: _no_overlap_optional,
    c.Cumulative: _cumulative,
    c.Rectangles: _rectangles,
}
"""The translation of each global constraint to CP-SAT."""
