"""Constraints as operations on columns: which rows satisfy them, and what they compute.

`Propagator.holds` is the definition of a constraint. Operations evaluate it for many rows at once,
constraints without an operation row by row. Values out of the root's domains may overflow, but only in dead
rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import gcd, lcm
from typing import Any

import numpy as np

from constrint import propagators as c
from constrint.enumeration.operation import (
    COST_OF_ROW,
    LIMIT,
    Column,
    Columns,
    Operation,
    Outputs,
    Solve,
    Unsuitable,
    ValueBounds,
    literal,
    reified,
    row_by_row,
    rows_of,
    total,
)
from constrint.propagators.handlers import Handlers
from constrint.support.deadline import check_deadline


def _linear_le(node: c.LinearLe, bounds: ValueBounds) -> list[Operation]:
    terms, bound = node.terms, node.bound
    return [Operation(node.scope(), lambda at: total(at, terms) <= bound, {})]


def _linear_eq(node: c.LinearEq, bounds: ValueBounds) -> list[Operation]:
    terms, bound = node.terms, node.bound
    outputs = (
        {v: (_isolated(terms, bound, a, v), abs(a) == 1) for a, v in terms} if _are_distinct(node) else {}
    )
    return [Operation(node.scope(), lambda at: total(at, terms) == bound, outputs)]


def _are_distinct(node: c.Propagator) -> bool:
    scope = node.scope()
    return len(set(scope)) == len(scope)


def _isolated(terms: Sequence[tuple[int, int]], bound: int, a: int, v: int) -> Solve:
    # a v == bound - sum(others)
    sign = -1 if a > 0 else 1
    constant = -sign * bound
    divisor = abs(a)

    def solve(at: Columns) -> Column:
        rest = constant
        for b, w in terms:
            if w != v:
                factor = sign * b
                rest = rest + (at[w] if factor == 1 else factor * at[w])
        return rest if divisor == 1 else rest // divisor

    return solve


def _linear_ne(node: c.LinearNe, bounds: ValueBounds) -> list[Operation]:
    terms, bound = node.terms, node.bound
    return [Operation(node.scope(), lambda at: total(at, terms) != bound, {})]


def _linear_le_if(node: c.LinearLeIf, bounds: ValueBounds) -> list[Operation]:
    terms, bound = node.terms, node.bound
    return [reified(node.literal, lambda at: total(at, terms) <= bound, [v for _, v in terms])]


def _linear_eq_if(node: c.LinearEqIf, bounds: ValueBounds) -> list[Operation]:
    terms, bound = node.terms, node.bound
    return [reified(node.literal, lambda at: total(at, terms) == bound, [v for _, v in terms])]


def _product(node: c.Product, bounds: ValueBounds) -> list[Operation]:
    x, y, z = node.x, node.y, node.z
    outputs: Outputs = {}
    if z not in (x, y):
        outputs[z] = lambda at: at[x] * at[y], True
        if x != y:
            if bounds.excludes_zero(y):
                outputs[x] = lambda at: at[z] // at[y], False
            if bounds.excludes_zero(x):
                outputs[y] = lambda at: at[z] // at[x], False
    return [Operation((x, y, z), lambda at: at[x] * at[y] == at[z], outputs)]


def _power(node: c.Power, bounds: ValueBounds) -> list[Operation]:
    x, y, z = node.x, node.y, node.z
    if bounds.lo[y] < 0 or bounds.magnitude(x) ** min(bounds.hi[y], 64) >= LIMIT:
        raise Unsuitable  # powers too large for int64; most of them are no solution

    def solve(at: Columns) -> Column:
        exponent = at[y]
        # Dead rows may have negative exponents, which numpy refuses.
        return at[x] ** (exponent if isinstance(exponent, int) else np.maximum(exponent, 0))

    outputs: Outputs = {z: (solve, True)} if z not in (x, y) else {}
    return [Operation((x, y, z), lambda at: solve(at) == at[z], outputs)]


def _division(node: c.DivMod, bounds: ValueBounds) -> list[Operation]:
    x, y, q, r = node.x, node.y, node.q, node.r
    if not (bounds.excludes_zero(y) and _are_distinct(node)):
        return [row_by_row(node)]
    return [
        Operation((x, y, q), lambda at: at[x] // at[y] == at[q], {q: (lambda at: at[x] // at[y], True)}),
        Operation((x, y, r), lambda at: at[x] % at[y] == at[r], {r: (lambda at: at[x] % at[y], True)}),
        Operation(
            (x, y, q, r),
            lambda at: at[q] * at[y] + at[r] == at[x],
            {x: (lambda at: at[q] * at[y] + at[r], False)},
        ),
    ]


def _divides(node: c.Divides, bounds: ValueBounds) -> list[Operation]:
    d, x = node.d, node.x
    if not bounds.excludes_zero(d):
        return [row_by_row(node)]
    return [reified(node.literal, lambda at: at[x] % at[d] == 0, (d, x))]


def _ceildiv(node: c.CeilDiv, bounds: ValueBounds) -> list[Operation]:
    x, y, q = node.x, node.y, node.q
    if bounds.lo[x] < 0 or bounds.lo[y] < 1:
        return [row_by_row(node)]
    outputs = {q: (lambda at: -(-at[x] // at[y]), True)} if q not in (x, y) else {}
    return [Operation((x, y, q), lambda at: -(-at[x] // at[y]) == at[q], outputs)]


def _maximum(node: c.Maximum, bounds: ValueBounds) -> list[Operation]:
    return _extreme(node.z, node.xs, np.maximum, max)


def _minimum(node: c.Minimum, bounds: ValueBounds) -> list[Operation]:
    return _extreme(node.z, node.xs, np.minimum, min)


def _extreme(z: int, xs: Sequence[int], of_columns: Any, of_integers: Any) -> list[Operation]:
    def solve(at: Columns) -> Column:
        result = at[xs[0]]
        for x in xs[1:]:
            other = at[x]
            both = isinstance(result, int) and isinstance(other, int)
            result = (of_integers if both else of_columns)(result, other)
        return result

    outputs: Outputs = {z: (solve, True)} if z not in xs else {}
    return [Operation((z, *xs), lambda at: solve(at) == at[z], outputs)]


def _absolute(node: c.Absolute, bounds: ValueBounds) -> list[Operation]:
    x, z = node.x, node.z
    return [
        Operation(
            (x, z), lambda at: abs(at[x]) == at[z], {} if x == z else {z: (lambda at: abs(at[x]), True)}
        )
    ]


def _member(node: c.Member, bounds: ValueBounds) -> list[Operation]:
    x, intervals = node.x, node.intervals
    ends = list(zip(intervals[::2], intervals[1::2], strict=True))

    def lies_inside(at: Columns) -> Column:
        value = at[x]
        if isinstance(value, int):
            return any(first <= value <= last for first, last in ends)
        if not ends:
            return np.zeros(len(value), dtype=bool)
        place = np.searchsorted(np.array([last for _, last in ends]), value)
        firsts = np.array([*(first for first, _ in ends), LIMIT])
        return firsts[place] <= value

    return [reified(node.literal, lies_inside, (x,))]


def _clause(node: c.Clause, bounds: ValueBounds) -> list[Operation]:
    literals = node.literals

    def test(at: Columns) -> Column:
        result: Column = False
        for one in literals:
            result = result | literal(at, one)
        return result

    return [Operation(node.scope(), test, {})]


def _element(node: c.Element, bounds: ValueBounds) -> list[Operation]:
    table, index, z = node.table, node.index, node.z
    if index == z or bounds.lo[index] < 0 or bounds.hi[index] >= len(table):
        return [row_by_row(node)]
    entries = np.array(table, dtype=np.int64)

    def solve(at: Columns) -> Column:
        place = at[index]
        return table[place] if isinstance(place, int) else entries.take(place, mode="clip")

    return [Operation((index, z), lambda at: solve(at) == at[z], {z: (solve, True)})]


def _common(node: c.Gcd | c.Lcm, bounds: ValueBounds) -> list[Operation]:
    x, y, z = node.x, node.y, node.z
    of_columns, of_integers = (np.gcd, gcd) if isinstance(node, c.Gcd) else (np.lcm, lcm)

    def solve(at: Columns) -> Column:
        both = isinstance(at[x], int) and isinstance(at[y], int)
        return of_integers(at[x], at[y]) if both else of_columns(at[x], at[y])

    outputs: Outputs = {z: (solve, True)} if z not in (x, y) else {}
    return [Operation((x, y, z), lambda at: solve(at) == at[z], outputs)]


def _selection(node: c.Selection, bounds: ValueBounds) -> list[Operation]:
    xs, index, z = node.xs, node.index, node.z
    if z in (index, *xs) or bounds.lo[index] < 0 or bounds.hi[index] >= len(xs):
        return [row_by_row(node)]

    def solve(at: Columns) -> Column:
        place = at[index]
        if isinstance(place, int):
            return at[xs[place]]
        columns = [np.asarray(at[x], dtype=np.int64) for x in xs]
        return np.select([place == i for i in range(len(xs) - 1)], columns[:-1], columns[-1])

    return [Operation(node.scope(), lambda at: solve(at) == at[z], {z: (solve, True)})]


def _table(node: c.Table, bounds: ValueBounds) -> list[Operation]:
    rows = frozenset(node.rows)
    variables = node.variables

    def is_row(at: Columns) -> Column:
        found = [row in rows for row in rows_of(at, variables)]
        return np.array(found) if any(isinstance(at[v], np.ndarray) for v in variables) else found[0]

    return [reified(node.literal, is_row, variables, COST_OF_ROW)]


_TRANSLATIONS: Handlers[Callable[[Any, ValueBounds], list[Operation]]] = Handlers(
    "columns",
    {
        c.LinearLe: _linear_le,
        c.LinearEq: _linear_eq,
        c.LinearNe: _linear_ne,
        c.LinearLeIf: _linear_le_if,
        c.LinearEqIf: _linear_eq_if,
        c.Product: _product,
        c.Power: _power,
        c.DivMod: _division,
        c.Divides: _divides,
        c.CeilDiv: _ceildiv,
        c.Maximum: _maximum,
        c.Minimum: _minimum,
        c.Absolute: _absolute,
        c.Member: _member,
        c.Clause: _clause,
        c.Element: _element,
        (c.Gcd, c.Lcm): _common,
        c.Selection: _selection,
        c.Table: _table,
    },
    generic=lambda node, bounds: [row_by_row(node)],
)


def operations(propagators: Sequence[c.Propagator], bounds: ValueBounds) -> list[Operation]:
    """The operations of the constraints, within the bounds."""
    found: list[Operation] = []
    for node in propagators:
        check_deadline()
        found += _TRANSLATIONS[type(node)](node, bounds)
    return found + _quotients(propagators)


def _quotients(propagators: Sequence[c.Propagator]) -> list[Operation]:
    """Pairs of inequalities ``low <= sum - d q < low + d``, which determine q."""
    upper: dict[frozenset[tuple[int, int]], int] = {}
    found = []
    for node in propagators:
        if type(node) is not c.LinearLe:
            continue
        terms, bound = node.terms, node.bound
        other = upper.get(frozenset([(-a, v) for a, v in terms]))
        upper[frozenset(terms)] = bound
        if other is None:
            continue
        # -other <= terms <= bound
        width = bound + other + 1
        for a, v in terms:
            if abs(a) == width and width > 1:
                rest = [(b if a < 0 else -b, w) for b, w in terms if w != v]
                low = -other if a < 0 else -bound
                if v not in [w for _, w in rest]:
                    found.append(_quotient(terms, rest, low, width, v))
                break
    return found


def _quotient(
    terms: Sequence[tuple[int, int]], rest: Sequence[tuple[int, int]], low: int, divisor: int, q: int
) -> Operation:
    # low <= rest - divisor q < low + divisor
    def solve(at: Columns) -> Column:
        return (total(at, rest) - low) // divisor

    return Operation([v for _, v in terms], lambda at: solve(at) == at[q], {q: (solve, True)})
