"""The learning search on tables, orders of lists, powers and elements that share variables."""

from __future__ import annotations

import itertools
import os

import pytest
from linked_models import LinkedModel, best_of, draw_linked

from constrint import Model, Status, lex_less, table
from constrint.engine.state_arrays import Box
from constrint.learning.normal import NormalTranslation
from constrint.propagators import Clause, LinearLeIf, Propagator

BLOCK = int(os.environ.get("CONSTRINT_LINKED_MODELS", "240"))
"""Models of each of four blocks; three solves each."""


def wrong_answers(m: LinkedModel, **options: object) -> list[str]:
    """What is answered wrongly about a model: a solution, the least and the greatest value of its goal."""
    solutions, complaints = m.solutions(), []
    for way in ("any", "minimize", "maximize"):
        goal = {} if way == "any" else {way: m.goal[0]}
        r = m.model.solve(**goal, **options)  # type: ignore[call-overload]  # as they are drawn
        best = best_of(m, solutions, way) if goal else None
        is_there = best is not None if goal else bool(solutions)
        wanted = (Status.OPTIMAL if is_there else Status.INFEASIBLE, best)
        if (r.status, r.objective) != wanted or (is_there and m.row_of(r) not in solutions):
            complaints.append(f"{way}: {r}, not {wanted}\n{m.model.to_text()}")
    return complaints


@pytest.mark.fuzz
@pytest.mark.parametrize("block", range(4))
def test_linked_models_against_brute_force(block: int) -> None:
    for seed in range(BLOCK * block, BLOCK * (block + 1)):
        complaints = wrong_answers(draw_linked(seed), learn=True, engine="interpreted", time_limit=60)
        assert complaints == [], f"seed {seed}"


def test_the_draws_are_of_every_kind() -> None:
    searched = solvable = 0
    texts: list[str] = []
    for seed in range(300):
        m = draw_linked(seed)
        r = m.model.solve(minimize=m.goal[0], learn=True, engine="interpreted")
        searched += r.statistics.nodes > 1
        solvable += bool(r)
        texts += [text.split()[0] for text in m.texts]
    assert searched > 60
    assert 100 < solvable < 280
    for kind in ("table", "not", "lex", "==:", "!=:", "<=:", ">:", "condition", "all_different"):
        assert texts.count(kind) > 5, kind


def test_rows_of_chained_tables() -> None:
    """`c` is replaced by the literal of a row, which then is replaced by that of a value."""
    m = Model()
    y, z = m.int_var("y", -3, -2), m.int_var("z", -5, -2)
    a, b, c = m.int_var("a", 0, 0), m.int_var("b", 0, 2), m.int_var("c", 0, 1)
    m.add(table([a, y, b], [[0, -3, 2], [0, -2, 0]]), table([b, z, c], [[0, -2, 0], [2, -5, 1]]))
    r = m.solve(learn=True, engine="interpreted")
    assert tuple(r[v] for v in (a, y, b, z, c)) in {(0, -3, 2, -5, 1), (0, -2, 0, -2, 0)}
    assert r.statistics.method == "learning"


def test_what_replaces_a_variable_is_not_itself_replaced() -> None:
    """Equal literals in chains, drawn in every order: each stands for an atom that search decides."""
    for chain in itertools.permutations((2, 4, 6, 8)):
        nodes: list[Propagator] = [LinearLeIf(chain[-1], ((1, 0),), 3)]
        for one, other in itertools.pairwise(chain):
            nodes += [Clause((one ^ 1, other)), Clause((one, other ^ 1))]
        box = Box([0] * 5, [9, 1, 1, 1, 1], [1] * 5, [None] * 5)
        replaced = NormalTranslation(nodes, box, []).normal.replaced
        assert sorted(replaced) == [1, 2, 3, 4]
        assert set(replaced.values()) == {(1, -3)}


def test_functions_follow_from_variables_and_are_not_searched() -> None:
    """A power of two million values over six assignments: its bounds were learned one by one."""
    m = Model()
    x, y = m.int_var("x", values=[0, 2, 10]), m.int_var("y", -4, -3)
    m.add(lex_less([-4, (-4) ** x], [y, x]))
    r = m.solve(minimize=x, learn=True, engine="interpreted")
    assert (r.status, r["x"], r["y"]) == (Status.OPTIMAL, 0, -3)
    assert r.statistics.method == "learning"
    assert r.statistics.nodes < 50
