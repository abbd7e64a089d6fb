"""The memory limit of solution sets holds while they are built, and the error says what to do."""

from __future__ import annotations

import gc
import sys
import tracemalloc
from itertools import islice, pairwise

import pytest

from constrint import LimitError, Model
from constrint.tuning.spaces import from_tune_params

MEGABYTE = 1 << 20
CHUNK_MEGABYTES = 30  # what one chunk of rows takes whatever the limit


def wide(values: int) -> Model:
    """A model with many states at once: nothing is forgotten between the first variable and the last."""
    m = Model()
    xs = [m.int_var(f"x{i}", 1, values) for i in range(5)]
    for (a, b), c in zip(pairwise(xs), xs[2:], strict=False):
        m.add((a * b + b * c + a * c) % 7 == 3)
    m.add(sum(x * x for x in xs) <= values * values)
    return m


@pytest.mark.parametrize("limit", [2, 10, 20, 80])
def test_the_limit_is_kept(limit: int) -> None:
    model = wide(50)
    tracemalloc.start()
    try:
        model.solutions(memory_limit=limit * MEGABYTE)
        built = True
    except LimitError:
        built = False
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= (limit + CHUNK_MEGABYTES) * MEGABYTE
    assert built == (limit >= 80)


def test_beyond_the_limit_solutions_come_one_by_one() -> None:
    model = wide(40)
    with pytest.raises(LimitError, match=r"more memory than its limit.*iter_solutions\(\)"):
        model.solutions(memory_limit=MEGABYTE)
    few = list(islice(model.iter_solutions(), 3))
    everything = model.solutions()
    assert all(result.values in everything for result in few)


def test_a_space_beyond_the_limit_says_what_to_give() -> None:
    params = {name: list(range(1, 60)) for name in "abcd"}
    with pytest.raises(LimitError, match="Give it more memory, or fewer values"):
        from_tune_params(params, ["(a * b + c * d) % 11 == 3", "a * c + b * d < 2000"], memory_limit=MEGABYTE)


def test_a_size_that_python_has_no_length_for() -> None:
    m = Model()
    for i in range(30):
        m.int_var(f"x{i}", 1, 10)
    solutions = m.solutions()
    assert solutions.size == 10**30 > sys.maxsize
    assert solutions[10**29 + 5]["x0"] == 2
    with pytest.raises(OverflowError, match=r"use \.size"):
        len(solutions)
    assert solutions
    assert list(islice(iter(solutions), 2))[1] == {
        **dict.fromkeys(solutions.names, 1),
        solutions.order[-1]: 2,
    }


@pytest.mark.parametrize("enabled", [True, False])
def test_listing_leaves_the_garbage_collector_as_it_was(enabled: bool) -> None:
    solutions = wide(6).solutions()
    was = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    try:
        assert len(solutions.to_tuples()) == solutions.size
        assert gc.isenabled() == enabled
        assert gc.get_freeze_count() == 0
    finally:
        (gc.enable if was else gc.disable)()
