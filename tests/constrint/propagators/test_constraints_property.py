"""The property suite: every propagator against brute force, in the normal form and as expressions."""

from __future__ import annotations

import importlib
import inspect
import itertools
import math
import os
import pkgutil
import random
from collections.abc import Callable
from typing import Any

import pytest
from constraint_checks import FACTORIES, Instance, check, check_root, draw_instance, search, state_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lowered_nodes import draw_node, draw_posting

import constrint as ci
from constrint import IntExpr
from constrint import propagators as constraints
from constrint.engine import compiled, dfs, fixpoint
from constrint.engine.state_arrays import grow
from constrint.preparing.options import Engine
from constrint.store.state import State

KINDS = sorted(constraints.REGISTRY, key=lambda kind: kind.kind)
POSTED = (
    constraints.AllDifferent,
    constraints.Cardinality,
    constraints.Circuit,
    constraints.Cumulative,
    constraints.Inverse,
    constraints.Lexicographic,
    constraints.NoOverlap,
    constraints.Rectangles,
)
EXAMPLES = int(os.environ.get("CONSTRINT_EXAMPLES", "60"))
SETTINGS = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
SEEDS = st.integers(0, 10**9)


def test_every_constraint_is_registered_and_drawn() -> None:
    defined = set()
    for module in pkgutil.iter_modules(constraints.__path__, "constrint.propagators."):
        for _, kind in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if (
                issubclass(kind, constraints.Propagator)
                and hasattr(kind, "kind")
                and kind.__module__ == module.name
            ):
                defined.add(kind)
    registered = set(constraints.REGISTRY)
    assert {kind.__name__ for kind in defined} == {kind.__name__ for kind in registered}
    assert set(FACTORIES) <= registered
    assert [kind.kind for kind in constraints.REGISTRY] == list(range(len(constraints.REGISTRY)))


@pytest.mark.fuzz
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_constraint_against_brute_force(kind: type[Any]) -> None:
    @SETTINGS
    @given(SEEDS)
    def run(seed: int) -> None:
        check(draw_instance(kind, seed), seed)

    run()


@pytest.mark.parametrize("kind", POSTED, ids=lambda kind: kind.__name__)
def test_what_global_constraints_are_lowered_to_against_brute_force(kind: type[Any]) -> None:
    for seed in range(12):
        check(Instance(*draw_node(kind, random.Random(seed))), seed)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_compiled_equals_interpreted(kind: type[Any]) -> None:
    for seed in range(40):
        instance = draw_instance(kind, seed)
        interpreted = search(instance, state_of(instance), dfs.run, grow)
        session = compiled.CompiledSearch(state_of(instance))
        run, grown = (lambda _, *limits, s=session: s.run(*limits)), (lambda _, s=session: s.grow())
        twin = search(instance, session.state, run, grown)
        assert twin == interpreted, f"{instance}: solutions, nodes, failures or propagations differ"


def _loses_a_solution(state: State, c: int) -> bool:
    if not constraints.dispatch(state, c):
        return False
    open_ = [v for v in range(len(state.lo)) if state.lo[v] < state.hi[v]]
    return not open_ or dfs.set_hi(state, open_[0], state.hi[open_[0]] - 1)  # type: ignore[attr-defined]


def _accepts_everything(state: State, c: int) -> bool:
    return True


def _fails_always(state: State, c: int) -> bool:
    return False


def _gains_a_value(state: State, c: int) -> bool:
    holds = constraints.dispatch(state, c)
    state.lo[0] -= state.step[0]
    return holds


@pytest.mark.parametrize("broken", [_loses_a_solution, _accepts_everything, _fails_always, _gains_a_value])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_broken_propagator_is_noticed(
    kind: type[Any], broken: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fixpoint, "dispatch", broken)
    noticed = 0
    for seed in range(30):
        instance = draw_instance(kind, seed)
        try:
            check_root(instance)
            if broken is not _gains_a_value:  # search need not end where domains grow
                check(instance, seed)
        except (AssertionError, IndexError):
            noticed += 1
    assert noticed > 0


