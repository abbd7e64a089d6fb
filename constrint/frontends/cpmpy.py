"""Models as CPMpy's models (extra: cpmpy)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import cpmpy as cp

from constrint import propagators as c
from constrint.errors import ModelError
from constrint.frontends.plain_form import ObjectWriter, PlainForm
from constrint.modelling.declarations import Declarations
from constrint.propagators.handlers import Rules

if TYPE_CHECKING:
    from cpmpy import Model as CpmpyModel
    from cpmpy.expressions.core import Expression


def to_cpmpy(model: Declarations) -> tuple[CpmpyModel, dict[str, Expression]]:
    """A model as a `cpmpy.Model`, and its variables by name.

    Raises:
        ModelError: The model has several goals, unbounded variables, or something without a counterpart.
    """
    writer = _CpmpyWriter(PlainForm(model, "CPMpy"))
    form = writer.form
    return writer.model, {name: writer.variables[v] for v, name in enumerate(form.names) if name}


class _CpmpyWriter(ObjectWriter):
    def __init__(self, form: PlainForm) -> None:
        super().__init__(form)
        self.model: CpmpyModel = cp.Model()
        for v in form.used():
            self.variables[v] = self._variable(v)
        for node in form.propagators:
            self.model += _RULES[type(node)](self, node)
        if form.goal is not None:
            v, direction = form.goal
            (self.model.minimize if direction == "min" else self.model.maximize)(1 * self.of(v))

    def _variable(self, v: int) -> Expression:
        name = self.form.names[v] or None
        lo, hi = self.form.bounds(v)
        if lo is None or hi is None:
            raise ModelError(f"CPMpy has bounded variables only, and {name or 'an expression'} has no bounds")
        if v in self.form.boolean and lo < hi:
            return cp.boolvar(name=name)
        variable = cp.intvar(lo, hi, name=name)
        values = self.form.values(v)
        if values is not None:
            self.model += cp.InDomain(variable, list(values))
        return variable

    def literal(self, literal: int) -> Expression:
        """A literal as a condition."""
        v = literal >> 1
        if v not in self.variables:
            return cp.BoolVal(bool(self.form.fixed(v)) != bool(literal & 1))
        is_boolean = v in self.form.boolean and self.form.fixed(v) is None
        condition = self.variables[v] if is_boolean else self.variables[v] == 1
        return ~condition if literal & 1 else condition

    def sum(self, terms: Sequence[tuple[int, int]]) -> Expression:
        """A sum."""
        return cp.sum([a * self.of(v) for a, v in terms])

    def member(self, node: c.Member) -> Expression:
        """``literal <-> x in intervals``."""
        x = 1 * self.of(node.x)
        ends = zip(node.intervals[::2], node.intervals[1::2], strict=True)
        return self.literal(node.literal) == cp.any([self._between(x, lo, hi) for lo, hi in ends])

    @staticmethod
    def _between(x: Expression, lo: int, hi: int) -> Expression:
        return cp.all([x >= lo, x <= hi])

    def table(self, node: c.Table) -> Expression:
        """``literal <-> the values are a row``."""
        cells = [[self._is(v, x) for v, x in zip(node.variables, row, strict=True)] for row in node.rows]
        return self.literal(node.literal) == cp.any([cp.all(row) for row in cells])

    def _is(self, v: int, x: int) -> Expression:
        value = self.of(v) == x
        return cp.BoolVal(value) if isinstance(value, bool) else value

    def element(self, entries: Sequence[int | Expression], index: int, z: int) -> Expression:
        """An entry of a list, counted from 0."""
        i = self.of(index)
        if index in self.form.boolean and not isinstance(i, int):
            i = cp.intvar(0, 1)
            self.model += i == self.of(index)
        if isinstance(i, int):
            inside = 0 <= i < len(entries)
            return 1 * self.of(z) == entries[i] if inside else cp.BoolVal(False)
        return [i >= 0, i < len(entries), cp.Element(list(entries), i) == self.of(z)]


def _same(left: Expression, right: Expression) -> Expression:
    """An equation, also of two plain numbers."""
    found = left == right
    return cp.BoolVal(found) if isinstance(found, bool) else found


_RULES: Rules[_CpmpyWriter, Expression] = Rules(
    "CPMpy",
    {
        c.LinearLe: lambda w, n: w.sum(n.terms) <= n.bound,
        c.LinearEq: lambda w, n: w.sum(n.terms) == n.bound,
        c.LinearNe: lambda w, n: w.sum(n.terms) != n.bound,
        c.LinearLeIf: lambda w, n: w.literal(n.literal) == (w.sum(n.terms) <= n.bound),
        c.LinearEqIf: lambda w, n: w.literal(n.literal) == (w.sum(n.terms) == n.bound),
        c.Product: lambda w, n: _same(w.of(n.x) * w.of(n.y), w.of(n.z)),
        c.Maximum: lambda w, n: cp.Maximum(w.all(n.xs)) == w.of(n.z),
        c.Minimum: lambda w, n: cp.Minimum(w.all(n.xs)) == w.of(n.z),
        c.Absolute: lambda w, n: _same(abs(w.of(n.x)), w.of(n.z)),
        c.Member: _CpmpyWriter.member,
        c.Clause: lambda w, n: (
            cp.any([w.literal(one) for one in n.literals]) if n.literals else cp.BoolVal(False)
        ),
        c.Element: lambda w, n: w.element(n.table, n.index, n.z),
        c.Selection: lambda w, n: w.element(w.all(n.xs), n.index, n.z),
        c.Table: _CpmpyWriter.table,
        c.AllDifferent: lambda w, n: cp.AllDifferent(w.all([v for _, v, _ in n.views])),
    },
    rest="plain form",
)
