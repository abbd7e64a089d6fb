"""Search by a model of the costs that is learned while tuning.

The strategies differ in the model: a Gaussian process, or gradient-boosted trees or a ridge regression of
scikit-learn. The model is fitted to the logarithms of the costs; failures count as the worst cost. The point
of greatest expected improvement is proposed: in turns among the neighbours of the best point alone, and among
the neighbours of the best points, their neighbours, and points drawn from the whole space.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from constrint.solutions.solutionset import SolutionSet
from kerneltune.errors import MissingExtraError
from kerneltune.searching.base import Search, SearchOptions
from kerneltune.searching.gaussian import GaussianProcess, expected_improvement
from kerneltune.searching.launched import MOST_POINTS, Waves
from kerneltune.searching.points import Coordinates, Floats
from kerneltune.searching.protocol import Configuration, Outcome
from kerneltune.searching.transfer import Prior

FIRST_POINTS = 8  # points before the first fit, far from each other
DRAWN = 1500  # points of the whole space among which the next is chosen
FEW_DRAWN = 64  # the same in spaces too large to be listed
BEST = 4  # points whose neighbours are candidates
SECOND = 12  # neighbours whose neighbours are candidates
LOCAL = 2  # of so many points, one is a neighbour of the best
SPREAD = 400  # drawn points of which the first are chosen
BEND = 1.5  # logarithmic distance from the best beyond which costs are compressed
MOST_FITTED = 256  # outcomes that a model is fitted to: the best and the last
LEAST_COST = 1e-300
WAVES = ("waves", "share of the last wave")


class Surrogate(Protocol):
    """A regression with an idea of its error."""

    def fit(self, rows: Floats, costs: Floats) -> None:
        """Learn costs, one for each row."""

    def predict(self, rows: Floats) -> tuple[Floats, Floats]:
        """Means and standard deviations."""


class Modelled(Search):
    """Base of the strategies that learn a model of the cost."""

    uses_all_coordinates = True

    def __init__(self, space: SolutionSet, options: SearchOptions) -> None:
        super().__init__(space, options)
        self.coordinates = Coordinates(self.points, options.features)
        self._numbers = np.random.default_rng(options.seed)
        self._starts: list[int] | None = None
        self._surrogate = self._made()
        self._prior = Prior(self.points, options)
        self._predicted: dict[int, float] = {}
        self._fitted_at = 0  # number of outcomes

    def _made(self) -> Surrogate:
        raise NotImplementedError

    # Proposals

    def _propose(self) -> int | None:
        told = [number for number, cost in self.costs.items() if math.isfinite(cost)]
        if len(self.asked) < FIRST_POINTS:
            return self._start()
        if len(told) < 2:
            return None
        numbers, costs = self._fitted_to()
        if self._fitted_at != len(self.costs):
            self._fitted_at = len(self.costs)
            self._surrogate.fit(self._rows(numbers), costs - self._prior.offsets(numbers))
        pool = self._pool(numbers, costs)
        if not pool:
            return None
        place, mean = self._most_improving(pool, float(np.min(costs)))
        self._predicted[pool[place]] = self._unbent(mean)
        return pool[place]

    def _most_improving(self, pool: list[int], best: float) -> tuple[int, float]:
        """The place of the point of greatest expected improvement, and its mean."""
        means, spreads = self._surrogate.predict(self._rows(pool))
        means = means + self._prior.offsets(pool)
        place = int(np.argmax(expected_improvement(best, means, spreads)))
        return place, float(means[place])

    def _start(self) -> int | None:
        """The first points: the best of the model and of earlier stores, and points far from each other."""
        if self._starts is None:
            self._starts = [*self._prior.best(FIRST_POINTS // 2), *self._far_apart()]
        return next((number for number in self._starts if number not in self.asked), None)

    def _far_apart(self) -> list[int]:
        """Numbers of points: of random ones, the first drawn, then each time the farthest from those chosen.

        Distances are Euclidean, between coordinates that are scaled to 0 … 1.
        """
        size = self.points.size
        count = min(SPREAD if self.points.is_listed else FEW_DRAWN, size)
        drawn = list(dict.fromkeys(self.random.randrange(size) for _ in range(count)))
        rows = self.coordinates.plain(drawn)
        chosen = [0]
        squares = ((rows - rows[0]) ** 2).sum(axis=1)
        while len(chosen) < min(FIRST_POINTS, len(drawn)):
            chosen.append(int(np.argmax(squares)))
            squares = np.minimum(squares, ((rows - rows[chosen[-1]]) ** 2).sum(axis=1))
        return [drawn[place] for place in chosen]

    def _fitted_to(self) -> tuple[list[int], Floats]:
        """The points to learn from, and their logarithmic costs, those far from the best compressed."""
        numbers = list(self.costs)
        if len(numbers) > MOST_FITTED:
            best = sorted(numbers, key=self.costs.__getitem__)[: MOST_FITTED // 2]
            numbers = list(dict.fromkeys([*best, *numbers[-MOST_FITTED // 2 :]]))
        raw = np.array([self.costs[number] for number in numbers])
        finite = np.isfinite(raw)
        self._is_ratio = bool((raw[finite] > 0).all())
        logs = np.log(np.maximum(raw, LEAST_COST)) if self._is_ratio else raw / (np.ptp(raw[finite]) or 1.0)
        logs = np.where(finite, logs, np.max(logs[finite]))
        self._least = float(np.min(logs))
        return numbers, self._least + BEND * np.tanh((logs - self._least) / BEND)

    def _pool(self, numbers: Sequence[int], costs: Floats) -> list[int]:
        if len(self.asked) % LOCAL == 0 and self.best is not None:
            next_ones = [one for one in self.points.neighbours(self.best) if one not in self.asked]
            if next_ones:
                return next_ones
        size = self.points.size
        if not self.points.is_listed:  # each point costs a walk through the diagrams
            few = [] if self.best is None else self.points.neighbours(self.best)
            few += [self.random.randrange(size) for _ in range(FEW_DRAWN)]
            return [one for one in dict.fromkeys(few) if one not in self.asked]
        best = np.asarray(numbers)[np.argsort(costs, kind="stable")[:BEST]]
        near = self.points.all_neighbours(best)
        second = self._numbers.choice(len(near), min(len(near), SECOND), replace=False)
        further = self.points.all_neighbours(near[second])
        drawn = self._numbers.integers(size, size=min(DRAWN, size))
        pool = np.unique(np.concatenate([near, further, drawn]))
        asked = np.fromiter(self.asked, dtype=np.int64, count=len(self.asked))
        found: list[int] = pool[np.isin(pool, asked, invert=True)].tolist()
        return found

    def _rows(self, numbers: Sequence[int]) -> Floats:
        return self.coordinates.of(numbers) if self.uses_all_coordinates else self.coordinates.plain(numbers)

    def _unbent(self, mean: float) -> float:
        """The cost of a prediction."""
        share = min(0.999, max(-0.999, (mean - self._least) / BEND))
        log = self._least + BEND * math.atanh(share)
        return math.exp(log) if self._is_ratio else log

    # What was learned

    def _learn(self, number: int, cost: float, outcome: Outcome) -> None:
        self._prior.tell(number, cost)

    def predicted(self, configuration: Configuration) -> float | None:
        """The mean of the model when it proposed the configuration; None for the first points."""
        return self._predicted.get(self.points.known(configuration))

    def report(self) -> dict[str, object]:
        """The predictions made before each measurement, and the model's importances of coordinates."""
        pairs = [
            {
                "configuration": self.points.configuration(number),
                "predicted": value,
                "measured": self.costs[number],
            }
            for number, value in self._predicted.items()
            if math.isfinite(self.costs.get(number, math.inf))
        ]
        return {"model": type(self).__name__, "predictions": pairs, "importances": self._importances()}

    def _importances(self) -> dict[str, float]:
        return {}


