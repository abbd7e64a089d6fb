"""The lines of a proof, read one by one."""

from __future__ import annotations

import json
from typing import Any

from constrint.verification.bounds import Atom, Domain, Rejected, domain_of
from constrint.verification.meanings import DEFINITIONS
from constrint.verification.store import Clause, ProofConstraint


def constraint_of(text: str) -> ProofConstraint:
    """The constraint that a line names: its kind and its arguments."""
    name, _, arguments = text.partition(" ")
    if name not in DEFINITIONS:
        raise Rejected(f"there is no constraint of the kind {name!r}")
    given = mapping(arguments)
    constraint = ProofConstraint.of(name, given)
    meaning_needs(constraint)
    return constraint


def meaning_needs(constraint: ProofConstraint) -> None:
    """Raise `Rejected` unless the arguments of a constraint have a meaning."""
    try:
        DEFINITIONS[constraint.name](constraint.arguments, dict.fromkeys(constraint.variables, 1))
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise Rejected(f"{constraint} cannot be read: {error!r}") from None


def mapping(text: str) -> dict[str, Any]:
    """A JSON object."""
    found = json.loads(text)
    if not isinstance(found, dict):
        raise ValueError(text)
    return found


def clause_of(text: str) -> Clause:
    """The clause of a line: ``3 >= 5 or 4 <= 2``."""
    return tuple([_atom(part) for part in text.split(" or ")]) if text else ()


def _atom(text: str) -> Atom:
    v, relation, value = text.split()
    if relation not in (">=", "<="):
        raise ValueError(text)
    return int(v), relation, int(value)


def variable_of(text: str) -> tuple[int, Domain, str | None]:
    """Number, domain and, for a variable of the model, name: ``3 in 0 .. 9 is "x"``."""
    number, _, rest = text.partition(" in ")
    values, _, name = rest.partition(" is ")
    return int(number), domain_of(values), json.loads(name) if name else None


def definition_of(text: str) -> tuple[tuple[int, ...], ProofConstraint]:
    """The variables that a line defines, and the constraint that does: ``7,8 DivMod {…}``."""
    numbers, _, rest = text.partition(" ")
    return tuple([int(number) for number in numbers.split(",")]), constraint_of(rest)


def solution_of(text: str) -> dict[int, int]:
    """The values of a line: ``3=7 4=2``."""
    pairs = [pair.split("=") for pair in text.split()]
    return {int(v): int(value) for v, value in pairs}


def objective_of(text: str) -> tuple[int, str, int, int, int]:
    """Number, direction, variable, factor and constant of a goal: ``0 min 7 times 1 plus 0``."""
    number, direction, v, times, factor, plus, constant = text.split()
    if direction not in ("min", "max") or (times, plus) != ("times", "plus"):
        raise ValueError(text)
    return int(number), direction, int(v), int(factor), int(constant)
