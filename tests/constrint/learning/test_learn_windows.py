"""Machines found in disjunctions: what they exclude was excluded, and schedules are as brute force says."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import pytest

from constrint import Model, Status, max_
from constrint.learning.windows import machines
from constrint.preparing.prepared import Prepared

FORMS = ["or", "literal", "clause", "reified"]


def order(m: Model, form: str, one: Any, other: Any, name: str) -> None:
    """That one of two conditions holds, as people and other programs write it."""
    if form == "or":
        m.add(one | other)
        return
    first = m.bool_var(f"{name}a")
    if form == "literal":
        m.add(first.implies(one))
        m.add((~first).implies(other))
        return
    second = m.bool_var(f"{name}b")
    for literal, condition in ((first, one), (second, other)):
        m.add(literal == condition if form == "reified" else literal.implies(condition))
    m.add(first | second)


def shop(draw: Random, form: str, tasks: int, horizon: int, most: int) -> tuple[Model, list[Any], Any, Any]:
    """Tasks on up to two machines, with gaps that may differ by pair and may be negative, and their end."""
    m = Model()
    starts = [m.int_var(f"s{i}", draw.randint(0, 2), horizon - draw.randint(0, 2)) for i in range(tasks)]
    gaps = {}
    for i, j in combinations(range(tasks), 2):
        if draw.random() < 0.85:
            gaps[i, j] = tuple(draw.randint(-1 if draw.random() < 0.2 else 1, most) for _ in "ab")
            s, t, (d, e) = starts[i], starts[j], gaps[i, j]
            order(m, form, s + d <= t, t + e <= s, f"p{i}{j}")
    return m, starts, gaps, max_(*(s + draw.randint(0, 3) for s in starts))


@pytest.mark.parametrize("form", FORMS)
def test_drawn_schedules_are_those_of_plain_branching(form: str) -> None:
    seen = 0
    for seed in range(60):
        draw = Random(f"{form}{seed}")
        m, _, _, end = shop(draw, form, draw.randint(3, 6), draw.randint(6, 16), draw.choice([2, 4]))
        prepared = Prepared(m, [(end, "min")], [])
        if prepared.root is not None:
            seen += bool(machines(prepared.root.nodes))
        plain = m.solve(minimize=end, learn=False, lns=False)
        learned = m.solve(minimize=end, learn=True)
        assert (learned.status, learned.objective) == (plain.status, plain.objective), seed
    assert seen > 20


@pytest.mark.parametrize("form", FORMS)
def test_a_machine_is_found_with_its_durations(form: str) -> None:
    m = Model()
    starts = [m.int_var(f"s{i}", 0, 40) for i in range(5)]
    durations = [3, 1, 4, 1, 5]
    for i, j in combinations(range(5), 2):
        s, t = starts[i], starts[j]
        order(m, form, s + durations[i] <= t, t + durations[j] <= s, f"p{i}{j}")
    end = max_(*(s + d for s, d in zip(starts, durations, strict=True)))
    prepared = Prepared(m, [(end, "min")], [])
    assert prepared.root is not None
    (machine,) = machines(prepared.root.nodes)
    place = {prepared.variables[s]: d for s, d in zip(starts, durations, strict=True)}
    assert dict(machine) == place
    r = m.solve(minimize=end, learn=True)
    assert (r.status, r.objective) == (Status.OPTIMAL, sum(durations))


def test_contradicting_orders_of_two_disjunctions_are_not_put_together() -> None:
    """`s + 5 <= t or t - 4 <= s` and `s - 3 <= t or t + 4 <= s` leave s = t."""
    m = Model()
    s, t, u = (m.int_var(name, 0, 9) for name in "stu")
    m.add((s + 5 <= t) | (t - 4 <= s))
    m.add((s - 3 <= t) | (t + 4 <= s))
    for one, other in ((s, u), (t, u)):
        m.add((one + 2 <= other) | (other + 2 <= one))
    r = m.solve(minimize=max_(s, t, u), learn=True)
    assert r.objective == 2


def test_proofs_start_from_what_was_written(tmp_path: Path) -> None:
    draw = Random(5)
    m, _, _, end = shop(draw, "or", 6, 20, 4)
    proof = tmp_path / "proof"
    r = m.solve(minimize=end, learn=True, proof=proof)
    assert r.status is Status.OPTIMAL
    assert "constraint Cumulative" not in proof.read_text("utf-8")
    assert "constraint LinearLeIf" in proof.read_text("utf-8")
