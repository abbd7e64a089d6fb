"""The solutions of a small model, listed and extended to internal variables, step by step.

A step of lowering, presolve or decomposition is right if every solution of the model has values of the
internal variables that satisfy all steps so far. Where the model's assignments can be listed, that is checked
as it stands: a variable with a definition has the value that this gives, any other all values of its domain,
of which each constraint keeps those that satisfy it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from constrint.verification.bounds import Domain, Rejected, size
from constrint.verification.definitions import computed
from constrint.verification.meanings import DEFINITIONS, Values
from constrint.verification.settings import CheckerSettings
from constrint.verification.store import ProofConstraint
from constrint.verification.written import Written, domain_of

MOST_TRIED = 20  # values that are tried for each solution that may be kept


class ListedSolutions:
    """All solutions of a model, each with the values of internal variables that are left.

    Attributes:
        is_listed: Whether they are listed; without, nothing is checked.
        extended: (number of the solution, values of internal variables).
    """

    def __init__(self, model: Written, settings: CheckerSettings) -> None:
        self._most = settings.most_extended
        self.extended: list[tuple[int, Values]] = []
        self.solutions: list[dict[str, int]] = []
        self.is_listed = False
        self._open: list[tuple[int, Domain]] = []  # variables without a definition, not yet given values
        self._waiting: list[ProofConstraint] = []  # constraints over them
        domains = [domain_of(variable) for variable in model.variables.values()]
        known = [domain for domain in domains if domain is not None]
        if len(known) < len(domains) or prod(map(size, known)) > settings.most_assignments:
            return
        self.is_listed = True
        for values in model.assignments(list(model.variables), known):
            if model.violated(values) is None:
                self.extended.append((len(self.solutions), {}))
                self.solutions.append(values)

    def copy(self) -> ListedSolutions:
        """The same solutions, to be extended further."""
        new = object.__new__(ListedSolutions)
        new._most = self._most
        new.solutions = self.solutions
        new.is_listed = self.is_listed
        new.extended = [(number, dict(values)) for number, values in self.extended]
        new._open, new._waiting = [], []
        return new

    def restricted(self, is_kept: Callable[[dict[str, int]], bool]) -> ListedSolutions:
        """The solutions of the model that a condition keeps, to be extended further."""
        new = self.copy()
        numbers = [number for number, values in enumerate(self.solutions) if is_kept(values)]
        place = {number: i for i, number in enumerate(numbers)}
        new.solutions = [self.solutions[number] for number in numbers]
        new.extended = [(place[number], values) for number, values in new.extended if number in place]
        return new

    def declare(self, v: int, name: str) -> None:
        """A variable of the model."""
        for number, values in self.extended:
            values[v] = self.solutions[number][name]

    def define(self, constraint: ProofConstraint, defined: tuple[int, ...]) -> None:
        """Variables with a definition."""
        self.close()
        for number, values in self.extended:
            found = computed(constraint, defined, values)
            if set(found) != set(defined):
                raise Rejected(f"{constraint} gives no value where {self._shown(number)}")
            values.update(found)

    def leave_open(self, v: int, domain: Domain) -> None:
        """A variable without a definition."""
        self._open.append((v, domain))

    def close(self) -> None:
        """Give values to the variables without a definition."""
        if not self._open or not self.is_listed:
            self._open.clear()
            return
        known = set(self.extended[0][1]) if self.extended else set()
        for v, domain in self._open:
            known.add(v)
            ready = [one for one in self._waiting if v in one.variables and known.issuperset(one.variables)]
            if size(domain) * len(self.extended) > MOST_TRIED * self._most:
                self._give_up()
                return
            self.extended = [
                (number, wider)
                for number, values in self.extended
                for value in domain
                for wider in [{**values, v: value}]
                if all(DEFINITIONS[one.name](one.arguments, wider) for one in ready)
            ]
            if len(self.extended) > self._most:
                self._give_up()
                return
            self._check(f"variable {v}")
        self._open.clear()

    def expect(self, constraints: Sequence[ProofConstraint]) -> None:
        """Constraints to come, which variables without a definition must satisfy."""
        self._waiting = list(constraints)

    def keep(self, holds: Callable[[Values], bool], what: str) -> None:
        """Keep what satisfies a step; raises `Rejected` if a solution of the model has nothing left."""
        if not self.is_listed:
            return
        self.extended = [(number, values) for number, values in self.extended if holds(values)]
        self._check(what)

    def _check(self, what: str) -> None:
        left = {number for number, _ in self.extended}
        if len(left) < len(self.solutions):
            lost = next(number for number in range(len(self.solutions)) if number not in left)
            raise Rejected(f"{what} excludes the solution {self._shown(lost)}")

    def satisfy(self, constraint: ProofConstraint) -> None:
        """Keep what satisfies a constraint."""
        meaning, arguments = DEFINITIONS[constraint.name], constraint.arguments
        self.keep(lambda values: meaning(arguments, values), str(constraint))

    def _give_up(self) -> None:
        self.is_listed = False
        self.extended = []
        self._open.clear()

    def _shown(self, number: int) -> str:
        return " ".join(f"{name}={value}" for name, value in self.solutions[number].items())
