"""Counting over variables with too many values to list, if one variable determines the others.

The values of such a variable are halved as long as it is open whether the conditions hold. If that fails,
they are split by residue: for each residue modulo a common multiple of the divisors, quotients are affine and
remainders constant (see `ranges`). Variables with few values are tried one by one; further wide variables
must be functions of the first, by an equation.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING

from constrint import expr as e
from constrint.diagrams.layers import TooLargeDiagram
from constrint.diagrams.ranges import Evaluation
from constrint.diagrams.translate import conjuncts
from constrint.errors import Undefined
from constrint.expr.domain import Domain
from constrint.expr.ranges import FALSE, TRUE, Known, Never, Unsupported, affine, fixed

if TYPE_CHECKING:
    from constrint.modelling.declarations import Declarations

MOST_TRIED = 10_000  # most combinations of the values of variables with few values
MOST_RANGES = 100_000  # most ranges of the wide variable
FIRST_RANGES = 300  # ranges for a residue, after which more residues are tried if that may help
MOST_OF_RESIDUE = 6_000
MOST_RESIDUES = 20_000

Variable = e.IntVar | e.BoolVar


@dataclass
class Subproblem:
    """Variables that conditions connect.

    Attributes:
        variables: The variables.
        conditions: What must hold.
    """

    variables: list[Variable] = field(default_factory=list)
    conditions: list[e.BoolExpr] = field(default_factory=list)


def subproblems(model: Declarations) -> list[Subproblem]:
    """The subproblems that conditions connect; each constant condition is one of its own."""
    leader: dict[str, str] = {name: name for name in model.variables}

    def find(name: str) -> str:
        while leader[name] != name:
            leader[name] = leader[leader[name]]
            name = leader[name]
        return name

    conditions = [part for constraint in model.constraints for part in conjuncts(constraint.expr)]
    scoped = [(node, [v.name for v in node.variables()]) for node in conditions]
    for _, names in scoped:
        for name in names[1:]:
            leader[find(name)] = find(names[0])
    found: dict[str, Subproblem] = {}
    for name, variable in model.variables.items():
        found.setdefault(find(name), Subproblem()).variables.append(variable)
    for node, names in scoped:
        found.setdefault(find(names[0]) if names else "", Subproblem()).conditions.append(node)
    return list(found.values())


def count_wide(
    model: Declarations, domains: dict[str, Domain], most_values: int, deadline: float | None
) -> tuple[int, Subproblem]:
    """The number of solutions of the parts with wide variables, as a factor, and the subproblem of the rest.

    Args:
        model: The model.
        domains: The variables' domains.
        most_values: A variable with more values is wide.
        deadline: When to give up.
    """
    factor, rest = 1, Subproblem()
    for subproblem in subproblems(model):
        found = None
        if all(domains[variable.name].is_finite for variable in subproblem.variables):
            found = _count_subproblem(subproblem, domains, most_values, deadline)
        if found is not None:
            factor *= found
            continue
        rest.variables += subproblem.variables
        rest.conditions += subproblem.conditions
    return factor, rest


def _count_subproblem(
    subproblem: Subproblem, domains: dict[str, Domain], most_values: int, deadline: float | None
) -> int | None:
    """The number of solutions of a subproblem; None if this method does not apply."""
    if not subproblem.conditions:
        return math.prod(_size(domains[variable.name]) for variable in subproblem.variables)
    wide = [v for v in subproblem.variables if _size(domains[v.name]) > most_values]
    tried = [v for v in subproblem.variables if _size(domains[v.name]) <= most_values]
    if math.prod(_size(domains[v.name]) for v in tried) > MOST_TRIED or not wide:
        return None
    for free in sorted(wide, key=lambda variable: _size(domains[variable.name])):
        if domains[free.name].values is not None:
            continue
        functions = _functions(subproblem.conditions, [v for v in wide if v is not free])
        if functions is None:
            continue
        try:
            return _Count(subproblem, domains, free, tried, functions, deadline).run()
        except (Unsupported, TooLargeDiagram):
            continue
    return None


def _size(domain: Domain) -> int:
    size = domain.size
    assert size is not None
    return size


def _functions(
    conditions: Sequence[e.BoolExpr], wanted: list[Variable]
) -> list[tuple[Variable, e.IntExpr]] | None:
    """The definitions of variables by equations, in an order of evaluation; None if there are not enough."""
    found: list[tuple[Variable, e.IntExpr]] = []
    left = {variable.name: variable for variable in wanted}
    while left:
        for variable, condition in itertools.product(left.values(), conditions):
            function = _solved(condition, variable)
            if function is not None and not any(v.name in left for v in function.variables()):
                found.append((variable, function))
                del left[variable.name]
                break
        else:
            return None
    return found


def _solved(condition: e.IntExpr, variable: Variable) -> e.IntExpr | None:
    """The expression that an equation gives for a variable if it holds: f // a for a * variable == f."""
    if not isinstance(condition, e.Comparison) or condition.operator != "==":
        return None
    factor = 0
    rest: list[tuple[int, e.IntExpr]] = []
    constant = 0
    for sign, side in ((1, condition.left), (-1, condition.right)):
        terms = side.terms if isinstance(side, e.Sum) else ((1, side),)
        constant += sign * side.constant if isinstance(side, e.Sum) else 0
        for a, term in terms:
            if term is variable:
                factor += sign * a
            elif any(v is variable for v in term.variables()):
                return None
            else:
                rest.append((-sign * a, term))
    if factor == 0:
        return None
    total = e.Sum(tuple(rest), -constant)
    return total if factor == 1 else e.FloorDiv(total, e.Const(factor))


