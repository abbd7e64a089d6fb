"""Groups of steps that belong together: what one constraint of the model, or one rule of presolve, gives.

They are checked when the group is complete, since variables and constraints of one group need each other.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field

from constrint.verification.bounds import Domain, Rejected, between, common, size
from constrint.verification.definitions import check_defines
from constrint.verification.implied import follows
from constrint.verification.intervals import Partial
from constrint.verification.known import KnownConstraints
from constrint.verification.meanings import Values
from constrint.verification.model_conditions import ModelConditions
from constrint.verification.report import Report
from constrint.verification.settings import CheckerSettings
from constrint.verification.solutions import ListedSolutions
from constrint.verification.store import ConstraintStore, ProofConstraint
from constrint.verification.terms import UnreadError
from constrint.verification.written import Written, domain_of


@dataclass(slots=True)
class StepGroup:
    """The steps of a group.

    Attributes:
        kind: What its steps are, for the count of those on trust.
        source: Number of the constraint of the model that they come from, or None.
        variables: Domain and name of new variables, by number.
        definitions: The constraint that defines each of some of them.
        constraints: The other constraints.
        domains: Narrower domains of older variables.
    """

    kind: str = "lowering"
    source: int | None = None
    variables: dict[int, tuple[Domain, str | None]] = field(default_factory=dict)
    definitions: dict[tuple[int, ...], ProofConstraint] = field(default_factory=dict)
    constraints: list[ProofConstraint] = field(default_factory=list)
    domains: list[tuple[int, Domain]] = field(default_factory=list)


class CheckState:
    """The state of the check at one place of a proof."""

    def __init__(self, model: Written, settings: CheckerSettings, report: Report) -> None:
        self.model = model
        self.settings = settings
        self.report = report
        self.store = ConstraintStore(settings)
        self.known = KnownConstraints()
        self.solutions = ListedSolutions(model, settings)
        self.constraints: list[ProofConstraint] = []
        self.names: dict[int, str] = {}
        self.is_refuted = False

    def copy(self) -> CheckState:
        """The same, to be added to."""
        new = object.__new__(CheckState)
        new.model, new.settings, new.report = self.model, self.settings, self.report
        new.store, new.known, new.solutions = self.store.copy(), self.known.copy(), self.solutions.copy()
        new.is_refuted = False
        new.constraints, new.names = list(self.constraints), dict(self.names)
        return new

    def trust(self, kind: str) -> None:
        """Count a step that is not checked; raises `Rejected` where none may be."""
        if self.settings.is_strict:
            raise Rejected(f"not checked: {kind}")
        self.report.trusted[kind] += 1

    def _count(self, is_derived: bool, kind: str) -> None:
        """Count a step by what supports it."""
        if is_derived:
            self.report.derived += 1
        elif self.solutions.is_listed:
            self.report.listed += 1
        else:
            self.trust(kind)

    def take(self, group: StepGroup, is_last: bool = False) -> None:
        """Check the steps of a group, and add them to what is known.

        Args:
            group: The group.
            is_last: Whether to note whether all contradict each other, while the model's constraint is there.
        """
        self._declare(group)
        facts = self._read(group)
        for constraint in group.constraints:
            self.solutions.satisfy(constraint)
            is_derived = self._follows(constraint)
            self._count(is_derived, f"{group.kind} {constraint.name}")
            self._add(constraint)
        narrower = [(v, domain) for v, (domain, name) in group.variables.items() if name is None]
        for v, domain in [*narrower, *group.domains]:
            self._narrow(v, domain, group.kind)
        self.is_refuted = bool(self.store.refutes([])) if is_last else False
        for fact in facts:
            self.store.drop(fact)

    def _read(self, group: StepGroup) -> list[ProofConstraint]:
        """Add the constraint of the model itself, over variables of the proof, where that is translated."""
        if group.source is None or self.solutions.is_listed:
            return []
        if not 0 <= group.source < len(self.model.constraints):
            raise Rejected(f"the model has no constraint {group.source}")
        conditions = self.conditions()
        with suppress(UnreadError, RecursionError):
            conditions.require(self.model.constraints[group.source])
        return conditions.facts

    def conditions(self) -> ModelConditions:
        """The translator of the model's conditions."""
        return ModelConditions(self.store, self.known, {name: v for v, name in self.names.items()})

    def _follows(self, constraint: ProofConstraint) -> bool:
        """Whether a constraint follows by a rule; not checked where solutions are listed."""
        if self.solutions.is_listed:
            return self.known.has(constraint)
        return follows(constraint, self.store, self.known)

    def _add(self, constraint: ProofConstraint) -> None:
        self.store.add(constraint)
        self.known.add(constraint)

    def _declare(self, group: StepGroup) -> None:
        """The new variables of a group, in order; those without a definition take values that fit."""
        defined_by = {v: (all_, one) for all_, one in group.definitions.items() for v in all_}
        done: set[int] = set()
        open_ = 0
        self.solutions.expect(group.constraints)
        for v, (domain, name) in group.variables.items():
            if name is not None:
                self._declare_named(v, domain, name)
            elif v in defined_by:
                variables, constraint = defined_by[v]
                if v not in done:
                    self._define(variables, constraint, group)
                    done.update(variables)
            else:
                self.store.declare(v, domain)
                self.solutions.leave_open(v, domain)
                open_ += size(domain) > 1
        missing = set(defined_by) - done
        if missing:
            raise Rejected(f"variable {min(missing)} is defined and not declared with its definition")
        self.solutions.close()
        if not self.solutions.is_listed:
            for _ in range(open_):
                self.trust(f"{group.kind} variable without a definition")

    def _declare_named(self, v: int, domain: Domain, name: str) -> None:
        """A variable of the model, with all values that it has there."""
        variable = self.model.variables.get(name)
        if variable is None:
            raise Rejected(f"the model has no variable {name!r}")
        if name in self.names.values():
            raise Rejected(f"variable {name!r} of the model is declared twice")
        own = domain_of(variable)
        if own is None:
            self.trust("unbounded variable")
        elif size(common(own, domain)) != size(own):
            raise Rejected(f"variable {name!r} has other values in the model")
        self.names[v] = name
        self.store.declare(v, domain)
        self.solutions.declare(v, name)

    def _define(self, variables: tuple[int, ...], constraint: ProofConstraint, group: StepGroup) -> None:
        claimed = {v: group.variables[v][0] for v in variables if v in group.variables}
        if len(claimed) < len(variables):
            raise Rejected(f"{constraint} defines a variable that is not declared")
        try:
            reached = check_defines(constraint, variables, self.store.root)
        except Partial:
            reached = claimed
            if not self.solutions.is_listed:
                self.trust(f"{group.kind} definition that may have no value")
        for v, domain in reached.items():
            self.store.declare(v, domain)
        self.solutions.define(constraint, variables)
        self.known.define(variables[0], constraint)
        self._add(constraint)
        for v, domain in claimed.items():  # what excludes more comes later in the group, maybe
            self._narrow(v, domain, group.kind, must_follow=False)

    def _narrow(self, v: int, domain: Domain, kind: str, must_follow: bool = True) -> None:
        """Keep the values of a domain, if the others are excluded; unless they must be, it may stay."""
        store = self.store
        if not store.is_declared(v):
            raise Rejected(f"variable {v} is not declared")
        before = between(store.root.domains[v], store.root.low[v], store.root.high[v])
        left = common(before, domain)
        if size(left) == size(before) and not store.is_contradictory:
            return

        def holds(values: Values) -> bool:
            return values[v] in domain

        self.solutions.keep(holds, f"the domain of variable {v}")
        is_derived = not self.solutions.is_listed and self._excludes(v, before, left)
        if not (is_derived or must_follow or self.solutions.is_listed):
            return
        self._count(is_derived, f"{kind} bound")
        store.narrow(v, domain)

    def _excludes(self, v: int, before: Domain, left: Domain) -> bool:
        """Whether propagation excludes the values that are left out."""
        store = self.store
        if not left:
            return bool(store.refutes([]))
        ends = [(v, "<=", left[0] - 1)], [(v, ">=", left[-1] + 1)]
        if not all(store.refutes(atoms) for atoms in ends):
            return False
        inner = between(before, left[0], left[-1])
        if size(inner) == size(left):
            return True
        if size(inner) > self.settings.most_local:
            return False
        kept = set(left)
        holes = [x for x in inner if x not in kept]
        return all(store.refutes([(v, ">=", x), (v, "<=", x)]) for x in holes)
