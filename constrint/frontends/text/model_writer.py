"""Models as text of the constrint language."""

from __future__ import annotations

from constrint.expr import IntExpr
from constrint.expr.strengths import SUM
from constrint.expr.written import quote
from constrint.expr.written_fractions import write_goal
from constrint.frontends.text.written_enumerations import LabelWriter, named_enumerations
from constrint.modelling.declarations import Declarations
from constrint.modelling.ownership import check_variables
from constrint.modelling.soft import goals_with_violation
from constrint.support.deadline import watched


def write_model(model: Declarations) -> str:
    """The text of a model; see `Model.to_text`."""
    check_variables(model)
    exprs: list[IntExpr] = [constraint.expr for constraint in model.constraints]
    goals, units = goals_with_violation(model)
    wanted = [expr for expr, _ in [*goals, *model.preferences]]
    exprs += wanted
    names = [*model.variables, *model.lets, *[str(constraint.name) for constraint in model.constraints]]
    every = [*model.lets.values(), *exprs]
    writer = LabelWriter(named_enumerations(model, names, every, wanted))
    lines = writer.declarations()
    lines += [writer.declaration(variable) for variable in watched(model.variables.values())]
    lines += writer.shared(every, [*names, *writer.words()])
    for name, expr in model.lets.items():
        unit = model.units.get(expr)
        text = writer.definition(name, expr) if unit is None else write_goal(writer, expr, unit)
        lines.append(f"{quote(name)} := {text}")
    for constraint in watched(model.constraints):
        label = "" if constraint.name is None else f"{quote(constraint.name)}: "
        lines.append(label + writer.text(constraint.expr))
    for expr, direction in goals:
        lines.append(
            f"{'maximize' if direction == 'max' else 'minimize'} {write_goal(writer, expr, units.get(expr))}"
        )
    if model.preferences:
        preferred = [f"{writer.text(expr, SUM)} {direction}" for expr, direction in model.preferences]
        lines.append("prefer " + ", ".join(preferred))
    return "".join(line + "\n" for line in lines)
