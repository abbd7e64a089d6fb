"""The known constraints, found by key, by variable, and by their sums."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from constrint.expr.sums import Linear
from constrint.verification.store import ProofConstraint

MOST_NESTED = 100  # definitions of sums that are replaced, one within the other


def key_of(constraint: ProofConstraint) -> str:
    """A text that equal constraints share."""
    return f"{constraint.name} {json.dumps(constraint.arguments, sort_keys=True)}"


class KnownConstraints:
    """All constraints that were found to follow, those that are propagated no longer too.

    Attributes:
        sums: The sum that each of some variables is by definition.
        different: The constraints that some terms all differ.
    """

    def __init__(self) -> None:
        self._keys: set[str] = set()
        self._by_variable: dict[int, list[ProofConstraint]] = {}
        self.sums: dict[int, Linear] = {}
        self.different: list[ProofConstraint] = []
        self._sums_over: dict[int, list[int]] = {}
        self._compared: dict[tuple[str, int], list[ProofConstraint]] = {}

    def copy(self) -> KnownConstraints:
        """The same constraints, to be added to."""
        new = KnownConstraints()
        new._keys = set(self._keys)
        new._by_variable = {v: list(some) for v, some in self._by_variable.items()}
        new.sums, new.different = dict(self.sums), list(self.different)
        new._sums_over = {v: list(some) for v, some in self._sums_over.items()}
        new._compared = {key: list(some) for key, some in self._compared.items()}
        return new

    def define(self, v: int, constraint: ProofConstraint) -> None:
        """Note the definition of a variable, if it is a sum."""
        if constraint.name == "LinearEq":
            terms, bound = constraint.arguments["terms"], constraint.arguments["bound"]
            sign = next(a for a, u in terms if u == v)
            rest: dict[int, int] = {}
            for a, u in terms:
                if u != v:
                    rest[u] = rest.get(u, 0) - sign * a
            self.define_sum(v, Linear({u: a for u, a in rest.items() if a}, sign * bound))

    def define_sum(self, v: int, total: Linear) -> None:
        """Note that a variable is a sum by definition."""
        self.sums[v] = total
        for u in self._base(total.terms):
            self._sums_over.setdefault(u, []).append(v)

    def _base(self, variables: Iterable[int]) -> set[int]:
        """Variables, and those of the sums that they are."""
        found: set[int] = set()
        left = list(variables)
        while left:
            v = left.pop()
            if v not in found:
                found.add(v)
                left += self.sums[v].terms if v in self.sums else ()
        return found

    def expanded(self, linear: Linear) -> Linear:
        """A sum with the definitions of variables that are sums."""
        for _ in range(MOST_NESTED):
            v = max([v for v in linear.terms if v in self.sums], default=None)
            if v is None:
                break
            rest = Linear({u: a for u, a in linear.terms.items() if u != v}, linear.constant)
            linear = rest.plus(self.sums[v], linear.terms[v])
        return linear

    def sums_over(self, v: int) -> Sequence[int]:
        """The variables that are sums with a variable in them."""
        return self._sums_over.get(v, ())

    def compared(self, name: str, v: int) -> Sequence[ProofConstraint]:
        """The constraints of a kind that compare a sum with a variable in it."""
        return self._compared.get((name, v), ())

    def add(self, constraint: ProofConstraint) -> None:
        """Add a constraint."""
        self._keys.add(key_of(constraint))
        if constraint.name.startswith("AllDifferent"):
            self.different.append(constraint)
        if constraint.name in ("LinearLeIf", "LinearEqIf"):
            for v in self._base(u for _, u in constraint.arguments["terms"]):
                self._compared.setdefault((constraint.name, v), []).append(constraint)
        for v in constraint.variables:
            self._by_variable.setdefault(v, []).append(constraint)

    def has(self, constraint: ProofConstraint) -> bool:
        """Whether the same constraint is known."""
        return key_of(constraint) in self._keys

    def over(self, v: int) -> Sequence[ProofConstraint]:
        """The constraints of a variable."""
        return self._by_variable.get(v, ())
