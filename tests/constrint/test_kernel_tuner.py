"""The bridge to Kernel Tuner against the real package."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from kernel_tuner.searchspace import Searchspace

from constrint.integrations import kernel_tuner as bridge
from constrint.tuning.spaces import from_tune_params

DATA = Path(__file__).parents[2] / "benchmarks" / "spaces" / "data"
PARAMS = {
    "block_size_x": [16, 32, 64, 128, 256],
    "block_size_y": [1, 2, 4, 8, 16],
    "tile": [1, 2, 3, 4],
    "layout": ["row", "col"],
    "scale": [0.5, 1.0],
}


@pytest.fixture
def installed():
    bridge.install()
    yield
    bridge.uninstall()


def own(params, restrictions, max_threads=1024):
    return Searchspace(dict(params), restrictions, max_threads)


RESTRICTIONS = [
    ["block_size_x * tile <= 256", "tile % 2 == 0 or block_size_y > 2"],
    ["block_size_y / tile % 2 == 0", "layout == 'row' or scale < 1"],
    [lambda block_size_x, tile: block_size_x * tile <= 256],
    lambda p: p["tile"] < 3 and p["block_size_x"] > 16,
    [],
]


@pytest.mark.parametrize("restrictions", RESTRICTIONS)
def test_the_same_configurations(restrictions, installed):
    ours = own(PARAMS, restrictions)
    bridge.uninstall()
    theirs = own(PARAMS, restrictions)
    assert ours.size == theirs.size == len(ours.list)
    assert set(ours.list) == set(theirs.list)
    assert all(ours.get_list_dict()[config] == i for i, config in enumerate(ours.list))


@pytest.mark.parametrize(
    "name", ["dedispersion", "atf_prl_4x4", "atf_prl_8x8", "gemm", "microhh", "expdist", "hotspot"]
)
def test_real_spaces_are_the_same_sets(name, installed):
    data = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
    ours = own(data["tune_params"], data["restrictions"])
    bridge.uninstall()
    theirs = own(data["tune_params"], data["restrictions"])
    assert set(ours.list) == set(theirs.list)
    assert ours.size == data["valid"]


def test_kernel_tuners_samples_and_neighbours_work(installed):
    space = own(PARAMS, RESTRICTIONS[0])
    sample = space.get_random_sample(10)
    assert all(space.is_param_config_valid(config) for config in sample)
    near = space.get_neighbors(sample[0], neighbor_method="Hamming")
    assert near
    assert all(sum(a != b for a, b in zip(config, sample[0], strict=True)) == 1 for config in near)


def test_objects_of_python_constraint_are_left_to_kernel_tuner(installed):
    from constraint import MaxSumConstraint

    params = {name: PARAMS[name] for name in ("block_size_x", "block_size_y", "tile")}
    with pytest.warns(UserWarning, match="builds this search space itself"):
        space = own(params, [MaxSumConstraint(40)])
    assert space.size
    assert all(sum(config) <= 40 for config in space.list)


def test_installing_twice_and_giving_back():
    before = Searchspace._Searchspace__build_searchspace
    bridge.install()
    bridge.install()
    assert Searchspace._Searchspace__build_searchspace is not before
    bridge.uninstall()
    bridge.uninstall()
    assert Searchspace._Searchspace__build_searchspace is before


def test_the_cache_file_is_read_without_a_patch(tmp_path):
    params = {name: values for name, values in PARAMS.items() if name != "layout"}
    texts = ["block_size_x * tile <= 256", "block_size_x * block_size_y <= 1024"]
    space = from_tune_params(params, texts)
    path = tmp_path / "space.csv"
    bridge.write_cache(space, path)
    read = Searchspace(dict(params), texts, 1024, framework="ATF_cache", path_to_ATF_cache=path)
    assert read.size == space.size
    assert set(map(tuple, read.list)) == set(space.to_tuples())


def test_an_empty_space_is_empty_there_too_and_says_why():
    bridge.install()
    try:
        with pytest.warns(UserWarning, match=r"no configuration is valid: 'a \* b == 3' excludes all 4"):
            built = Searchspace({"a": [1, 2], "b": [1, 2]}, ["a * b == 3"], 1024)
    finally:
        bridge.uninstall()
    assert (built.size, built.list) == (0, [])
