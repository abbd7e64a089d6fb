"""Models as CP-SAT's models, with the names of the user's variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ortools.sat.python import cp_model

from constrint import propagators as c
from constrint.errors import ModelError
from constrint.frontends.cp_sat.rules import LARGEST_NUMBER, RULES
from constrint.frontends.plain_form import ObjectWriter, PlainForm
from constrint.modelling.declarations import Declarations
from constrint.propagators.handlers import Rules

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import CpModel, IntVar, LinearExpr
    from ortools.sat.python.cp_model_helper import Literal

_TOO_LARGE = "CP-SAT holds numbers and sums up to 2^60, which this model exceeds: bound its variables"


def to_cp_sat(model: Declarations) -> CpModel:
    """A model as an `ortools.sat.python.cp_model.CpModel`, whose first variables are the model's, in order.

    Raises:
        ModelError: The model has several goals, unbounded variables, or something without a counterpart.
    """
    return _CpSatWriter(PlainForm(model, "CP-SAT's model", has_fractions=True)).model


def write_cp_sat(model: Declarations) -> str:
    """A model as CP-SAT's `CpModelProto`, in the text format of protocol buffers."""
    return str(to_cp_sat(model).proto)


class _CpSatWriter(ObjectWriter):
    def __init__(self, form: PlainForm) -> None:
        super().__init__(form)
        self.model: CpModel = cp_model.CpModel()
        named = [v for v, name in enumerate(form.names) if name]
        for v in [*named, *[v for v in form.used() if not form.names[v]]]:
            self.variables[v] = self._variable(v)
        for node in form.propagators:
            _RULES[type(node)](self, node)
        if form.goal is not None:
            v, direction = form.goal
            (self.model.minimize if direction == "min" else self.model.maximize)(self.of(v))
            self.model.proto.objective.scaling_factor /= form.denominator

    def _variable(self, v: int) -> IntVar:
        lo, hi = self.form.bounds(v)
        if lo is None or hi is None or max(-lo, hi) >= LARGEST_NUMBER:
            name = self.form.names[v] or "an expression of the model"
            raise ModelError(f"CP-SAT holds numbers up to 2^60, and {name} has no such bounds: bound it")
        values = self.form.values(v)
        if values is not None:
            return self.model.new_int_var_from_domain(
                cp_model.Domain.from_values(list(values)), self.form.names[v]
            )
        return self.model.new_int_var(lo, hi, self.form.names[v])

    def literal(self, literal: int) -> Literal:
        """A literal; its variable is 0 or 1."""
        v = literal >> 1
        if v not in self.variables:
            return self.model.new_constant(bool(self.form.fixed(v)) != bool(literal & 1))
        variable: Literal = self.variables[v]
        return variable.negated() if literal & 1 else variable

    def sum(self, terms: Sequence[tuple[int, int]]) -> LinearExpr | int:
        """A sum."""
        total, most = 0, 0
        for a, v in terms:
            lo, hi = self.form.bounds(v)
            most += abs(a) * max(abs(lo or 0), abs(hi or 0))
            total = total + a * self.of(v)
        if most >= LARGEST_NUMBER:
            raise ModelError(_TOO_LARGE)
        # A sum of constants stays a variable's, so that comparing it makes a constraint.
        return total if any(v in self.variables for _, v in terms) else total + self.model.new_constant(0)


_RULES: Rules[_CpSatWriter, object] = Rules(
    "CP-SAT's model",
    {
        **RULES,
        c.Product: lambda w, n: w.model.add_multiplication_equality(w.of(n.z), w.all((n.x, n.y))),
        c.AllDifferent: lambda w, n: w.model.add_all_different(w.all([v for _, v, _ in n.views])),
    },
    rest="plain form",
)
