"""Joins: which values of the next variable to try with each node (solved, by range, by table, or all).

A `Join` gives each node a run of a shared pool of values. Every kind except `all` leaves out values that some
condition excludes; the remaining values are filtered by the undecided conditions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from constrint.diagrams.evaluate import Frame, Parts
from constrint.diagrams.term_bounds import bounds
from constrint.diagrams.terms import (
    BOOL,
    FLOAT,
    INT64,
    OBJECT,
    Array,
    Column,
    Term,
    Terms,
    Unsupported,
    peak_of_sum,
)


@dataclass
class Join:
    """Values to try.

    Attributes:
        kind: "solved", "range", "table" or "all".
        pool: Values.
        start: Where each node's run begins in the pool.
        count: Length of each node's run.
        decided: Conditions that hold for all of them.
    """

    kind: str
    pool: Array
    start: Array
    count: Array
    decided: list[Term] = field(default_factory=list)

    @property
    def total(self) -> int:
        """Number of rows."""
        return int(self.count.sum())

    def rows(self, first: int, last: int) -> tuple[Array, Array]:
        """Node and value of each row of the nodes first … last - 1."""
        count = self.count[first:last]
        nodes = np.repeat(np.arange(first, last), count)
        ends = np.cumsum(count)
        shift = self.start[first:last] - (ends - count)
        return nodes, self.pool[np.arange(len(nodes)) + np.repeat(shift, count)]


@dataclass
class Step:
    """The data of a layer that is being built.

    Attributes:
        terms: The terms.
        parts: How terms split.
        v: The variable to bind.
        before: The variables bound before.
        columns: The known columns of the nodes.
        nodes: Number of nodes.
        closing: Conditions whose last variable is v.
        touched: Conditions with v that stay open.
        few: Rows for which all values are tried.
    """

    terms: Terms
    parts: Parts
    v: int
    before: int
    columns: dict[Term, Array]
    nodes: int
    closing: Sequence[Term]
    touched: Sequence[Term]
    few: int

    def frame(self) -> Frame:
        """The nodes as rows."""
        return Frame(self.parts, self.before, self.before, self.columns, None)


def join(step: Step) -> Join:
    """The join with the fewest rows."""
    values = step.terms.domains[step.v]
    if values is not None and step.nodes * len(values) <= step.few:
        return _all(step, values)
    solved = _solved(step)
    if solved is not None:
        return solved
    if values is None:
        raise Unsupported(f"a variable with no finite list of values that no equation defines ({step.v})")
    best = _ranges(step, values) or _all(step, values)
    table = _table(step, values, best.total)
    return table if table is not None and table.total < best.total else best


def _all(step: Step, values: Array) -> Join:
    start = np.zeros(step.nodes, dtype=np.int64)
    return Join("all", values, start, np.full(step.nodes, len(values)))


# Solved: an equation of which v is the last variable


def _solved(step: Step) -> Join | None:
    for condition in step.closing:
        if condition.op != "eq":
            continue
        solved = _solve(step, condition)
        if solved is not None:
            return solved
    return None


def _solve(step: Step, condition: Term) -> Join | None:
    with_v = [i for i, arg in enumerate(condition.args) if arg.mask >> step.v & 1]
    if len(with_v) != 1:
        return None
    frame = step.frame()
    factor = _factor(step, frame, condition, with_v[0])
    if factor is None or np.any(factor == 0):
        return None
    rest: Column = _exactly(condition.data[1])
    for a, arg in _others(frame, condition, with_v):
        rest = rest - _wide(frame.value(arg)) * a
    if frame.ok is not None:
        return None
    rest, factor = np.broadcast_arrays(np.asarray(rest), np.asarray(factor))
    quotient = rest // factor
    good = (quotient * factor == rest) & _contains(step, quotient)
    if good.ndim == 0 or len(good) != step.nodes:
        quotient, good = np.broadcast_to(quotient, step.nodes), np.broadcast_to(good, step.nodes)
    return Join(
        "solved", np.array(quotient), np.arange(step.nodes), good.astype(np.int64), decided=[condition]
    )


def _others(frame: Frame, condition: Term, with_v: list[int]) -> list[tuple[int, Term]]:
    part, factor, rest = frame.continued(condition)
    items = [] if part is None else [(factor, part)]
    return items + [(condition.data[0][i], condition.args[i]) for i in rest if i not in with_v]


def _exactly(value: int) -> Column:
    return np.int64(value) if abs(value) < 1 << 62 else value


def _wide(values: Column) -> Column:
    """Values in a type that a product with a coefficient cannot overflow, by the condition's bounds."""
    if isinstance(values, np.ndarray) and values.dtype != OBJECT:
        return values.astype(INT64)
    return values.item() if isinstance(values, np.generic) else values