class Gaussian(Modelled):
    """By a Gaussian process over the parameters and the waves of known launches; needs numpy alone."""

    uses_all_coordinates = False

    def __init__(self, space: SolutionSet, options: SearchOptions) -> None:
        super().__init__(space, options)
        self._waves: Waves | None = None
        if options.launch is not None and self.points.is_listed and self.points.size <= MOST_POINTS:
            self._waves = Waves(self.points, self.coordinates, options.launch)

    def _rows(self, numbers: Sequence[int]) -> Floats:
        plain = super()._rows(numbers)
        return plain if self._waves is None else np.concatenate([plain, self._waves.of(numbers)], axis=1)

    def _learn(self, number: int, cost: float, outcome: Outcome) -> None:
        super()._learn(number, cost, outcome)
        if self._waves is not None:
            self._waves.learn(number, outcome.resources)

    def _made(self) -> Surrogate:
        self._process = GaussianProcess(self.options.seed)
        return self._process

    def _most_improving(self, pool: list[int], best: float) -> tuple[int, float]:
        return self._process.most_improving(self._rows(pool), self._prior.offsets(pool), best)

    def _importances(self) -> dict[str, float]:
        found = self._process.sensitivities
        count = len(self.coordinates.plain([0])[0])
        names = [*self.coordinates.names[:count], *(() if self._waves is None else WAVES)][: len(found)]
        total = float(found.sum()) or 1.0
        return {name: round(float(value) / total, 4) for name, value in zip(names, found, strict=True)}


