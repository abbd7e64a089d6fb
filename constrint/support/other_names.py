"""Answers to names that other solvers have, and to misspelt keywords of calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

_OF_MODELS = {
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

_OF_RESULTS = {
    "value": "result[x]",
    "getvalue": "result[x]",
    "booleanvalue": "result[x]",
    "solution": "result.values",
    "objectivevalue": "result.objective",
    "objval": "result.objective",
    "getobjectivevalue": "result.objective",
    "bestobjectivebound": "result.bound",
    "objbound": "result.bound",
    "statusname": "result.status.value",
    "issat": "bool(result)",
    "hassolution": "bool(result)",
    "isfeasible": "bool(result)",
    "walltime": "result.statistics.seconds",
    "numbranches": "result.statistics.nodes",
    "numconflicts": "result.statistics.failures",
}

_OF_HANDLES = {
    "onlyenforceif": "m.add(b.implies(condition))",
    "withname": "m.add(condition, name=…)",
    "setname": "m.add(condition, name=…)",
    "delete": "handle.remove()",
    "deactivate": "handle.disable()",
    "activate": "handle.enable()",
}

_OF_MODULE = {
    "cpmodel": "constrint.Model()",
    "cpsolver": "constrint.Model().solve()",
    "solver": "constrint.Model().solve()",
    "problem": "constrint.Model()",
    "intvar": "m.int_var(name, lo, hi), or constrint.IntVar as a type",
    "integer": "m.int_var(name, lo, hi)",
    "boolvar": "m.bool_var(name)",
    "bool": "m.bool_var(name)",
    "alldifferent": "all_different(xs)",
    "alldiff": "all_different(xs)",
    "distinct": "all_different(xs)",
    "allequal": "nvalue(xs) == 1",
    "sum": "sum_(xs)",
    "max": "max_(xs)",
    "maximum": "max_(xs)",
    "min": "min_(xs)",
    "minimum": "min_(xs)",
    "abs": "abs_(x)",
    "gcc": "global_cardinality(xs, counts)",
    "globalcardinalitycount": "global_cardinality(xs, counts)",
    "and": "all_of(conditions), or a & b",
    "all": "all_of(conditions), or a & b",
    "or": "any_of(conditions), or a | b",
    "any": "any_of(conditions), or a | b",
    "not": "~condition",
    "xor": "a ^ b",
    "if": "if_then_else(condition, a, b)",
    "ifthenelse": "if_then_else(condition, a, b)",
    "atleast": "count(xs, value) >= n",
    "atmost": "count(xs, value) <= n",
    "allowedassignments": "table(xs, rows)",
    "nooverlap2d": "diffn(…)",
    "automaton": "regular(xs, …)",
}

_OF_ALL = {"Result": _OF_RESULTS, "Handle": _OF_HANDLES}
"""Names of other solvers in constrint's form, by what has them; without case and underscores."""


def unknown_attribute(kind: str, name: str, known: list[str]) -> str:
    """The message for an attribute that an object of a kind does not have."""
    said = f"'{kind}' object has no attribute '{name}'"
    return said if name.startswith("_") else said + _advice(_OF_ALL.get(kind, _OF_MODELS), name, known)


def unknown_name(name: str, known: list[str]) -> str:
    """The message for a name that the package does not have."""
    return f"module 'constrint' has no attribute {name!r}{_advice(_OF_MODULE, name, known)}"


def _advice(names: Mapping[str, str], name: str, known: list[str]) -> str:
    from difflib import get_close_matches

    plain = name.replace("_", "").lower()
    if wanted := names.get(plain):
        return f". In constrint: {wanted}"
    same = [one for one in known if one.replace("_", "").lower() == plain]
    near = same or get_close_matches(name, known, n=1, cutoff=0.75)
    return f". Did you mean '{near[0]}'?" if near else ""


def unknown_keyword(call: Callable[..., object], name: str, known: Sequence[str]) -> str:
    """The message for a keyword that a call does not have, beside those that it has."""
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=1, cutoff=0.6)
    hint = f". Did you mean '{near[0]}'?" if near else f": it has {', '.join(known)}"
    return f"{call.__qualname__}() got an unexpected keyword argument '{name}'{hint}"
