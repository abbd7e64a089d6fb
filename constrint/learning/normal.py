"""From the normal form to what the learning search propagates: clauses of atoms, sums, registry propagators.

Three exact rewritings make it smaller:

- A literal that only stands for a bound of one variable becomes the atom of that bound.
- Literals of one sum with different limits imply each other: those clauses are added.
- Literals that two binary clauses make equal, or opposite, become one: so the two orders of a disjunction of
  tasks are one variable.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from constrint import propagators as c
from constrint.engine.state_arrays import Box
from constrint.learning.circuits import FROM_DEPOT, PARTIAL, WHOLE
from constrint.learning.entries import NO_VARIABLE, Atom, Extreme, reached, selected
from constrint.learning.tasks import Task, is_known, known_tasks, open_tasks
from constrint.propagators.arcs import NO_DEPOT
from constrint.propagators.handlers import Rules
from constrint.settings import DEFAULT
from constrint.support.deadline import NEVER, Deadline

Arcs = list[list[Atom | bool]]  # by node and successor: whether it follows
Terms = tuple[tuple[int, int], ...]  # (factor, variable), by variable

LINEAR = (c.LinearLe, c.LinearEq, c.LinearNe, c.LinearLeIf, c.LinearEqIf)


class ContradictoryRoot(Exception):  # noqa: N818 - an answer, not a fault
    """The constraints have no solution."""


def negated(atom: Atom) -> Atom:
    """The atom that is true where another is false."""
    return atom[0] ^ 1, 1 - atom[1]


def atom_of(literal: int) -> Atom:
    """The atom of a literal of the normal form."""
    return (literal, 1 - (literal & 1))


@dataclass(slots=True)
class LearningNormalForm:
    """A problem for the learning search.

    Attributes:
        at_most: Least limit of each (condition or None, terms): ``condition -> sum <= limit``.
        different: (condition or None, terms, limit): ``condition -> sum != limit``.
        clauses: Members; at least one is true.
        resources: Tasks and capacity of each resource with variables for starts only.
        open_resources: The same of other resources: all are variables.
        circuits: Arcs of each circuit, and its kind: `WHOLE`, `PARTIAL` or `FROM_DEPOT`.
        extremes: A bound, and the entries of which one is at least that.
        propagators: Places, in the root's list, of constraints with their own propagators.
        replaced: Replaced variables: the atom that is true if the variable is 1.
        implied: Clauses of literals that sums with several limits imply.
        merged: Those clauses in which members are bounds of one variable, of which one was kept.
    """

    at_most: dict[tuple[Atom | None, Terms], int] = field(default_factory=dict)
    different: dict[tuple[Atom | None, Terms, int], None] = field(default_factory=dict)
    clauses: list[tuple[Atom, ...]] = field(default_factory=list)
    resources: list[tuple[list[Task], int]] = field(default_factory=list)
    open_resources: list[tuple[list[Task], int]] = field(default_factory=list)
    circuits: list[tuple[Arcs, int]] = field(default_factory=list)
    extremes: list[Extreme] = field(default_factory=list)
    propagators: list[int] = field(default_factory=list)
    replaced: dict[int, Atom] = field(default_factory=dict)
    implied: list[tuple[int, int]] = field(default_factory=list)
    merged: list[tuple[Atom, ...]] = field(default_factory=list)

    def resolved(self, literal: int) -> Atom:
        """The atom of a literal, after all replacements."""
        atom = atom_of(literal)
        flipped = False
        while atom[0] >> 1 in self.replaced and atom[1] == 1 - (atom[0] & 1):
            flipped ^= bool(atom[0] & 1)
            atom = self.replaced[atom[0] >> 1]
        return negated(atom) if flipped else atom


class NormalTranslation:
    """Builds the `LearningNormalForm` of constraints within a box.

    Raises `ContradictoryRoot`, and `Stopped` at the deadline. With `selects`, elements of variables that
    have their parts become extremes; a proof cannot show what these derive.
    """

    def __init__(
        self,
        propagators: Sequence[c.Propagator],
        box: Box,
        kept: Iterable[int],
        deadline: Deadline = NEVER,
        selects: bool = False,
        most_values: int = DEFAULT.learning.most_values,
    ) -> None:
        self.box = box
        self._most_values = most_values
        self.propagators = propagators
        self.normal = LearningNormalForm()
        self._selects = selects
        self._used = set(kept)
        self._equals: dict[tuple[int, int], int] = {}
        for node in propagators:
            self._used.update(_arguments(node))
        self._link_single_bounds()
        self._link_equal_literals()
        # A literal may have been replaced by one that was itself replaced later.
        self.normal.replaced = {v: self.normal.resolved(2 * v) for v in self.normal.replaced}
        for place, node in enumerate(propagators):
            deadline.check()
            if _STATED[type(node)](self, node) is False:
                self.normal.propagators.append(place)

    # Literals

    def truth(self, atom: Atom) -> bool | None:
        """The truth value of an atom in the box; None if open."""
        b, k = atom
        v = b >> 1
        low, high = self.box.lo[v], self.box.hi[v]
        if b & 1:
            low, high = -high, -low
        return True if low >= k else (False if high < k else None)

    def _is_open(self, literal: int) -> bool:
        return self.truth(atom_of(literal)) is None

    def _link_single_bounds(self) -> None:
        """``literal <-> a x <= bound`` makes the literal an atom of x."""
        for node in self.propagators:
            if not isinstance(node, c.LinearLeIf) or len(node.terms) != 1:
                continue
            v = node.literal >> 1
            ((a, x),) = node.terms
            if v in self._used or v in self.normal.replaced or not self._is_open(node.literal):
                continue
            atom = (2 * x + 1, -(node.bound // a)) if a > 0 else (2 * x, -(node.bound // -a))
            self.normal.replaced[v] = negated(atom) if node.literal & 1 else atom

    def _link_equal_literals(self) -> None:
        """Merge literals that binary clauses (of the model, and of sums with several limits) make equal."""
        pairs: set[frozenset[int]] = set()
        ordered = self.normal.implied = self._ordered_literals()
        for node in self.propagators:
            if isinstance(node, c.Clause) and len(set(node.literals)) == 2:
                pairs.add(frozenset(node.literals))
        pairs.update(frozenset(pair) for pair in ordered)
        for pair in sorted(pairs, key=sorted):
            if len(pair) != 2:
                continue
            one, other = sorted(pair)
            if one >> 1 == other >> 1 or frozenset((one ^ 1, other ^ 1)) not in pairs:
                continue
            # At least one and at most one: exactly one of them is true.
            first, second = self.normal.resolved(one), self.normal.resolved(other ^ 1)
            if first == second:
                continue
            for mine, theirs in ((second, first), (first, second)):
                v = mine[0] >> 1
                is_literal = mine == atom_of(mine[0]) and (self.box.lo[v], self.box.hi[v]) == (0, 1)
                if is_literal and v not in self._used and theirs[0] >> 1 != v:
                    self.normal.replaced[v] = negated(theirs) if mine[0] & 1 else theirs
                    break
        for one, other in ordered:
            self._clause((self.normal.resolved(one), self.normal.resolved(other)))

    def _ordered_literals(self) -> list[tuple[int, int]]:
        """Clauses between the literals of one sum: a smaller limit implies a greater one."""
        limits: dict[Terms, list[tuple[int, int]]] = defaultdict(list)
        for node in self.propagators:
            if isinstance(node, c.LinearLeIf) and node.terms and self._is_open(node.literal):
                terms = tuple(sorted(node.terms, key=lambda term: term[1]))
                literal, bound = node.literal, node.bound
                if terms[0][0] < 0:
                    terms, bound, literal = tuple((-a, v) for a, v in terms), -bound - 1, literal ^ 1
                limits[terms].append((bound, literal))
        found: list[tuple[int, int]] = []
        for group in limits.values():
            group.sort()
            for (low, first), (high, second) in pairwise(group):
                found.append((first ^ 1, second))
                if low == high:
                    found.append((first, second ^ 1))
        return found

    # Constraints

    def _at_most_if(self, node: c.LinearLeIf) -> None:
        condition = self.normal.resolved(node.literal)
        self._at_most(condition, node.terms, node.bound)
        self._at_most(negated(condition), _opposite(node.terms), -node.bound - 1)

    def _equal_if(self, node: c.LinearEqIf) -> None:
        condition = self.normal.resolved(node.literal)
        self._equal(condition, node.terms, node.bound)
        self._differ(negated(condition), node.terms, node.bound)

    def _note(self, extremes: list[Extreme]) -> bool:
        """Add extremes; False if there are none."""
        self.normal.extremes += extremes
        return bool(extremes)

    def _selected(self, node: c.Selection) -> list[Extreme]:
        """The extremes of an element of variables; none where a place has no literal."""
        if not self._selects:
            return []
        low, high = self.box.lo[node.index], self.box.hi[node.index]
        if low < 0 or high >= len(node.xs) or high - low >= self._most_values:
            return []
        return selected(node, [self._arc(node.index, place) for place in range(len(node.xs))])

    def _go_round(self, node: c.Circuit | c.Subcircuit) -> bool:
        """A circuit whose arcs all are literals of 0/1 variables; False where one is not."""
        arcs: Arcs = [[self._arc(v, j) for j in range(len(node.successors))] for v in node.successors]
        return self._add_circuit(arcs, PARTIAL if isinstance(node, c.Subcircuit) else WHOLE)

    def _go_along(self, node: c.Arcs) -> bool:
        """The same for arcs that are literals; the depot changes places with node 0."""
        n, depot = node.count, max(node.depot, 0)
        place = {depot: 0, 0: depot}
        arcs: Arcs = [[False] * n for _ in range(n)]
        for tail, head, literal in zip(node.tails, node.heads, node.literals, strict=True):
            v = literal >> 1
            arcs[place.get(tail, tail)][place.get(head, head)] = self._arc(v, 1 - (literal & 1))
        kind = PARTIAL if node.depot == NO_DEPOT else FROM_DEPOT
        return self._add_circuit(arcs, kind)

    def _add_circuit(self, arcs: Arcs, kind: int) -> bool:
        for arc in (arc for row in arcs for arc in row):
            if not isinstance(arc, bool):
                v = arc[0] >> 1
                if v < 0 or (self.box.lo[v], self.box.hi[v]) != (0, 1):
                    return False
        self.normal.circuits.append((arcs, kind))
        return True

    def _arc(self, v: int, value: int) -> Atom | bool:
        """The atom of ``v == value``; of no variable where there is none."""
        low, high = self.box.lo[v], self.box.hi[v]
        if low == high or not low <= value <= high:
            return low == high == value
        if (low, high) == (0, 1):
            return atom_of(2 * v + 1 - value)
        if not self._equals:
            self._equals[NO_VARIABLE] = 0
            for node in self.propagators:
                if isinstance(node, c.LinearEqIf) and len(node.terms) == 1:
                    ((a, x),) = node.terms
                    if node.bound % a == 0:
                        self._equals.setdefault((x, node.bound // a), node.literal)
        literal = self._equals.get((v, value))
        if literal is None:
            listed = self.box.values[v]
            inside = value in listed if listed is not None else (value - low) % self.box.step[v] == 0
            return NO_VARIABLE if inside else False
        atom = self.normal.resolved(literal)
        truth = self.truth(atom)
        return atom if truth is None else truth

    def _share(self, node: c.Cumulative) -> bool:
        """A resource; False where a start occurs twice, or a duration, demand or capacity may be negative."""
        if len(set(node.starts)) < len(node.starts):
            return False
        if is_known(node, self.box):
            tasks = known_tasks(node, self.box)
            if tasks is None:
                raise ContradictoryRoot
            if tasks:
                self.normal.resources.append((tasks, self.box.lo[node.capacity]))
            return True
        tasks = open_tasks(node, self.box)
        if tasks:
            self.normal.open_resources.append((tasks, node.capacity))
        return tasks is not None

    def _merged(self, terms: Terms, limit: int) -> tuple[Terms, int]:
        """Each open variable once, in order; fixed ones are in the limit."""
        factors: dict[int, int] = defaultdict(int)
        for a, v in terms:
            if self.box.lo[v] == self.box.hi[v]:
                limit -= a * self.box.lo[v]
            else:
                factors[v] += a
        return tuple((a, v) for v, a in sorted(factors.items()) if a), limit

    def _is_dead(self, condition: Atom | None) -> bool:
        """Whether a condition cannot hold."""
        return condition is not None and self.truth(condition) is False

    def _still_open(self, condition: Atom | None) -> Atom | None:
        """The condition if it is open, None if it holds."""
        return None if condition is None or self.truth(condition) else condition

    def _at_most(self, condition: Atom | None, terms: Terms, limit: int) -> None:
        if self._is_dead(condition):
            return
        condition = self._still_open(condition)
        terms, limit = self._merged(terms, limit)
        lo, hi = self.box.lo, self.box.hi
        if sum(a * (hi[v] if a > 0 else lo[v]) for a, v in terms) <= limit:
            return
        members = [] if condition is None else [negated(condition)]
        if len(terms) == 1:
            ((a, v),) = terms
            members.append((2 * v + 1, -(limit // a)) if a > 0 else (2 * v, -(limit // -a)))
        if len(terms) <= 1:
            self._clause(tuple(members))
            return
        key = (condition, terms)
        self.normal.at_most[key] = min(limit, self.normal.at_most.get(key, limit))

    def _equal(self, condition: Atom | None, terms: Terms, limit: int) -> None:
        self._at_most(condition, terms, limit)
        self._at_most(condition, _opposite(terms), -limit)

    def _differ(self, condition: Atom | None, terms: Terms, limit: int) -> None:
        if self._is_dead(condition):
            return
        condition = self._still_open(condition)
        terms, limit = self._merged(terms, limit)
        members = [] if condition is None else [negated(condition)]
        if not terms:
            if limit == 0:
                self._clause(tuple(members))
        elif len(terms) > 1:
            self.normal.different[condition, terms, limit] = None
        elif limit % terms[0][0] == 0:
            v, value = terms[0][1], limit // terms[0][0]
            self._clause((*members, (2 * v, value + 1), (2 * v + 1, 1 - value)))

    def _clause(self, atoms: tuple[Atom, ...]) -> None:
        """A clause with one member for each bound, the weakest, and without decided members."""
        weakest: dict[int, int] = {}
        is_merged = False
        for atom in atoms:
            truth = self.truth(atom)
            if truth:
                return
            if truth is None:
                b, k = atom
                is_merged |= b in weakest
                weakest[b] = min(k, weakest.get(b, k))
        for b, k in weakest.items():
            if weakest.get(b ^ 1, 1 - k + 1) <= 1 - k:
                return
        if not weakest:
            raise ContradictoryRoot
        self.normal.clauses.append(tuple(weakest.items()))
        if is_merged:
            self.normal.merged.append(self.normal.clauses[-1])


def _opposite(terms: Terms) -> Terms:
    return tuple((-a, v) for a, v in terms)


def _arguments(node: c.Propagator) -> Iterable[int]:
    """The variables of a constraint that occur in it as more than literals."""
    if isinstance(node, c.Clause):
        return ()
    if isinstance(node, LINEAR):
        return [v for _, v in node.terms]
    return node.scope()


_STATED: Rules[NormalTranslation, Any] = Rules(
    "learning",
    {
        c.LinearLe: lambda t, node: t._at_most(None, node.terms, node.bound),
        c.LinearEq: lambda t, node: t._equal(None, node.terms, node.bound),
        c.LinearNe: lambda t, node: t._differ(None, node.terms, node.bound),
        c.LinearLeIf: NormalTranslation._at_most_if,
        c.LinearEqIf: NormalTranslation._equal_if,
        c.Clause: lambda t, node: t._clause(tuple(map(t.normal.resolved, node.literals))),
        c.Cumulative: NormalTranslation._share,
        (c.Circuit, c.Subcircuit): NormalTranslation._go_round,
        c.Arcs: NormalTranslation._go_along,
        (c.Maximum, c.Minimum, c.Absolute): lambda t, node: t._note(reached(node)),
        c.Selection: lambda t, node: t._note(t._selected(node)),
    },
    generic=lambda t, node: False,
)
"""States a constraint without its propagator; False where it keeps that."""
