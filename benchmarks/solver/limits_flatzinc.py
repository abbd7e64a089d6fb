"""A linear model as FlatZinc, for `limits.py`."""

from __future__ import annotations

from typing import Any

from constrint.lowering.conditions import Lowering
from constrint.lowering.problem import HUGE_BITS
from constrint.propagators import LinearEq, LinearLe


def flatzinc(model: Any, goal: Any) -> str | None:
    """The text; None where a constraint is not linear."""
    lowering = Lowering(HUGE_BITS, may_pair=False)
    for variable in model.variables.values():
        lowering.declare(variable)
    for constraint in model.constraints:
        lowering.require(constraint.expr)
    target = lowering.problem.of_linear(lowering.sum_of(goal))
    problem = lowering.problem
    lines = [
        f"var {low}..{high}: v{v};" for v, (low, high) in enumerate(zip(problem.lo, problem.hi, strict=True))
    ]
    for node in problem.propagators:
        if not isinstance(node, LinearLe | LinearEq):
            return None
        name = "int_lin_le" if isinstance(node, LinearLe) else "int_lin_eq"
        factors = ",".join(str(a) for a, _ in node.terms)
        variables = ",".join(f"v{v}" for _, v in node.terms)
        lines.append(f"constraint {name}([{factors}],[{variables}],{node.bound});")
    lines.append(f"solve minimize v{target};")
    return "\n".join(lines) + "\n"
