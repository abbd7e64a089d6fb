"""Models as XCSP3-core."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from constrint import propagators as c
from constrint.errors import ModelError
from constrint.frontends.flatzinc.writer import identifiers
from constrint.frontends.plain_form import PlainForm
from constrint.modelling.declarations import Declarations
from constrint.propagators.handlers import Rules
from constrint.support.deadline import watched


def write_xcsp3(model: Declarations) -> str:
    """A model as XCSP3-core; x[0,1] becomes x_0_1.

    Raises:
        ModelError: The model has several goals, unbounded variables, or something without a counterpart.
    """
    return _XcspWriter(PlainForm(model, "XCSP3", has_fractions=True)).text()


class _XcspWriter:
    def __init__(self, form: PlainForm) -> None:
        self.form = form
        self.ids = identifiers(form.names)
        self.constraints: list[str] = []

    def text(self) -> str:
        """The whole text."""
        form = self.form
        variables = [f'    <var id="{self.ids[v]}"> {self._domain(v)} </var>' for v in watched(form.used())]
        for node in watched(form.propagators):
            _RULES[type(node)](self, node)
        kind = "CSP" if form.goal is None else "COP"
        lines = [f'<instance format="XCSP3" type="{kind}">', "  <variables>", *variables, "  </variables>"]
        lines += ["  <constraints>", *[f"    {one}" for one in self.constraints], "  </constraints>"]
        if form.goal is not None:
            v, direction = form.goal
            tag = "minimize" if direction == "min" else "maximize"
            lines.append(f"  <objectives> <{tag}{self._divided()}> {self.of(v)} </{tag}> </objectives>")
        return "\n".join([*lines, "</instance>", ""])

    def _divided(self) -> str:
        """The note about fractional coefficients: XCSP3's objectives are integers."""
        form = self.form
        if form.denominator == 1 and not form.is_float:
            return ""
        return f' note="divided by {form.denominator}{", as a float" if form.is_float else ""}"'

    def _domain(self, v: int) -> str:
        values = self.form.values(v)
        if values is not None:
            return " ".join(map(str, values))
        lo, hi = self.form.bounds(v)
        if lo is None or hi is None:
            name = self.form.names[v] or "an expression of the model"
            raise ModelError(f"XCSP3 holds bounded variables only, and {name} has no bounds: bound it")
        return f"{lo}..{hi}"

    def of(self, v: int) -> str:
        """A variable, or its only value."""
        value = self.form.fixed(v)
        return self.ids[v] if value is None or self.form.names[v] else str(value)

    def all(self, variables: Iterable[int]) -> str:
        """Variables, or their only values."""
        return " ".join(map(self.of, variables))

    def post(self, expression: str) -> None:
        """Add a constraint in intension."""
        self.constraints.append(f"<intension> {expression} </intension>")

    def literal(self, literal: int) -> str:
        """A literal as a condition."""
        return f"eq({self.of(literal >> 1)},{1 - (literal & 1)})"

    def holds_if(self, literal: int, condition: str) -> None:
        """``literal <-> condition``."""
        self.post(f"iff({self.literal(literal)},{condition})")

    def sum(self, terms: Sequence[tuple[int, int]]) -> str:
        """A sum as an expression."""
        parts = [self.of(v) if a == 1 else f"mul({a},{self.of(v)})" for a, v in terms]
        return parts[0] if len(parts) == 1 else f"add({','.join(parts)})" if parts else "0"

    def linear(self, terms: Sequence[tuple[int, int]], operator: str, bound: int) -> None:
        """A sum, compared with a number."""
        if not terms or any(self.form.fixed(v) is not None for _, v in terms):
            self.post(f"{operator}({self.sum(terms)},{bound})")
            return
        variables = self.all(v for _, v in terms)
        weights = " ".join(str(a) for a, _ in terms)
        condition = f"<condition> ({operator},{bound}) </condition>"
        self.constraints.append(
            f"<sum> <list> {variables} </list> <coeffs> {weights} </coeffs> {condition} </sum>"
        )

    def clause(self, literals: Sequence[int]) -> None:
        """At least one of the literals."""
        self.post(self._joined("or", [self.literal(one) for one in literals], "lt(1,0)"))

    def _joined(self, operator: str, parts: Sequence[str], empty: str) -> str:
        return empty if not parts else parts[0] if len(parts) == 1 else f"{operator}({','.join(parts)})"

    def member(self, node: c.Member) -> None:
        """``literal <-> x in intervals``."""
        x = self.of(node.x)
        ends = zip(node.intervals[::2], node.intervals[1::2], strict=True)
        parts = [f"eq({x},{lo})" if lo == hi else f"and(ge({x},{lo}),le({x},{hi}))" for lo, hi in ends]
        self.holds_if(node.literal, self._joined("or", parts, "lt(1,0)"))

    def table(self, node: c.Table) -> None:
        """``literal <-> the values are a row``."""
        held = self.form.fixed(node.literal >> 1)
        is_plain = held is not None and bool(held) != bool(node.literal & 1)
        if is_plain and node.rows and all(self.form.fixed(v) is None for v in node.variables):
            rows = ["(" + ",".join(map(str, row)) + ")" for row in node.rows]
            supports = (
                " ".join(str(row[0]) for row in node.rows) if len(node.variables) == 1 else "".join(rows)
            )
            self.constraints.append(
                f"<extension> <list> {self.all(node.variables)} </list> "
                f"<supports> {supports} </supports> </extension>"
            )
            return
        parts = [
            self._joined(
                "and", [f"eq({self.of(v)},{x})" for v, x in zip(node.variables, row, strict=True)], ""
            )
            for row in node.rows
        ]
        self.holds_if(node.literal, self._joined("or", parts, "lt(1,0)"))

    def extreme(self, name: str, node: c.Maximum | c.Minimum) -> None:
        """The greatest or least value."""
        values = ",".join(map(self.of, node.xs))
        self.post(f"eq({self.of(node.z)},{f'{name}({values})' if len(node.xs) > 1 else values})")

    def element(self, entries: str, index: int, z: int) -> None:
        """An entry of a list, counted from 0."""
        self.constraints.append(
            f"<element> <list> {entries} </list> <index> {self.of(index)} </index> "
            f"<condition> (eq,{self.of(z)}) </condition> </element>"
        )


