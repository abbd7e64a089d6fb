"""Models as text of the constrint language."""

from __future__ import annotations

from constrint.expr import BoolVar, IntExpr, IntVar
from constrint.expr.strengths import SUM
from constrint.expr.written import Writer, quote, write_set
from constrint.expr.written_fractions import write_goal
from constrint.modelling.declarations import Declarations
from constrint.modelling.ownership import check_variables
from constrint.modelling.soft import goals_with_violation
from constrint.support.deadline import watched


def write_model(model: Declarations) -> str:
    """The text of a model; see `Model.to_text`."""
    check_variables(model)
    writer = Writer()
    lines = [_declaration(variable) for variable in watched(model.variables.values())]
    exprs: list[IntExpr] = [constraint.expr for constraint in model.constraints]
    goals, units = goals_with_violation(model)
    exprs += [expr for expr, _ in [*goals, *model.preferences]]
    names = [*model.variables, *model.lets, *[str(constraint.name) for constraint in model.constraints]]
    lines += writer.shared([*model.lets.values(), *exprs], names)
    for name, expr in model.lets.items():
        lines.append(f"{quote(name)} := {writer.definition(name, expr)}")
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


def _declaration(variable: IntVar | BoolVar) -> str:
    if isinstance(variable, BoolVar):
        return f"{quote(variable.name)} bool"
    return f"{quote(variable.name)} in {write_set(variable.domain)}"
