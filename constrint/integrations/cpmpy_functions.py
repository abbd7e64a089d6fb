"""CPMpy's operators, functions and global constraints by name, each as an expression of constrint."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from constrint.expr import BoolExpr, IntExpr
from constrint.expr.builders import table
from constrint.expr.functions import (
    abs_,
    all_of,
    any_of,
    element,
    if_then_else,
    max_,
    min_,
    sum_,
    truncdiv,
    truncmod,
)
from constrint.frontends.flatzinc.builtins import parity
from constrint.globals import (
    all_different,
    all_different_except,
    among,
    circuit,
    count,
    cumulative,
    cumulative_optional,
    decreasing,
    increasing,
    inverse,
    lex_less,
    lex_less_equal,
    nvalue,
    regular,
)
from constrint.globals import table as short_table

if TYPE_CHECKING:
    from constrint.integrations.cpmpy import CPM_constrint

COMPARISONS: Mapping[str, Callable[[IntExpr, IntExpr], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<=": operator.le,
    "<": operator.lt,
    ">=": operator.ge,
    ">": operator.gt,
}


def _rows(rows: Any) -> list[list[int]]:
    return [[int(entry) for entry in row] for row in rows]


def _weighted(s: CPM_constrint, args: Any) -> IntExpr:
    weights, exprs = args
    return sum_([int(weight) * s.number(expr) for weight, expr in zip(weights, exprs, strict=True)])


def _shared(
    s: CPM_constrint, starts: Any, durations: Any, ends: Any, demands: Any, capacity: Any
) -> BoolExpr:
    """Tasks on a resource; those without duration may lie anywhere."""
    begin, took = s.numbers(starts), s.numbers(durations)
    parts = [cumulative(begin, took, s.numbers(demands), s.number(capacity))] if begin else []
    if ends is not None:
        parts += [a + b == end for a, b, end in zip(begin, took, s.numbers(ends), strict=True)]
    return all_of(parts)


def _cumulative(s: CPM_constrint, args: Any) -> BoolExpr:
    starts, durations, *ends, demands, capacity = args
    return _shared(s, starts, durations, ends[0] if ends else None, demands, capacity)


def _no_overlap(s: CPM_constrint, args: Any) -> BoolExpr:
    starts, durations, *ends = args
    return _shared(s, starts, durations, ends[0] if ends else None, [1] * len(starts), 1)


def _cumulative_optional(s: CPM_constrint, args: Any) -> BoolExpr:
    starts, durations, *ends, demands, capacity, presences = args
    return _shared_by_present(s, starts, durations, ends, demands, capacity, presences)


def _no_overlap_optional(s: CPM_constrint, args: Any) -> BoolExpr:
    """Tasks without duration may lie anywhere."""
    starts, durations, *ends, presences = args
    return _shared_by_present(s, starts, durations, ends, [1] * len(starts), 1, presences)


def _shared_by_present(
    s: CPM_constrint, starts: Any, durations: Any, ends: Any, demands: Any, capacity: Any, presences: Any
) -> BoolExpr:
    """Tasks on a resource, where they are present."""
    begin, took, present = s.numbers(starts), s.numbers(durations), s.conditions(presences)
    parts = []
    if begin:
        parts.append(cumulative_optional(begin, took, s.numbers(demands), s.number(capacity), present))
    for last in ends:
        tasks = zip(present, begin, took, s.numbers(last), strict=True)
        parts += [there.implies(a + b == end) for there, a, b, end in tasks]
    return all_of(parts)


def _short_rows(rows: Any) -> list[list[int | None]]:
    return [[None if isinstance(entry, str) else int(entry) for entry in row] for row in rows]


RELATIONS: Mapping[str, Callable[[CPM_constrint, Any], BoolExpr]] = {
    "and": lambda s, args: all_of(s.conditions(args)),
    "or": lambda s, args: any_of(s.conditions(args)),
    "->": lambda s, args: s.condition(args[0]).implies(s.condition(args[1])),
    "not": lambda s, args: ~s.condition(args[0]),
    "alldifferent": lambda s, args: all_different(s.numbers(args)),
    "xor": lambda s, args: parity(s.conditions(args)),
    "table": lambda s, args: table(s.numbers(args[0]), _rows(args[1])),
    "negative_table": lambda s, args: ~table(s.numbers(args[0]), _rows(args[1])),
    "short_table": lambda s, args: short_table(s.numbers(args[0]), _short_rows(args[1])),
    "alldifferent_except_n": lambda s, args: (
        all_different_except(s.numbers(args[0]), [int(value) for value in args[1]]) if args[0] else all_of([])
    ),
    "regular": lambda s, args: regular(s.numbers(args[0]), *args[1:]),
    "no_overlap_optional": _no_overlap_optional,
    "cumulative_optional": _cumulative_optional,
    "circuit": lambda s, args: circuit(s.numbers(args)),
    "inverse": lambda s, args: inverse(s.numbers(args[0]), s.numbers(args[1])),
    "cumulative": _cumulative,
    "no_overlap": _no_overlap,
    "increasing": lambda s, args: increasing(s.numbers(args)),
    "decreasing": lambda s, args: decreasing(s.numbers(args)),
    "strictly_increasing": lambda s, args: increasing(s.numbers(args), strict=True),
    "strictly_decreasing": lambda s, args: decreasing(s.numbers(args), strict=True),
    "lex_less": lambda s, args: lex_less(s.numbers(args[0]), s.numbers(args[1])),
    "lex_lesseq": lambda s, args: lex_less_equal(s.numbers(args[0]), s.numbers(args[1])),
}
"""Conditions by CPMpy's names."""

NUMBERS: Mapping[str, Callable[[CPM_constrint, Any], IntExpr]] = {
    "sum": lambda s, args: sum_(s.numbers(args)),
    "wsum": _weighted,
    "sub": lambda s, args: s.number(args[0]) - s.number(args[1]),
    "-": lambda s, args: -s.number(args[0]),
    "mul": lambda s, args: s.number(args[0]) * s.number(args[1]),
    "div": lambda s, args: truncdiv(s.number(args[0]), s.number(args[1])),
    "mod": lambda s, args: truncmod(s.number(args[0]), s.number(args[1])),
    "pow": lambda s, args: s.number(args[0]) ** int(args[1]),
    "abs": lambda s, args: abs_(s.number(args[0])),
    "min": lambda s, args: min_(s.numbers(args)),
    "max": lambda s, args: max_(s.numbers(args)),
    "element": lambda s, args: element(s.numbers(args[0]), s.number(args[1])),
    "count": lambda s, args: count(s.numbers(args[0]), s.number(args[1])),
    "among": lambda s, args: among(s.numbers(args[0]), [int(value) for value in args[1]]),
    "nvalue": lambda s, args: nvalue(s.numbers(args)),
    "ite": lambda s, args: if_then_else(s.condition(args[0]), s.number(args[1]), s.number(args[2])),
}
"""Numbers by CPMpy's names."""