_RULES: Rules[_XcspWriter, None] = Rules(
    "XCSP3",
    {
        c.LinearLe: lambda w, n: w.linear(n.terms, "le", n.bound),
        c.LinearEq: lambda w, n: w.linear(n.terms, "eq", n.bound),
        c.LinearNe: lambda w, n: w.linear(n.terms, "ne", n.bound),
        c.LinearLeIf: lambda w, n: w.holds_if(n.literal, f"le({w.sum(n.terms)},{n.bound})"),
        c.LinearEqIf: lambda w, n: w.holds_if(n.literal, f"eq({w.sum(n.terms)},{n.bound})"),
        c.Product: lambda w, n: w.post(f"eq({w.of(n.z)},mul({w.of(n.x)},{w.of(n.y)}))"),
        c.Maximum: lambda w, n: w.extreme("max", n),
        c.Minimum: lambda w, n: w.extreme("min", n),
        c.Absolute: lambda w, n: w.post(f"eq({w.of(n.z)},abs({w.of(n.x)}))"),
        c.Member: _XcspWriter.member,
        c.Clause: lambda w, n: w.clause(n.literals),
        c.Element: lambda w, n: w.element(" ".join(map(str, n.table)), n.index, n.z),
        c.Selection: lambda w, n: w.element(w.all(n.xs), n.index, n.z),
        c.Table: _XcspWriter.table,
        c.AllDifferent: lambda w, n: w.constraints.append(
            f"<allDifferent> {w.all(v for _, v, _ in n.views)} </allDifferent>"
        ),
    },
    rest="plain form",
)
