"""Which constraint of the normal form defines which new variable, for proofs.

A variable is defined by a constraint that has one value of it for all values of the others. A truth value
that occurs in clauses only is true exactly where all of some literals are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, NamedTuple

from constrint import propagators as c
from constrint.propagators.handlers import Handlers


class VariableDefinition(NamedTuple):
    """The definition of some variables.

    Attributes:
        variables: The variables, none for one without a definition.
        kind: The kind of the constraint.
        arguments: Its arguments.
        node: The constraint of the normal form; None where it is no constraint of that.
    """

    variables: tuple[int, ...]
    kind: str
    arguments: dict[str, Any]
    node: c.Propagator | None


def arguments_of(node: c.Propagator) -> dict[str, object]:
    """The arguments of a constraint by name."""
    return {name: getattr(node, name) for name in node.__match_args__}  # type: ignore[attr-defined] # every node is a record


_OUTPUTS: Handlers[Callable[[Any], list[tuple[int, ...]]]] = Handlers(
    "definitions in proofs",
    {
        (
            c.LinearLeIf,
            c.LinearEqIf,
            c.Divides,
            c.Member,
            c.Lexicographic,
            c.Table,
            c.ShortTable,
        ): lambda node: [(node.literal >> 1,)],
        c.LinearEq: lambda node: [(v,) for a, v in node.terms if abs(a) == 1],
        c.DivMod: lambda node: [(node.q, node.r)],
        c.CeilDiv: lambda node: [(node.q,)],
        (
            c.Product,
            c.Power,
            c.Absolute,
            c.Gcd,
            c.Lcm,
            c.Maximum,
            c.Minimum,
            c.Element,
            c.Selection,
        ): lambda node: [(node.z,)],
    },
    generic=lambda node: [],
    rest="none",
)
"""The variables that a constraint can define."""


class Definitions:
    """The definitions of new variables among new constraints, each after those of the variables it needs."""

    def __init__(
        self,
        new: Collection[int],
        fixed: Collection[int],
        propagators: Sequence[c.Propagator],
        may_guess: bool,
    ) -> None:
        self._may_guess = may_guess
        self._left = dict.fromkeys(v for v in new if v not in fixed)
        self._propagators = propagators
        self._fixed = [v for v in new if v in fixed]

    def __iter__(self) -> Iterator[VariableDefinition | int]:
        """The definitions, and the variables that have none, in order."""
        yield from self._fixed
        found = True
        while self._left and found:
            found = False
            for some in (self._by_quotient(), self._by_constraint(), self._by_clauses()):
                for one in some:
                    found = True
                    for v in one.variables:
                        del self._left[v]
                    yield one
                if found:
                    break
            if not found and self._left:
                v = next(iter(self._left))
                del self._left[v]
                found = True
                yield v

    def _by_constraint(self) -> Iterator[VariableDefinition]:
        """Definitions by one constraint each, whose other variables are known."""
        again = True
        while again:
            again = False
            for node in self._propagators:
                for variables in _OUTPUTS[type(node)](node):
                    scope = node.scope()
                    if (
                        all(v in self._left and scope.count(v) == 1 for v in variables)
                        and len(set(variables)) == len(variables)
                        and all(v in variables or v not in self._left for v in scope)
                    ):
                        again = True
                        yield VariableDefinition(variables, type(node).__name__, arguments_of(node), node)
                        break

    def _by_quotient(self) -> Iterator[VariableDefinition]:
        """Quotients by a constant, which two sums define."""
        for one, other in zip(self._propagators, self._propagators[1:], strict=False):
            if not (isinstance(one, c.LinearLe) and isinstance(other, c.LinearLe)) or not (
                one.terms and other.terms
            ):
                continue
            (divisor, q), (back, p) = one.terms[-1], other.terms[-1]
            terms = other.terms[:-1]
            if (
                q == p
                and q in self._left
                and divisor == -back > 0
                and one.terms[:-1] == tuple([(-a, v) for a, v in terms])
                and other.bound == divisor - 1 - one.bound
                and all(v not in self._left for _, v in terms)
            ):
                arguments = {"terms": terms, "constant": one.bound, "divisor": divisor, "q": q}
                yield VariableDefinition((q,), "Quotient", arguments, None)

    def _by_clauses(self) -> Iterator[VariableDefinition]:
        """Truth values that are true exactly where all of some literals are.

        A clause, and one for each of its other members with the opposite, say so. The search's own truth
        values may lack the half that it does not need; they have that value none the less.
        """
        implied: dict[int, list[int]] = {}
        others: dict[int, list[list[int]]] = {}
        for node in self._propagators:
            for literal in node.literals if isinstance(node, c.Clause) else ():
                if literal >> 1 in self._left:
                    rest = [one for one in node.literals if one != literal]  # type: ignore[attr-defined] # a clause
                    if len(rest) == 1:
                        implied.setdefault(literal ^ 1, []).append(rest[0])
                    elif rest:
                        others.setdefault(literal, []).append([one ^ 1 for one in rest])
        for v in list(self._left):
            for literal in (2 * v, 2 * v + 1):
                members = self._members(implied.get(literal, []), others.get(literal, []))
                if members and all(one >> 1 not in self._left for one in members):
                    yield VariableDefinition((v,), "All", {"literal": literal, "literals": members}, None)
                    break

    def _members(self, implied: list[int], others: list[list[int]]) -> list[int]:
        """The literals that are all true exactly where another is."""
        known = set(implied)
        for members in others:
            if known.issuperset(members):
                return members
        if not self._may_guess:
            return []
        return implied or (others[0] if others else [])
