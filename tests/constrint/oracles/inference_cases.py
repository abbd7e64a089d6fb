"""Drawn models of every kind, with their solutions, for the inference oracle."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
import soak_cases
from inference_oracle import check_model
from literal_models import draw_literals
from lowered import LOWERED

import constrint as ci
from constrint.modelling.objectives import Direction
from constrint.settings import DEFAULT, using

OTHERS = [soak_cases.KINDS[number] for number in (0, 1, 2, 4)]  # small numbers, finite domains


@dataclass
class Drawn:
    """A model to check.

    Attributes:
        kind: How it was drawn.
        model: The model.
        xs: Its variables, in the order of the columns.
        rows: Its solutions; with a target, those in which that has a value.
        target: An objective, or None.
    """

    kind: str
    model: ci.Model
    xs: list[ci.IntExpr]
    rows: np.ndarray[Any, Any]
    target: tuple[ci.IntExpr, Direction] | None

    def best(self, values: np.ndarray[Any, Any]) -> int | None:
        """The best of some values of the target; None where there are none."""
        if self.target is None or not len(values):
            return None
        return int(values.min() if self.target[1] == "min" else values.max())


def draw(seed: int, most: int = 300) -> Drawn:
    """The model of a seed: of functions and literals in two thirds, else of any operators and constraints."""
    way = ("min", "max")[seed % 2]
    has_goal = seed % 5 > 0
    if seed % 3 < 2:
        m = draw_literals(seed, most)
        return Drawn("literals", m.model, m.xs, m.solutions(), (m.goal[0], way) if has_goal else None)  # type: ignore[arg-type]
    case = OTHERS[seed // 3 % len(OTHERS)](seed)
    rows = [row for row, value in case.truths.items() if value is not None or not has_goal]
    return Drawn(
        case.kind,
        case.model,
        [case.model.variables[name] for name in case.names],
        np.array(rows, np.int64).reshape(len(rows), len(case.names)),
        (case.goal, way) if has_goal else None,  # type: ignore[arg-type]
    )


def check(seed: int) -> None:
    """Check every inference of the model of a seed, at natural or at lowered settings; raises `Wrong`."""
    rng = Random(f"settings {seed}")
    with using(rng.choice([DEFAULT, LOWERED])):
        drawn = draw(seed)
    check_model(drawn.model, drawn.xs, drawn.rows, drawn.target, seed, step=rng.choice([1, 4, 16]))
