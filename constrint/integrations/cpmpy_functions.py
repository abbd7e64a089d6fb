"""CPMpy's operators, functions and global constraints by name, each as an expression of constrint."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

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
from constrint.frontends.constraint_names import Signature, signatures
from constrint.frontends.flatzinc.builtins import parity
from constrint.globals import GLOBALS, cumulative, cumulative_optional, regular
from constrint.globals import table as short_table

if TYPE_CHECKING:
    from cpmpy.expressions.core import Expression

    from constrint.integrations.cpmpy import CPM_constrint

    Numbers: TypeAlias = Iterable[int | Expression]


def _rows(rows: Iterable[Iterable[Expression]]) -> list[list[int]]:
    return [[int(entry) for entry in row] for row in rows]


def _weighted(s: CPM_constrint, args: Sequence[Expression]) -> IntExpr:
    weights, exprs = args
    return sum_([int(weight) * s.number(expr) for weight, expr in zip(weights, exprs, strict=True)])


def _shared(
    s: CPM_constrint,
    starts: Numbers,
    durations: Numbers,
    ends: Numbers | None,
    demands: Numbers,
    capacity: Expression,
) -> BoolExpr:
    """Tasks on a resource; those without duration may lie anywhere."""
    begin, took = s.numbers(starts), s.numbers(durations)
    parts = [cumulative(begin, took, s.numbers(demands), s.number(capacity))] if begin else []
    if ends is not None:
        parts += [a + b == end for a, b, end in zip(begin, took, s.numbers(ends), strict=True)]
    return all_of(parts)


def _cumulative(s: CPM_constrint, args: Sequence[Expression]) -> BoolExpr:
    starts, durations, *ends, demands, capacity = args
    return _shared(s, starts, durations, ends[0] if ends else None, demands, capacity)


def _no_overlap(s: CPM_constrint, args: Sequence[Expression]) -> BoolExpr:
    starts, durations, *ends = args
    return _shared(s, starts, durations, ends[0] if ends else None, [1] * len(starts), 1)


def _cumulative_optional(s: CPM_constrint, args: Sequence[Expression]) -> BoolExpr:
    starts, durations, *ends, demands, capacity, presences = args
    return _shared_by_present(s, starts, durations, ends, demands, capacity, presences)


def _no_overlap_optional(s: CPM_constrint, args: Sequence[Expression]) -> BoolExpr:
    """Tasks without duration may lie anywhere."""
    starts, durations, *ends, presences = args
    return _shared_by_present(s, starts, durations, ends, [1] * len(starts), 1, presences)


def _shared_by_present(
    s: CPM_constrint,
    starts: Numbers,
    durations: Numbers,
    ends: Iterable[Numbers],
    demands: Numbers,
    capacity: Expression,
    presences: Numbers,
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


def _short_rows(rows: Iterable[Iterable[Expression]]) -> list[list[int | None]]:
    return [[None if isinstance(entry, str) else int(entry) for entry in row] for row in rows]


_PARTS: Mapping[str, Callable[[CPM_constrint, Expression], object]] = {
    "expr": lambda s, part: s.number(part),
    "exprs": lambda s, part: tuple(s.numbers(part)),
    "ints": lambda s, part: tuple(map(int, part)),
}
"""Arguments by the kinds of a definition's fields."""


def _stated(one: Signature) -> Callable[[CPM_constrint, Sequence[Expression]], Any]:
    return lambda s, args: one.stated(
        lambda kind, place: _PARTS[kind](s, args if place is None else args[place])
    )


_REGULAR = [one for one in signatures("cpmpy") if one.arguments]

RELATIONS: Mapping[str, Callable[[CPM_constrint, Sequence[Expression]], BoolExpr]] = {
    **{one.name: _stated(one) for one in _REGULAR if not GLOBALS[one.constraint].is_number},
    "and": lambda s, args: all_of(s.conditions(args)),
    "or": lambda s, args: any_of(s.conditions(args)),
    "->": lambda s, args: s.condition(args[0]).implies(s.condition(args[1])),
    "not": lambda s, args: ~s.condition(args[0]),
    "xor": lambda s, args: parity(s.conditions(args)),
    "table": lambda s, args: table(s.numbers(args[0]), _rows(args[1])),
    "negative_table": lambda s, args: ~table(s.numbers(args[0]), _rows(args[1])),
    "short_table": lambda s, args: short_table(s.numbers(args[0]), _short_rows(args[1])),
    "regular": lambda s, args: regular(s.numbers(args[0]), *args[1:]),
    "no_overlap_optional": _no_overlap_optional,
    "cumulative_optional": _cumulative_optional,
    "cumulative": _cumulative,
    "no_overlap": _no_overlap,
}
"""Conditions by CPMpy's names."""

NUMBERS: Mapping[str, Callable[[CPM_constrint, Sequence[Expression]], IntExpr]] = {
    **{one.name: _stated(one) for one in _REGULAR if GLOBALS[one.constraint].is_number},
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
    "ite": lambda s, args: if_then_else(s.condition(args[0]), s.number(args[1]), s.number(args[2])),
}
"""Numbers by CPMpy's names."""
