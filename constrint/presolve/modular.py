"""No solution modulo a small number: a proof for models whose variables have no bounds.

Of each wide variable its residue is kept, of each narrow one its value. Constraints become what they say of
these: sums and products modulo the number, an absolute value or a maximum one of its arguments. If that
finite model has no solution, the model has none. Constraints that imply nothing for residues are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from constrint import propagators as c
from constrint.engine.dfs import run
from constrint.engine.state_arrays import Box, Branch, build, grow
from constrint.lowering.problem import Infeasible
from constrint.propagators.handlers import Rules
from constrint.settings import DEFAULT, PresolveSettings
from constrint.store.state import EXHAUSTED, FULL, PAUSED, SOLUTION, WIDER
from constrint.support.deadline import check_deadline

MODULI = (2, 3, 4, 5, 7, 8)
Terms = tuple[tuple[int, int], ...]

BEYOND_LINEAR = (c.Absolute, c.Divides, c.DivMod, c.LinearEqIf, c.Maximum, c.Minimum, c.Power, c.Product)
"""Constraints beyond linear equations, which are solved over the integers, not modulo a number."""


def check_modulo(
    propagators: Sequence[c.Propagator], box: Box, finite: int, rules: PresolveSettings = DEFAULT.presolve
) -> None:
    """Raise `Infeasible` if constraints over variables without bounds have no solution modulo some number.

    Args:
        propagators: The constraints.
        box: The domains.
        finite: A bound of at least this absolute value means "no bound".
        rules: The settings.
    """
    if not box.lo or (min(box.lo) > -finite and max(box.hi) < finite):
        return
    if len(propagators) > rules.most_modular or not any(
        isinstance(node, BEYOND_LINEAR) for node in propagators
    ):
        return
    possible: list[int] = []  # a solution modulo one of these is one modulo its divisors
    for modulus in reversed(moduli_of(propagators, box, rules)):
        check_deadline()
        if any(other % modulus == 0 for other in possible):
            continue
        outcome = _outcome(_Residues(propagators, box, modulus, rules), rules.nodes_modular)
        if outcome == EXHAUSTED:
            raise Infeasible
        if outcome == SOLUTION:
            possible.append(modulus)


def moduli_of(propagators: Sequence[c.Propagator], box: Box, rules: PresolveSettings) -> list[int]:
    """The moduli to try: small ones, and the prime powers in the model's constants."""
    constants = {
        abs(a) for node in propagators if isinstance(node, c.LinearEq | c.LinearEqIf) for a, _ in node.terms
    }
    divisors = [node.y for node in propagators if isinstance(node, c.DivMod | c.CeilDiv)]
    divisors += [node.d for node in propagators if isinstance(node, c.Divides)]
    constants |= {abs(box.lo[v]) for v in divisors if box.lo[v] == box.hi[v]}
    found = set(MODULI)
    for prime in range(2, rules.greatest_modulus + 1):
        if all(prime % other for other in range(2, prime)):
            power = prime
            while power <= rules.greatest_modulus and any(a and a % power == 0 for a in constants):
                found.add(power)
                power *= prime
    return sorted(found)


def _outcome(residues: _Residues, most_nodes: int) -> int:
    """How a short search ends."""
    box = residues.box()
    variables = range(len(box.lo))
    state = build(box, residues.propagators, Branch(variables, [0] * len(variables)))
    while (outcome := run(state, most_nodes, 20 * most_nodes)) == FULL:
        state = grow(state)
    return PAUSED if state.scalar[WIDER] else outcome


