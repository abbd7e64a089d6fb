"""Components of variables, and the order in which to bind the variables of each.

The cost of an order is the number of rows that its layers evaluate. It is estimated from the frequency with
which each condition holds on sampled assignments, and from the number of values of the frontier (what later
conditions still need to know).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log2

import numpy as np

from constrint.diagrams.evaluate import Frame, Parts
from constrint.diagrams.terms import FLOAT, INT64, OBJECT, Array, Term, Terms, bits
from constrint.support.deadline import check_deadline, watched

SAMPLES = 512
BEAM = 6
WIDE_BEAM_VARIABLES = 12  # components with more variables are ordered greedily
STARTS = 8
MOST_ORDERED = 2000  # variables times conditions, beyond which no order is searched for
INFINITE = 1e18


def components(count: int, conditions: Sequence[Term]) -> list[list[int]]:
    """The components of variables that conditions connect, in order of their first variables."""
    group_of = list(range(count))
    groups: dict[int, list[int]] = {v: [v] for v in range(count)}
    for condition in conditions:
        check_deadline()
        met = {group_of[v] for v in bits(condition.mask)}
        if len(met) < 2:
            continue
        largest = max(met, key=lambda group: len(groups[group]))
        for group in met - {largest}:
            moved = groups.pop(group)
            groups[largest] += moved
            for v in moved:
                group_of[v] = largest
    return sorted([sorted(group) for group in groups.values()])


def definitions(conditions: Sequence[Term]) -> dict[int, list[int]]:
    """For each variable, the other variables of each equation that can be solved for it."""
    found: dict[int, list[int]] = {}
    for condition in conditions:
        if condition.op != "eq":
            continue
        for i, arg in enumerate(condition.args):
            check_deadline()
            others = 0
            for j, other in enumerate(condition.args):
                others |= other.mask if j != i else 0
            factors = arg.args if arg.op == "mul" else (arg,)
            for f, factor in enumerate(factors):
                rest = others
                for g, other in enumerate(factors):
                    rest |= other.mask if g != f else 0
                if factor.op == "var" and not rest & factor.mask:
                    found.setdefault(factor.data, []).append(rest)
    return found


class VariableOrder:
    """The order of one component, with estimates.

    Attributes:
        order: The variables in the chosen order.
        cost: Estimated rows of all layers together.
    """

    def __init__(
        self, terms: Terms, parts: Parts, conditions: Sequence[Term], variables: Sequence[int]
    ) -> None:
        self._terms = terms
        self._parts = parts
        self._conditions = list(conditions)
        self._variables = list(variables)
        self._definitions = definitions(conditions)
        self._sizes = {v: self._log_size(v) for v in variables}
        self._distinct: dict[Term, float] = {}
        self._rows: dict[int, float] = {0: 0.0}
        self._widths: dict[int, float] = {}
        self._closed: dict[int, float] = {}
        self._selectivity = self._sampled()
        self._near = dict.fromkeys(variables, 0)
        for condition in conditions:
            check_deadline()
            for v in bits(condition.mask):
                self._near[v] |= condition.mask
        self.cost, self.order = min(self._found(), key=lambda found: found[0])

    def _log_size(self, v: int) -> float:
        domain = self._terms.domains[v]
        if domain is not None:
            return log2(max(1, len(domain)))
        lo, hi = self._terms.limits[v]
        return log2(hi - lo + 1)

    def _sampled(self) -> dict[Term, float]:
        """The logarithm of the frequency with which each condition holds."""
        if len(self._variables) < 3:
            return dict.fromkeys(self._conditions, -1.0)
        columns: dict[Term, Array] = {}
        mask = 0
        for v in watched(self._variables):
            columns[self._terms.var(v)] = _sample(self._terms, v)
            mask |= 1 << v
        found = {}
        frame = Frame(self._parts, 0, mask, columns, None)
        for condition in self._conditions:
            check_deadline()
            if condition.op == "call":
                found[condition] = -1.0
                continue
            hits = int(np.count_nonzero(frame.holds(condition)))
            if hits:
                found[condition] = log2(hits / SAMPLES)
            elif condition.op == "eq":
                found[condition] = -max(self._sizes[v] for v in self._variables if condition.mask >> v & 1)
            else:
                found[condition] = -1 - log2(SAMPLES)
        return found

    def _is_defined(self, v: int, bound: int) -> bool:
        return any(not rest & ~bound for rest in self._definitions.get(v, ()))

    def rows(self, bound: int) -> float:
        """Logarithm of the number of assignments to these variables that no condition excludes so far."""
        known = self._rows.get(bound)
        if known is None:
            known = sum(self._sizes[v] for v in self._variables if bound >> v & 1)
            for condition, hits in self._selectivity.items():
                if not condition.mask & ~bound:
                    known += hits
            known = self._rows[bound] = max(known, 0.0)
        return known

    def width(self, bound: int) -> float:
        """Logarithm of the number of nodes after these variables."""
        known = self._widths.get(bound)
        if known is None:
            frontier: dict[Term, None] = {}
            for condition in self._conditions:
                check_deadline()
                if condition.mask & bound and condition.mask & ~bound:
                    frontier.update(dict.fromkeys(self._parts.frontier(condition, bound)))
            total = sum(self._distinct_values(term) for term in frontier)
            known = self._widths[bound] = min(total, self.rows(bound))
        return known

    def _distinct_values(self, term: Term) -> float:
        known = self._distinct.get(term)
        if known is None:
            known = sum(self._sizes[v] for v in self._variables if term.mask >> v & 1)
            if term.is_int:
                known = min(known, log2(int(term.hi) - int(term.lo) + 1))
            self._distinct[term] = known
        return known

    def _step(self, bound: int, v: int) -> float:
        """Estimated rows for binding one more variable."""
        after = bound | 1 << v
        if self._is_defined(v, bound):
            branching = 0.0
        elif self._terms.domains[v] is None:
            return INFINITE
        else:
            size = self._sizes[v]
            branching = max(min(size, self.rows(after) - self.rows(bound)), size - 5, 0.0)
        edges = self.width(bound) + branching
        return float(2.0 ** min(edges, 300.0) + 2.0 ** min(self.width(after), 300.0))

    def _found(self) -> list[tuple[float, list[int]]]:
        """Orders with their costs: those found by search, and the declared one, which is sometimes better."""
        found = [self._search()]
        if self._variables != found[0][1]:
            found.append((self._cost(self._variables), self._variables))
        return found

    def _cost(self, order: Sequence[int]) -> float:
        cost = 0.0
        bound = 0
        for v in order:
            check_deadline()
            cost += self._step(bound, v)
            bound |= 1 << v
        return cost

    def _connected(self) -> tuple[float, list[int]]:
        """A greedy order for many variables.

        Next comes the one that shares the most conditions with those bound.
        """
        shared = dict.fromkeys(self._variables, 0)
        order: list[int] = []
        bound = 0
        cost = 0.0
        while shared:
            v = max(shared, key=lambda v: (self._is_defined(v, bound), shared[v], -self._sizes[v], -v))
            del shared[v]
            cost += self._step(bound, v)
            bound |= 1 << v
            order.append(v)
            check_deadline()
            for condition in self._conditions:
                if condition.mask >> v & 1:
                    for other in shared:
                        shared[other] += condition.mask >> other & 1
        return cost, order

    def _search(self) -> tuple[float, list[int]]:
        count = len(self._variables)
        if count * len(self._conditions) > MOST_ORDERED:
            return self._connected()
        if count == 1:
            return 2.0 ** self._sizes[self._variables[0]], list(self._variables)
        beam = [(0.0, 0, ())]
        wide = count <= WIDE_BEAM_VARIABLES
        states: list[tuple[float, int, tuple[int, ...]]] = list(beam)
        for depth in range(count):
            best: dict[int, tuple[float, int, tuple[int, ...]]] = {}
            for cost, bound, order in states:
                for v in self._candidates(bound):
                    check_deadline()
                    after = bound | 1 << v
                    total = cost + self._step(bound, v)
                    if after not in best or total < best[after][0]:
                        best[after] = (total, after, (*order, v))
            ranked = sorted(best.values(), key=lambda state: (state[0], state[2]))
            states = ranked[: STARTS if wide and depth == 0 else BEAM if wide else 1]
        return states[0][0], list(states[0][2])

    def _candidates(self, bound: int) -> list[int]:
        """Open variables; only those that share a condition with a bound one, if there are any."""
        reach = 0
        for v in self._variables:
            if bound >> v & 1:
                reach |= self._near[v]
        opened = [v for v in self._variables if not bound >> v & 1]
        near = [v for v in opened if reach >> v & 1]
        return near or opened


def _sample(terms: Terms, v: int) -> Array:
    """Values of a variable in sampled assignments; the same in every run."""
    mixed = np.arange(1, SAMPLES + 1, dtype=np.uint64) * np.uint64((0x9E3779B97F4A7C15 * (2 * v + 3)) % 2**64)
    draws = (mixed >> np.uint64(32)).astype(np.int64)
    domain = terms.domains[v]
    if domain is not None:
        return domain[draws % len(domain)]
    lo, hi = terms.limits[v]
    values = [lo + int(draw) % (hi - lo + 1) for draw in draws]
    return np.array(values, dtype=OBJECT if max(-lo, hi) >= 1 << 62 else INT64)


def estimate_text(widths: Mapping[str, int]) -> str:
    """Names with numbers, for people."""
    return ", ".join(f"{name} {number:,}" for name, number in widths.items())


__all__ = ["FLOAT", "VariableOrder", "components", "definitions", "estimate_text"]