def _drawn_variables(rng: random.Random, model: ci.Model) -> list[ci.IntExpr]:
    drawn: list[ci.IntExpr] = []
    for i in range(rng.randint(1, 3)):
        lo = rng.randint(-5, 5)
        shape = rng.randrange(4)
        if shape == 0:
            drawn.append(model.int_var(f"x{i}", lo, lo + rng.randint(0, 6)))
        elif shape == 1:
            drawn.append(model.int_var(f"x{i}", lo, lo + rng.randint(2, 16), step=rng.randint(2, 4)))
        elif shape == 2:
            drawn.append(
                model.int_var(f"x{i}", values=[rng.randint(-8, 12) for _ in range(rng.randint(1, 5))])
            )
        else:
            drawn.append(model.bool_var(f"x{i}"))
    return drawn


def _operand(rng: random.Random, drawn: list[ci.IntExpr]) -> ci.IntExpr:
    x = rng.choice(drawn)
    return [x, x, x + rng.randint(-3, 3), rng.choice([-2, 2, 3]) * x, x - rng.choice(drawn)][rng.randrange(5)]


def _drawn_table(rng: random.Random, args: list[ci.IntExpr]) -> ci.BoolExpr:
    rows = [[rng.randint(-3, 4) for _ in args] for _ in range(rng.randint(0, 12))]
    return ci.table(args, rows)


def _drawn_short_table(rng: random.Random, args: list[ci.IntExpr]) -> ci.BoolExpr:
    rows = [[rng.choice([None, *range(-3, 5)]) for _ in args] for _ in range(rng.randint(1, 8))]
    return ci.table(args, [*rows, [None, *[2] * (len(args) - 1)]])


