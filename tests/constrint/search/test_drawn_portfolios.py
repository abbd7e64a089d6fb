"""Drawn models of functions, literals and all kinds of constraints, by every search, at lowered settings too.

`CONSTRINT_PORTFOLIOS` sets the number of models, `CONSTRINT_PORTFOLIOS_SEED` the first seed.
"""

from __future__ import annotations

import os
from random import Random
from typing import Any

import numpy as np
import pytest
from goals import towards
from inference_cases import Drawn, draw
from lowered import LOWERED, hasty

from constrint import Status
from constrint.settings import DEFAULT, using

MODELS = int(os.environ.get("CONSTRINT_PORTFOLIOS", "1080"))
FIRST = int(os.environ.get("CONSTRINT_PORTFOLIOS_SEED", "0"))
BLOCKS = 12
WAYS: list[dict[str, Any]] = [
    {},
    {},
    {"learn": True},
    {"learn": False},
    {"workers": 2},
    {"restarts": "luby", "learn": False},
    {"lns": True},
]


def drawn_with(rng: Random, seed: int) -> tuple[Drawn, dict[str, Any]]:
    """A model, at natural or at lowered settings, and how to solve it."""
    settings = rng.choice([DEFAULT, LOWERED, LOWERED, hasty(least_turn=300)])
    with using(settings):
        drawn = draw(seed)
    how = {"seed": rng.randrange(3), "engine": rng.choice(["auto", "interpreted"]), **rng.choice(WAYS)}
    if drawn.target is None and how.pop("lns", False):
        how["learn"] = True
    return drawn, how


def values_of(drawn: Drawn) -> np.ndarray[Any, Any]:
    """The values of the target in all solutions, by evaluation."""
    assert drawn.target is not None
    expr = drawn.target[0]
    rows = drawn.rows.tolist()
    return np.array([expr.evaluate(dict(zip(drawn.xs, row, strict=True))) for row in rows], np.int64)


def fault(seed: int) -> str | None:
    """What is wrong with the answer to the model of a seed; None if it is right."""
    drawn, how = drawn_with(Random(f"portfolio {seed}"), seed)
    if drawn.target is None:
        r = drawn.model.solve(**how)
        if not len(drawn.rows):
            return None if r.status is Status.INFEASIBLE else f"{how}: {r} where there is no solution"
        found = [int(r[x]) for x in drawn.xs] if r else None
        return None if found in drawn.rows.tolist() else f"{how}: {r}"
    way = {"min": "minimize", "max": "maximize"}[drawn.target[1]]
    r = drawn.model.solve(**towards(way, drawn.target[0]), **how)
    best = drawn.best(values_of(drawn))
    wanted = (Status.INFEASIBLE if best is None else Status.OPTIMAL, best)
    return None if (r.status, r.objective) == wanted else f"{how}: {r}, not {wanted}"


@pytest.mark.fuzz
@pytest.mark.timeout(900)  # the first use on a machine compiles
@pytest.mark.parametrize("block", range(BLOCKS))
def test_drawn_models(block: int) -> None:
    for seed in range(FIRST + block, FIRST + MODELS, BLOCKS):
        assert fault(seed) is None, seed
