"""The dual row for optimisation: valid for every solution, and useful."""

# mypy: disable-error-code="attr-defined"
from __future__ import annotations

import itertools
from random import Random
from typing import Any

import pytest
from differential_checks import wrong_answers
from random_models import draw_model

from constrint import Model, Status, all_different, sum_
from constrint.preparing.options import Engine
from constrint.preparing.prepared import Prepared
from constrint.relaxation import dual
from constrint.relaxation.dual import with_dual_row
from constrint.relaxation.program import RelaxationProgram
from constrint.search import relaxed
from constrint.settings import DEFAULT, using

AT_ONCE = DEFAULT.with_fields(search={"nodes_before_dual": 1})


def knapsacks(items: int, sacks: int, seed: int) -> tuple[Model, list[Any], list[int]]:
    """Things that fit several sacks at once, and what each is worth."""
    random = Random(seed)
    model = Model()
    taken = [model.int_var(f"x{i}", 0, 1) for i in range(items)]
    for _ in range(sacks):
        weights = [random.randint(5, 40) for _ in taken]
        model.add(sum_([w * x for w, x in zip(weights, taken, strict=True)]) <= sum(weights) // 2)
    return model, taken, [random.randint(5, 40) for _ in taken]


def linear_model(random: Random) -> tuple[Model, list[Any], list[tuple[list[int], str, int]], list[range]]:
    """A few linear constraints over small domains."""
    ranges = [range(low, low + random.randint(1, 5)) for low in random.choices(range(-3, 3), k=4)]
    model = Model()
    xs = [model.int_var(f"x{i}", r[0], r[-1]) for i, r in enumerate(ranges)]
    rows = []
    for _ in range(random.randint(1, 4)):
        factors = [random.randint(-6, 9) for _ in xs]
        total = sum(a * random.choice(r) for a, r in zip(factors, ranges, strict=True))
        rows.append((factors, random.choice(["<=", ">=", "=="]), total))
    for factors, way, total in rows:
        value = sum_([a * x for a, x in zip(factors, xs, strict=True)])
        model.add({"<=": value <= total, ">=": value >= total, "==": value == total}[way])
    return model, xs, rows, ranges


@pytest.mark.parametrize("block", range(4))
def test_every_solution_satisfies_the_row(block: int) -> None:
    """160 models: each solution by brute force, and the optimum by a search that gets the row at once."""
    added = 0
    for seed in range(40 * block, 40 * (block + 1)):
        random = Random(seed)
        model, xs, rows, ranges = linear_model(random)
        goal = [random.randint(-9, 9) for _ in xs]
        expr = sum_([a * x for a, x in zip(goal, xs, strict=True)])
        holds = {"<=": int.__le__, ">=": int.__ge__, "==": int.__eq__}
        points = [
            p
            for p in itertools.product(*ranges)
            if all(holds[way](sum(map(int.__mul__, factors, p)), total) for factors, way, total in rows)
        ]
        for direction in ("min", "max"):
            prepared = Prepared(model, [(expr, direction)], [])
            if prepared.root is None:
                assert not points
                continue
            v, way = prepared.goals[0]
            root = with_dual_row(prepared.root, v, way)
            if len(root.propagators) == len(prepared.root.propagators):
                continue
            added += 1
            factor, constant = prepared.scales.get(v, (1, 0))
            numbers = {prepared.variables[x]: i for i, x in enumerate(xs)}
            for p in points:
                worth = sum(map(int.__mul__, goal, p))
                values = {v: (worth - constant) // factor}
                values |= {number: p[i] for number, i in numbers.items()}
                row = root.propagators[-1]
                if all(x in values or root.box.lo[x] == root.box.hi[x] for _, x in row.terms):
                    total = sum(a * values.get(x, root.box.lo[x]) for a, x in row.terms)
                    assert total <= row.bound, f"seed {seed}"
    assert added > 8


@pytest.mark.parametrize("block", range(3))
def test_optima_of_random_models_that_get_the_row_at_once(block: int) -> None:
    for seed in range(130_000 + 100 * block, 130_000 + 100 * (block + 1)):
        with using(AT_ONCE):
            assert wrong_answers(draw_model(seed), engine="interpreted") == [], f"seed {seed}"


@pytest.mark.parametrize("block", range(3))
def test_optima_of_linear_models_that_get_the_row_at_once(block: int) -> None:
    for seed in range(1000 + 60 * block, 1000 + 60 * (block + 1)):
        random = Random(seed)
        model, xs, rows, ranges = linear_model(random)
        model.settings = AT_ONCE
        goal = [random.randint(-9, 9) for _ in xs]
        holds = {"<=": int.__le__, ">=": int.__ge__, "==": int.__eq__}
        worth = [
            sum(map(int.__mul__, goal, p))
            for p in itertools.product(*ranges)
            if all(holds[way](sum(map(int.__mul__, factors, p)), total) for factors, way, total in rows)
        ]
        expr = sum_([a * x for a, x in zip(goal, xs, strict=True)])
        for found, best in ((model.solve(minimize=expr), min), (model.solve(maximize=expr), max)):
            assert found.objective == (best(worth) if worth else None), f"seed {seed}"


def test_knapsacks_are_proved_in_few_nodes() -> None:
    model, taken, profits = knapsacks(28, 4, 1)
    goal = sum_([a * x for a, x in zip(profits, taken, strict=True)])
    result = model.solve(maximize=goal, engine="interpreted", learn=False)
    assert (result.status, result.objective) == (Status.OPTIMAL, 406)
    assert result.statistics.nodes < 20_000  # 373,000 without the row


@pytest.mark.parametrize("engine", ["interpreted", "compiled"])
@pytest.mark.parametrize("learn", [False, "auto"])
def test_without_a_row_search_goes_on_where_it_was(
    monkeypatch: pytest.MonkeyPatch, engine: Engine, learn: Any
) -> None:
    """A Golomb ruler: whether it looks for a row after some nodes or never, it takes the same steps."""
    model = Model()
    marks = model.int_vars("mark", 7, 0, 30)
    apart = [b - a for a, b in itertools.combinations(marks, 2)]
    model.add(marks[0] == 0, all_different(apart, consistency="bounds"), apart[0] < apart[-1])
    model.add(*[a < b for a, b in itertools.pairwise(marks)])
    model.add(*[b - a <= marks[-1] - 1 for a, b in itertools.combinations(marks[:-1], 2)])
    steps = []
    for brief in (100, 10**9):
        model.settings = DEFAULT.with_fields(search={"nodes_before_dual": brief})
        monkeypatch.setattr(dual, "with_dual_row", lambda root, *_: root)
        monkeypatch.setattr(relaxed, "relaxed_run", lambda *_: "none")  # it would take turns from then on
        told: list[int] = []
        result = model.solve(
            minimize=marks[-1],
            engine=engine,
            learn=learn,
            on_solution=lambda r, told=told: told.append(r.objective),
        )
        assert (result.status, result.objective, told[-1]) == (Status.OPTIMAL, 25, 25)
        steps.append((result.statistics.nodes, result.statistics.solutions, told))
    assert steps[0] == steps[1]
    assert steps[0][0] > 300


def test_a_large_model_has_a_solution_before_linear_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    m, rng = Model(), Random(1)
    xs = m.bool_vars("x", 3000)
    m.add(*(sum_(rng.sample(list(xs), 5)) >= 1 for _ in range(3000)))
    m.minimize(sum_(rng.randint(1, 20) * x for x in xs))
    programs = 0
    solve = RelaxationProgram.solve

    def counted(self: RelaxationProgram, *given: Any) -> Any:
        nonlocal programs
        programs += 1
        return solve(self, *given)

    monkeypatch.setattr(RelaxationProgram, "solve", counted)
    assert m.solve(on_solution=lambda _: False)
    assert programs == 0
