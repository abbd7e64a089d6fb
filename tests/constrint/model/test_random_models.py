"""Differential tests: random models against brute force, CP-SAT and isl, for every kind of question.

`benchmarks/solver/differential.py` runs the same checks on any number of models.
"""

from __future__ import annotations

from collections import Counter

import pytest
from cpsat_oracle import Translation, Unsupported
from differential_checks import wrong_answers, wrong_counts
from isl_oracle import PresburgerGenerator, isl_answers
from random_models import RandomModel, draw_model
from random_truth import BINARY, MANY, Tree

from constrint import Model

BLOCK = 50


@pytest.mark.parametrize("block", range(14))
def test_random_models_against_brute_force(block: int) -> None:
    """700 models; half are read from text, half built with operators."""
    for seed in range(BLOCK * block, BLOCK * (block + 1)):
        assert wrong_answers(draw_model(seed), from_text=seed % 2 == 0) == [], f"seed {seed}"


@pytest.mark.parametrize("block", range(3))
def test_deeply_nested_models_against_brute_force(block: int) -> None:
    """150 models with conditions nested up to five deep."""
    for seed in range(10_000 + BLOCK * block, 10_000 + BLOCK * (block + 1)):
        assert wrong_answers(draw_model(seed, max_depth=5, max_assignments=100)) == [], f"seed {seed}"


@pytest.mark.timeout(900)  # the first use on a machine compiles the engine
@pytest.mark.parametrize("block", range(4))
def test_random_models_on_the_compiled_engine(block: int) -> None:
    """200 models."""
    for seed in range(20_000 + BLOCK * block, 20_000 + BLOCK * (block + 1)):
        assert wrong_answers(draw_model(seed), engine="compiled") == [], f"seed {seed}"


@pytest.mark.parametrize("block", range(3))
def test_random_models_against_cpsat(block: int) -> None:
    """Counts and optima of the share that CP-SAT can say (about 70 in 100)."""
    said = 0
    for seed in range(30_000 + BLOCK * block, 30_000 + BLOCK * (block + 1)):
        drawn = draw_model(seed, max_assignments=2000)
        try:
            count = Translation(drawn).count()
        except Unsupported:
            continue
        said += 1
        assert wrong_counts(drawn, count) == [], f"seed {seed}"
    assert said > BLOCK // 3


@pytest.mark.parametrize("block", range(3))
def test_presburger_models_against_isl(block: int) -> None:
    """Counts and lexicographic minima of linear and divisibility models."""
    for seed in range(BLOCK * block, BLOCK * (block + 1)):
        drawn = PresburgerGenerator(seed).draw()
        count, least = isl_answers(drawn)
        assert wrong_counts(drawn, count, least) == [], f"seed {seed}"


# ---------------------------------------------------------------- the checks themselves


def kinds(tree: Tree) -> list[str]:
    found = [tree[0]]
    for operand in tree[1:]:
        if isinstance(operand, tuple) and operand and isinstance(operand[0], str):
            found += kinds(operand)
        elif isinstance(operand, str) and tree[0] == "chain":
            found.append(f"chain {operand}")
    return found


def test_the_generator_reaches_every_operator() -> None:
    reached: Counter[str] = Counter()
    solvable = 0
    for seed in range(400):
        drawn = draw_model(seed)
        solvable += bool(drawn.solutions())
        for tree in [*drawn.lets.values(), *drawn.constraints, drawn.objective]:
            reached.update(kinds(tree))
    expected = {
        *BINARY,
        *MANY,
        "neg",
        "abs",
        "not",
        "table",
        "within",
        "in",
        "not in",
        "chain",
        "index",
        "let",
        "const",
        "var",
    }
    assert {kind for kind in expected if reached[kind] < 5} == set()
    assert 200 < solvable < 400


def test_a_wrong_answer_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that says something else than its tree is complained about."""
    drawn = RandomModel({"x": (0, 1, 2), "y": (0, 1, 2)}, {"x": "range", "y": "range"})
    drawn.constraints = [("<", ("var", "x"), ("var", "y"))]
    drawn.objective = ("+", ("var", "x"), ("var", "y"))
    drawn.prefer = [(("var", "x"), "max")]
    assert wrong_answers(drawn) == []
    monkeypatch.setattr(RandomModel, "text", lambda self: "x, y in 0..2; x <= y")
    complaints = "\n".join(wrong_answers(drawn))
    for question in ("iter_solutions", "count", "max", "min", "prefer"):
        assert question in complaints


def test_both_ways_of_writing_a_model_mean_the_same() -> None:
    drawn = draw_model(3)
    assert Model.from_text(drawn.text()).variables.keys() == drawn.build().variables.keys()