def _factor(step: Step, frame: Frame, condition: Term, i: int) -> Column:
    """The factor of v in an operand in which all else is bound; None if it has another form."""
    a, arg = condition.data[0][i], condition.args[i]
    if any(peak >= 1 << 62 for peak in _peaks(condition)):
        return None
    variable = step.terms.var(step.v)
    if arg is variable:
        return np.int64(a)
    if arg.op != "mul" or arg.args.count(variable) != 1:
        return None
    others = [other for other in arg.args if other is not variable]
    if any(other.mask & ~step.before for other in others):
        return None
    total: Column = np.int64(a)
    part, _, rest = frame.continued(arg)
    if part is not None:
        total = total * _wide(frame.value(part))
    for j in rest:
        if arg.args[j] is not variable:
            total = total * _wide(frame.value(arg.args[j]))
    return total if frame.ok is None else None


def _peaks(condition: Term) -> list[int]:
    coefficients, bound = condition.data
    return [peak_of_sum(coefficients, condition.args, bound)]


def _contains(step: Step, values: Column) -> Column:
    domain = step.terms.domains[step.v]
    lo, hi = step.terms.limits[step.v]
    if domain is None:
        return (values >= lo) & (values <= hi)
    found = np.minimum(np.searchsorted(domain, values), len(domain) - 1)
    return domain[found] == values


# Ranges: v is bounded by sums in which it has one factor


def _ranges(step: Step, values: Array) -> Join | None:
    if values.dtype == FLOAT or values.dtype == OBJECT:
        return None
    frame = step.frame()
    low: Column = 0
    high: Column = len(values)
    for condition in (*step.closing, *step.touched):
        if condition.op not in ("le", "eq"):
            continue
        found = _range(step, frame, condition, values)
        frame.ok = None
        if found is not None:
            low, high = np.maximum(low, found[0]), np.minimum(high, found[1])
    if not isinstance(low, np.ndarray) and not isinstance(high, np.ndarray):
        return None
    low = np.broadcast_to(low, step.nodes)
    return Join("range", values, low, np.maximum(np.broadcast_to(high, step.nodes) - low, 0))


