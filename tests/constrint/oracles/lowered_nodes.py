"""Propagators of global constraints without a draw of their own: what drawn constraints are lowered to."""

from __future__ import annotations

import random
from functools import cache

from global_models import DRAWN, Exprs, draw_condition, draw_variables

import constrint as ci
from constrint import propagators as c
from constrint.expr.domain import Domain
from constrint.lowering.conditions import Lowering
from constrint.lowering.variables import Infeasible

DRAWS = 60


def lowered(name: str, seed: int) -> Lowering | None:
    """A drawn constraint of this name, or the truth of it, lowered; None where it has no solution."""
    rng = random.Random(f"lowered {name} {seed}")
    model = ci.Model()
    condition = draw_condition(name, rng, draw_variables(rng, model))
    lowering = Lowering()
    try:
        for variable in model.variables.values():
            lowering.declare(variable)
        if rng.random() < 0.7:
            lowering.require(condition)
        else:
            lowering.literal(condition)
    except Infeasible:
        return None
    return lowering


@cache
def names_of(kind: type[c.Propagator]) -> tuple[str, ...]:
    """The global constraints that are lowered to a propagator, among others."""

    def has(name: str) -> bool:
        found = [lowered(name, seed) for seed in range(DRAWS)]
        return any(type(node) is kind for one in found if one is not None for node in one.problem.propagators)

    names = tuple(name for name in DRAWN if has(name))
    assert names, f"no drawn global constraint posts {kind.__name__}: draw it in constraint_checks.FACTORIES"
    return names


def draw_node(kind: type[c.Propagator], rng: random.Random) -> tuple[c.Propagator, tuple[Domain, ...]]:
    """A propagator of a kind, and the domains of all variables of the problem that it stands in."""
    while True:
        found = lowered(rng.choice(names_of(kind)), rng.randrange(1 << 30))  # type: ignore[arg-type]
        nodes = (
            [node for node in found.problem.propagators if type(node) is kind] if found is not None else []
        )
        if found is not None and nodes:
            problem = found.problem
            shapes = zip(problem.lo, problem.hi, problem.step, problem.values, strict=True)
            return rng.choice(nodes), tuple(Domain(*shape) for shape in shapes)


def draw_posting(kind: type[c.Propagator], rng: random.Random, xs: Exprs) -> ci.BoolExpr:
    """A condition over expressions that may be lowered to a propagator of a kind."""
    return draw_condition(rng.choice(names_of(kind)), rng, xs)  # type: ignore[arg-type]