class Trees(Modelled):
    """By gradient-boosted trees of scikit-learn, whose error is estimated from the residuals."""

    def _made(self) -> Surrogate:
        self._regression = _Regression("trees", self.options.seed)
        return self._regression

    def _importances(self) -> dict[str, float]:
        return self._regression.importances(self.coordinates.names)


class Ridge(Modelled):
    """By a Bayesian ridge regression of scikit-learn over the coordinates and their squares."""

    def _made(self) -> Surrogate:
        self._regression = _Regression("ridge", self.options.seed)
        return self._regression

    def _importances(self) -> dict[str, float]:
        return self._regression.importances(self.coordinates.names)


class _Regression:
    """A regression of scikit-learn as a surrogate."""

    def __init__(self, kind: str, seed: int) -> None:
        try:
            from sklearn.ensemble import GradientBoostingRegressor
            from sklearn.linear_model import BayesianRidge
            from sklearn.pipeline import make_pipeline
            from sklearn.preprocessing import PolynomialFeatures, StandardScaler
        except ImportError:
            raise MissingExtraError(f"the strategy '{kind}'", "tune") from None
        self._is_ridge = kind == "ridge"
        self._models: list[Any]
        if self._is_ridge:
            powers = PolynomialFeatures(2, include_bias=False, interaction_only=False)
            self._models = [make_pipeline(StandardScaler(), powers, StandardScaler(), BayesianRidge())]
        else:
            # Several, each of half of the rows: where they differ, little is known.
            made = [
                GradientBoostingRegressor(
                    n_estimators=40, max_depth=4, learning_rate=0.2, subsample=0.6, random_state=seed + i
                )
                for i in range(3)
            ]
            self._models = list(made)

    def fit(self, rows: Floats, costs: Floats) -> None:
        """Learn costs, one for each row."""
        for model in self._models:
            model.fit(rows, costs)
        self._residual = 0.3 * float(costs.std()) + 1e-6

    def predict(self, rows: Floats) -> tuple[Floats, Floats]:
        """Means and standard deviations."""
        if self._is_ridge:
            means, spreads = self._models[0].predict(rows, return_std=True)
            return np.asarray(means), np.asarray(spreads) + 1e-9
        found = np.stack([model.predict(rows) for model in self._models])
        return found.mean(axis=0), found.std(axis=0) + 0.1 * self._residual

    def importances(self, names: Sequence[str]) -> dict[str, float]:
        """How much each coordinate matters to the trees; nothing for the regression."""
        if self._is_ridge or not hasattr(self._models[0], "estimators_"):
            return {}
        shares = np.mean([model.feature_importances_ for model in self._models], axis=0)
        return {name: round(float(share), 4) for name, share in zip(names, shares, strict=True) if share > 0}
