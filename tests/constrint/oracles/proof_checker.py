"""An independent proof checker: it shares no code with constrint.

A clause is accepted if propagating the negation of all its members leads to a contradiction. Propagation here
is interval reasoning on sums and clauses, energy in windows of time (`proof_windows`), and, for all other
constraints, enumeration within the present bounds, which is at least as strong as any propagator. Solutions
are checked by definition.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from proof_circuits import Literals, go_round, literals
from proof_meanings import DEFINITIONS, FUNCTIONS, Arguments, Values, scope
from proof_windows import Contradiction, is_known, share

MOST_LISTED = 50_000  # assignments of one constraint that are listed at most

Atom = tuple[int, str, int]


class Rejected(Exception):
    """A step does not follow."""


class TooWide(Rejected):
    """A step could not be followed because some constraint allows more than can be listed."""


@dataclass
class Bounds:
    """Least and greatest value of every variable, within its root domain."""

    domains: dict[int, range | list[int]]
    low: Values = field(default_factory=dict)
    high: Values = field(default_factory=dict)
    moved: bool = False
    skipped: bool = False
    thorough: bool = False  # whether every window of time is looked at

    def copy(self) -> Bounds:
        return Bounds(self.domains, dict(self.low), dict(self.high))

    def at_least(self, v: int, value: int) -> None:
        if value > self.low[v]:
            self.low[v] = next((x for x in self._from(v, value)), value)
            self.moved = True
            self._check(v, value)

    def at_most(self, v: int, value: int) -> None:
        if value < self.high[v]:
            self.high[v] = next((x for x in self._down_to(v, value)), value)
            self.moved = True
            self._check(v, value)

    def _from(self, v: int, value: int) -> Iterator[int]:
        domain = self.domains[v]
        if isinstance(domain, range):
            start = domain.start + -(-(value - domain.start) // domain.step) * domain.step
            return iter(range(max(start, domain.start), domain.stop, domain.step))
        return (x for x in domain if x >= value)

    def _down_to(self, v: int, value: int) -> Iterator[int]:
        domain = self.domains[v]
        if isinstance(domain, range):
            last = domain.start + (min(value, domain[-1]) - domain.start) // domain.step * domain.step
            return iter([last] if last >= domain.start else [])
        return (x for x in reversed(domain) if x <= value)

    def _check(self, v: int, value: int) -> None:
        domain = self.domains[v]
        if self.low[v] > self.high[v] or not domain[0] <= value <= domain[-1]:
            raise Contradiction

    def assume(self, atom: Atom) -> None:
        v, relation, value = atom
        if relation == ">=":
            self.at_least(v, value)
        else:
            self.at_most(v, value)

    def is_false(self, atom: Atom) -> bool:
        v, relation, value = atom
        return self.high[v] < value if relation == ">=" else self.low[v] > value

    def is_true(self, atom: Atom) -> bool:
        v, relation, value = atom
        return self.low[v] >= value if relation == ">=" else self.high[v] <= value


def opposite(atom: Atom) -> Atom:
    v, relation, value = atom
    return (v, "<=", value - 1) if relation == ">=" else (v, ">=", value + 1)


def literal_atom(number: int) -> Atom:
    return (number >> 1, "<=", 0) if number & 1 else (number >> 1, ">=", 1)


def unit(bounds: Bounds, clause: list[Atom]) -> None:
    """A clause whose members are false save one makes that one true."""
    if any(bounds.is_true(atom) for atom in clause):
        return
    left = [atom for atom in clause if not bounds.is_false(atom)]
    if not left:
        raise Contradiction
    if len(left) == 1:
        bounds.assume(left[0])


def least(bounds: Bounds, terms: list[list[int]]) -> int:
    return sum(a * (bounds.low[v] if a > 0 else bounds.high[v]) for a, v in terms)


def at_most(bounds: Bounds, terms: list[list[int]], bound: int, condition: Atom | None = None) -> None:
    """Interval reasoning on ``condition -> sum <= bound``."""
    if condition is not None and bounds.is_false(condition):
        return
    low = least(bounds, terms)
    if condition is not None and not bounds.is_true(condition):
        if low > bound:
            bounds.assume(opposite(condition))
        return
    if low > bound:
        raise Contradiction
    for a, v in terms:
        rest = bound - (low - a * (bounds.low[v] if a > 0 else bounds.high[v]))
        if a > 0:
            bounds.at_most(v, rest // a)
        else:
            bounds.at_least(v, -(rest // -a))
        low = least(bounds, terms)


def different(bounds: Bounds, terms: list[list[int]], bound: int, condition: Atom | None = None) -> None:
    """``condition -> sum != bound``, once one variable at most is open."""
    if condition is not None and bounds.is_false(condition):
        return
    is_open = sorted({v for _, v in terms if bounds.low[v] != bounds.high[v]})
    rest = bound - sum(a * bounds.low[v] for a, v in terms if v not in is_open)
    if not is_open and rest == 0:
        if condition is None or bounds.is_true(condition):
            raise Contradiction
        bounds.assume(opposite(condition))
    if len(is_open) != 1 or (condition is not None and not bounds.is_true(condition)):
        return
    v = is_open[0]
    factor = sum(a for a, u in terms if u == v)
    for value, exclude in ((bounds.low[v], bounds.at_least), (bounds.high[v], bounds.at_most)):
        if factor * value == rest:
            exclude(v, value + 1 if value == bounds.low[v] else value - 1)


def negative(terms: list[list[int]]) -> list[list[int]]:
    return [[-a, v] for a, v in terms]


def listed(bounds: Bounds, name: str, arguments: Arguments) -> None:
    """Keep the bounds of what a constraint allows, where that can be listed."""
    names, function = FUNCTIONS.get(name, ((), None))
    free = list(dict.fromkeys(arguments[key] for key in names)) if function else scope(name, arguments)
    columns = [[x for x in bounds.domains[v] if bounds.low[v] <= x <= bounds.high[v]] for v in free]
    if math.prod(len(column) for column in columns) > MOST_LISTED:
        bounds.skipped = True
        return
    allowed = []
    for row in itertools.product(*columns):
        values = dict(zip(free, row, strict=True))
        if function:
            for key, value in function(*[values[arguments[key]] for key in names]).items():
                values.setdefault(arguments[key], value)
        if is_possible(bounds, name, arguments, values):
            allowed.append(values)
    if not allowed:
        raise Contradiction
    for v in allowed[0]:
        bounds.at_least(v, min(values[v] for values in allowed))
        bounds.at_most(v, max(values[v] for values in allowed))


def is_possible(bounds: Bounds, name: str, arguments: Arguments, values: Values) -> bool:
    """Whether a constraint allows some values within the bounds."""
    for v in scope(name, arguments):
        if v not in values or not bounds.low[v] <= values[v] <= bounds.high[v]:
            return False
        if values[v] not in bounds.domains[v]:
            return False
    return DEFINITIONS[name](arguments, values)


def infer(bounds: Bounds, name: str, arguments: Arguments) -> None:
    """What one constraint says about the bounds."""
    if name == "Clause":
        unit(bounds, [literal_atom(one) for one in arguments["literals"]])
        return
    if name == "Cumulative" and is_known(bounds, arguments):
        share(bounds, arguments)
        return
    if not name.startswith("Linear"):
        listed(bounds, name, arguments)
        return
    terms, bound = arguments["terms"], arguments["bound"]
    if any(v == arguments.get("literal", -1) >> 1 for _, v in terms):
        listed(bounds, name, arguments)  # the literal's own variable in its sum: too weak term by term
    yes = literal_atom(arguments["literal"]) if "literal" in arguments else None
    if name == "LinearNe":
        different(bounds, terms, bound)
        return
    at_most(bounds, terms, bound, yes)
    if name in ("LinearEq", "LinearEqIf"):
        at_most(bounds, negative(terms), -bound, yes)
    if name == "LinearEqIf":
        assert yes is not None
        different(bounds, terms, bound, opposite(yes))
        low, high = least(bounds, terms), -least(bounds, negative(terms))
        if low > bound or high < bound:
            bounds.assume(opposite(yes))
    if name == "LinearLeIf":
        assert yes is not None
        at_most(bounds, negative(terms), -bound - 1, opposite(yes))


class Checker:
    """Follows one search of a proof."""

    def __init__(self) -> None:
        self.root = Bounds({})
        self.constraints: list[tuple[str, Arguments]] = []
        self.clauses: list[list[Atom]] = []
        self.goal: tuple[str, int] | None = None
        self.best: Values | None = None
        self.exhausted = False

    def variable(self, v: int, text: str) -> None:
        words = text.split()
        if ".." in words:
            step = int(words[4]) if "step" in words else 1
            domain: range | list[int] = range(int(words[0]), int(words[2]) + 1, step)
        else:
            domain = [int(word) for word in words]
        self.root.domains[v] = domain
        self.root.low[v], self.root.high[v] = domain[0], domain[-1]

    def propagate(self, bounds: Bounds) -> None:
        bounds.moved = True
        while bounds.moved:
            bounds.moved = False
            for clause in self.clauses:
                unit(bounds, clause)
            for name, arguments in self.constraints:
                if name in ("Circuit", "Subcircuit"):
                    go_round(bounds, arguments["successors"], self.arcs, name == "Subcircuit")
                infer(bounds, name, arguments)

    def refute(self, atoms: list[Atom], step: str) -> None:
        """Assuming these atoms must lead to a contradiction."""
        for thorough in (False, True):
            bounds = self.root.copy()
            bounds.thorough = thorough
            try:
                for atom in atoms:
                    bounds.assume(atom)
                self.propagate(bounds)
            except Contradiction:
                return
        raise (TooWide if bounds.skipped else Rejected)(f"does not follow: {step}")

    @cached_property
    def arcs(self) -> Literals:
        return literals(self.constraints)

    def learned(self, clause: list[Atom]) -> None:
        self.refute([opposite(atom) for atom in clause], f"{clause}")
        self.clauses.append(clause)

    def solution(self, values: Values) -> None:
        for v, domain in self.root.domains.items():
            if values[v] not in domain:
                raise Rejected(f"variable {v} has no value {values[v]}")
        for name, arguments in self.constraints:
            if not DEFINITIONS[name](arguments, values):
                raise Rejected(f"a solution violates {name} {arguments}")
        if self.goal is not None:
            direction, v = self.goal
            value = values[v]
            if self.best is not None and (value - self.best[v]) * (1 if direction == "min" else -1) >= 0:
                raise Rejected("a solution is not better than the last")
            self.clauses.append([(v, "<=", value - 1) if direction == "min" else (v, ">=", value + 1)])
        self.best = values

    def end(self) -> None:
        self.refute([], "exhausted")
        self.exhausted = True


def check_proof(text: str) -> list[Checker]:
    """Check a proof and return its searches; raises `Rejected` at the first step that does not follow."""
    searches: list[Checker] = []
    for line in text.splitlines():
        word, _, rest = line.partition(" ")
        if word == "search":
            searches.append(Checker())
            continue
        checker = searches[-1]
        if word == "variable":
            number, _, domain = rest.partition(" in ")
            checker.variable(int(number), domain)
        elif word == "constraint":
            name, _, arguments = rest.partition(" ")
            checker.constraints.append((name, json.loads(arguments)))
        elif word == "goal":
            direction, number = rest.split()
            checker.goal = direction, int(number)
        elif word == "learned":
            members = [atom.split() for atom in rest.split(" or ")]
            checker.learned([(int(v), relation, int(value)) for v, relation, value in members])
        elif word == "solution":
            pairs = [pair.split("=") for pair in rest.split()]
            checker.solution({int(v): int(value) for v, value in pairs})
        elif word == "exhausted":
            checker.end()
        else:
            raise Rejected(f"unknown step: {line}")
    return searches
