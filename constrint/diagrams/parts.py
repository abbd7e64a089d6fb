"""Splitting terms into the part that bound variables determine, and the rest."""

from __future__ import annotations

import threading
from math import gcd

from constrint.diagrams.terms import Term, Terms
from constrint.support.deadline import check_deadline

PARTIAL = ("sum", "mul", "le", "eq", "ne", "and", "or")


class Parts:
    """Splits terms into the part that bound variables determine, and the rest.

    Threads may share it: it is the only place where terms are made after planning, each once.
    """

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self._lock = threading.RLock()
        self._frontiers: dict[tuple[Term, int], tuple[Term, ...]] = {}
        self._splits: dict[tuple[Term, int], tuple[Term | None, int, tuple[int, ...]]] = {}

    def frontier(self, term: Term, bound: int) -> tuple[Term, ...]:
        """The largest parts of a term that the bound variables decide, and that its value depends on."""
        seen = term.mask & bound
        if not seen:
            return ()
        key = (term, seen)
        known = self._frontiers.get(key)
        if known is None:
            with self._lock:
                known = self._frontiers[key] = self._frontier(term, bound)
        return known

    def _frontier(self, term: Term, bound: int) -> tuple[Term, ...]:
        if not term.mask & ~bound and not term.is_lazy:
            return (term,)
        check_deadline()
        found: dict[Term, None] = {}
        args = term.args
        if term.op in PARTIAL and not term.is_lazy:
            part, _, rest = self.split(term, bound)
            if part is not None:
                found[part] = None
            args = tuple(args[i] for i in rest)
        for arg in args:
            may_skip = term.is_lazy or term.op == "held"
            inside = self._deep(arg, bound) if may_skip else self.frontier(arg, bound)
            found.update(dict.fromkeys(inside))
        return tuple(found)

    def _deep(self, term: Term, bound: int) -> tuple[Term, ...]:
        """The frontier below an operand that may be undefined: only what is always defined."""
        if term.safe:
            return self.frontier(term, bound)
        return tuple(dict.fromkeys([part for arg in term.args for part in self._deep(arg, bound)]))

    def split(self, term: Term, bound: int) -> tuple[Term | None, int, tuple[int, ...]]:
        """The part of a flat term that is known, its factor in the term, and the other operands' numbers."""
        key = (term, term.mask & bound)
        known = self._splits.get(key)
        if known is None:
            with self._lock:
                known = self._splits[key] = self._split(term, bound)
        return known

    def _split(self, term: Term, bound: int) -> tuple[Term | None, int, tuple[int, ...]]:
        inside = [i for i, arg in enumerate(term.args) if arg.mask and not arg.mask & ~bound]
        rest = tuple(i for i in range(len(term.args)) if i not in inside)
        if not inside:
            return None, 0, rest
        args = [term.args[i] for i in inside]
        if term.op == "mul":
            return (args[0] if len(args) == 1 else self.terms.mul(args)), 1, rest
        if term.op in ("and", "or"):
            return (args[0] if len(args) == 1 else self.terms._bool(term.op, tuple(args), term.data)), 1, rest
        coefficients = [term.data[0][i] for i in inside]
        if len(args) == 1:
            return args[0], coefficients[0], rest
        common = gcd(*coefficients) or 1
        if next((a for a in coefficients if a), 1) < 0:  # 0 is of an operand that must only be defined
            common = -common
        return self.terms.sum([a // common for a in coefficients], args), common, rest
