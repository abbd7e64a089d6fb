"""Strategies: only valid points, none twice, the same for one seed, an end; and they find."""

from __future__ import annotations

import math
import random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from constrint.solutions.solutionset import SolutionSet
from constrint.tuning.spaces import from_tune_params
from kerneltune.errors import InputError
from kerneltune.searching.base import SearchBudget
from kerneltune.searching.points import Points
from kerneltune.searching.protocol import Configuration, Outcome
from kerneltune.searching.racing import is_hopeless
from kerneltune.searching.strategies import STRATEGIES, strategy

ALL = sorted(set(STRATEGIES) - {"nsga2"})
NEEDED = {"trees": "sklearn", "ridge": "sklearn", "tpe": "optuna", "nsga2": "optuna"}


def drawn_space(seed: int) -> SolutionSet:
    source = random.Random(seed)
    params: dict[str, list[Any]] = {
        f"p{i}": sorted(source.sample(range(1, 40), source.randint(1, 6)))
        for i in range(source.randint(2, 4))
    }
    params["kind"] = ["row", "column"]
    params["share"] = [0.25, 0.5, 1.0]
    return from_tune_params(params, [f"p0 * p1 <= {source.randint(60, 700)}"])


def cost(configuration: Configuration) -> float:
    numbers = [float(value) for value in configuration.values() if not isinstance(value, str)]
    return 1.0 + sum(abs(math.log(value / 8)) for value in numbers) + (configuration.get("kind") == "row")


def outcome_of(configuration: Configuration) -> Outcome:
    value = cost(configuration)
    if int(1000 * value) % 7 == 0:
        return Outcome(configuration, {}, "does not compile")
    return Outcome(configuration, {"time": value, "energy": 10 - value})


def asked_by(name: str, space: SolutionSet, seed: int, batch: int = 1, **given: Any) -> list[Configuration]:
    if name in NEEDED:
        pytest.importorskip(NEEDED[name])
    search = strategy(name, space, seed=seed, model=cost, **given)
    found: list[Configuration] = []
    while asked := search.ask(batch):
        assert len(asked) <= batch
        found += asked
        for one in asked:
            search.tell(outcome_of(one))
    return found


def key(configuration: Configuration) -> str:
    return repr(sorted(configuration.items()))


@pytest.mark.parametrize("name", [*ALL, "nsga2"])
def test_only_valid_points_none_twice_the_same_for_one_seed(name: str) -> None:
    seed = 1
    space = drawn_space(seed)
    given: dict[str, Any] = {"objective": ["time", "energy"]} if name == "nsga2" else {}
    given["budget"] = SearchBudget(evaluations=16)
    found = asked_by(name, space, seed, **given)
    assert len(found) == min(16, space.size)
    assert all(one in space for one in found)
    assert len(set(map(key, found))) == len(found)
    assert found == asked_by(name, space, seed, **given)


@pytest.mark.parametrize("name", ALL)
def test_every_strategy_ends_with_all_points(name: str) -> None:
    space = from_tune_params({"a": [1, 2, 3], "b": [1, 2, 4, 8], "c": ["x", "y"]}, ["a * b <= 8"])
    for batch in (7,):
        found = asked_by(name, space, 5, batch)
        assert sorted(map(key, found)) == sorted(map(key, space))


@pytest.mark.parametrize("name", ["random", "neighbours", "evolution", "gaussian", "model"])
def test_spaces_of_any_size(name: str) -> None:
    params = {f"p{i}": list(range(1, 17)) for i in range(12)}  # 16 ** 12 combinations
    space = from_tune_params(params, ["p0 * p1 <= 100", "p2 % p3 == 0", "p4 + p5 <= 20"])
    assert space.size > 10**12
    found = asked_by(name, space, 1, budget=SearchBudget(evaluations=10))
    assert len({key(one) for one in found}) == 10
    assert all(one in space for one in found)


@pytest.mark.parametrize("name", ["gaussian", "evolution", "neighbours"])
def test_finds_sooner_than_random_search(name: str) -> None:
    params = {f"p{i}": [1, 2, 4, 8, 16, 32] for i in range(5)}
    space = from_tune_params(params, ["p0 * p1 <= 256"])

    def evaluations(of: str, seed: int) -> int:
        found = asked_by(of, space, seed, budget=SearchBudget(evaluations=60))
        return next((i for i, one in enumerate(found) if cost(one) <= 2.5), 60)

    assert sum(evaluations(name, s) for s in range(2)) < 0.7 * sum(evaluations("random", s) for s in range(2))


def test_points_are_the_sets_points() -> None:
    space = drawn_space(3)
    points = Points(space)
    source = random.Random(0)
    for number in source.sample(range(points.size), 20):
        one = points.configuration(number)
        assert one == space[number]
        assert points.number(one) == number
        assert points.nearest(points.ordinals([number])[0].tolist(), source) == number
        for kind in ("hamming", "adjacent"):
            ours = [key(points.configuration(near)) for near in points.neighbours(number, kind)]
            if kind == "hamming":
                assert sorted(ours) == sorted(map(key, space.neighbours(one, kind)))
            else:
                assert set(ours) <= set(map(key, space.neighbours(one, "hamming")))


