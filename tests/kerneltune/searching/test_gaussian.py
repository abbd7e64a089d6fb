"""The Gaussian process: what is updated agrees with what is computed anew, and bounds hide no best point."""

from __future__ import annotations

import numpy as np

from kerneltune.searching.gaussian import GaussianProcess, expected_improvement, improvement_bound


def rows(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random((count, 4))


def costs(given: np.ndarray) -> np.ndarray:
    return np.asarray(((given - 0.4) ** 2).sum(axis=1))


def test_rows_that_are_appended_agree_with_a_new_factor() -> None:
    known, others = rows(70), rows(30, 1)
    process = GaussianProcess(0)
    for count in range(60, 71):  # lengths are fitted again at some of them
        process.fit(known[:count], costs(known[:count]))
    means, spreads = process.predict(others)
    process._solved = process._extended(None, known)
    again, spreads_again = process.predict(others)
    assert np.allclose(means, again, atol=1e-8)
    assert np.allclose(spreads, spreads_again, atol=1e-6)


def test_it_learns() -> None:
    known, others = rows(60), rows(200, 1)
    process = GaussianProcess(0)
    process.fit(known, costs(known))
    means, spreads = process.predict(others)
    errors = np.abs(means - costs(others))
    assert errors.mean() < 0.2 * costs(others).std()
    assert (errors < 4 * spreads).mean() > 0.95


def test_the_most_improving_point_is_the_best_of_all() -> None:
    known = rows(40)
    for seed in range(5):
        others = rows(300, seed + 1)
        process = GaussianProcess(seed)
        process.fit(known, costs(known))
        offsets = np.random.default_rng(seed).normal(0, 0.01, len(others))
        best = float(costs(known).min())
        means, spreads = process.predict(others)
        gains = expected_improvement(best, means + offsets, spreads)
        place, mean = process.most_improving(others, offsets, best)
        assert gains[place] >= gains.max() * (1 - 1e-9)
        assert mean == means[place] + offsets[place]


def test_bounds_are_no_less_than_improvements() -> None:
    source = np.random.default_rng(0)
    means, spreads = source.normal(0, 3, 2000), np.exp(source.normal(0, 1, 2000))
    exact = expected_improvement(0.0, means, spreads)
    assert (improvement_bound(0.0, means, spreads) >= exact - 1e-15).all()
