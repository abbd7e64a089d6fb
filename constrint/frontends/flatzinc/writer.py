"""Models as FlatZinc: the builtins of the standard, and `fzn_all_different_int` of MiniZinc's library."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from constrint import propagators as c
from constrint.frontends.flatzinc.solve_item import DIVISOR
from constrint.frontends.plain_form import PlainForm
from constrint.frontends.unique_names import each_once
from constrint.modelling.declarations import Declarations
from constrint.propagators.handlers import Rules
from constrint.support.deadline import watched

_PREDICATE = "predicate fzn_all_different_int(array [int] of var int: x);"
_KEYWORDS = re.compile(
    "ann|annotation|any|array|bool|constraint|diff|div|else|elseif|endif|enum|false|float|function|if|in|include|"
    "infinity|int|intersect|let|list|maximize|minimize|mod|not|of|op|output|par|predicate|record|satisfy|set|"
    "solve|string|subset|superset|symdiff|test|then|true|tuple|type|union|var|where|xor"
)


def identifiers(names: Iterable[str], reserved: re.Pattern[str] | None = None) -> list[str]:
    """Names of letters, digits and underscores, each once; x[0,1] becomes x_0_1. Nameless ones get one."""

    def legal(i: int, name: str) -> str:
        wanted = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_") if name else f"aux{i}"
        is_reserved = reserved is not None and reserved.fullmatch(wanted)
        return f"v_{wanted}" if not wanted or not wanted[0].isalpha() or is_reserved else wanted

    return each_once(legal(i, name) for i, name in enumerate(names))


def write_flatzinc(model: Declarations) -> str:
    """A model as FlatZinc.

    Names of other characters than letters and digits get underscores: x[0,1] becomes x_0_1.

    Raises:
        ModelError: The model has several goals, or something without a counterpart.
    """
    return _FlatZincWriter(PlainForm(model, "FlatZinc", has_fractions=True)).text()


class _FlatZincWriter:
    def __init__(self, form: PlainForm) -> None:
        self.form = form
        self.ids = identifiers(form.names, _KEYWORDS)
        self.taken = set(self.ids)
        self.others: dict[tuple[str, int], str] = {}  # Boolean and integer twins, indices counted from 1
        self.declared: list[str] = []
        self.constraints: list[str] = []
        self.extra = 0

    def text(self) -> str:
        """The whole text."""
        form = self.form
        heads = [self._declaration(v) for v in watched(form.used())]
        for node in watched(form.propagators):
            _RULES[type(node)](self, node)
        goal = "satisfy"
        if form.goal is not None:
            v, direction = form.goal
            goal = f"{'minimize' if direction == 'min' else 'maximize'} {self.number(v)}"
            if form.denominator != 1 or form.is_float:  # FlatZinc's objectives are integers
                goal = f":: {DIVISOR}({form.denominator}, {str(form.is_float).lower()}) {goal}"
        predicates = [_PREDICATE] if any("fzn_all_different" in line for line in self.constraints) else []
        return "\n".join([*predicates, *heads, *self.declared, *self.constraints, f"solve {goal};", ""])

    def _declaration(self, v: int) -> str:
        note = " :: output_var" if self.form.names[v] else " :: var_is_introduced"
        if v in self.form.boolean:
            value = self.form.fixed(v)
            if value is not None:
                self.post("bool_eq", self.ids[v], "true" if value else "false")
            return f"var bool: {self.ids[v]}{note};"
        return f"var {self._domain(v)}: {self.ids[v]}{note};"

    def _domain(self, v: int) -> str:
        values = self.form.values(v)
        lo, hi = self.form.bounds(v)
        if values is not None:
            return "{" + ",".join(map(str, values)) + "}"
        if lo is not None and hi is not None:
            return f"{lo}..{hi}"
        if lo is not None:
            self.post("int_le", str(lo), self.ids[v])
        if hi is not None:
            self.post("int_le", self.ids[v], str(hi))
        return "int"

    # Arguments

    def post(self, name: str, *arguments: str) -> None:
        """Add a constraint."""
        self.constraints.append(f"constraint {name}({','.join(arguments)});")

    def number(self, v: int) -> str:
        """A variable as an integer."""
        value = self.form.fixed(v)
        if value is not None:
            return str(value)
        if v not in self.form.boolean:
            return self.ids[v]
        return self._twin("int", v, "0..1", lambda twin: self.post("bool2int", self.ids[v], twin))

    def boolean(self, v: int) -> str:
        """A variable of 0 and 1 as a truth value."""
        value = self.form.fixed(v)
        if value is not None:
            return "true" if value else "false"
        if v in self.form.boolean:
            return self.ids[v]
        return self._twin("bool", v, "bool", lambda twin: self.post("int_eq_reif", self.ids[v], "1", twin))

    def index(self, v: int) -> str:
        """A variable plus 1: indices count from 1."""
        value = self.form.fixed(v)
        if value is not None:
            return str(value + 1)
        lo, hi = self.form.bounds(v)
        domain = "int" if lo is None or hi is None else f"{lo + 1}..{hi + 1}"
        return self._twin(
            "index",
            v,
            domain,
            lambda twin: self.post("int_lin_eq", "[1,-1]", f"[{twin},{self.number(v)}]", "1"),
        )

    def _twin(self, kind: str, v: int, domain: str, post: Callable[[str], None]) -> str:
        known = self.others.get((kind, v))
        if known is None:
            known = self.others[kind, v] = self.new(f"{self.ids[v]}_{kind}", domain)
            post(known)
        return known

    def new(self, name: str, domain: str) -> str:
        """A new variable."""
        while name in self.taken:
            self.extra += 1
            name = f"{name}_{self.extra}"
        self.taken.add(name)
        self.declared.append(f"var {domain}: {name} :: var_is_introduced;")
        return name

    def list(self, variables: Iterable[int]) -> str:
        """An array of variables."""
        return f"[{','.join(map(self.number, variables))}]"

    def sum(self, terms: Sequence[tuple[int, int]], sign: int = 1) -> tuple[str, str]:
        """The coefficients and the variables of a sum."""
        return f"[{','.join(str(sign * a) for a, _ in terms)}]", self.list(v for _, v in terms)

    # Constraints

    def le_if(self, node: c.LinearLeIf) -> None:
        """``literal <-> sum <= bound``; of a negative literal, the opposite sum."""
        negative = node.literal & 1
        sign, bound = (-1, -node.bound - 1) if negative else (1, node.bound)
        self.post("int_lin_le_reif", *self.sum(node.terms, sign), str(bound), self.boolean(node.literal >> 1))

    def eq_if(self, node: c.LinearEqIf) -> None:
        """``literal <-> sum == bound``."""
        name = "int_lin_ne_reif" if node.literal & 1 else "int_lin_eq_reif"
        self.post(name, *self.sum(node.terms), str(node.bound), self.boolean(node.literal >> 1))

    def clause(self, literals: Sequence[int]) -> None:
        """At least one of the literals."""
        positive = [self.boolean(one >> 1) for one in literals if not one & 1]
        negative = [self.boolean(one >> 1) for one in literals if one & 1]
        self.post("bool_clause", f"[{','.join(positive)}]", f"[{','.join(negative)}]")

    def any_of(self, flags: Sequence[str], literal: int) -> None:
        """``literal <-> some flag``."""
        result = self.boolean(literal >> 1)
        if literal & 1:
            result = self.new("not", "bool")
            self.post("bool_not", result, self.boolean(literal >> 1))
        self.post("array_bool_or", f"[{','.join(flags)}]", result)

    def member(self, node: c.Member) -> None:
        """``literal <-> x in intervals``."""
        flags = []
        for lo, hi in zip(node.intervals[::2], node.intervals[1::2], strict=True):
            flags.append(self.new("in", "bool"))
            self.post("set_in_reif", self.number(node.x), f"{lo}..{hi}", flags[-1])
        self.any_of(flags, node.literal)

    def table(self, node: c.Table) -> None:
        """``literal <-> the values are a row``: a row is chosen, or each has a truth value."""
        rows = list(dict.fromkeys(node.rows))
        if self.boolean(node.literal >> 1) == ("false" if node.literal & 1 else "true") and rows:
            row = self.new("row", f"1..{len(rows)}")
            for i, v in enumerate(node.variables):
                self.post(
                    "array_int_element", row, f"[{','.join(str(one[i]) for one in rows)}]", self.number(v)
                )
            return
        flags = []
        for one in rows:
            parts = []
            for v, value in zip(node.variables, one, strict=True):
                parts.append(self.new("is", "bool"))
                self.post("int_eq_reif", self.number(v), str(value), parts[-1])
            flags.append(self.new("row", "bool"))
            self.post("array_bool_and", f"[{','.join(parts)}]", flags[-1])
        self.any_of(flags, node.literal)


_RULES: Rules[_FlatZincWriter, None] = Rules(
    "FlatZinc",
    {
        c.LinearLe: lambda w, n: w.post("int_lin_le", *w.sum(n.terms), str(n.bound)),
        c.LinearEq: lambda w, n: w.post("int_lin_eq", *w.sum(n.terms), str(n.bound)),
        c.LinearNe: lambda w, n: w.post("int_lin_ne", *w.sum(n.terms), str(n.bound)),
        c.LinearLeIf: _FlatZincWriter.le_if,
        c.LinearEqIf: _FlatZincWriter.eq_if,
        c.Product: lambda w, n: w.post("int_times", *map(w.number, (n.x, n.y, n.z))),
        c.Maximum: lambda w, n: w.post("array_int_maximum", w.number(n.z), w.list(n.xs)),
        c.Minimum: lambda w, n: w.post("array_int_minimum", w.number(n.z), w.list(n.xs)),
        c.Absolute: lambda w, n: w.post("int_abs", w.number(n.x), w.number(n.z)),
        c.Member: _FlatZincWriter.member,
        c.Clause: lambda w, n: w.clause(n.literals),
        c.Element: lambda w, n: w.post(
            "array_int_element", w.index(n.index), f"[{','.join(map(str, n.table))}]", w.number(n.z)
        ),
        c.Selection: lambda w, n: w.post(
            "array_var_int_element", w.index(n.index), w.list(n.xs), w.number(n.z)
        ),
        c.Table: _FlatZincWriter.table,
        c.AllDifferent: lambda w, n: w.post("fzn_all_different_int", w.list(v for _, v, _ in n.views)),
    },
    rest="plain form",
)