# For kinds of constraints, conditions that lower to them; for the others, drawn global constraints.
CONDITIONS = {
    constraints.LinearLe: lambda r, a, b: a + r.choice([1, 2, -3]) * b <= r.randint(-6, 9),
    constraints.LinearEq: lambda r, a, b: a + r.choice([1, 2, -3]) * b == r.randint(-6, 9),
    constraints.LinearNe: lambda r, a, b: a - r.choice([1, 2]) * b != r.randint(-3, 3),
    constraints.LinearLeIf: lambda r, a, b: (a <= b + r.randint(-2, 2)) | (a > 2),
    constraints.LinearEqIf: lambda r, a, b: (a == b + r.randint(-2, 2)).implies(a == r.randint(-3, 3)),
    constraints.Product: lambda r, a, b: a * b <= r.randint(-9, 20),
    constraints.Power: lambda r, a, b: a ** r.choice([2, 3, ci.abs_(b)]) >= r.randint(-9, 40),
    constraints.DivMod: lambda r, a, b: (a // b if r.random() < 0.5 else a % b) <= r.randint(-3, 3),
    constraints.Divides: lambda r, a, b: ci.divides(r.choice([a, 2, 3, 4, 0]), b),
    constraints.Maximum: lambda r, a, b: ci.max_(a, b, r.randint(-3, 3)) == a,
    constraints.Minimum: lambda r, a, b: ci.min_(a, b, r.randint(-3, 3)) != b,
    constraints.Absolute: lambda r, a, b: abs(a) >= b,
    constraints.Member: lambda r, a, b: a.is_in([r.randint(-6, 9) for _ in range(r.randint(0, 6))]),
    constraints.Clause: lambda r, a, b: (a > 0) | (b > 0) | (a + b == 0),
    constraints.Element: lambda r, a, b: (
        ci.element([r.randint(-5, 8) for _ in range(r.randint(1, 9))], a) >= b
    ),
    constraints.Gcd: lambda r, a, b: ci.gcd_(a, b) == r.randint(1, 4),
    constraints.Lcm: lambda r, a, b: ci.lcm_(a, b) <= r.randint(0, 12),
    constraints.CeilDiv: lambda r, a, b: ci.ceildiv(abs(a), abs(b) + 1) >= r.randint(0, 3),
    constraints.Selection: lambda r, a, b: (
        r.choice(
            (
                ci.element([a, b, a - b, r.randint(-3, 3)], abs(b) % 4),
                ci.if_then_else(a > r.randint(-2, 2), a - b, b * 2),
            )
        )
        <= r.randint(-3, 3)
    ),
    constraints.Table: lambda r, a, b: _drawn_table(r, [a, b, a + b][: r.randint(1, 3)]),
    constraints.AllDifferent: lambda r, a, b: ci.all_different(a, b, r.randint(-2, 2), consistency="value"),
    constraints.AllDifferentBounds: lambda r, a, b: ci.all_different(
        [a, b, a - b, r.randint(-2, 2)], consistency="bounds"
    ),
    constraints.AllDifferentDomain: lambda r, a, b: ci.all_different([a, b, 1 - a], consistency="domain"),
    constraints.Cardinality: lambda r, a, b: ci.global_cardinality(
        [a, b, b - 1], {r.randint(-2, 0): b, r.randint(1, 3): r.randint(0, 2)}, closed=r.random() < 0.3
    ),
    constraints.Circuit: lambda r, a, b: ci.circuit([a, b, r.choice([0, 1, a - b])]),
    constraints.Subcircuit: lambda r, a, b: ci.subcircuit([a, b, r.choice([0, 1, 2, a - b])]),
    constraints.ShortTable: lambda r, a, b: _drawn_short_table(r, [a, b, a + b][: r.randint(2, 3)]),
    constraints.Inverse: lambda r, a, b: ci.inverse([a, b], [r.choice([a, b]), r.choice([a, b, 0, 1])]),
    constraints.Lexicographic: lambda r, a, b: r.choice([ci.lex_less, ci.lex_less_equal])(
        [a, b, 1], [r.randint(-2, 2), a, b]
    ),
    constraints.NoOverlap: lambda r, a, b: ci.no_overlap(
        [a, b, 1], [r.choice([1, 2, b]), 2, r.randint(0, 2)]
    ),
    constraints.NoOverlapOptional: lambda r, a, b: ci.no_overlap_optional(
        [a, b, 1], [r.choice([1, 2, b]), 2, r.randint(0, 2)], [b > 0, a != 1, r.choice([1, a])]
    ),
    constraints.Cumulative: lambda r, a, b: ci.cumulative(
        [a, b, 1], [2, r.choice([1, abs(a)]), 2], [1, r.randint(0, 2), 2], r.choice([2, 3, b])
    ),
    constraints.Rectangles: lambda r, a, b: ci.diffn(
        [a, 0, 2], [b, 1, a], [2, 1, 3], [r.randint(0, 3), 2, 1]
    ),
    constraints.Pairs: lambda r, a, b: (
        (a <= 0) * (b <= r.randint(-1, 1)) + r.choice([-1, 2]) * (a <= 2) * (b == 1) <= r.randint(-1, 2)
    ),
}


def _formed(rng: random.Random, condition: ci.BoolExpr, other: ci.BoolExpr) -> ci.BoolExpr:
    form = rng.randrange(6)
    return [
        condition,
        ~condition,
        condition == other,
        condition.implies(other),
        condition | other,
        condition + 2 * other >= 1 if rng.random() < 0.5 else condition ^ other,
    ][form]


def _brute(model: ci.Model) -> list[dict[ci.IntExpr, int]]:
    variables = list(model.variables.values())
    solutions = []
    for point in itertools.product(*[list(variable.domain) for variable in variables]):
        assignment = dict(zip(variables, point, strict=True))
        try:
            holds = [constraint.expr.evaluate(assignment) for constraint in model.constraints]
        except ci.Undefined:
            continue
        if all(holds):
            solutions.append(assignment)
    return solutions  # type: ignore[return-value]


def _best(solutions: list[dict[IntExpr, int]], goals: Any) -> tuple[int, ...] | None:
    """The lexicographic optimum of the goals over the solutions that define them; None without any."""
    keys = []
    for solution in solutions:
        try:
            values = [expr.evaluate(solution) for expr, _ in goals]
        except ci.Undefined:
            continue
        keys.append([v if d == "min" else -v for v, (_, d) in zip(values, goals, strict=True)])
    if not keys:
        return None
    return tuple(k if d == "min" else -k for k, (_, d) in zip(min(keys), goals, strict=True))


def _check_every_mode(model: ci.Model, drawn: list[ci.IntExpr], goal: ci.IntExpr, engine: Engine) -> None:
    solutions = _brute(model)
    variables = list(model.variables.values())
    expected = sorted(tuple(int(solution[v]) for v in variables) for solution in solutions)
    found = sorted(tuple(r.values.values()) for r in model.iter_solutions(engine=engine))
    assert found == expected
    assert model.count(engine=engine) == len(expected)
    first = model.solve(engine=engine)
    assert bool(first) == bool(expected)
    assert first.status is (ci.Status.OPTIMAL if expected else ci.Status.INFEASIBLE)
    for goals in (
        [(goal, "min")],
        [(goal, "max")],
        [(drawn[0], "max"), (goal, "min")],
        [(drawn[-1], "min"), (drawn[0], "max")],
    ):
        best = _best(solutions, goals)
        optimised = model.solve(minimize=goals, engine=engine)  # type: ignore[arg-type]
        preferred = model.solve(prefer=goals, engine=engine)  # type: ignore[arg-type]
        assert bool(optimised) == bool(preferred) == (best is not None)
        if best is not None:
            assert tuple(optimised[expr] for expr, _ in goals) == best
            assert tuple(preferred[expr] for expr, _ in goals) == best
            assert optimised.objective == best


def _drawn_model(kind: type, seed: int) -> tuple[ci.Model, list[ci.IntExpr], ci.IntExpr]:
    rng = random.Random(seed)
    model = ci.Model()
    drawn = _drawn_variables(rng, model)

    def condition(which: type) -> ci.BoolExpr:
        operands = _operand(rng, drawn), _operand(rng, drawn)
        own = CONDITIONS.get(which)
        return draw_posting(which, rng, operands) if own is None else own(rng, *operands)  # type: ignore[no-untyped-call]

    model.add(_formed(rng, condition(kind), condition(rng.choice(KINDS))))
    if rng.random() < 0.5:
        model.add(condition(kind))
    a, b = _operand(rng, drawn), _operand(rng, drawn)
    goal = rng.choice([a + b, a * b, abs(a) - b, ci.max_(a, b), a // (abs(b) + 1), a % b])
    return model, drawn, goal


@pytest.mark.fuzz
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_search_mode_against_brute_force(kind: type[Any]) -> None:
    @SETTINGS
    @given(SEEDS)
    def run(seed: int) -> None:
        _check_every_mode(*_drawn_model(kind, seed), "interpreted")

    run()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_search_mode_compiled(kind: type[Any]) -> None:
    for seed in range(4):
        _check_every_mode(*_drawn_model(kind, seed), "compiled")


@pytest.mark.fuzz
def test_the_suite_draws_at_least_2000_models() -> None:
    assert 2 * EXAMPLES * len(KINDS) >= 2000


def test_conditions_lower_to_the_kind_that_they_stand_for() -> None:
    from constrint.lowering.conditions import Lowering
    from constrint.lowering.variables import Infeasible

    missing = []
    for kind in KINDS:
        reached = False
        for seed in range(60):
            model, _, _ = _drawn_model(kind, seed)
            lowering = Lowering(may_pair=True)
            try:
                for variable in model.variables.values():
                    lowering.declare(variable)
                for constraint in model.constraints:
                    lowering.require(constraint.expr)
            except Infeasible:
                continue
            reached = reached or any(type(node) is kind for node in lowering.problem.propagators)
        if not reached:
            missing.append(kind.__name__)
    assert missing == []


@pytest.mark.parametrize("shift", [2**61, 2**62, 2**63 - 2, 2**64, 10**30, -(2**63), -(10**25)])
def test_near_and_beyond_64_bits(shift: int) -> None:
    model = ci.Model()
    x = model.int_var("x", shift - 4, shift + 4)
    y = model.int_var("y", -3, 3)
    model.add(x * y <= 2 * shift, (x - shift) * y != 4, ~ci.divides(5, x) | (x % 3 == y % 3))
    _check_every_mode(model, [x, y], x * x - y, "auto")
    assert model.solve(maximize=x * x).statistics.arithmetic == "exact"


def test_powers_beyond_64_bits() -> None:
    model = ci.Model()
    x = model.int_var("x", -12, 12)
    n = model.int_var("n", 0, 40)
    model.add(x**n == 3**35)
    assert sorted(tuple(r.values.values()) for r in model.iter_solutions()) == [(3, 35)]
    assert math.log2(3**35) < 63
    model.add(x**n * 2**70 > 0)
    assert model.solve()["n"] == 35
