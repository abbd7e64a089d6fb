"""Answers to names that other solvers have, and to misspelt keywords of calls."""

from __future__ import annotations

import sys
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
    "status": "result.status, of result = m.solve()",
    "objective": "m.minimize(expression), or m.maximize(expression)",
    "objectivevalue": "result.objective, of result = m.solve()",
    "print": "print(m)",
    "show": "print(m)",
    "issat": "bool(m.solve())",
    "check": "bool(m.solve())",
    "numsolutions": "m.count()",
    "getvars": "m.variables",
    "vars": "m.variables",
    "forall": "m.add(… for i in range(n))",
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

_IN_EXPRESSIONS = {
    "lb": "a variable has x.domain.lo, a result has its value: result[x]",
    "ub": "a variable has x.domain.hi, a result has its value: result[x]",
    "getlb": "a variable has x.domain.lo",
    "getub": "a variable has x.domain.hi",
    "getbounds": "a variable has x.domain.lo and x.domain.hi",
    "min": "a variable has x.domain.lo; the least of several is min_(x, y)",
    "max": "a variable has x.domain.hi; the greatest of several is max_(x, y)",
    "dom": "a variable has x.domain",
    "domain": "only variables have a domain",
    "value": "result[x], after result = m.solve()",
    "values": "a variable has x.domain; after result = m.solve(), result[x] is its value",
    "varvalue": "result[x], after result = m.solve()",
    "x": "result[x], after result = m.solve()",
    "solutionvalue": "result[x], after result = m.solve()",
    "getvalue": "result[x], after result = m.solve()",
    "isassigned": "result[x], after result = m.solve()",
    "not": "~b",
    "neg": "~b of a condition, -x of a number",
    "negated": "~b",
    "index": "only enumerations have an index",
    "name": "only variables have a name; m.let(name, expression) names another one",
    "onlyenforceif": "m.add(b.implies(condition))",
    "withname": "m.add(condition, name=…), or m.let(name, expression)",
    "proto": "m.to_text() has the whole model",
    "isbool": "isinstance(x, BoolExpr)",
    "isinteger": "all expressions are integers",
    "setinitialvalue": "m.hint({x: 3})",
    "start": "m.hint({x: 3}); an interval has a start",
    "isin": "x.is_in([1, 2, 3])",
    "in": "x.is_in([1, 2, 3])",
    "inside": "x.is_in([1, 2, 3])",
    "abs": "abs(x)",
    "eq": "x == y",
    "ne": "x != y",
    "le": "x <= y",
    "lt": "x < y",
    "ge": "x >= y",
    "gt": "x > y",
    "and": "a & b",
    "or": "a | b",
    "xor": "a ^ b",
    "implies": "a.implies(b), of conditions",
    "then": "a.implies(b), of conditions",
    "iff": "a == b, of conditions",
    "mod": "x % y",
    "div": "x // y, which rounds down; truncdiv(x, y) rounds to 0",
    "pow": "x ** 2",
    "sum": "sum_(xs)",
    "all": "all_of(conditions)",
    "any": "any_of(conditions)",
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
    "forall": "all_of(… for i in range(n))",
    "exists": "any_of(… for i in range(n))",
    "automaton": "regular(xs, …)",
}

_OF_KEYWORDS = {
    **dict.fromkeys(("lb", "low", "lower", "lowerbound", "min", "minimum", "start", "begin"), "lo start"),
    **dict.fromkeys(("ub", "high", "upper", "upperbound", "max", "maximum", "stop"), "hi end"),
    **dict.fromkeys(("duration", "length", "len"), "size shape"),
    **dict.fromkeys(("domain", "dom", "choices", "options", "members"), "values"),
    **dict.fromkeys(("timeout", "maxtime", "maxtimeinseconds", "timelimitseconds"), "time_limit"),
    **dict.fromkeys(("threads", "numworkers", "processes", "numthreads"), "workers"),
    **dict.fromkeys(("verbose", "logsearchprogress", "display", "output"), "log"),
    **dict.fromkeys(("callback", "solutioncallback", "onsolutions"), "on_solution"),
    **dict.fromkeys(("randomseed", "randomstate", "rng"), "seed"),
    **dict.fromkeys(("warmstart", "initial", "hints"), "hint"),
    **dict.fromkeys(("solver",), "backend"),
    **dict.fromkeys(("isoptional", "ispresent"), "optional"),
    **dict.fromkeys(("objective", "goal"), "minimize"),
    **dict.fromkeys(("label", "title", "n"), "name"),
    **dict.fromkeys(("shape", "dimensions", "index", "indices"), "shape"),
    **dict.fromkeys(("penalty", "cost"), "weight"),
}
"""Keywords of other solvers, without case and underscores, and the ones here, of which a call has one."""

