"""Sets built and listed by threads and executors equal those built alone: same solutions, same numbers."""

from __future__ import annotations

import json
import multiprocessing
import random
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from constrint import LimitError, Model, ModelError, divides
from constrint.diagrams import parallel_build as parallel
from constrint.settings import DEFAULT, using
from constrint.solutions.solutionset import SolutionSet
from constrint.tuning.spaces import from_tune_params

PARAMS: dict[str, Any] = {
    "block": [16, 32, 64, 128, 256],
    "tile": [1, 2, 3, 4, 8],
    "scale": [0.25, 0.5, 1.0, 2],
    "layout": ["row", "col", None],
    "vector": [1, 2, 4],
    "cached": [False, True],
}
TEXTS = [
    "block * tile * scale <= 256",
    "layout != 'row' or tile % vector == 0",
    "not cached or block / vector >= 32",
]


@pytest.fixture(autouse=True)
def everything_is_large() -> Iterator[None]:
    with using(DEFAULT.with_fields(building={"least_rows": 0, "chunk": 200, "listed": 500})):
        yield


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        yield pool


@pytest.fixture(scope="module")
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(3) as pool:
        yield pool


def tiles() -> Model:
    m = Model()
    bm, bn = (m.int_var(name, 8, 96, step=8) for name in ("bm", "bn"))
    wm, wn = (m.int_var(name, 1, 96) for name in ("wm", "wn"))
    stages, count = m.int_var("stages", 1, 5), m.int_var("count", 1, 64)
    m.add(divides(wm, bm), divides(wn, bn), count == (bm // wm) * (bn // wn))
    m.add(stages * (bm + bn) <= 400, m.let("room", wm * wn + 8 * wm) <= 900)
    m.int_var("free", -2, 2)
    return m


def random_model(seed: int) -> Model:
    draw = random.Random(seed)
    m = Model()
    xs = [m.int_var(f"x{i}", draw.randint(-6, 0), draw.randint(1, 9)) for i in range(draw.randint(3, 6))]
    scale = draw.choice([1, 1, 10**19])
    for a, b in pairwise(xs):
        c = draw.choice(xs)
        m.add((a * b + draw.randint(1, 5) * c) * scale % (7 * scale) != draw.randint(0, 6) * scale)
    m.add(sum(draw.randint(-3, 3) * x for x in xs) <= draw.randint(0, 20))
    return m


def same(one: SolutionSet, other: Any) -> None:
    assert one.order == other.order
    assert one.size == other.size
    assert list(one) == list(other)
    assert all(one[number] == other[number] for number in range(0, one.size, max(1, one.size // 20)))


@pytest.mark.parametrize("seed", range(16))
def test_random_models_by_threads_and_by_shares(seed: int, threads: ThreadPoolExecutor) -> None:
    model = random_model(seed)
    alone = model.solutions()
    same(model.solutions(workers=3), alone)
    same(model.solutions(executor=threads, workers=3), alone)


def test_a_share_for_every_node_or_for_none(threads: ThreadPoolExecutor) -> None:
    model = tiles()
    alone = model.solutions()
    for workers in (1, 2, 50):
        same(model.solutions(executor=threads, workers=workers), alone)


def test_models_in_processes(processes: ProcessPoolExecutor) -> None:
    model = tiles()
    same(model.solutions(executor=processes), model.solutions())
    nothing = Model()
    x, y, z = (nothing.int_var(name, 1, 40) for name in "xyz")
    nothing.add(x * y * z % 7 == 3, x * x + y * y + z * z == 7 * x * y * z + 5, x + y != z)
    assert nothing.solutions(executor=processes, workers=2).size == nothing.solutions().size


def test_great_numbers_in_processes(processes: ProcessPoolExecutor) -> None:
    m = Model()
    x, y = m.int_var("x", 2**70, 2**70 + 40), m.int_var("y", -(2**65), -(2**65) + 30)
    z = m.int_var("z", 0, 50)
    m.add((x * y + z) % 11 == 4, x + z != 2**70 + 45)
    alone = m.solutions()
    built = m.solutions(executor=processes, workers=2)
    same(built, alone)
    assert np.array_equal(built.to_numpy(executor=processes, workers=2), alone.to_numpy())


def test_spaces_in_processes_and_threads(processes: Any) -> None:
    alone = from_tune_params(PARAMS, TEXTS)
    traced = [lambda block, tile, scale: block * tile * scale <= 256, *TEXTS[1:]]
    for built in (
        from_tune_params(PARAMS, TEXTS, executor=processes, workers=2),
        from_tune_params(PARAMS, traced, executor=processes, workers=2),  # type: ignore[arg-type]
        from_tune_params(PARAMS, TEXTS, workers=2),
    ):
        assert built.size == alone.size
        assert sorted(map(repr, built)) == sorted(map(repr, alone))
    same(from_tune_params(PARAMS, TEXTS, executor=processes, workers=2), alone)


def test_listing_by_many_is_listing_alone(processes: ProcessPoolExecutor) -> None:
    for solutions in (tiles().solutions(), from_tune_params(PARAMS, TEXTS), random_model(3).solutions()):
        alone = solutions.to_numpy()
        for given in ({"workers": 1}, {"workers": 3}, {"executor": processes}):
            table = solutions.to_numpy(**given)
            assert table.dtype == alone.dtype
            assert np.array_equal(table, alone)
            chunks = list(solutions.iter_chunks(300, **given))
            assert max(map(len, chunks)) <= 300
            assert np.array_equal(np.concatenate(chunks), alone)
            columns = [chunk[solutions.names[0]] for chunk in solutions.iter_columns(300, **given)]
            assert np.concatenate(columns).tolist() == solutions.to_columns()[solutions.names[0]].tolist()


def test_dask_with_two_worker_processes() -> None:
    from distributed import Client, LocalCluster

    cluster = LocalCluster(  # type: ignore[no-untyped-call]
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    )
    with cluster, Client(cluster) as client:  # type: ignore[no-untyped-call]
        executor = client.get_executor()
        model = tiles()
        built = model.solutions(executor=executor, workers=2)
        same(built, model.solutions())
        assert np.array_equal(built.to_numpy(executor=executor, workers=2), built.to_numpy())
        space = from_tune_params(PARAMS, TEXTS, executor=executor, workers=2)
        same(space, from_tune_params(PARAMS, TEXTS))


def test_an_iteration_that_is_left_lets_the_rest_go(threads: ThreadPoolExecutor) -> None:
    chunks = tiles().solutions().iter_chunks(10, executor=threads, workers=3)
    assert len(next(chunks)) == 10
    chunks.close()  # type: ignore[attr-defined]


# What does not work says why


def opaque(p: dict[Any, Any]) -> bool:
    return {16: True, 32: False}.get(int(p["block"]), True)


def test_what_cannot_be_sent_is_named(threads: Any) -> None:
    with pytest.raises(ModelError, match="restriction 1 can only be called"):
        from_tune_params(PARAMS, [opaque], executor=threads)
    with pytest.raises(ModelError, match=r"'shape' has the value \(1, 2\)"):
        from_tune_params({"shape": [(1, 2), (2, 1)], "tile": [1, 2]}, ["tile < 2"], executor=threads)
    assert from_tune_params(PARAMS, [opaque], workers=2).size == from_tune_params(PARAMS, [opaque]).size


@pytest.mark.parametrize("workers", [0, -1, True, 1.5, "2"])
def test_numbers_of_workers(workers: int) -> None:
    with pytest.raises(ModelError, match="number of workers"):
        tiles().solutions(workers=workers)


@pytest.mark.parametrize("way", ["threads", "executor"])
def test_limits_hold_for_all_workers_together(way: str, threads: ThreadPoolExecutor) -> None:
    given = {"workers": 2} if way == "threads" else {"workers": 2, "executor": threads}
    with pytest.raises(LimitError, match="memory"):
        tiles().solutions(memory_limit=20_000, **given)
    with pytest.raises(LimitError, match="time limit"):
        tiles().solutions(time_limit=1e-9, **given)


class Broken(Executor):
    """An executor whose workers end before they answer."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        future: Any = Future()
        future.set_exception(BrokenExecutor("killed"))
        return future


def test_a_worker_that_dies_is_a_clear_error() -> None:
    with pytest.raises(LimitError, match="a worker ended before its answer"):
        tiles().solutions(executor=Broken(), workers=2)


def test_a_worker_of_another_version_is_told_apart(threads: ThreadPoolExecutor) -> None:
    tasks = []

    class Listening(Executor):
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
            tasks.append((fn, *args))
            return threads.submit(fn, *args, **kwargs)

    tiles().solutions(executor=Listening(), workers=1)
    function, text = tasks[0]
    assert function is parallel.build_share
    assert function(text).startswith(b"PK")
    with pytest.raises(ModelError, match=r"the worker has constrint .* and its caller 0\.0\.1"):
        function(json.dumps({**json.loads(text), "version": "0.0.1"}))
