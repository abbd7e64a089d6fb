"""How much each parameter matters: its share of the variance, and of what trees learn from."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kerneltune.pipeline.trial import Trial

LEAST_TRIALS = 12  # trials from which anything is concluded
DRAWN = 512  # configurations over which predictions are averaged
TREES = 64
MEASURES = (
    {
        "key": "variance",
        "name": "variance",
        "meaning": "the share of the objective's variance that a parameter alone explains, averaged over the "
        "values of the others (functional analysis of variance).",
    },
    {
        "key": "trees",
        "name": "trees",
        "meaning": "the share of what regression trees gain by splitting at it.",
    },
)


def importances(trials: Sequence[Trial], objective: str, names: Sequence[str]) -> list[dict[str, Any]]:
    """The parameters with two values or more, the most important first; nothing for few trials.

    Args:
        trials: The trials.
        objective: What counts.
        names: The parameters.
    """
    good = [one for one in trials if math.isfinite(one.objectives.get(objective, math.nan))]
    columns = {name: _places([one.configuration.get(name) for one in good]) for name in names}
    varying = [name for name in names if len(set(columns[name])) > 1]
    if len(good) < LEAST_TRIALS or not varying:
        return []
    rows = np.array([columns[name] for name in varying], dtype=np.float64).T
    values = np.array([one.objectives[objective] for one in good])
    costs = np.log(values) if (values > 0).all() else values
    found = _by_trees(rows, costs) or (_by_means(rows, costs), None)
    listed = [
        {"name": name, "variance": found[0][place], "trees": None if found[1] is None else found[1][place]}
        for place, name in enumerate(varying)
    ]
    return sorted(listed, key=lambda one: -float(one["variance"] or 0.0))


def measures_of(found: Sequence[Mapping[str, object]]) -> list[dict[str, str]]:
    """The measures that have a value."""
    return [one for one in MEASURES if any(row[one["key"]] is not None for row in found)]


def _places(values: Sequence[object]) -> list[int]:
    """Each value's place: numbers by size, everything else in the order of its first trial."""
    known = list(dict.fromkeys(values))
    if all(isinstance(one, int | float) and not isinstance(one, bool) for one in known):
        known.sort(key=lambda one: float(one))  # type: ignore[arg-type]
    places = {one: place for place, one in enumerate(known)}
    return [places[one] for one in values]


def _by_trees(
    rows: NDArray[np.float64], costs: NDArray[np.float64]
) -> tuple[list[float], list[float] | None] | None:
    """Both measures by a forest; None without scikit-learn."""
    try:
        from sklearn.ensemble import ExtraTreesRegressor
    except ImportError:
        return None
    forest = ExtraTreesRegressor(TREES, min_samples_leaf=2, random_state=0).fit(rows, costs)
    draw = np.random.default_rng(0)
    levels = [np.unique(column) for column in rows.T]
    drawn = np.stack([draw.choice(one, DRAWN) for one in levels], axis=1)
    total = float(forest.predict(drawn).var())
    shares = []
    for place, values in enumerate(levels):
        means = []
        for value in values:
            drawn_here = drawn.copy()
            drawn_here[:, place] = value
            means.append(float(forest.predict(drawn_here).mean()))
        shares.append(min(1.0, float(np.var(means)) / total) if total > 0 else 0.0)
    return shares, [float(one) for one in forest.feature_importances_]


def _by_means(rows: NDArray[np.float64], costs: NDArray[np.float64]) -> list[float]:
    """The share of the variance that lies between the values of each parameter."""
    total = float(costs.var())
    shares = []
    for column in rows.T:
        inside = sum(
            float(costs[column == value].var()) * int((column == value).sum()) for value in np.unique(column)
        )
        shares.append(max(0.0, 1.0 - inside / (len(costs) * total)) if total > 0 else 0.0)
    return shares
