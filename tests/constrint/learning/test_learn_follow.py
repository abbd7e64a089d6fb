"""Search annotations in the learning search: which entry is next, what is tried, whose turn it is."""

from __future__ import annotations

from functools import reduce
from itertools import product
from operator import or_
from pathlib import Path
from random import Random
from typing import Any, get_args

import pytest
from proved import is_proved

from constrint import Group, Model, Status, sum_
from constrint.engine.state_arrays import Branch
from constrint.engine.state_arrays import build as build_state
from constrint.learning import follow
from constrint.learning.layout import CONFLICTS, COUNTED, FOLLOWS, LEVEL, MEMBERS, NOTHING, Learner
from constrint.learning.learner_arrays import Guide
from constrint.learning.learner_arrays import build as build_learner
from constrint.learning.normal import LearningNormalForm
from constrint.learning.trail import back_to, raise_bound
from constrint.preparing.branching import VALUE_RULES as VALUES
from constrint.preparing.branching import VARIABLE_RULES, ValueSelector, VariableSelector
from constrint.preparing.prepared import Prepared
from constrint.settings import DEFAULT
from constrint.store.state import State


def following(
    domains: Any,
    entries: Any,
    groups: Any,
    replaced: Any = (),
) -> tuple[Learner, State]:
    """A learner of some variables, from 1 on, that follows entries, and its engine state."""
    m = Model()
    for i, domain in enumerate(domains):
        m.int_var(f"x{i}", values=domain)
    root = Prepared(m, (), ()).root
    assert root is not None
    n = len(root.box.lo)
    normal = LearningNormalForm(replaced=dict(replaced))
    assert root is not None
    guide = Guide([1] * n, [0] * n, root.box.lo, [0] * n, entries, groups)
    assert root is not None
    ls = build_learner(normal, [], root.box, guide)
    ls.scalar[FOLLOWS] = 1
    assert root is not None
    return ls, build_state(root.box, [], Branch(), root.huge)


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("input_order", 0),
        ("first_fail", 2),
        ("anti_first_fail", 1),
        ("smallest", 1),
        ("largest", 3),
        ("dom_w_deg", 3),
    ],
)
def test_the_next_entry(selector: str, expected: int) -> None:
    domains = [range(4, 9), range(1, 13), (7, 8), range(9, 15)]
    entries = [(v, VALUES["min"]) for v in range(1, 5)]
    ls, st = following(domains, entries, [(4, VARIABLE_RULES[selector])])
    ls.activity[4] = 5
    assert follow.next_entry(ls) == expected
    for v in range(1, 5):
        assert raise_bound(ls, st, 2 * v, -ls.bound[2 * v + 1], NOTHING)
    assert follow.next_entry(ls) == NOTHING


def test_groups_in_turn_and_literals_by_what_they_stand_for() -> None:
    entries = [(2, VALUES["min"]), (1, VALUES["max"]), (3, VALUES["max"])]
    groups = [(2, VARIABLE_RULES["input_order"]), (3, VARIABLE_RULES["first_fail"])]
    ls, st = following([range(9), range(2), range(2)], entries, groups, {2: (2, 5)})  # x1 stands for x0 >= 5
    assert follow.next_entry(ls) == 0
    follow.decide_entry(ls, st, 0)
    assert (ls.bound[2], -ls.bound[3], ls.scalar[LEVEL]) == (0, 4, 1)
    assert follow.next_entry(ls) == 1
    follow.decide_entry(ls, st, 1)
    assert (ls.bound[2], -ls.bound[3]) == (4, 4)
    assert follow.next_entry(ls) == 2
    back_to(ls, 0)
    raise_bound(ls, st, 2, 5, NOTHING)
    assert follow.next_entry(ls) == 1


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("min", (0, 0)),
        ("max", (9, 9)),
        ("lower_half", (0, 3)),
        ("upper_half", (8, 9)),
        ("best_so_far", (2, 9)),
    ],
)
def test_the_values_that_are_tried(selector: Any, expected: tuple[int, ...]) -> None:
    ls, st = following([(0, 1, 2, 3, 8, 9)], [(1, VALUES[selector])], [(1, VARIABLE_RULES["input_order"])])
    ls.best[1] = 2
    follow.decide_entry(ls, st, 0)
    assert (ls.bound[2], -ls.bound[3]) == expected
    assert follow.least_of(ls, 0) == expected[0]


def test_following_keeps_half_where_its_clauses_are_shorter() -> None:
    for members, expected in (
        (50, 0.5),
        (79, 0.5),
        (81, 1 / DEFAULT.learning.rare),
        (200, 1 / DEFAULT.learning.rare),
    ):
        ls, _ = following([range(2)], [(1, VALUES["min"])], [(1, VARIABLE_RULES["input_order"])])
        scalar = ls.scalar
        scalar[FOLLOWS] = followed = 0
        for _ in range(3000):
            kind = scalar[FOLLOWS]
            scalar[CONFLICTS] += 64
            scalar[COUNTED + kind] += 64
            scalar[MEMBERS + kind] += 64 * (members if kind else 100)
            followed += 64 * kind
            follow.change_turn(ls)
        assert followed / scalar[CONFLICTS] == pytest.approx(expected, abs=0.01)


def test_without_annotations_nothing_is_followed() -> None:
    ls, _ = following([range(2)], [], [])
    ls.scalar[FOLLOWS] = 0
    follow.change_turn(ls)
    assert ls.scalar[FOLLOWS] == 0


def test_answers_with_groups_and_their_proofs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    entries: list[Any] = []
    decide_entry = follow.decide_entry
    monkeypatch.setattr(
        "constrint.learning.decide.decide_entry", lambda *given: entries.append(decide_entry(*given))
    )
    for seed in range(16):
        random = Random(seed)
        m = Model()
        m.settings = DEFAULT.with_fields(learning={"trial": 2, "restart_unit": 2})
        xs = [m.int_var(f"x{i}", 0, 2) for i in range(7)]
        clauses = [[(random.randrange(7), random.randint(0, 2), random.random() < 0.5) for _ in range(3)]]
        clauses += [[(random.randrange(7), random.randint(0, 2), False) for _ in range(3)] for _ in range(14)]
        for clause in clauses:
            m.add(reduce(or_, [xs[i] == k if is_equal else xs[i] != k for i, k, is_equal in clause]))
        factors = [random.randint(-9, 9) for _ in xs]
        m.add(sum_(a * x for a, x in zip(factors, xs, strict=True)) >= -12)
        groups = [
            Group(
                [*random.sample(xs, 3), random.choice(xs) >= 1],
                random.choice([s for s in get_args(VariableSelector) if s != "activity"]),
                random.choice(get_args(ValueSelector)),
            )
            for _ in range(2)
        ]
        goal = sum_(random.randint(-5, 5) * x for x in xs)
        r = m.solve(
            minimize=goal, branching=groups, learn=True, engine="interpreted", proof=tmp_path / "proof"
        )
        allowed = [
            x
            for x in product(range(3), repeat=7)
            if all(any((x[i] == k) == is_equal for i, k, is_equal in clause) for clause in clauses)
            and sum(a * b for a, b in zip(factors, x, strict=True)) >= -12
        ]
        assert (r.status is Status.OPTIMAL) == bool(allowed), f"seed {seed}"
        if allowed:
            values = [goal.evaluate(dict(zip(xs, x, strict=True))) for x in allowed]
            assert r.objective == min(values), f"seed {seed}"
        text = (tmp_path / "proof").read_text(encoding="utf-8")
        if "\nsearch" in text:
            assert is_proved(text), f"seed {seed}"
    assert len(entries) > 50