def _range(step: Step, frame: Frame, condition: Term, values: Array) -> tuple[Column, Column] | None:
    """First and last + 1 of the values that a condition allows for each node."""
    with_v = [i for i, arg in enumerate(condition.args) if arg.mask >> step.v & 1]
    if len(with_v) != 1 or any(peak >= 1 << 62 for peak in _peaks(condition)):
        return None
    factor = _factor(step, frame, condition, with_v[0])
    exact = factor is not None
    if factor is None:
        factor = _least_factor(step, frame, condition, with_v[0])
    if factor is None:
        return None
    bound = condition.data[1]
    least: Column = np.int64(0)
    most: Column = np.int64(0)
    for a, arg in _others(frame, condition, with_v):
        low, high = (_wide(np.asarray(side)) * a for side in bounds(frame, arg))
        least, most = (least + low, most + high) if a >= 0 else (least + high, most + low)
    low_value: Column = None
    high_value: Column = None
    positive = np.all(factor >= 0)
    if positive:
        free = factor == 0
        divisor = np.where(free, 1, factor)
        high_value = np.where(free, values[-1], (bound - least) // divisor)
        if condition.op == "eq" and exact:
            low_value = np.where(free, values[0], -((most - bound) // divisor))
    elif exact and np.all(factor < 0):
        low_value = -((bound - least) // -factor)
        if condition.op == "eq":
            high_value = (most - bound) // -factor
    else:
        return None
    low_index = 0 if low_value is None else np.searchsorted(values, low_value, "left")
    high_index = len(values) if high_value is None else np.searchsorted(values, high_value, "right")
    return low_index, high_index


def _least_factor(step: Step, frame: Frame, condition: Term, i: int) -> Column:
    """A lower bound on the factor of v, if nothing in a product can be negative."""
    a, arg = condition.data[0][i], condition.args[i]
    variable = step.terms.var(step.v)
    if a < 0 or arg.op != "mul" or arg.args.count(variable) != 1 or any(other.lo < 0 for other in arg.args):
        return None
    total: Column = np.int64(a)
    part, _, rest = frame.continued(arg)
    if part is not None:
        total = total * _wide(frame.value(part))
    for j in rest:
        if arg.args[j] is not variable:
            if arg.args[j].mask >> step.v & 1:
                return None
            total = total * _wide(np.asarray(bounds(frame, arg.args[j])[0]))
    return total


# Tables: what conditions leave, for each combination of the columns that they need


def _table(step: Step, values: Array, rows: int) -> Join | None:
    groups: dict[tuple[Term, ...], list[Term]] = {}
    for condition in step.closing:
        key = tuple(sorted(step.parts.frontier(condition, step.before), key=lambda term: term.serial))
        groups.setdefault(key, []).append(condition)
    best: tuple[int, tuple[Term, ...], Array, Array] | None = None
    for key in groups:
        ids, first = number_rows([step.columns[term] for term in key], step.nodes)
        if best is None or len(first) < best[0]:
            best = len(first), key, ids, first
    if best is None or best[0] * len(values) * 2 > rows:
        return None
    count, key, ids, first = best
    kept = {term: step.columns[term][first] for term in key}
    source = np.repeat(np.arange(count), len(values))
    frame = Frame(step.parts, step.before, step.before | 1 << step.v, kept, source)
    frame.put(step.terms.var(step.v), np.tile(values, count))
    holds: Column = np.ones(len(source), dtype=BOOL)
    for condition in groups[key]:
        holds = holds & frame.holds(condition)
    found = np.flatnonzero(holds)
    degree = np.bincount(found // len(values), minlength=count)
    begin = np.cumsum(degree) - degree
    return Join("table", values[found % len(values)], begin[ids], degree[ids], decided=groups[key])


# Numbering rows


def number_rows(columns: Sequence[Array], rows: int) -> tuple[Array, Array]:
    """A number for each row, equal for equal rows, and the first row of each number."""
    if not columns or not rows:
        return np.zeros(rows, dtype=np.int64), np.zeros(min(rows, 1), dtype=np.int64)
    key: Column = None
    size = 1
    for column in columns:
        codes, width = _codes(column)
        if key is None:
            key, size = codes, width
            continue
        if size * width >= 1 << 62:
            key, first = _dense(key, size)
            size = len(first)
        if size * width >= 1 << 62:
            codes, first = _dense(codes, width)
            width = len(first)
        key, size = key * width + codes, size * width
    return _dense(key, size)


def _codes(column: Array) -> tuple[Array, int]:
    """Codes in 0 … width - 1, equal for equal values."""
    if column.dtype == BOOL:
        return column.astype(INT64), 2
    if column.dtype == FLOAT:
        codes = np.unique(column + 0.0, return_inverse=True)[1]
        return codes, int(np.max(codes)) + 1
    if column.dtype == OBJECT:
        known: dict[Column, int] = {}
        codes = np.array([known.setdefault(value, len(known)) for value in column.tolist()], dtype=INT64)
        return codes, len(known)
    low, high = int(column.min()), int(column.max())
    if high - low >= 1 << 62:
        codes = np.unique(column, return_inverse=True)[1]
        return codes, int(np.max(codes)) + 1
    return column.astype(INT64) - low, high - low + 1


def _dense(key: Array, size: int) -> tuple[Array, Array]:
    rows = len(key)
    if size > max(4 * rows, 1 << 16):
        _, first, ids = np.unique(key, return_index=True, return_inverse=True)
        return ids, first
    used = np.zeros(size, dtype=BOOL)
    used[key] = True
    numbers = np.cumsum(used) - 1
    ids = numbers[key]
    first = np.empty(int(numbers[-1]) + 1, dtype=np.int64)
    first[ids[::-1]] = np.arange(rows - 1, -1, -1)
    return ids, first
