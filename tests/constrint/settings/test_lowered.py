"""Lowered settings: rules, members and replacements take part in small models, and no answer changes."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from goals import towards
from lowered import LOWERED, SEARCHED
from random_models import build, draw_model

from constrint import Model, Status, all_different, no_overlap, sum_
from constrint.learning import decompose
from constrint.preparing.prepared import Prepared
from constrint.propagators import LinearEq, LinearLe
from constrint.relaxation.highs import has_highs
from constrint.search.admission import MemberMaker
from constrint.settings import DEFAULT, using

MODELS = int(os.environ.get("CONSTRINT_LOWERED", "80"))
BLOCKS = 6
MEMBERS = ["learning", "relaxation", "restarts", "local_search", "neighbourhoods"]


@pytest.mark.fuzz
@pytest.mark.timeout(900)  # the first use on a machine compiles
@pytest.mark.parametrize("settings", [LOWERED, SEARCHED], ids=["lowered", "searched"])
@pytest.mark.parametrize("block", range(BLOCKS))
def test_answers_are_the_same(block: int, settings: Any) -> None:
    ways = [{"learn": "auto"}, {"learn": True}, {"restarts": "luby"}, {"lns": True}, {"workers": 2}]
    for seed in range(block, MODELS, BLOCKS):
        drawn = draw_model(300_000 + seed)
        with using(settings):
            m = drawn.build()
        goal = build(drawn.objective, {**m.variables, **m.lets})
        worth = [x for s in drawn.solutions() if (x := drawn.value(drawn.objective, s)) is not None]
        way: dict[str, Any] = ways[seed // BLOCKS % len(ways)]  # type: ignore[assignment]
        for direction, choose in (("minimize", min), ("maximize", max)):
            r = m.solve(**towards(direction, goal), **way)
            wanted = (Status.OPTIMAL, choose(worth)) if worth else (Status.INFEASIBLE, None)
            assert (r.status, r.objective) == wanted, (seed, direction, way, drawn.text())


@pytest.fixture
def joined(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each kind of member was made."""
    count: Counter[str] = Counter()
    for name in MEMBERS:
        made: Callable[..., Any] = getattr(MemberMaker, name)

        def noted(self: Any, *given: Any, name: str = name, made: Callable[..., Any] = made) -> Any:
            count[name] += 1
            return made(self, *given)

        monkeypatch.setattr(MemberMaker, name, noted)
    return count


def test_all_members_join_in_small_models(joined: Counter[str]) -> None:
    def solved(settings: Any) -> int:
        m = Model()
        m.settings = settings
        xs = m.int_vars("x", 6, 0, 12)
        m.add(all_different(xs[:4]), 3 * xs[0] + 5 * xs[1] - 4 * xs[2] >= 7, 7 * xs[3] + 3 * xs[5] <= 61)
        m.add(5 * xs[2] + 9 * xs[4] - 6 * xs[0] == 31, 4 * xs[1] + 3 * xs[3] + 5 * xs[4] <= 71)
        r = m.solve(maximize=sum_((7 + i * i % 5) * x for i, x in enumerate(xs)))
        assert r.status is Status.OPTIMAL
        assert isinstance(r.objective, int)
        return r.objective

    best = solved(DEFAULT)
    assert not joined
    assert solved(SEARCHED) == best
    expected = {*MEMBERS} - (set() if has_highs() else {"neighbourhoods"})
    assert expected <= {*joined}


def test_sums_and_permutations_are_decomposed() -> None:
    m = Model()
    m.settings = LOWERED
    b = m.bool_vars("b", 6)
    x = m.int_vars("x", 3, 0, 4)
    m.add(sum_((i + 1) * v for i, v in enumerate(b)) <= 9, all_different(x), no_overlap(x, [1, 2, 1]))
    root = Prepared(m, (), ()).root
    assert root is not None
    kinds = Counter(type(node) for node in decompose.Decomposition(root).root.propagators)
    assert kinds[LinearEq] >= 3  # partial sums of two
    assert kinds[LinearLe] >= 5  # of literals, one for each value
