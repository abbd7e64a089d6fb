"""Every inference of small drawn models is held against all their solutions, where it is made.

`CONSTRINT_INFERENCES` sets the number of models, `CONSTRINT_INFERENCES_SEED` the first seed.
"""

# mypy: disable-error-code="attr-defined"
from __future__ import annotations

import os
from collections.abc import Callable
from types import ModuleType
from typing import Any

import inference_watchers
import known_solutions
import numpy as np
import pytest
from inference_cases import check
from known_solutions import TALLY, Solutions, Wrong

from constrint import Model
from constrint.learning.layout import LEVEL
from constrint.learning.session import LearningRun
from constrint.relaxation.lp_rows import LpRow
from constrint.search.depth_first import DepthFirstRun
from constrint.search.relaxed import RelaxedRun
from constrint.store.domains import set_lo

MODELS = int(os.environ.get("CONSTRINT_INFERENCES", "480"))
FIRST = int(os.environ.get("CONSTRINT_INFERENCES_SEED", "0"))
BLOCKS = 12
SHOWING = (*range(16), 43, 298, 2218)  # seeds that show all kinds


@pytest.mark.fuzz
@pytest.mark.parametrize("block", range(BLOCKS))
def test_drawn_models(block: int) -> None:
    for seed in range(FIRST + block, FIRST + MODELS, BLOCKS):
        try:
            check(seed)
        except Wrong as wrong:
            raise AssertionError(f"seed {seed}: {wrong}") from wrong


@pytest.mark.parametrize("seed", [8007053, 8064869, 8096069])
def test_names_under_a_goal_may_lose_all_but_the_best(seed: int) -> None:
    """Seeds of a long run: where a goal is the greatest of names, worse values of it are lost."""
    check(seed)


KINDS = {
    "lowering, presolve, what is derived of the root": (
        *("lowering", "presolve", "symmetries", "bounds", "relaxed-row", "relaxation-bound", "cut"),
        *("node:branching", "node:relaxation"),
    ),
    "decomposition and translation": (
        *(
            "decomposition",
            "translated",
            "implied",
            "replaced",
            "extreme",
            "resource",
            "open-resource",
            "circuit",
        ),
    ),
    "learning": ("root", "unit", "clause", "dual-row"),
    "explanations": (
        *("explanation:clause", "explanation:sum", "explanation:disequality", "explanation:propagator"),
        *("explanation:extreme", "explanation:resource", "explanation:open-resource", "explanation:circuit"),
        "explanation:distinct",
    ),
}


def test_every_kind_of_inference_is_among_them() -> None:
    TALLY.clear()
    for seed in SHOWING:
        check(seed)
    assert {part: [kind for kind in kinds if not TALLY[kind]] for part, kinds in KINDS.items()} == {
        part: [] for part in KINDS
    }


# ---------------------------------------------------------------- it fails where an inference is wrong


def finds(
    monkeypatch: pytest.MonkeyPatch, owner: ModuleType | type[Any], name: str, made: Callable[..., Any]
) -> None:
    """Some drawn model shows the fault that a function in place of another one makes."""
    monkeypatch.setattr(owner, name, made)
    for seed in range(300):
        try:
            check(seed)
        except Wrong:
            return
    pytest.fail("no drawn model shows the fault")


def test_an_explanation_without_its_last_premise_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    explain = inference_watchers.explain

    def less(ls: Any, st: Any, b: int, k: int, why: Any, at: Any) -> None:
        explain(ls, st, b, k, why, at)
        ls.scalar[inference_watchers.PREMISES] = max(0, ls.scalar[inference_watchers.PREMISES] - 1)

    finds(monkeypatch, inference_watchers, "explain", less)


def test_a_bound_of_the_root_that_is_too_great_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    following = LearningRun.next

    def eager(run: Any, checked: bool = True) -> Any:
        try:
            return following(run, checked)
        finally:
            if run._ls.scalar[LEVEL] == 0:
                v = len(run._ls.root) // 2 - 1
                run._ls.root[2 * v] = run._ls.root[2 * v] + 1

    finds(monkeypatch, LearningRun, "next", eager)


def test_a_row_that_is_too_strong_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    relaxed = inference_watchers.relaxed

    def stronger(root: Any) -> Any:
        relaxation = relaxed(root)
        if relaxation is not None and relaxation.rows:
            terms, low, high = (getattr(relaxation.rows[0], name) for name in ("terms", "low", "high"))
            relaxation.rows[0] = LpRow(
                terms, None if low is None else low + 1, None if high is None else high - 1
            )
        return relaxation

    finds(monkeypatch, inference_watchers, "relaxed", stronger)


@pytest.mark.parametrize("kind", [DepthFirstRun, RelaxedRun])
def test_a_domain_that_loses_a_value_at_a_node_is_found(
    monkeypatch: pytest.MonkeyPatch, kind: type[Any]
) -> None:
    advance = kind._advance

    def eager(run: Any) -> Any:
        for v in run._state.branch:
            if run._state.lo[v] < run._state.hi[v]:
                set_lo(run._state, v, run._state.lo[v] + 1)
        return advance(run)

    finds(monkeypatch, kind, "_advance", eager)


def test_a_search_that_ends_too_soon_is_found() -> None:
    known = Solutions(np.array([[1, 2]]), (1, "min"))
    with pytest.raises(Wrong, match=r"ends before \[1, 2\]"):
        inference_watchers._over(known, None, None)  # type: ignore[arg-type]


def test_solutions_are_those_of_the_definition() -> None:
    m = Model()
    x = m.int_vars("x", 2, 0, 2)
    m.add(x[0] + x[1] == 2)
    from constrint.preparing.prepared import Prepared

    root = Prepared(m, (), ()).root
    assert root is not None
    rows = known_solutions.solutions_of(root.box, root.propagators)
    assert sorted(map(tuple, rows[:, 1:].tolist())) == [(0, 2), (1, 1), (2, 0)]