def test_budgets_end_a_search() -> None:
    space = drawn_space(0)
    now = [0.0]
    search = strategy("random", space, budget=SimpleNamespace(seconds=3.0), clock=lambda: now[0])
    assert len(search.ask(2)) == 2
    now[0] = 3.0
    assert search.ask(2) == []
    search = strategy("exhaustive", space, budget=SearchBudget(no_gain=3))
    for one in search.ask(4):
        search.tell(Outcome(one, {"time": 1.0}))
    assert search.ask(1) == []


def test_a_stored_outcome_is_not_asked_for() -> None:
    space = drawn_space(1)
    search = strategy("exhaustive", space)
    search.tell(Outcome(space[0], {"time": 1.0}))
    assert search.ask(1) == [space[1]]
    with pytest.raises(InputError, match="not in the space"):
        search.tell(Outcome({"p0": 10**6}, {"time": 1.0}))


def test_earlier_results_are_where_a_search_begins() -> None:
    space = from_tune_params({"a": [1, 2, 4, 8, 16, 32, 64], "b": [1, 2, 4, 8, 16, 32, 64]})
    prior = [Outcome(one, {"time": 50 * cost(one)}) for one in space]
    best = min(space, key=cost)
    assert strategy("gaussian", space, prior=prior).ask(1) == [best]
    worst = max(space, key=cost)
    assert strategy("gaussian", space, prior=[Outcome(worst, {"time": 1.0})]).ask(1) == [worst]
    misleading = [Outcome(one, {"time": 1 / cost(one)}) for one in space]
    search = strategy("gaussian", space, prior=misleading, budget=SearchBudget(evaluations=25))
    found = []
    while asked := search.ask(1):
        found += asked
        search.tell(Outcome(asked[0], {"time": cost(asked[0])}))
    assert best in found


def test_what_was_learned_is_reported() -> None:
    space = drawn_space(1)
    search = strategy("gaussian", space, budget=SearchBudget(evaluations=14))
    while asked := search.ask(1):
        search.tell(Outcome(asked[0], {"time": cost(asked[0])}))
    report: Any = search.report()
    assert len(report["predictions"]) == 6
    assert all(one["predicted"] > 0 and one["measured"] > 0 for one in report["predictions"])


def test_wrong_names_and_missing_models_are_said() -> None:
    space = drawn_space(0)
    with pytest.raises(InputError, match="did you mean 'random'"):
        strategy("randon", space)
    with pytest.raises(InputError, match="needs a model"):
        strategy("model", space)
    with pytest.raises(InputError, match="one objective"):
        strategy("gaussian", space, objective=["time", "energy"])
    with pytest.raises(InputError, match="empty"):
        strategy("random", from_tune_params({"a": [1]}, ["a > 1"]))
    with pytest.raises(InputError, match="no_gain"):
        SearchBudget(no_gain=0)


def test_hopeless_candidates_are_told() -> None:
    assert is_hopeless([2.0], [1.0, 1.1, 5.0])
    assert not is_hopeless([1.1], [1.0, 1.1, 1.2])
    assert not is_hopeless([], [1.0])


def test_neighbours_of_several_points_are_those_of_each() -> None:
    points = Points(from_tune_params({"x": [1, 2, 4, 8], "y": [0, 1, 2], "k": ["a", "b"]}, ["x + y < 9"]))
    for kind in ("hamming", "adjacent"):
        each = [points.neighbours(number, kind) for number in range(points.size)]
        found = points.all_neighbours(np.arange(points.size), kind)
        assert sorted(found.tolist()) == sorted(one for listed in each for one in listed)
        for number, listed in enumerate(each):
            mine = points.configuration(number)
            expected = [
                other
                for other in range(points.size)
                if sum(mine[n] != points.configuration(other)[n] for n in mine) == 1
            ]
            assert sorted(listed) == expected if kind == "hamming" else set(listed) <= set(expected)


def test_a_model_counts_until_it_misleads() -> None:
    from kerneltune.searching.base import SearchOptions
    from kerneltune.searching.transfer import Prior

    space = from_tune_params({"x": list(range(20))}, [])
    points = Points(space)
    for sign, holds in ((1, True), (-1, False)):
        prior = Prior(points, SearchOptions(model=lambda p: float(p["x"]) + 1))
        assert [points.configuration(number)["x"] for number in prior.best(3)] == [0, 1, 2]
        for number in range(8):
            prior.tell(number, 50.0 + sign * float(points.configuration(number)["x"]))
        offsets = prior.offsets(range(20))
        assert np.ptp(offsets) == pytest.approx(math.log(20) if holds else 0.0)
