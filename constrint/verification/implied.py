"""Whether a constraint follows from those that are known: by propagation, or as part of one of them."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Sequence
from math import prod

from constrint.expr.sums import Linear
from constrint.verification.bounds import Atom, literal_atom, opposite
from constrint.verification.meanings import DEFINITIONS
from constrint.verification.rows import negative, normal
from constrint.verification.store import Constraint, Store

Case = tuple[list[Atom], list[Constraint]]


def key_of(constraint: Constraint) -> str:
    """A text that equal constraints share."""
    return f"{constraint.name} {json.dumps(constraint.arguments, sort_keys=True)}"


class Known:
    """All constraints that were found to follow, those that are propagated no longer too.

    Attributes:
        sums: The sum that each of some variables is by definition.
    """

    def __init__(self) -> None:
        self._keys: set[str] = set()
        self._by_variable: dict[int, list[Constraint]] = {}
        self.sums: dict[int, Linear] = {}
        self._sums_over: dict[int, list[int]] = {}
        self._compared: dict[tuple[str, int], list[Constraint]] = {}

    def copy(self) -> Known:
        """The same constraints, to be added to."""
        new = Known()
        new._keys = set(self._keys)
        new._by_variable = {v: list(some) for v, some in self._by_variable.items()}
        new.sums = dict(self.sums)
        new._sums_over = {v: list(some) for v, some in self._sums_over.items()}
        new._compared = {key: list(some) for key, some in self._compared.items()}
        return new

    def define(self, v: int, constraint: Constraint) -> None:
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

    def sums_over(self, v: int) -> Sequence[int]:
        """The variables that are sums with a variable in them."""
        return self._sums_over.get(v, ())

    def compared(self, name: str, v: int) -> Sequence[Constraint]:
        """The constraints of a kind that compare a sum with a variable in it."""
        return self._compared.get((name, v), ())

    def add(self, constraint: Constraint) -> None:
        """Add a constraint."""
        self._keys.add(key_of(constraint))
        if constraint.name in ("LinearLeIf", "LinearEqIf"):
            for v in self._base(u for _, u in constraint.arguments["terms"]):
                self._compared.setdefault((constraint.name, v), []).append(constraint)
        for v in constraint.variables:
            self._by_variable.setdefault(v, []).append(constraint)

    def has(self, constraint: Constraint) -> bool:
        """Whether the same constraint is known."""
        return key_of(constraint) in self._keys

    def over(self, v: int) -> Sequence[Constraint]:
        """The constraints of a variable."""
        return self._by_variable.get(v, ())


def follows(constraint: Constraint, store: Store, known: Known) -> bool:
    """Whether a constraint follows by one of the checker's rules; others may still support it."""
    if store.is_contradictory or known.has(constraint):
        return True
    if any(not store.is_declared(v) for v in constraint.variables):
        return False
    cases = _violations(constraint)
    if cases is not None and all(store.refutes(atoms, rows) for atoms, rows in cases):
        return True
    return (
        _is_part(constraint, store, known)
        or (constraint.name == "LinearLe" and _excludes_pairs(constraint, store))
        or _has_no_violation(constraint, store)
    )


def _row(terms: Sequence[Sequence[int]], bound: int) -> Constraint:
    return Constraint.of("LinearLe", {"terms": [list(term) for term in terms], "bound": bound})


def _violations(constraint: Constraint) -> list[Case] | None:
    """The ways to violate a clause or a linear constraint; None for others."""
    name, arguments = constraint.name, constraint.arguments
    if name == "Clause":
        return [([opposite(literal_atom(one)) for one in arguments["literals"]], [])]
    if not name.startswith("Linear"):
        return None
    terms, bound = arguments["terms"], arguments["bound"]
    above, below = _row(negative(terms), -bound - 1), _row(terms, bound - 1)
    at_most, at_least = _row(terms, bound), _row(negative(terms), -bound)
    if name == "LinearLe":
        return [([], [above])]
    if name == "LinearEq":
        return [([], [above]), ([], [below])]
    if name == "LinearNe":
        return [([], [at_most, at_least])]
    yes = literal_atom(arguments["literal"])
    no = opposite(yes)
    if name == "LinearLeIf":
        return [([yes], [above]), ([no], [at_most])]
    return [([yes], [above]), ([yes], [below]), ([no], [at_most, at_least])]


