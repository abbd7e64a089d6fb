"""Names that stand once: the first free one of name, name_2, name_3 … in order."""

from __future__ import annotations

import random

import pytest

from constrint.frontends.unique_names import each_once


@pytest.mark.parametrize("seed", range(30))
def test_each_name_is_the_first_free_one(seed: int) -> None:
    rng = random.Random(seed)
    pool = ["a", "a_2", "a_3", "b", "b_2", "b_lo", "b_2_hi"]
    names = rng.choices(pool, k=12)
    taken = rng.sample(pool, 2)
    endings = rng.choice([("",), ("", "_lo", "_hi")])
    used, expected = set(taken), []
    for name in names:
        candidates = [name, *[f"{name}_{number}" for number in range(2, 40)]]
        free = next(c for c in candidates if not any(c + ending in used for ending in endings))
        used.add(free)
        expected.append(free)
    assert each_once(names, taken, endings) == expected


def test_many_equal_names_take_one_step_each() -> None:
    assert each_once(["cap"] * 100_000)[-1] == "cap_100000"