_OF_ALL = {"Result": _OF_RESULTS, "Handle": _OF_HANDLES}
"""Names of other solvers in constrint's form, by what has them; without case and underscores."""


def unknown_attribute(kind: str, name: str, known: list[str]) -> str:
    """The message for an attribute that an object of a kind does not have."""
    said = f"'{kind}' object has no attribute '{name}'"
    return said if name.startswith("_") else said + _advice(_OF_ALL.get(kind, _OF_MODELS), name, known)


def unknown_in_expression(kind: str, name: str) -> str:
    """The message for a name of other solvers that an expression does not have."""
    form = _IN_EXPRESSIONS[name.replace("_", "").lower()]
    return f"'{kind}' object has no attribute '{name}'. In constrint: {form}"


def unknown_name(name: str, known: list[str]) -> str:
    """The message for a name that the package does not have."""
    return f"module 'constrint' has no attribute {name!r}{_advice(_OF_MODULE, name, known)}"


def _advice(names: Mapping[str, str], name: str, known: list[str]) -> str:
    from difflib import get_close_matches

    plain = name.replace("_", "").lower()
    if wanted := names.get(plain):
        return f". In constrint: {wanted}"
    if names is _OF_MODELS and (form := _function_of_package(plain)):
        return f". In constrint: {form}"
    same = [one for one in known if one.replace("_", "").lower() == plain]
    near = same or get_close_matches(name, known, n=1, cutoff=0.75)
    return f". Did you mean '{near[0]}'?" if near else ""


def _functions_of_package() -> dict[str, Callable[..., object]]:
    """The functions of the package by name; it is loaded, and importing it would go up the layers."""
    package = sys.modules.get("constrint")
    return {name: getattr(package, name) for name in dir(package) if name[0].islower()}


def _function_of_package(plain: str) -> str | None:
    """How a function of the package is used that is asked of a model, by its name without underscores."""
    functions = _functions_of_package()
    found = next((name for name in functions if name.replace("_", "") == plain), None)
    if found is None:
        return None
    if getattr(functions[found], "__annotations__", {}).get("return") == "BoolExpr":
        return f"m.add({found}(…)), with the function of the package"
    return f"{found}(…), a function of the package"


def unknown_keyword(call: Callable[..., object], name: str, known: Sequence[str]) -> str:
    """The message for a keyword that a call does not have, beside those that it has."""
    from difflib import get_close_matches

    same = [one for one in _OF_KEYWORDS.get(name.replace("_", "").lower(), "").split() if one in known]
    near = same[:1] or get_close_matches(name, known, n=1, cutoff=0.6)
    hint = f". Did you mean '{near[0]}'?" if near else f": it has {', '.join(known)}"
    return f"{call.__name__}() got an unexpected keyword argument '{name}'{hint}"


def too_many_arguments(call: Callable[..., object], given: int, names: Sequence[str], most: int) -> str:
    """The message for a call with more arguments than it takes without their names."""
    from constrint.support.long_numbers import counted

    name = call.__name__
    said = f"{name}() takes {counted(most, 'argument')} without a name, not {given}"
    if name in _functions_of_package():
        return f"{said}. The constraint is a function of the package: m.add({name}(…) == 1)"
    others = ", ".join([f"{one}=" for one in names[most:]])
    return f"{said}: write the names of the others, which are {others}" if others else said
