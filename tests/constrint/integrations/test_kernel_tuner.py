"""The bridge to Kernel Tuner against the real package."""

from __future__ import annotations

import itertools
import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kernel_tuner.searchspace import Searchspace

from constrint.integrations import kernel_tuner as bridge
from constrint.tuning.spaces import from_tune_params

DATA = Path(__file__).parents[3] / "benchmarks" / "spaces" / "data"
PARAMS: dict[str, Any] = {
    "block_size_x": [16, 32, 64, 128, 256],
    "block_size_y": [1, 2, 4, 8, 16],
    "tile": [1, 2, 3, 4],
    "layout": ["row", "col"],
    "scale": [0.5, 1.0],
}


@pytest.fixture
def installed() -> Iterator[None]:
    bridge.install()
    yield
    bridge.uninstall()


def own(
    params: Any,
    restrictions: Any,
    max_threads: int = 1024,
) -> Searchspace:
    return Searchspace(dict(params), restrictions, max_threads)


RESTRICTIONS = [
    ["block_size_x * tile <= 256", "tile % 2 == 0 or block_size_y > 2"],
    ["block_size_y / tile % 2 == 0", "layout == 'row' or scale < 1"],
    [lambda block_size_x, tile: block_size_x * tile <= 256],
    lambda p: p["tile"] < 3 and p["block_size_x"] > 16,
    [],
]


@pytest.mark.parametrize("restrictions", RESTRICTIONS)
def test_the_same_configurations(restrictions: list[str], installed: None) -> None:
    ours = own(PARAMS, restrictions)
    bridge.uninstall()
    theirs = own(PARAMS, restrictions)
    assert ours.size == theirs.size == len(ours.list)
    assert set(ours.list) == set(theirs.list)
    assert all(ours.get_list_dict()[config] == i for i, config in enumerate(ours.list))


@pytest.mark.parametrize(
    "name", ["dedispersion", "atf_prl_4x4", "atf_prl_8x8", "gemm", "microhh", "expdist", "hotspot"]
)
def test_real_spaces_are_the_same_sets(name: str, installed: None) -> None:
    data = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
    ours = own(data["tune_params"], data["restrictions"])
    bridge.uninstall()
    theirs = own(data["tune_params"], data["restrictions"])
    assert set(ours.list) == set(theirs.list)
    assert ours.size == data["valid"]


def test_kernel_tuners_samples_and_neighbours_work(installed: None) -> None:
    space = own(PARAMS, RESTRICTIONS[0])
    sample = space.get_random_sample(10)
    assert all(space.is_param_config_valid(config) for config in sample)
    near = space.get_neighbors(sample[0], neighbor_method="Hamming")
    assert near
    assert all(sum(a != b for a, b in zip(config, sample[0], strict=True)) == 1 for config in near)


def test_objects_of_python_constraint_are_left_to_kernel_tuner(installed: None) -> None:
    from constraint import MaxSumConstraint

    params = {name: PARAMS[name] for name in ("block_size_x", "block_size_y", "tile")}
    with pytest.warns(UserWarning, match="builds this search space itself"):
        space = own(params, [MaxSumConstraint(40)])
    assert space.size
    assert all(sum(config) <= 40 for config in space.list)


def test_installing_twice_and_giving_back() -> None:
    before = Searchspace._Searchspace__build_searchspace
    bridge.install()
    bridge.install()
    assert Searchspace._Searchspace__build_searchspace is not before
    bridge.uninstall()
    bridge.uninstall()
    assert Searchspace._Searchspace__build_searchspace is before


def test_the_cache_file_is_read_without_a_patch(tmp_path: Path) -> None:
    params = {name: values for name, values in PARAMS.items() if name != "layout"}
    texts = ["block_size_x * tile <= 256", "block_size_x * block_size_y <= 1024"]
    space = from_tune_params(params, texts)
    path = tmp_path / "space.csv"
    bridge.write_cache(space, path)
    read = Searchspace(dict(params), texts, 1024, framework="ATF_cache", path_to_ATF_cache=path)
    assert read.size == space.size
    assert set(map(tuple, read.list)) == set(space.to_tuples())


def test_an_empty_space_is_empty_there_too_and_says_why() -> None:
    bridge.install()
    try:
        with pytest.warns(UserWarning, match=r"no configuration is valid: 'a \* b == 3' excludes all 4"):
            built = Searchspace({"a": [1, 2], "b": [1, 2]}, ["a * b == 3"], 1024)
    finally:
        bridge.uninstall()
    assert (built.size, built.list) == (0, [])


MIXED: dict[str, Any] = {
    "bx": [1, 2, 3, 8, 12],
    "mix": ["a", 1, None, 2.5],
    "t": [(1, 2), (4, 3)],
    "lambda": [1, 2],
    "flag": [True, False],
}


@pytest.mark.parametrize(
    "restriction",
    [
        "bx & (bx - 1) == 0",
        "bx ^ 3 > 2 and ~bx < -2",
        "bx << 1 in range(2, 20, 2)",
        "mix is None or mix == 'a'",
        "mix is not None and mix != 'a' and mix < 2",
        "t[0] == 1 and len(t) + sum(t) > bx",
        "pow(bx, 2) > max([bx, 5]) or any([flag, bx == 1])",
        "bx > 2 if flag else bx < 3",
        "all([bx > 1, max(t) < bx])",
    ],
)
def test_what_is_no_arithmetic_is_read_all_the_same(restriction: str, installed: None) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # Kernel Tuner did not have to help
        ours = own(MIXED, [restriction])
    bridge.uninstall()
    expected = {
        row
        for row in itertools.product(*MIXED.values())
        if eval(restriction, dict(zip(MIXED, row, strict=True)))  # noqa: S307 - a text of this file
    }
    assert set(ours.list) == expected
    assert len(ours.list) == ours.size == len(expected)


@pytest.mark.parametrize(
    ("params", "restrictions", "reason"),
    [
        ({"a": ["a", 1, True, 2.5], "b": [1, 2]}, ["b < 2"], "the value True twice"),
        ({"a": ["a", 1, True, 2.5]}, ["a == 'a'"], "the value True twice"),
        ({"a": [1, 2, 3]}, ["str(a).zfill(3) < '003'"], "not supported"),
        ({"a b": [1, 2], "c": [1, 2]}, ["c < 2"], "must be an identifier"),
    ],
)
def test_what_cannot_be_read_kernel_tuner_builds(
    params: dict[str, list[float | str]], restrictions: list[str], reason: str, installed: None
) -> None:
    with pytest.warns(UserWarning, match=f"Kernel Tuner builds this search space itself: .*{reason}"):
        ours = built_or_refused(params, restrictions)
    bridge.uninstall()
    assert ours == built_or_refused(params, restrictions)


def built_or_refused(
    params: dict[str, list[float | str]], restrictions: list[str]
) -> tuple[list[tuple[str]] | type[Any], dict[tuple[str], int] | str]:
    """The configurations and their places, or what Kernel Tuner says against the parameters."""
    try:
        space = own(params, restrictions)
    except ValueError as refused:
        return type(refused), str(refused.args[0])
    return space.list, space.get_list_dict()
