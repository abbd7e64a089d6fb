"""Counting the solutions of models of tables: joins on shared columns, of counts where that suffices.

A table whose columns that others need are all in one other table is an ear: it becomes a count for each
combination of these columns, by which the other table's rows are weighted. If all tables but one are such
ears, one after the other, the weights of the last one's rows add up to the number of solutions, and no joined
row is made (Yannakakis, "Algorithms for acyclic database schemes", VLDB 1981). Where none is, two tables are
joined into one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from constrint.diagrams.boxed_domains import listed
from constrint.diagrams.evaluate import Frame, Parts
from constrint.diagrams.joins import number_rows
from constrint.diagrams.layers import TooLargeDiagram, planning
from constrint.diagrams.planner import Numbering
from constrint.diagrams.terms import INT64, OBJECT, Array, Terms, Unsupported
from constrint.diagrams.translate import conjuncts
from constrint.expr import BoolExpr, BoolVar, IntVar, Table
from constrint.expr.domain import Domain
from constrint.support.deadline import Deadline, check_deadline

if TYPE_CHECKING:
    from constrint.modelling.declarations import Declarations

Variable = IntVar | BoolVar
WIDE_WEIGHT = 1 << 62  # weights below fit int64


@dataclass
class WeightedRows:
    """Rows over some variables, and how many combinations of other variables belong to each.

    Attributes:
        columns: The values of each variable.
        weights: The number of combinations of each row; Python's integers where int64 would not do.
    """

    columns: dict[Variable, Array]
    weights: Array

    def taken(self, rows: Array) -> WeightedRows:
        """Some of the rows."""
        return WeightedRows({one: column[rows] for one, column in self.columns.items()}, self.weights[rows])


def count_joined(model: Declarations, time_limit: float | None) -> int | None:
    """The number of solutions of a model of large tables; None leaves it to others.

    Every other constraint must be over variables of one table, whose rows it then filters.
    """
    rules = model.settings.building
    try:
        with planning(Deadline(time_limit)):
            parts = [part for one in model.constraints for part in conjuncts(one.expr)]
            tables = [part for part in parts if isinstance(part, Table) and _is_plain(part)]
            if len(tables) < 2 or sum([len(part.rows) for part in tables]) < rules.least_joined:
                return None
            rest = [part for part in parts if not _is_plain(part)]
            return _count(list(model.variables.values()), tables, rest, rules.most_joined)
    except (Unsupported, TooLargeDiagram, OverflowError):
        return None


def _is_plain(part: BoolExpr) -> bool:
    """Whether it is a table of variables."""
    return isinstance(part, Table) and all(isinstance(arg, IntVar | BoolVar) for arg in part.args)


def _count(
    variables: Sequence[Variable], tables: Sequence[Table], rest: Sequence[BoolExpr], most: int
) -> int | None:
    joined = [_rows_of(one) for one in tables]
    for part in rest:
        scope = set(part.variables())
        place = next((k for k, one in enumerate(joined) if scope <= one.columns.keys()), None)
        if place is None or not scope:
            return None
        joined[place] = _filtered(joined[place], part, [one for one in variables if one in scope])
    total = 1
    known = {one for rows in joined for one in rows.columns}
    for variable in variables:
        if variable not in known:
            size = variable.domain.size
            if size is None:
                return None
            total *= size
    while len(joined) > 1:
        check_deadline()
        if not _fold(joined) and not _merge(joined, most):
            return None
    return total * int(joined[0].weights.sum()) if len(joined[0].weights) else 0


def _rows_of(table: Table) -> WeightedRows:
    """The rows of a table that the domains allow, each variable once."""
    rows = np.array(list(table.rows), dtype=INT64).reshape(len(table.rows), len(table.args))
    kept = np.ones(len(rows), dtype=bool)
    columns: dict[Variable, Array] = {}
    for k, arg in enumerate(table.args):
        assert isinstance(arg, IntVar | BoolVar)
        if arg in columns:
            kept &= rows[:, k] == columns[arg]
        else:
            columns[arg] = rows[:, k]
            kept &= _inside(rows[:, k], arg.domain)
    return WeightedRows(columns, np.ones(len(rows), dtype=INT64)).taken(np.flatnonzero(kept))


def _inside(values: Array, domain: Domain) -> Array:
    if domain.values is not None:
        return np.isin(values, np.array(domain.values, dtype=OBJECT if _is_long(domain) else INT64))
    good = np.ones(len(values), dtype=bool)
    if domain.lo is not None:
        good &= values >= domain.lo
    if domain.hi is not None:
        good &= values <= domain.hi
    anchor = domain.lo if domain.lo is not None else domain.hi
    if domain.step > 1 and anchor is not None:
        good &= values % domain.step == anchor % domain.step
    return good


def _is_long(domain: Domain) -> bool:
    return any(not -(1 << 63) <= value < 1 << 63 for value in (domain.lo or 0, domain.hi or 0))


def _filtered(rows: WeightedRows, part: BoolExpr, scope: list[Variable]) -> WeightedRows:
    """The rows in which a condition on their variables holds."""
    domains, limits = listed(scope, {one.name: one.domain for one in scope})
    terms = Terms(domains, limits)
    term = Numbering({one.name: v for v, one in enumerate(scope)}).translator(terms).condition(part)
    columns = {terms.var(v): rows.columns[one] for v, one in enumerate(scope)}
    found = Frame(Parts(terms), 0, (1 << len(scope)) - 1, columns, None).holds(term)
    return rows.taken(np.flatnonzero(np.broadcast_to(found, len(rows.weights))))


def _fold(joined: list[WeightedRows]) -> bool:
    """Fold an ear into the table that has the columns by which it is connected; False if there is none."""
    for k, ear in enumerate(joined):
        others = [one for i, one in enumerate(joined) if i != k]
        shared = [one for one in ear.columns if any(one in other.columns for other in others)]
        into = next((other for other in others if all(one in other.columns for one in shared)), None)
        if into is None:
            continue
        place = next(i for i, one in enumerate(joined) if one is into)
        left, right = _numbers(ear, into, shared)
        sums = _grouped(ear.weights, left, right)
        weights = _multiplied(into.weights, sums)
        joined[place] = WeightedRows(into.columns, weights).taken(np.flatnonzero(weights != 0))
        del joined[k]
        return True
    return False


def _numbers(one: WeightedRows, other: WeightedRows, shared: Sequence[Variable]) -> tuple[Array, Array]:
    """Numbers of the combinations of shared columns in both tables, equal for equal ones."""
    size = len(one.weights)
    columns = [np.concatenate([one.columns[v], other.columns[v]]) for v in shared]
    ids = number_rows(columns, size + len(other.weights))[0]
    return ids[:size], ids[size:]


def _grouped(weights: Array, groups: Array, wanted: Array) -> Array:
    """For each wanted group the sum of its weights."""
    count = int(max(groups.max(initial=-1), wanted.max(initial=-1))) + 1
    most = int(weights.max()) if len(weights) else 0
    sums = np.zeros(count, dtype=OBJECT if most * len(weights) >= WIDE_WEIGHT else INT64)
    np.add.at(sums, groups, weights.astype(sums.dtype))
    return sums[wanted]


def _multiplied(one: Array, other: Array) -> Array:
    most = (int(one.max()) * int(other.max())) if len(one) else 0
    kind = OBJECT if most * max(len(one), 1) >= WIDE_WEIGHT else INT64
    product: Array = one.astype(kind) * other.astype(kind)
    return product


def _merge(joined: list[WeightedRows], most: int) -> bool:
    """Join the two tables that give the fewest rows into one; False if these are too many."""
    best: tuple[int, int, int] | None = None
    for k, one in enumerate(joined):
        for i, other in enumerate(joined[:k]):
            check_deadline()
            shared = [v for v in one.columns if v in other.columns]
            left, right = _numbers(one, other, shared)
            size = int(_grouped(np.ones(len(left), dtype=INT64), left, right).sum())
            if best is None or size < best[0]:
                best = size, i, k
    if best is None or best[0] > most:
        return False
    _, i, k = best
    one, other = joined[i], joined[k]
    shared = [v for v in one.columns if v in other.columns]
    left, right = _numbers(one, other, shared)
    order = np.argsort(right, kind="stable")
    begin, end = np.searchsorted(right[order], left, "left"), np.searchsorted(right[order], left, "right")
    counts = end - begin
    first = np.repeat(np.arange(len(left)), counts)
    shift = np.repeat(begin - (np.cumsum(counts) - counts), counts)
    second = order[np.arange(len(first)) + shift]
    columns = {v: column[first] for v, column in one.columns.items()}
    columns |= {v: column[second] for v, column in other.columns.items() if v not in columns}
    joined[i] = WeightedRows(columns, _multiplied(one.weights[first], other.weights[second]))
    del joined[k]
    return True
