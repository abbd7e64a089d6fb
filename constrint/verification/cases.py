"""Rules that support a constraint by cases: pairs of tasks, values of permutations, few values."""

from __future__ import annotations

import itertools
from math import prod

from constrint.verification.bounds import Atom, literal_atom, opposite
from constrint.verification.known import KnownConstraints
from constrint.verification.store import ConstraintStore, ProofConstraint


def are_disjoint(constraint: ProofConstraint, store: ConstraintStore) -> bool:
    """Whether no two tasks can overlap, and no duration is negative."""
    arguments = constraint.arguments
    tasks = list(zip(arguments["starts"], arguments["durations"], strict=True))
    if any(store.root.low[d] < 0 for _, d in tasks):
        return False
    return all(
        store.refutes([], [_ends_after(store, s, d, t), _ends_after(store, t, e, s)])
        for (s, d), (t, e) in itertools.combinations(tasks, 2)
    )


def _ends_after(store: ConstraintStore, start: int, duration: int, other: int) -> ProofConstraint:
    """A task ends after another one starts; what has one value is in the bound."""
    terms, bound = [[1, other], [-1, start], [-1, duration]], -1
    bound -= sum(a * store.root.low[v] for a, v in terms if store.root.is_fixed(v))
    return ProofConstraint.of(
        "LinearLe", {"terms": [[a, v] for a, v in terms if not store.root.is_fixed(v)], "bound": bound}
    )


def takes_all_values(constraint: ProofConstraint, store: ConstraintStore, known: KnownConstraints) -> bool:
    """Whether a clause states that one of as many different variables as values has a value."""
    atoms = {literal_atom(one) for one in constraint.arguments["literals"]}
    for other in known.different:
        variables = [v for a, v, b in other.arguments["views"] if (a, b) == (1, 0)]
        if len(variables) != len(other.arguments["views"]) or len(variables) > len(atoms):
            continue
        if max([store.number_of_values(v) for v in variables], default=0) > len(variables):
            continue
        values = {x for v in variables for x in store.root.values(v)}
        if len(values) == len(variables) and any(
            all(_is_among(store, v, x, atoms) for v in variables) for x in values
        ):
            return True
    return False


def _is_among(store: ConstraintStore, v: int, x: int, atoms: set[Atom]) -> bool:
    """Whether the atom of ``v == x`` is among some, or never true."""
    if not store.root.may_be(v, x):
        return True
    if (store.root.low[v], store.root.high[v]) == (0, 1):
        return ((v, ">=", 1) if x else (v, "<=", 0)) in atoms
    return store.value_literal(v, x) in atoms


def holds_in_all_cases(constraint: ProofConstraint, store: ConstraintStore, known: KnownConstraints) -> bool:
    """Whether a clause follows for each choice of values of the variables that its literals compare."""
    opposites = [opposite(literal_atom(one)) for one in constraint.arguments["literals"]]
    compared: dict[int, None] = {}
    for v in constraint.variables:
        for one in known.over(v):
            if one.name in ("LinearLeIf", "LinearEqIf") and one.arguments["literal"] >> 1 == v:
                compared.update(dict.fromkeys(u for _, u in one.arguments["terms"]))
    some = [v for v in compared if store.is_declared(v) and not store.root.is_fixed(v)]
    if not some or prod(store.number_of_values(v) for v in some) > store.settings.most_cases:
        return False
    for row in itertools.product(*[store.root.values(v) for v in some]):
        atoms = [(v, relation, x) for v, x in zip(some, row, strict=True) for relation in (">=", "<=")]
        if not store.refutes([*opposites, *atoms]):
            return False
    return True
