"""Clauses: at least one literal is true."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from constrint.store.domains import literal_value, set_literal
from constrint.store.propagator import Propagator, Watch, literal_holds
from constrint.store.state import LOWER, UPPER, State, compilable
from constrint.support.record import record

CLAUSE = 13


@record()
class Clause(Propagator):
    """At least one literal is true; a clause without literals is false."""

    literals: tuple[int, ...]
    kind = CLAUSE
    priority: ClassVar[int] = 0
    idempotent: ClassVar[bool] = True

    def scope(self) -> tuple[int, ...]:
        return tuple(literal >> 1 for literal in self.literals)

    def holds(self, values: Sequence[int]) -> bool:
        return any(literal_holds(literal, values) for literal in self.literals)

    def encode(self) -> list[int]:
        return list(self.literals)

    def watches(self) -> list[Watch]:
        return [(literal >> 1, LOWER if literal & 1 else UPPER) for literal in self.literals]

    def peak(self, lo: Sequence[int], hi: Sequence[int]) -> int:
        return 1


@compilable
def clause(st: State, c: int) -> bool:
    """At least one literal is true."""
    args = st.args
    candidate = -1
    for i in range(st.start[c], st.start[c + 1]):
        value = literal_value(st, args[i])
        if value == 1:
            return True
        if value < 0:
            if candidate >= 0:
                return True
            candidate = args[i]
    return candidate >= 0 and set_literal(st, candidate)