def _excludes_pairs(constraint: Constraint, store: Store) -> bool:
    """Whether a sum of truth values is at most a bound because no two of them that count are true."""
    terms, divisor = normal(constraint.arguments["terms"])
    bound = constraint.arguments["bound"]
    literals: list[Atom] = []
    lowest = 0
    weights = []
    for a, v in terms:
        weight = a * divisor
        low, high = store.root.low[v], store.root.high[v]
        if not 0 <= low <= high <= 1:
            return False
        lowest += min(weight * low, weight * high)
        if low < high:
            literals.append((v, ">=", 1) if weight > 0 else (v, "<=", 0))
            weights.append(abs(weight))
    if any(lowest + weight > bound for weight in weights):
        return False
    if sum(weights) + lowest <= bound:
        return True
    return all(store.refutes(list(pair)) for pair in itertools.combinations(literals, 2))


def _has_no_violation(constraint: Constraint, store: Store) -> bool:
    """Whether each assignment that violates a constraint of few is refuted."""
    sizes = [store.number_of_values(v) for v in constraint.variables]
    if prod(sizes) > store.settings.most_local:
        return False
    meaning = DEFINITIONS[constraint.name]
    for row in itertools.product(*[store.root.values(v) for v in constraint.variables]):
        values = dict(zip(constraint.variables, row, strict=True))
        if not meaning(constraint.arguments, values):
            atoms = [(v, relation, x) for v, x in values.items() for relation in (">=", "<=")]
            if not store.refutes(atoms):
                return False
    return True


def _is_part(constraint: Constraint, store: Store, known: Known) -> bool:
    """Whether a constraint is one that a known one of another kind has as a part."""
    if not constraint.variables or (constraint.name == "Cumulative" and not store.is_one(0)):
        return False  # variable 0 is the constant 1: the demands and the capacity of parts
    wanted = _normal_key(constraint)
    for other in known.over(constraint.variables[-1]):
        if any(_normal_key(part) == wanted for part in _parts(other)):
            return True
    return False


def _normal_key(constraint: Constraint) -> tuple[object, ...]:
    """A key that linear constraints share if they are equal in lowest terms."""
    if constraint.name not in ("LinearLe", "LinearEq"):
        return (key_of(constraint),)
    terms, divisor = normal(constraint.arguments["terms"])
    bound = constraint.arguments["bound"]
    if constraint.name == "LinearEq":
        return ("=", terms, None if bound % divisor else bound // divisor)
    return ("<=", terms, divisor > 0, bound // abs(divisor))


def _parts(constraint: Constraint) -> Iterator[Constraint]:
    """Constraints that follow from one by its meaning."""
    name, arguments = constraint.name, constraint.arguments
    if name in ("LinearLe", "LinearEq"):
        yield constraint
        if name == "LinearEq":
            yield _row(arguments["terms"], arguments["bound"])
            yield _row(negative(arguments["terms"]), -arguments["bound"])
    elif name in ("Maximum", "Minimum"):
        sign = 1 if name == "Maximum" else -1
        for x in arguments["xs"]:
            yield _row([(sign, x), (-sign, arguments["z"])], 0)
    elif name == "Absolute":
        for sign in (1, -1):
            yield _row([(sign, arguments["x"]), (-1, arguments["z"])], 0)
    elif name == "Quotient":
        divisor, constant = arguments["divisor"], arguments["constant"]
        yield _row([*negative(arguments["terms"]), (divisor, arguments["q"])], constant)
        yield _row([*arguments["terms"], (-divisor, arguments["q"])], divisor - 1 - constant)
    elif name == "NoOverlap":
        for d in arguments["durations"]:
            yield _row([(-1, d)], 0)
        ones = [0] * len(arguments["starts"])
        yield Constraint.of(
            "Cumulative",
            {
                "starts": arguments["starts"],
                "durations": arguments["durations"],
                "demands": ones,
                "capacity": 0,
            },
        )
    elif name.startswith("AllDifferent") and len({b for _, _, b in arguments["views"]}) <= 1:
        if all(a == 1 for a, _, _ in arguments["views"]):
            starts = [v for _, v, _ in arguments["views"]]
            ones = [0] * len(starts)
            yield Constraint.of(
                "Cumulative", {"starts": starts, "durations": ones, "demands": ones, "capacity": 0}
            )
        if name == "AllDifferent":
            for other in ("AllDifferentBounds", "AllDifferentDomain"):
                yield Constraint.of(other, arguments)
