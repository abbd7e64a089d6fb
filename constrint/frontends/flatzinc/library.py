"""Global constraints that MiniZinc hands over whole: what `constrint/minizinc/` declares without a body."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from constrint.expr import BoolExpr
from constrint.frontends.flatzinc.builtins import Arguments, Relation
from constrint.functions import all_different, all_of, table

Entry = TypeVar("Entry")


def in_rows(flat: Sequence[Entry], width: int) -> list[Sequence[Entry]]:
    """A matrix that is given row after row."""
    if width == 0 or len(flat) % width:
        raise ValueError(f"{len(flat)} entries are no rows of {width}")
    return [flat[i : i + width] for i in range(0, len(flat), width)]


def _table(a: Arguments) -> BoolExpr:
    xs = a.numbers(0)
    return table(xs, in_rows(a.constants(1), len(xs)))


GLOBALS: dict[str, Relation] = {
    "fzn_all_different_int": lambda a: all_different(a.numbers(0)) if a.numbers(0) else all_of([]),
    "fzn_table_int": _table,
    "fzn_table_bool": _table,
}
"""By name: the condition."""
