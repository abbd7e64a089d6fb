"""Waves of a configuration's launch, before it is measured, from the compiler's reports.

A launch of more blocks than the GPU holds at a time runs in waves, and the last one may leave most of the GPU
idle. How many blocks an SM holds depends on registers and shared memory, which compile reports tell of the
configurations that were tried; of the others they are estimated by a ridge regression over parameters and
their products.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from kerneltune.searching.points import Coordinates, Floats, Points
from kerneltune.searching.protocol import Configuration

MOST_POINTS = 1 << 14  # of a space: each point's launch is computed once, in about 0.1 ms
FIRST_ESTIMATE = (
    32.0,
    1.0,
)  # registers, and one more than bytes of shared memory, before three reports are known
LEAST_REPORTS = 3
STRENGTH = 0.1  # of the regression's penalty, and thrice that for products
STEP, LEAST_REGISTERS, MOST_REGISTERS = 8, 16, 255  # registers of a thread
KEPT = 1 << 14
SAMPLE = 400  # points from which the range of waves is taken


@dataclass(frozen=True)
class LaunchModel:
    """How a kernel is launched on a GPU.

    Attributes:
        numbers: Threads of a block, blocks and bytes of dynamic shared memory of a configuration.
        resident: Blocks that an SM holds, of threads, registers and bytes of shared memory.
        processors: SMs of the GPU.
    """

    numbers: Callable[[Configuration], tuple[int, int, int]]
    resident: Callable[[int, int, int], int]
    processors: int


class Waves:
    """The waves of points, as coordinates for a learned model.

    Args:
        points: The space.
        coordinates: Its coordinates.
        model: The launches.
    """

    def __init__(self, points: Points, coordinates: Coordinates, model: LaunchModel) -> None:
        self._points, self._coordinates, self._model = points, coordinates, model
        self._resident = lru_cache(KEPT)(model.resident)
        self._launches: dict[int, tuple[int, int, int]] = {}
        self._reports: dict[int, tuple[int, int]] = {}
        self._weights: Floats | None = None
        self._means = np.zeros(2)
        self._range: tuple[float, float] | None = None

    def learn(self, number: int, resources: Mapping[str, int]) -> None:
        """Take the compile report of a point."""
        if resources.get("registers"):
            shared = resources.get("shared_memory", 0) - self._launch(number)[2]
            self._reports[number] = resources["registers"], max(0, shared)
            self._weights = None

    def of(self, numbers: Sequence[int]) -> Floats:
        """Two coordinates of each point: the logarithm of its waves, and the share of them that is used."""
        if self._range is None:
            step = max(1, self._points.size // SAMPLE)
            logs = np.log2(self._waves(range(0, self._points.size, step)))
            self._range = float(logs.min()), max(float(np.ptp(logs)), 1.0)
        waves = self._waves(numbers)
        logs = (np.log2(waves) - self._range[0]) / self._range[1]
        return np.stack([logs, waves / np.ceil(waves)], axis=1)

    def _waves(self, numbers: Sequence[int]) -> Floats:
        found = []
        for number, (registers, shared) in zip(numbers, self._resources(numbers), strict=True):
            threads, blocks, dynamic = self._launch(number)
            held = max(1, self._resident(threads, registers, shared + dynamic))
            found.append(blocks / (held * self._model.processors))
        return np.array(found)

    def _launch(self, number: int) -> tuple[int, int, int]:
        launch = self._launches.get(number)
        if launch is None:
            launch = self._launches[number] = self._model.numbers(self._points.configuration(number))
        return launch

    def _resources(self, numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Registers, and bytes of static shared memory: reported or estimated."""
        if len(self._reports) < LEAST_REPORTS:
            estimates = np.tile(FIRST_ESTIMATE, (len(numbers), 1))
        else:
            weights = self._weights = self._fitted() if self._weights is None else self._weights
            estimates = 2.0 ** (self._terms(numbers) @ weights + self._means)
        for number, (registers, shared) in zip(numbers, estimates.tolist(), strict=True):
            if number in self._reports:
                yield self._reports[number]
            else:
                yield (
                    min(max(math.ceil(registers / STEP) * STEP, LEAST_REGISTERS), MOST_REGISTERS),
                    max(0, round(shared) - 1),
                )

    def _fitted(self) -> Floats:
        terms = self._terms(list(self._reports))
        registers, shared = np.array(list(self._reports.values()), dtype=np.float64).T
        logs = np.log2(np.stack([registers, shared + 1], axis=1))
        self._means = logs.mean(axis=0)
        strengths = np.full(terms.shape[1], 3 * STRENGTH)
        strengths[: 1 + len(self._coordinates.plain([0])[0])] = STRENGTH
        normal = terms.T @ terms + np.diag(strengths)
        return np.asarray(np.linalg.solve(normal, terms.T @ (logs - self._means)))

    def _terms(self, numbers: Sequence[int]) -> Floats:
        """One, the parameters, and their products."""
        plain = self._coordinates.plain(numbers)
        count = plain.shape[1]
        pairs = [plain[:, a] * plain[:, b] for a in range(count) for b in range(a, count)]
        return np.stack([np.ones(len(plain)), *plain.T, *pairs], axis=1)
