"""Global constraints that MiniZinc passes on whole: those that `constrint/minizinc/` declares without a body.

Names that begin with `constrint_` have 0-based indices; MiniZinc's own indices start wherever an array
starts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar, cast

from constrint.expr import BoolExpr
from constrint.expr.builders import table
from constrint.expr.functions import all_of, sum_
from constrint.frontends.constraint_names import Signature, signatures
from constrint.frontends.flatzinc.builtins import Relation
from constrint.frontends.flatzinc.typed_arguments import Arguments
from constrint.globals import (
    all_different_except,
    cost_regular,
    count,
    cumulative,
    lex_less,
    lex_less_equal,
    regular,
    value_precede,
)

Entry = TypeVar("Entry")


def in_rows(flat: Sequence[Entry], width: int) -> list[Sequence[Entry]]:
    """The rows of a flat matrix."""
    if width == 0 or len(flat) % width:
        raise ValueError(f"{len(flat)} entries are no rows of {width}")
    return [flat[i : i + width] for i in range(0, len(flat), width)]


def _table(a: Arguments) -> BoolExpr:
    xs = a.numbers(0)
    return table(xs, in_rows(a.constants(1), len(xs)))


def _bounded_counts(a: Arguments, closed: bool) -> BoolExpr:
    """The counts of values are between constants."""
    values, cover = a.numbers(0), a.constants(1)
    a.combine(len(values) * len(cover))
    counts = [count(values, value) for value in cover]
    limits = zip(counts, a.constants(2), a.constants(3), strict=True)
    parts = [(low <= number) & (number <= high) for number, low, high in limits]
    return all_of([*parts, *(value.is_in(cover) for value in values if closed)])


def _regular(a: Arguments) -> BoolExpr:
    """States and symbols are 1-based; the table has the next state of each pair, 0 for none."""
    symbols = a.constant(2)
    table_of_states = in_rows(a.constants(3), symbols)
    transitions = [
        (state + 1, symbol + 1, following)
        for state, row in enumerate(table_of_states)
        for symbol, following in enumerate(row)
        if following > 0
    ]
    return regular(a.numbers(0), transitions, a.constant(4), a.listed(5))


def _cost_regular(a: Arguments) -> BoolExpr:
    """As `_regular`, with a table of the cost of each pair."""
    symbols = a.constant(2)
    states, costs = in_rows(a.constants(3), symbols), in_rows(a.constants(6), symbols)
    transitions = [
        (state + 1, symbol + 1, following, price)
        for state, (row, prices) in enumerate(zip(states, costs, strict=True))
        for symbol, (following, price) in enumerate(zip(row, prices, strict=True))
        if following > 0
    ]
    return cost_regular(a.numbers(0), transitions, a.constant(4), a.listed(5), a.number(7))


def _disjunctive(a: Arguments) -> BoolExpr:
    """Tasks without duration may be anywhere: they demand nothing."""
    starts = a.numbers(0)
    return cumulative(starts, a.numbers(1), [1] * len(starts), 1) if starts else all_of([])


def _lexicographic(a: Arguments, strict: bool) -> BoolExpr:
    """For lists of different lengths: a proper prefix comes before the longer list."""
    xs, ys = a.numbers(0), a.numbers(1)
    common = min(len(xs), len(ys))
    is_strict = strict if len(xs) == len(ys) else len(xs) > len(ys)
    if common == 0:
        return all_of([]) if not is_strict else ~all_of([])
    return (lex_less if is_strict else lex_less_equal)(xs[:common], ys[:common])


def _except_0(a: Arguments) -> BoolExpr:
    values = a.numbers(0)
    return all_different_except(values, [0]) if values else all_of([])


def _capacities(a: Arguments) -> BoolExpr:
    """Bins are 0-based; each load is at most its constant."""
    capacities, bins, sizes = a.constants(0), a.numbers(1), a.constants(2)
    a.combine(4 * len(bins) * len(capacities))
    inside = [(one >= 0) & (one < len(capacities)) for one in bins]
    loads = [
        sum_([size * (one == i) for one, size in zip(bins, sizes, strict=True)])
        for i in range(len(capacities))
    ]
    return all_of([*inside, *(load <= most for load, most in zip(loads, capacities, strict=True))])


_PARTS: dict[str, Callable[[Arguments, int], object]] = {
    "expr": Arguments.number,
    "exprs": lambda a, place: tuple(a.numbers(place)),
    "ints": lambda a, place: tuple(a.constants(place)),
    "set": lambda a, place: tuple(a.listed(place)),
}
"""Arguments by the kinds of a definition's fields."""


def _stated(one: Signature) -> Relation:
    return lambda a: cast("BoolExpr", one.stated(lambda kind, place: _PARTS[kind](a, place or 0)))


GLOBALS: dict[str, Relation] = {
    **{one.name: _stated(one) for one in signatures("flatzinc") if one.arguments},
    "fzn_alldifferent_except_0": _except_0,
    "fzn_table_int": _table,
    "fzn_table_bool": _table,
    "fzn_disjunctive": _disjunctive,
    "fzn_lex_less_int": lambda a: _lexicographic(a, True),
    "fzn_lex_lesseq_int": lambda a: _lexicographic(a, False),
    "fzn_global_cardinality_low_up": lambda a: _bounded_counts(a, closed=False),
    "fzn_global_cardinality_low_up_closed": lambda a: _bounded_counts(a, closed=True),
    "fzn_regular": _regular,
    "fzn_cost_regular": _cost_regular,
    "fzn_value_precede_int": lambda a: value_precede([a.constant(0), a.constant(1)], a.numbers(2)),
    "constrint_bin_packing_capa": _capacities,
}
"""By name: the condition."""
