"""Fitting a profile's cost constants to measured tilings: least squares on the constraint files' formulas.

The objective is the sum of (w log(predicted / measured))^2 over all tilings. The weight w is greater for
tilings near the fastest of their request, because the solver must rank the good ones. A constant that no
tiling depends on keeps its value.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase

import numpy as np
from numpy.typing import NDArray

from kerneltune.errors import InputError, MissingExtraError
from kerneltune.inputs.request import Request
from kerneltune.inputs.yamltree import YamlError, parsed
from kerneltune.tiling.cost_model import LARGEST_COST, CostModel, Tiling

Array = NDArray[np.float64]

HOLD = 0.05  # cost of changing a constant by a factor e, in logarithms of a tiling's time
STEP = 1.03  # factor by which a constant is changed to find the tilings that depend on it
FIRST_TILINGS = 20  # tilings of a request, by predicted rank, on which the model is judged


@dataclass(frozen=True)
class Constant:
    """A constant before and after fitting; ``tilings`` is the number of tilings that depend on it."""

    name: str
    before: int
    after: int
    tilings: int


@dataclass(frozen=True)
class Quality:
    """How well constants predict times and choose tilings.

    Attributes:
        residual: Root mean square of log(predicted / measured).
        worst: The largest of them, as a factor.
        requests: Requests with several tilings, between which the model chooses.
        first_is_fastest: Requests whose predicted best tiling is the fastest of the judged ones.
        mean_loss: Mean relative loss of the predicted best against the fastest.
        worst_loss: Greatest relative loss.
    """

    residual: float
    worst: float
    requests: int
    first_is_fastest: int
    mean_loss: float
    worst_loss: float


@dataclass(frozen=True)
class Fit:
    """Fitted constants and their quality; ``parts`` by pass and strategy, before and after."""

    constants: tuple[Constant, ...]
    before: Quality
    after: Quality
    parts: Mapping[str, tuple[int, float, float]]
    tilings: int
    left_out: tuple[str, ...]

    def to_json(self) -> dict[str, object]:
        """A JSON object."""
        parts = {
            name: {"tilings": count, "residual_before": before, "residual_after": after}
            for name, (count, before, after) in self.parts.items()
        }
        return {**asdict(self), "parts": parts}


def fit(model: CostModel, tilings: Iterable[Tiling], only: Sequence[str] = ()) -> Fit:
    """Fit every constant of the profile that occurs in the tilings' formulas.

    Args:
        model: The formulas, and the profile whose constants are the start values.
        tilings: Measured tilings.
        only: Patterns such as ``grid_*``: only constants with a matching name are fitted. Without patterns,
            all are.

    Raises:
        InputError: No tiling fits the present constraint files, or no constant matches a pattern.
        MissingExtraError: scipy is not installed.
    """
    try:
        from scipy.optimize import least_squares
    except ImportError:
        raise MissingExtraError("fitting costs", "fit") from None
    kept, left_out = _usable(model, tilings)
    if not kept:
        raise InputError("\n".join(["there is no timed tiling to fit to", *left_out]))
    costs = model.profile.cost
    names = _chosen(sorted(frozenset().union(*(model.costs_of(tiling) for tiling in kept))), only)
    problem = _LeastSquares(model, kept, names)
    start = np.log([costs[name] for name in names])
    found = least_squares(
        problem.residuals,
        start,
        jac=problem.jacobian,
        bounds=(-1e-9, math.log(LARGEST_COST)),
        x_scale=1.0,
        max_nfev=60,
    )
    after = problem.constants(found.x)
    constants = tuple(
        Constant(name, costs[name], after[name], int(count))
        for name, count in zip(names, problem.influenced(), strict=True)
    )
    parts = {}
    for part in sorted({_part(tiling) for tiling in kept}):
        members = [tiling for tiling in kept if _part(tiling) == part]
        old, new = (_rms(_logs(model, members, which)) for which in (costs, after))
        parts[part] = (len(members), old, new)
    return Fit(
        constants, quality(model, kept, costs), quality(model, kept, after), parts, len(kept), tuple(left_out)
    )


def quality(
    model: CostModel, tilings: Sequence[Tiling], costs: Mapping[str, int], first: int = FIRST_TILINGS
) -> Quality:
    """How well constants predict the tilings, and how good the predicted best of each request is."""
    logs = _logs(model, tilings, costs)
    losses, fastest = [], 0
    groups: dict[Request, list[tuple[int, float]]] = {}
    for tiling in tilings:
        entry = model.cycles(tiling, costs), model.measured(tiling)
        groups.setdefault(tiling.problem, []).append(entry)
    for group in groups.values():
        if len(group) > 1:
            chosen = sorted(group)[:first]
            loss = chosen[0][1] / min(time for _, time in chosen) - 1
            losses.append(loss)
            fastest += loss == 0
    return Quality(
        residual=round(_rms(logs), 4),
        worst=round(math.exp(max(abs(logs))), 3),
        requests=len(losses),
        first_is_fastest=fastest,
        mean_loss=round(sum(losses) / len(losses), 4) if losses else 0.0,
        worst_loss=round(max(losses, default=0.0), 4),
    )


def with_costs(text: str, constants: Iterable[Constant]) -> str:
    """A profile's YAML text with new numbers in its cost section; all else is unchanged.

    Raises:
        InputError: A constant is not in the text, because the profile inherits it from its base.
    """
    try:
        costs = parsed(text).children["cost"].children
    except (YamlError, KeyError):
        costs = {}
    places = []
    for constant in constants:
        place = costs.get(constant.name)
        if place is None or not text[place.start : place.end].isdecimal():
            raise InputError(
                f"the profile's text has no line for the cost '{constant.name}' with a number: add one"
            )
        places.append((place.start, place.end, str(constant.after)))
    for start, end, number in sorted(places, reverse=True):
        text = text[:start] + number + text[end:]
    return text


class _LeastSquares:
    """Residuals as a function of the logarithms of the constants, which are rounded to integers."""

    def __init__(self, model: CostModel, tilings: Sequence[Tiling], names: Sequence[str]) -> None:
        self._model, self._tilings, self._names = model, tilings, names
        costs = model.profile.cost
        self._start = np.log([costs[name] for name in names])
        self._measured = np.array([model.measured(tiling) for tiling in tilings])
        best: dict[Request, float] = {}
        for tiling, cycles in zip(tilings, self._measured, strict=True):
            best[tiling.problem] = min(cycles, best.get(tiling.problem, math.inf))
        self._weights = np.array([best[t.problem] for t in tilings]) / self._measured
        self._rows = {
            name: [row for row, tiling in enumerate(tilings) if name in model.costs_of(tiling)]
            for name in names
        }

    def constants(self, x: Array) -> dict[str, int]:
        rounded = (max(1, round(math.exp(value))) for value in x)
        return {**self._model.profile.cost, **dict(zip(self._names, rounded, strict=True))}

    def residuals(self, x: Array) -> Array:
        logs = _logs(self._model, self._tilings, self.constants(x))
        return np.concatenate([self._weights * logs, HOLD * (x - self._start)])

    def jacobian(self, x: Array) -> Array:
        found = np.zeros((len(self._tilings) + len(x), len(x)))
        constants = self.constants(x)
        for column, name in enumerate(self._names):
            found[len(self._tilings) + column, column] = HOLD
            for row in self._rows[name]:
                slope = self._slope(self._tilings[row], constants, name)
                found[row, column] = self._weights[row] * slope
        return found

    def influenced(self) -> list[int]:
        """For each constant, the number of tilings whose cycles depend on it."""
        costs = self._model.profile.cost
        return [
            sum(self._slope(self._tilings[row], costs, name) != 0 for row in self._rows[name])
            for name in self._names
        ]

    def _slope(self, tiling: Tiling, constants: Mapping[str, int], name: str) -> float:
        """Derivative of log cycles by the log of a constant: a difference quotient between integers."""
        value = constants[name]
        low, high = max(1, min(value - 1, math.floor(value / STEP))), max(value + 1, math.ceil(value * STEP))
        less, more = (self._model.cycles(tiling, {**constants, name: at}) for at in (low, high))
        return math.log(more / less) / math.log(high / low)


def _chosen(names: Sequence[str], only: Sequence[str]) -> list[str]:
    for pattern in only:
        if not any(fnmatchcase(name, pattern) for name in names):
            raise InputError(f"no constant of the tilings matches {pattern}; they have {', '.join(names)}")
    return [name for name in names if not only or any(fnmatchcase(name, pattern) for pattern in only)]


def _usable(model: CostModel, tilings: Iterable[Tiling]) -> tuple[list[Tiling], list[str]]:
    kept, reasons = [], dict[str, int]()
    for tiling in tilings:
        try:
            model.cycles(tiling, model.profile.cost)
        except InputError as error:
            reasons[str(error)] = reasons.get(str(error), 0) + 1
        else:
            kept.append(tiling)
    return kept, [f"{count} left out: {reason}" for reason, count in reasons.items()]


def _logs(model: CostModel, tilings: Sequence[Tiling], costs: Mapping[str, int]) -> Array:
    ratios = [model.cycles(tiling, costs) / model.measured(tiling) for tiling in tilings]
    logs: Array = np.log(np.array(ratios))
    return logs


def _rms(logs: Array) -> float:
    return round(float(np.sqrt(np.mean(logs**2))), 4)


def _part(tiling: Tiling) -> str:
    direction = "backward" if tiling.problem.direction == "backward" else "forward"
    return f"{direction} {tiling.strategy}"