@dataclass
class _Residues:
    """The finite model of a modulus; variables keep their numbers, further ones follow."""

    given: Sequence[c.Propagator]
    domains: Box
    modulus: int
    rules: PresolveSettings
    lo: list[int] = field(default_factory=list)
    hi: list[int] = field(default_factory=list)
    values: list[tuple[int, ...] | None] = field(default_factory=list)
    exact: list[bool] = field(default_factory=list)
    propagators: list[c.Propagator] = field(default_factory=list)

    def __post_init__(self) -> None:
        for v in range(len(self.domains.lo)):
            self._declare(v)
        for node in self.given:
            self._add(node)

    def box(self) -> Box:
        """The domains."""
        return Box(self.lo, self.hi, [1] * len(self.lo), self.values)

    def _declare(self, v: int) -> None:
        lo, hi, step = self.domains.lo[v], self.domains.hi[v], self.domains.step[v]
        is_exact = hi - lo <= self.rules.narrow_modular and max(-lo, hi) <= self.rules.narrow_modular
        self.exact.append(is_exact)
        if is_exact:
            listed = self.domains.values[v]
            members = sorted(range(lo, hi + 1, step) if listed is None else listed)
        elif lo == hi:
            members = [lo % self.modulus]
        else:
            members = sorted({(lo + i * step) % self.modulus for i in range(self.modulus)})
        self._variable(members[0], members[-1], tuple(members))

    def _variable(self, lo: int, hi: int, values: tuple[int, ...] | None = None) -> int:
        self.lo.append(lo)
        self.hi.append(hi)
        self.values.append(None if values is None or len(values) == hi - lo + 1 else values)
        return len(self.lo) - 1

    def _add(self, node: c.Propagator) -> None:
        """Add the conditions of a constraint on values and residues, if it has any."""
        if all(self.exact[v] for v in node.scope()):
            self.propagators.append(node)
        else:
            _RESIDUES[type(node)](self, node)

    def _reduced(self, terms: Terms, bound: int) -> tuple[Terms, int]:
        """An equation modulo the number as one of integers, with a new variable for the quotient."""
        m = self.modulus
        total = tuple([(a % m, v) for a, v in terms if a % m])
        least = sum([a * self.lo[v] for a, v in total])
        most = sum([a * self.hi[v] for a, v in total])
        rest = bound % m
        quotient = self._variable(-((rest - least) // m), (most - rest) // m)
        if self.lo[quotient] > self.hi[quotient]:  # no multiple of the number lies between
            self.hi[quotient] = self.lo[quotient]
        return (*total, (-m, quotient)), rest

    def _equal(self, terms: Terms, bound: int) -> None:
        self.propagators.append(c.LinearEq(*self._reduced(terms, bound)))

    def _if_equal(self, terms: Terms, bound: int) -> int:
        """The literal of a new variable that can be true only if an equation holds modulo the number."""
        literal = 2 * self._variable(0, 1)
        reduced, rest = self._reduced(terms, bound)
        self.propagators.append(c.LinearEqIf(literal, reduced, rest))
        return literal

    def _one_of(self, sums: Sequence[Terms]) -> None:
        self.propagators.append(c.Clause(tuple([self._if_equal(terms, 0) for terms in sums])))

    def _product(self, x: int, y: int) -> int:
        """A variable for the product of two values or residues."""
        corners = [a * b for a in (self.lo[x], self.hi[x]) for b in (self.lo[y], self.hi[y])]
        z = self._variable(min(corners), max(corners))
        self.propagators.append(c.Product(x, y, z))
        return z

    def _entry(self, table: tuple[int, ...], index: int) -> int:
        z = self._variable(min(table), max(table))
        self.propagators.append(c.Element(table, index, z))
        return z

    def _multiply(self, node: c.Product) -> None:
        self._equal(((1, self._product(node.x, node.y)), (-1, node.z)), 0)

    def _divide(self, node: c.DivMod) -> None:
        self._equal(((1, self._product(node.y, node.q)), (1, node.r), (-1, node.x)), 0)

    def _look_up(self, node: c.Element) -> None:
        if self.exact[node.index]:
            table = tuple([entry % self.modulus for entry in node.table])
            self._equal(((1, self._entry(table, node.index)), (-1, node.z)), 0)

    def _power(self, node: c.Power) -> None:
        exponent = self.domains.lo[node.y]
        if exponent != self.domains.hi[node.y] or exponent < 1:
            return
        residue = self._variable(0, self.modulus - 1)
        self._equal(((1, node.x), (-1, residue)), 0)
        powers = tuple([pow(r, exponent, self.modulus) for r in range(self.modulus)])
        self._equal(((1, self._entry(powers, residue)), (-1, node.z)), 0)

    def _divides(self, node: c.Divides) -> None:
        """A constant multiple of the number divides x only if the number does."""
        divisor = self.domains.lo[node.d]
        if divisor == self.domains.hi[node.d] and divisor and divisor % self.modulus == 0:
            self.propagators.append(c.Clause((node.literal ^ 1, self._if_equal(((1, node.x),), 0))))


_RESIDUES: Rules[_Residues, None] = Rules(
    "residues",
    {
        c.LinearEq: lambda r, node: r._equal(node.terms, node.bound),
        c.LinearEqIf: lambda r, node: r.propagators.append(
            c.Clause((node.literal ^ 1, r._if_equal(node.terms, node.bound)))
        ),
        c.Product: _Residues._multiply,
        c.Power: _Residues._power,
        c.DivMod: _Residues._divide,
        c.Divides: _Residues._divides,
        c.Absolute: lambda r, node: r._one_of([((1, node.z), (a, node.x)) for a in (-1, 1)]),
        (c.Maximum, c.Minimum, c.Selection): lambda r, node: r._one_of(
            [((1, node.z), (-1, x)) for x in node.xs]
        ),
        c.Element: _Residues._look_up,
    },
    generic=lambda residues, node: None,
    rest="left out",
)
"""Adds the conditions of a constraint on residues."""
