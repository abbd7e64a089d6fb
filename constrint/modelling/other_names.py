"""Answers to names that other solvers' models have, and to misspelt keywords of calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence

_NAMES = {
    "newintvar": "m.int_var(name, lo, hi)",
    "newboolvar": "m.bool_var(name)",
    "newintvarfromdomain": "m.int_var(name, values=[…])",
    "newconstant": "the number itself",
    "newintervalvar": "m.interval(…)",
    "newoptionalintervalvar": "m.interval(…, optional=True)",
    "newfixedsizeintervalvar": "m.interval(…)",
    "intvar": "m.int_var(name, lo, hi)",
    "boolvar": "m.bool_var(name)",
    "addvar": "m.int_var(name, lo, hi)",
    "addvariable": "m.int_var(name, lo, hi)",
    "addconstr": "m.add(condition)",
    "addconstraint": "m.add(condition)",
    "addlinearconstraint": "m.add(lo <= expression), m.add(expression <= hi)",
    "addimplication": "m.add(a.implies(b))",
    "addboolor": "m.add(any_of(conditions))",
    "addatleastone": "m.add(at_least_one(conditions))",
    "addatmostone": "m.add(at_most_one(conditions))",
    "addexactlyone": "m.add(exactly_one(conditions))",
    "addbooland": "m.add(conditions)",
    "addboolxor": "m.add(a ^ b)",
    "addalldifferent": "m.add(all_different(xs))",
    "addelement": "m.add(element(values, index) == target)",
    "addcircuit": "m.add(circuit(successors))",
    "addmultiplecircuit": "m.add(circuit(successors))",
    "addallowedassignments": "m.add(table(xs, rows))",
    "addforbiddenassignments": "m.add(~table(xs, rows))",
    "addautomaton": "m.add(regular(xs, …))",
    "addinverse": "m.add(inverse(f, g))",
    "addmaxequality": "m.add(target == max_(xs))",
    "addminequality": "m.add(target == min_(xs))",
    "adddivisionequality": "m.add(target == truncdiv(a, b))",
    "addmoduloequality": "m.add(target == truncmod(a, b))",
    "addmultiplicationequality": "m.add(target == a * b)",
    "addabsequality": "m.add(target == abs(x))",
    "addnooverlap": "m.add(no_overlap(intervals))",
    "addnooverlap2d": "m.add(diffn(…))",
    "addcumulative": "m.add(cumulative(intervals, …))",
    "addhint": "m.hint(…)",
    "addassumption": "m.assume(condition)",
    "adddecisionstrategy": "branching= of m.solve",
    "solveall": "m.solutions(), or m.iter_solutions()",
    "getsolutions": "m.solutions()",
    "getsolution": "m.solve()",
    "setobjective": "m.minimize(expression), or m.maximize(expression)",
    "satisfy": "m.add(condition)",
    "optimize": "m.solve()",
    "value": "result[x]",
}
"""Calls of other solvers' models in constrint's form, by their names without case and underscores."""


def unknown_attribute(kind: str, name: str, known: list[str]) -> str:
    """The message for an attribute that a model does not have."""
    said = f"'{kind}' object has no attribute '{name}'"
    from difflib import get_close_matches

    plain = name.replace("_", "").lower()
    if wanted := _NAMES.get(plain):
        return f"{said}. In constrint: {wanted}"
    same = [one for one in known if one.replace("_", "") == plain]
    near = same or get_close_matches(name, known, n=1, cutoff=0.75)
    return f"{said}. Did you mean '{near[0]}'?" if near else said


def unknown_keyword(call: Callable[..., object], name: str, known: Sequence[str]) -> str:
    """The message for a keyword that a call does not have, beside those that it has."""
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=1, cutoff=0.6)
    hint = f". Did you mean '{near[0]}'?" if near else f": it has {', '.join(known)}"
    return f"{call.__qualname__}() got an unexpected keyword argument '{name}'{hint}"
