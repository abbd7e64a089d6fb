"""Definitions of internal variables: a constraint that has one value of a variable for all others' values."""

from __future__ import annotations

from constrint.verification.bounds import Bounds, Domain, Rejected
from constrint.verification.intervals import REACHED
from constrint.verification.linear_rows import least, negative
from constrint.verification.meanings import DEFINITIONS, FUNCTIONS, Values
from constrint.verification.store import ProofConstraint

TRUTHS = frozenset(
    ("LinearLeIf", "LinearEqIf", "Divides", "Member", "Lexicographic", "Table", "ShortTable", "All")
)
"""Reified kinds, which determine their literal."""


def outputs(constraint: ProofConstraint) -> tuple[int, ...]:
    """The variables that a constraint can define; none for a condition."""
    arguments = constraint.arguments
    if constraint.name in TRUTHS:
        return (arguments["literal"] >> 1,)
    if constraint.name == "LinearEq":
        return tuple(v for a, v in arguments["terms"] if abs(a) == 1)
    if constraint.name == "DivMod":
        return arguments["q"], arguments["r"]
    if constraint.name in ("CeilDiv", "Quotient"):
        return (arguments["q"],)
    return (arguments["z"],) if constraint.name in REACHED else ()


def check_defines(constraint: ProofConstraint, defined: tuple[int, ...], bounds: Bounds) -> dict[int, Domain]:
    """The values that variables can have by their definition; raises `Rejected` if it is none.

    Whatever values the other variables of the constraint have, there is one value of each defined variable
    that satisfies it; raises `Partial` where there may be none.
    """
    able = outputs(constraint)
    fits = defined == able if constraint.name == "DivMod" else len(defined) == 1 and defined[0] in able
    if not fits:
        raise Rejected(f"{constraint} does not define {defined}")
    inputs = [v for v in constraint.variables if v not in defined]
    if any(v not in bounds.domains for v in inputs):
        raise Rejected(f"{constraint} has a variable that is not declared")
    uses = _uses(constraint)
    if any(uses.count(v) != 1 for v in defined):
        raise Rejected(f"{constraint} defines a variable by itself")
    if constraint.name in TRUTHS:
        return {v: range(2) for v in defined}
    if constraint.name == "LinearEq":
        return {defined[0]: _of_sum(constraint, defined[0], bounds)}
    return {
        v: range(low, high + 1)
        for v, (low, high) in REACHED[constraint.name](constraint.arguments, bounds).items()
    }


def _uses(constraint: ProofConstraint) -> list[int]:
    """The variables of a constraint, as often as they occur, where a definition may occur but once."""
    arguments = constraint.arguments
    found = [arguments["literal"] >> 1] if "literal" in arguments else []
    found += [v for _, v in arguments.get("terms", ())]
    found += [one >> 1 for one in arguments.get("literals", ())]
    for key in ("xs", "ys", "variables"):
        found += arguments.get(key, ())
    return found + [arguments[key] for key in ("x", "y", "z", "q", "r", "d", "index") if key in arguments]


def _of_sum(constraint: ProofConstraint, v: int, bounds: Bounds) -> Domain:
    """The values of a variable that equals a sum."""
    sign = next(a for a, u in constraint.arguments["terms"] if u == v)
    rest = [(-sign * a, u) for a, u in constraint.arguments["terms"] if u != v]
    constant = sign * constraint.arguments["bound"]
    low, high = constant + least(bounds, rest), constant - least(bounds, negative(rest))
    return range(low, high + 1)


def computed(constraint: ProofConstraint, defined: tuple[int, ...], values: Values) -> dict[int, int]:
    """The values of variables by their definition."""
    name, arguments = constraint.name, constraint.arguments
    if name in TRUTHS:
        (v,) = defined
        for value in (0, 1):
            if DEFINITIONS[name](arguments, {**values, v: value}):
                return {v: value}
        return {}
    if name == "LinearEq":
        (v,) = defined
        sign = next(a for a, u in arguments["terms"] if u == v)
        rest = arguments["bound"] - sum(a * values[u] for a, u in arguments["terms"] if u != v)
        return {v: sign * rest}
    if name in FUNCTIONS:
        names, function = FUNCTIONS[name]
        found = function(*[values[arguments[key]] for key in names])
        return {arguments[key]: value for key, value in found.items()}
    if name == "Quotient":
        total = sum(a * values[v] for a, v in arguments["terms"]) + arguments["constant"]
        return {arguments["q"]: total // arguments["divisor"]}
    if name in ("Maximum", "Minimum"):
        choose = max if name == "Maximum" else min
        return {arguments["z"]: choose(values[x] for x in arguments["xs"])}
    listed = arguments["table"] if name == "Element" else [values[x] for x in arguments["xs"]]
    place = values[arguments["index"]]
    return {arguments["z"]: listed[place]} if 0 <= place < len(listed) else {}
