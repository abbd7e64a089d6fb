"""Whether a constraint follows from those that are known: by propagation, or as part of one of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from math import gcd, prod

from constrint.expr.sums import Linear
from constrint.verification.bounds import Atom, literal_atom, opposite
from constrint.verification.cases import are_disjoint, holds_in_all_cases, takes_all_values
from constrint.verification.known import KnownConstraints, key_of
from constrint.verification.linear_rows import negative, normal
from constrint.verification.meanings import DEFINITIONS
from constrint.verification.store import ConstraintStore, ProofConstraint

Case = tuple[list[Atom], list[ProofConstraint]]


def follows(constraint: ProofConstraint, store: ConstraintStore, known: KnownConstraints) -> bool:
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
        or _is_row_by_definitions(constraint, store, known)
        or (constraint.name == "LinearLe" and _excludes_pairs(constraint, store))
        or _has_no_violation(constraint, store)
        or (constraint.name == "NoOverlap" and are_disjoint(constraint, store))
        or (constraint.name == "Clause" and takes_all_values(constraint, store, known))
        or (constraint.name == "Clause" and holds_in_all_cases(constraint, store, known))
    )


def _row(terms: Sequence[Sequence[int]], bound: int) -> ProofConstraint:
    return ProofConstraint.of("LinearLe", {"terms": [list(term) for term in terms], "bound": bound})


def _violations(constraint: ProofConstraint) -> list[Case] | None:
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


def _excludes_pairs(constraint: ProofConstraint, store: ConstraintStore) -> bool:
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


def _has_no_violation(constraint: ProofConstraint, store: ConstraintStore) -> bool:
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


def _is_part(constraint: ProofConstraint, store: ConstraintStore, known: KnownConstraints) -> bool:
    """Whether a constraint is one that a known one of another kind has as a part."""
    if not constraint.variables or (constraint.name == "Cumulative" and not store.is_one(0)):
        return False  # variable 0 is the constant 1: the demands and the capacity of parts
    wanted = _normal_key(constraint)
    for other in known.over(constraint.variables[-1]):
        if any(_normal_key(part) == wanted for part in _parts(other)):
            return True
    return False


def _is_row_by_definitions(
    constraint: ProofConstraint, store: ConstraintStore, known: KnownConstraints
) -> bool:
    """Whether a linear constraint is a known one where variables that are sums are replaced by these."""
    if constraint.name not in ("LinearLe", "LinearEq"):
        return False
    wanted = _expanded_key(constraint, store, known)
    v = next((v for v, _ in wanted[1]), None)
    if v is None:  # nothing is left: definitions alone say it
        return wanted == ("LinearEq", (), 0) or (wanted[0] == "LinearLe" and wanted[2] >= 0)
    return any(
        other.name in ("LinearLe", "LinearEq") and _expanded_key(other, store, known) == wanted
        for other in known.over(v)
    )


def _expanded_key(
    constraint: ProofConstraint, store: ConstraintStore, known: KnownConstraints
) -> tuple[str, tuple[tuple[int, int], ...], int]:
    """Kind, terms and bound of a row in lowest terms, without variables that are sums or have one value."""
    total = Linear({}, -constraint.arguments["bound"])
    for a, v in constraint.arguments["terms"]:
        total = total.plus(Linear({v: 1}, 0), a)
    terms, constant = {}, 0
    expanded = known.expanded(total)
    for v, a in expanded.terms.items():
        if store.root.is_fixed(v):
            constant += a * store.root.low[v]
        else:
            terms[v] = a
    constant += expanded.constant
    common = gcd(*terms.values()) if terms else 1
    if constraint.name == "LinearEq":
        common *= -1 if terms and terms[min(terms)] < 0 else 1
        if constant % common:
            return "LinearEq", (), 1  # it has no solution
    lowest = tuple(sorted((v, a // common) for v, a in terms.items()))
    return constraint.name, lowest, -constant // common


def _normal_key(constraint: ProofConstraint) -> tuple[object, ...]:
    """A key that linear constraints share if they are equal in lowest terms."""
    if constraint.name not in ("LinearLe", "LinearEq"):
        return (key_of(constraint),)
    terms, divisor = normal(constraint.arguments["terms"])
    bound = constraint.arguments["bound"]
    if constraint.name == "LinearEq":
        return ("=", terms, None if bound % divisor else bound // divisor)
    return ("<=", terms, divisor > 0, bound // abs(divisor))


def _parts(constraint: ProofConstraint) -> Iterator[ProofConstraint]:
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
        yield ProofConstraint.of(
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
            yield ProofConstraint.of(
                "Cumulative", {"starts": starts, "durations": ones, "demands": ones, "capacity": 0}
            )
        if name == "AllDifferent":
            for other in ("AllDifferentBounds", "AllDifferentDomain"):
                yield ProofConstraint.of(other, arguments)