@dataclass
class _Count:
    """The count of one subproblem, over the values of one variable."""

    subproblem: Subproblem
    domains: dict[str, Domain]
    free: Variable
    tried: list[Variable]
    functions: list[tuple[Variable, e.IntExpr]]
    deadline: float | None
    looked_at: int = 0
    wish: int = 1
    parts: dict[int, e.IntExpr] = field(default_factory=dict)

    def run(self) -> int:
        """The number of solutions."""
        period = 1
        while True:
            self.looked_at, self.wish = 0, period
            try:
                return sum(self._with(values, period) for values in self._combinations())
            except TooLargeDiagram:
                if not self._wants_more(period):
                    raise
                period = self.wish

    def _wants_more(self, period: int) -> bool:
        """Whether more residues would help, and are not too many."""
        return period < self.wish <= MOST_RESIDUES

    def _combinations(self) -> Iterator[dict[str, int]]:
        names = [variable.name for variable in self.tried]
        for values in itertools.product(*(self.domains[name] for name in names)):
            yield dict(zip(names, values, strict=True))

    def _with(self, values: dict[str, int], period: int) -> int:
        """The number of solutions for these values of the variables with few values."""
        domain = self.domains[self.free.name]
        size = _size(domain)
        found = 0
        for residue in range(min(period, size)):
            found += self._between(values, period, residue, (0, (size - 1 - residue) // period))
        return found

    def _between(self, values: dict[str, int], period: int, residue: int, places: tuple[int, int]) -> int:
        """The number of solutions in a range, by bisection."""
        found = 0
        domain = self.domains[self.free.name]
        assert domain.lo is not None
        slope, start = domain.step * period, domain.lo + domain.step * residue
        ranges = [places]
        spent = 0
        while ranges:
            first, last = ranges.pop()
            spent += 1
            if spent > (FIRST_RANGES if self._wants_more(period) else MOST_OF_RESIDUE):
                raise TooLargeDiagram("more residues are needed")
            self._spend()
            if first == last:
                found += self._holds(values, start + slope * first)
                continue
            known = {name: fixed(value) for name, value in values.items()}
            known[self.free.name] = affine(slope, start, (first, last))
            outcome = self._outcome(known, period)
            if outcome is None:
                middle = (first + last) // 2
                ranges += [(middle + 1, last), (first, middle)]
            elif outcome:
                found += last - first + 1
        return found

    def _spend(self) -> None:
        self.looked_at += 1
        if self.looked_at > MOST_RANGES or (self.deadline is not None and perf_counter() > self.deadline):
            raise TooLargeDiagram("it would look at too many ranges")

    def _outcome(self, known: dict[str, Known], period: int) -> bool | None:
        """True if the conditions hold in the whole range, False if nowhere, None if unknown."""
        evaluation = Evaluation(known, period, parts=self.parts)
        try:
            outcome = self._evaluated(evaluation)
        except Never:
            return False
        self.wish = math.lcm(self.wish, evaluation.wish)
        return outcome

    def _evaluated(self, evaluation: Evaluation) -> bool | None:
        is_open = False
        for variable, function in self.functions:
            value = evaluation.of(function)
            evaluation.values[variable.name] = value
            inside = evaluation.member(value, self.domains[variable.name])
            if inside is FALSE:
                return False
            is_open = is_open or inside is not TRUE
        for condition in self.subproblem.conditions:
            holds = evaluation.of(condition)
            if not holds.hi:
                return False
            is_open = is_open or not holds.lo
        return None if is_open or evaluation.is_open else True

    def _holds(self, values: dict[str, int], value: int) -> bool:
        """Whether one value is a solution, by the expressions themselves."""
        assignment: dict[e.IntExpr, int] = {v: values[v.name] for v in self.tried}
        assignment[self.free] = value
        try:
            for variable, function in self.functions:
                assignment[variable] = function.evaluate(assignment)
                if assignment[variable] not in self.domains[variable.name]:
                    return False
        except Undefined:
            return False
        return all(condition.evaluate(assignment) for condition in self.subproblem.conditions)
