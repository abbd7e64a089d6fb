"""Circuits and elements in the learning search: answers against brute force, explanations by proofs."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest
from proved import is_proved

from constrint import Model, circuit, element, subcircuit, sum_
from constrint.verification.checker import RejectedAtError


def is_tour(successors: tuple[int, ...], may_leave_out: bool) -> bool:
    """Whether successors form one cycle, through all nodes or those that are not their own successors."""
    n = len(successors)
    inside = [i for i in range(n) if not may_leave_out or successors[i] != i]
    if not inside:
        return True
    met = [inside[0]]
    while successors[met[-1]] not in met:
        met.append(successors[met[-1]])
    return successors[met[-1]] == met[0] and sorted(met) == inside


def drawn(seed: int) -> tuple[Model, Any, int | None]:
    """A model of a tour with costs and side conditions, its objective, and the least value by brute force."""
    draw = Random(seed)
    n, may_leave_out = draw.randint(1, 5), draw.random() < 0.5
    domains = [sorted(draw.sample(range(n), draw.randint((n + 1) // 2, n))) for _ in range(n)]
    costs = [[draw.randint(-9, 9) for _ in range(n)] for _ in range(n)]
    conditions = [[draw.randrange(n) for _ in range(4)] for _ in range(draw.randint(0, 4))]
    m = Model()
    after = [m.int_var(f"after{i}", values=domain) for i, domain in enumerate(domains)]
    m.add((subcircuit if may_leave_out else circuit)(after))
    for i, a, j, b in conditions:
        m.add((after[i] != a) | (after[j] == b))
    allowed = [
        sum(costs[i][j] for i, j in enumerate(row))
        for row in product(*domains)
        if is_tour(row, may_leave_out) and all(row[i] != a or row[j] == b for i, a, j, b in conditions)
    ]
    return m, sum_(element(costs[i], after[i]) for i in range(n)), min(allowed, default=None)


@pytest.mark.parametrize("block", range(3))
def test_tours_against_brute_force(block: int) -> None:
    for seed in range(40 * block, 40 * block + 40):
        m, cost, least = drawn(seed)
        assert m.solve(minimize=cost, learn=True, engine="interpreted").objective == least, seed


def test_every_step_of_proofs_of_tours_follows(tmp_path: Path) -> None:
    steps = 0
    for seed in range(30):
        m, cost, least = drawn(seed)
        m.solve(minimize=cost, learn=True, engine="interpreted", proof=tmp_path / "proof")
        text = (tmp_path / "proof").read_text(encoding="utf-8")
        steps += text.count("learned")
        if "constraint Circuit" in text or "constraint Subcircuit" in text:
            assert is_proved(text), (seed, least)
    assert steps > 10


def test_a_tour_of_seven_is_proved_and_a_false_step_is_rejected(tmp_path: Path) -> None:
    draw = Random(7)
    far = [[draw.randint(1, 9) for _ in range(7)] for _ in range(7)]
    m = Model()
    after = m.int_vars("after", 7, 0, 6)
    m.add(circuit(after))
    m.solve(
        minimize=sum_(element(far[i], after[i]) for i in range(7)),
        learn=True,
        engine="interpreted",
        proof=tmp_path / "proof",
    )
    text = (tmp_path / "proof").read_text(encoding="utf-8")
    assert is_proved(text)
    first = text.index("solution")
    with pytest.raises(RejectedAtError):
        is_proved(text[:first] + "exhausted\n")
