"""The constraints and clauses of a proof so far, and what follows from them by propagation."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from constrint.support.deadline import check_deadline
from constrint.verification.bounds import (
    Atom,
    Bounds,
    Contradiction,
    Domain,
    Rejected,
    between,
    common,
    literal_atom,
    opposite,
    size,
)
from constrint.verification.circuits import ArcsOfLiterals, ArcsOfSuccessors, Literals, go_round, literals
from constrint.verification.linear_rows import RowsOfSum, by_row, normal
from constrint.verification.listing import listed
from constrint.verification.meanings import Arguments, scope
from constrint.verification.settings import CheckerSettings
from constrint.verification.windows import share

CHECK_EACH = 256  # inferences between two deadline checks

Clause: TypeAlias = tuple[Atom, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ProofConstraint:
    """A constraint of the normal form; each is itself alone.

    Attributes:
        name: Its kind.
        arguments: Its arguments.
        variables: Its variables, each once.
    """

    name: str
    arguments: Arguments
    variables: tuple[int, ...]

    @classmethod
    def of(cls, name: str, arguments: Arguments) -> ProofConstraint:
        """The constraint of a kind with arguments."""
        return cls(name, arguments, tuple(scope(arguments)))

    def __str__(self) -> str:
        return f"{self.name} {self.arguments}"


Rule: TypeAlias = "ProofConstraint | Clause | RowsOfSum"


class ConstraintStore:
    """Constraints and clauses over bounded variables.

    Attributes:
        root: The bounds that follow from all of them.
        is_contradictory: Whether they contradict each other.
    """

    def __init__(self, settings: CheckerSettings) -> None:
        self.settings = settings
        self.root = Bounds({}, {}, {}, settings.few_listed)
        self.is_contradictory = False
        self._rules: list[Rule | None] = []
        self._watchers: dict[int, list[int]] = {}
        self._places: dict[int, int] = {}  # of a constraint's rule, by identity of the constraint
        self._sums: dict[tuple[tuple[int, int], ...], list[tuple[ProofConstraint, int]]] = {}
        self._groups: dict[tuple[tuple[int, int], ...], int] = {}
        self._has_windows = False
        self._own = 0
        self._literals: Literals | None = None

    def copy(self) -> ConstraintStore:
        """The same constraints and bounds, to be added to."""
        new = ConstraintStore(self.settings)
        new.root = Bounds(
            dict(self.root.domains), dict(self.root.low), dict(self.root.high), self.root.most_listed
        )
        new._watchers = {v: [] for v in self.root.domains}
        new._own = self._own
        new.is_contradictory = self.is_contradictory
        for rule in self._rules:
            if isinstance(rule, ProofConstraint):
                new.add(rule, must_propagate=False)
            elif isinstance(rule, tuple):
                new.add_clause(rule, must_propagate=False)
        return new

    # Variables

    def declare(self, v: int, domain: Domain) -> None:
        """A new variable."""
        if v in self.root.domains:
            raise Rejected(f"variable {v} is declared twice")
        self.root.domains[v] = domain
        self.root.low[v], self.root.high[v] = domain[0], domain[-1]
        self._watchers[v] = []

    def narrow(self, v: int, domain: Domain) -> None:
        """Keep the values of a domain."""
        root = self.root
        if v not in root.domains:
            raise Rejected(f"variable {v} is not declared")
        left = common(between(root.domains[v], root.low[v], root.high[v]), domain)
        if not left:
            self.is_contradictory = True
            return
        root.domains[v] = left
        root.low[v], root.high[v] = left[0], left[-1]
        root.touched.append(v)
        self._settle()

    # Constraints

    def add(self, constraint: ProofConstraint, must_propagate: bool = True) -> None:
        """Add a constraint that was found to follow."""
        if constraint.name.startswith("Linear"):
            self._add_sum(constraint)
        self._has_windows |= constraint.name == "Cumulative"
        self._literals = None
        self._places[id(constraint)] = self._watch(constraint, constraint.variables, must_propagate)

    def add_clause(self, clause: Clause, must_propagate: bool = True) -> None:
        """Add a clause that was found to follow."""
        self._watch(clause, [v for v, _, _ in clause], must_propagate)

    def drop(self, constraint: ProofConstraint) -> None:
        """Propagate a constraint no longer."""
        self._rules[self._places[id(constraint)]] = None
        self._literals = None

    def _watch(self, rule: Rule, variables: Iterable[int], must_propagate: bool) -> int:
        place = len(self._rules)
        self._rules.append(rule)
        for v in dict.fromkeys(variables):
            if v not in self._watchers:
                raise Rejected(f"variable {v} is not declared")
            self._watchers[v].append(place)
        if must_propagate:
            self._settle([place])
        return place

    def _add_sum(self, constraint: ProofConstraint) -> None:
        """Reason on all constraints over one sum together, where there are several."""
        terms, divisor = normal(constraint.arguments["terms"])
        members = self._sums.setdefault(terms, [])
        members.append((constraint, divisor))
        if len(members) < 2 or len(terms) == 0:
            return
        group = RowsOfSum(terms)
        for member, by in members:
            group.add(member.name, member.arguments, by)
        variables = {v for member, _ in members for v in member.variables}
        if terms in self._groups:
            self._rules[self._groups[terms]] = None
        self._groups[terms] = self._watch(group, sorted(variables), must_propagate=False)

    # Propagation

    def _settle(self, places: Sequence[int] = ()) -> None:
        """Move the bounds at the root as far as they follow."""
        if self.is_contradictory:
            return
        try:
            self._propagate(self.root, places)
        except Contradiction:
            self.is_contradictory = True
        self.root.touched.clear()

    def _propagate(self, bounds: Bounds, places: Iterable[int] = ()) -> None:
        pending = deque(places)
        queued = set(pending)
        left = self.settings.most_inferences
        while True:
            if bounds.touched:
                for v in dict.fromkeys(bounds.touched):
                    for place in self._watchers[v]:
                        if place not in queued:
                            queued.add(place)
                            pending.append(place)
                bounds.touched.clear()
            if not pending:
                return
            if left == 0:
                bounds.is_cut = True
                return
            left -= 1
            if left % CHECK_EACH == 0:
                check_deadline()
            place = pending.popleft()
            queued.discard(place)
            self._infer(bounds, self._rules[place])

    def _infer(self, bounds: Bounds, rule: Rule | None) -> None:
        if rule is None:
            return
        if isinstance(rule, tuple):
            unit(bounds, rule)
        elif isinstance(rule, RowsOfSum):
            rule.bound(bounds)
        else:
            self._infer_constraint(bounds, rule)

    def _infer_constraint(self, bounds: Bounds, constraint: ProofConstraint) -> None:
        """The bounds that one constraint gives."""
        name, arguments = constraint.name, constraint.arguments
        if name == "Clause":
            unit(bounds, [literal_atom(one) for one in arguments["literals"]])
        elif name == "Cumulative":
            share(bounds, arguments)
        elif name.startswith("Linear"):
            by_row(bounds, name, arguments)
            own = arguments.get("literal", -2) >> 1
            if any(v == own for _, v in arguments["terms"]):  # too weak term by term
                listed(bounds, name, arguments, constraint.variables, bounds.most_listed)
        else:
            if name in ("Circuit", "Subcircuit"):
                is_partial = name == "Subcircuit"
                successors = arguments["successors"]
                go_round(ArcsOfSuccessors(bounds, successors, self._values(), may_leave_out=is_partial))
            elif name == "Arcs":
                go_round(ArcsOfLiterals(bounds, arguments))
            listed(bounds, name, arguments, constraint.variables, bounds.most_listed)

    def _values(self) -> Literals:
        """The literals that stand for a value of a variable."""
        if self._literals is None:
            self._literals = literals(
                (rule.name, rule.arguments) for rule in self._rules if isinstance(rule, ProofConstraint)
            )
        return self._literals

    # What follows

    def refutes(self, atoms: Sequence[Atom], rows: Sequence[ProofConstraint] = ()) -> bool | None:
        """Whether assuming atoms and linear rows leads to a contradiction; None where too much is to list."""
        if self.is_contradictory:
            return True
        is_cut = False
        few, many = self.settings.few_listed, self.settings.most_listed
        for attempt, (most, is_thorough) in enumerate(((few, False), (many, False), (many, True))):
            if is_thorough and not self._has_windows:
                continue
            bounds = self.root.copy()
            bounds.is_thorough, bounds.most_listed = is_thorough, most
            everything = attempt > 0 or not (atoms or rows)  # the root's bounds come of shorter lists
            sums = self._over_sums_of(rows)
            try:
                for atom in atoms:
                    if atom[0] not in bounds.low:
                        raise Rejected(f"variable {atom[0]} is not declared")
                    bounds.assume(atom)
                for _ in range(3):
                    for row in rows:
                        by_row(bounds, row.name, row.arguments)
                    for total in sums:
                        total.bound(bounds)
                    self._propagate(bounds, range(len(self._rules)) if everything else ())
                    if not rows:
                        break
            except Contradiction:
                return True
            is_cut = bounds.is_cut
        return None if is_cut else False

    def _over_sums_of(self, rows: Sequence[ProofConstraint]) -> list[RowsOfSum]:
        """Rows together with the constraints over the same sums."""
        found = []
        for row in rows:
            terms, divisor = normal(row.arguments["terms"])
            if self._sums.get(terms):
                total = RowsOfSum(terms)
                total.add(row.name, row.arguments, divisor)
                for member, by in self._sums[terms]:
                    total.add(member.name, member.arguments, by)
                found.append(total)
        return found

    def value_literal(self, v: int, value: int) -> Atom | None:
        """The atom that a known constraint makes equivalent to a variable's having a value."""
        return self._values().get((v, value))

    def implies(self, clause: Sequence[Atom]) -> bool | None:
        """Whether a clause follows by propagation of the opposite; None where too much is to list."""
        return self.refutes([opposite(atom) for atom in clause])

    def constraints(self) -> Iterator[ProofConstraint]:
        """The constraints that are propagated."""
        return (rule for rule in self._rules if isinstance(rule, ProofConstraint))

    def is_declared(self, v: int) -> bool:
        """Whether a variable is declared."""
        return v in self.root.domains

    def own_variable(self) -> int:
        """The number of a new variable of the checker's own, which is negative."""
        self._own += 1
        return -self._own

    def is_one(self, v: int) -> bool:
        """Whether a variable is the constant 1."""
        return self.root.low.get(v) == self.root.high.get(v) == 1

    def number_of_values(self, v: int) -> int:
        """How many values of a variable are left."""
        return size(between(self.root.domains[v], self.root.low[v], self.root.high[v]))


def unit(bounds: Bounds, clause: Iterable[Atom]) -> None:
    """A clause whose members are false save one makes that one true."""
    last: Atom | None = None
    for atom in clause:
        if bounds.is_true(atom):
            return
        if not bounds.is_false(atom):
            if last is not None and last != atom:
                return
            last = atom
    if last is None:
        raise Contradiction
    bounds.assume(last)
