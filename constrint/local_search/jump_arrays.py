"""The arrays of a local search, from rows; and the values that they stand for."""

from __future__ import annotations

from collections.abc import Mapping

from constrint.engine.state_arrays import Box
from constrint.local_search.layout import (
    ANYWAY,
    HEAVIEST,
    MEMBERS,
    PLAIN,
    RANDOM,
    ROWS_OF_STEP,
    SCALARS,
    SCATTERED,
    TABLE,
    THRESHOLD,
    VALUES_OF_WIDE,
    VARIABLES_OF_ROW,
    WIDTH,
    WORK_OF_STEP,
    Jumps,
)
from constrint.local_search.moves import note
from constrint.local_search.random_numbers import first_number
from constrint.local_search.separable_rows import SeparableRows
from constrint.local_search.unary_functions import UnaryFunction
from constrint.support.deadline import check_deadline

SAFE_SCORE = 1 << 59  # a bound of scores: they fit into 64 bits, below `UNLIMITED`


class _Functions:
    """The functions of all variables, one behind the other."""

    def __init__(self) -> None:
        self.row: list[int] = []
        self.kind: list[int] = []
        self.a: list[int] = []
        self.b: list[int] = []
        self.parts: list[int] = []

    def add(self, row: int, function: UnaryFunction, least: int, most: int) -> None:
        """Add a function on a range, as few of the kinds as it takes."""
        kinds = bool(function.factor) + bool(function.values) + len(function.thresholds)
        if (function.thresholds or kinds > 1) and most - least < WIDTH:
            self._put(row, TABLE, len(self.parts), 0)
            self.parts += [function.at(x) for x in range(least, most + 1)]
            return
        if function.factor:
            self._put(row, PLAIN, function.factor, 0)
        for threshold, number in function.thresholds:
            self._put(row, THRESHOLD, threshold, number)
        pairs = [(x, number) for x, number in function.values.items() if number and least <= x <= most]
        if pairs:
            begin = len(self.parts)
            self.parts += [part for pair in pairs for part in pair]
            self._put(row, MEMBERS, begin, len(self.parts))

    def _put(self, row: int, kind: int, a: int, b: int) -> None:
        self.row.append(row)
        self.kind.append(kind)
        self.a.append(a)
        self.b.append(b)


def build(rows: SeparableRows, seed: int, hints: Mapping[int, int]) -> Jumps:
    """The search's state: each variable has its hint, or else the value of its domain next to zero."""
    box = rows.box
    count = len(box.lo)
    functions = _Functions()
    by_variable: list[list[tuple[int, UnaryFunction]]] = [[] for _ in range(count)]
    begin, member = [0], list[int]()
    for r, row in enumerate(rows.rows):
        check_deadline()
        for v, function in row.functions.items():
            by_variable[v].append((r, function))
            member.append(v)
        begin.append(len(member))
    first, reach = [0], 1
    for v, pairs in enumerate(by_variable):
        check_deadline()
        reach = max(reach, sum(rows.rows[r].reach for r, _ in pairs))
        for r, function in pairs:
            functions.add(r, function, box.lo[v], box.hi[v])
        first.append(len(functions.row))
    holes, inside = _holes(box)
    size = len(rows.rows)
    state = Jumps(
        scalar=[0] * SCALARS,
        value=[_start(box, v, hints.get(v, 0)) for v in range(count)],
        least=list(box.lo),
        most=list(box.hi),
        holes=holes,
        inside=inside,
        first=first,
        row=functions.row,
        kind=functions.kind,
        a=functions.a,
        b=functions.b,
        parts=functions.parts,
        begin=begin,
        member=member,
        low=[row.low for row in rows.rows],
        high=[row.high for row in rows.rows],
        weight=[1] * size,
        total=[0] * size,
        violated=[0] * size,
        place=[-1] * size,
        changed=[0] * count,
        score=[0] * WIDTH,
    )
    state.scalar[RANDOM] = first_number(seed)
    rules = rows.rules
    state.scalar[HEAVIEST] = min(rules.heavy, max(1, SAFE_SCORE // reach))
    state.scalar[ROWS_OF_STEP] = rules.rows_of_step
    state.scalar[VARIABLES_OF_ROW] = rules.variables_of_row
    state.scalar[VALUES_OF_WIDE] = rules.values_of_wide
    state.scalar[WORK_OF_STEP] = rules.work_of_step
    state.scalar[ANYWAY] = rules.anyway
    state.scalar[SCATTERED] = rules.scattered
    for r, row in enumerate(rows.rows):
        check_deadline()
        note(state, r, sum(function.at(state.value[v]) for v, function in row.functions.items()))
    return state


def _holes(box: Box) -> tuple[list[int], list[int]]:
    """Where the values of domains with holes are noted, and the notes."""
    holes, inside = [-1] * len(box.lo), list[int]()
    for v, (lo, hi) in enumerate(zip(box.lo, box.hi, strict=True)):
        if hi - lo >= WIDTH:
            continue
        values = box.values[v] or range(lo, hi + 1, box.step[v])
        if len(values) <= hi - lo:
            holes[v] = len(inside)
            known = set(values)
            inside += [int(x in known) for x in range(lo, hi + 1)]
    return holes, inside


def _start(box: Box, v: int, wanted: int) -> int:
    """The value of a domain that is next to a number."""
    lo, hi, step = box.lo[v], box.hi[v], box.step[v]
    values = box.values[v]
    if values:
        return min(values, key=lambda x: abs(x - wanted))
    near = min(max(wanted, lo), hi)
    return lo + (near - lo) // step * step


def values(rows: SeparableRows, state: Jumps) -> list[int]:
    """The value of each variable, those that are functions of others too."""
    found = [int(x) for x in state.value]
    for slacks in rows.slacks:
        slacks.put(found, rows.box)
    for v, meaning in rows.meanings.items():
        found[v] = meaning.value(found[meaning.x])
    return found
