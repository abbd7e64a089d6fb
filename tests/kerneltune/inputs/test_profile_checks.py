"""Profiles are compared and checked: differences and doubtful values are named by their key."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from msgspec import structs

from kerneltune.inputs.checked import checked
from kerneltune.inputs.hardware import NAMING, HardwareProfile, load_profile, profile_names
from kerneltune.inputs.profile_checks import differences, doubts, profile_schema

H100 = load_profile("h100_sxm")
DOUBTFUL = {
    "warp_size": 64,
    "target": "sm_80",
    "max_threads_per_block": 1000,
    "max_threads_per_sm": 2000,
    "registers_per_sm": 1024,
    "registers_per_block": 10**6,
    "smem_per_block_optin": 233472,
    "smem_alloc_granularity": 1000,
    "boost_mhz": 1980000,
    "memory_bandwidth_gbs": 3350 * 10**9,
    "memory_bytes": 80,
    "l2_bytes": 50,
    "mma_shapes": {"fp16": [(16, 8, 16)], "int5": [(16, 8, 16)]},
    "cluster_slots": {2: 66, 4: 30, 8: 15, 16: 10**6},
}
NOT_BEFORE_HOPPER = ("cluster_max", "tma", "wgmma")


def changed(profile: HardwareProfile, **values: Any) -> HardwareProfile:
    return checked({**profile.to_json(), **values}, HardwareProfile)


@pytest.mark.parametrize("name", profile_names())
def test_no_profile_of_the_package_is_doubtful(name: str) -> None:
    assert doubts(load_profile(name)) == []


@pytest.mark.parametrize("key", sorted(DOUBTFUL))
def test_a_doubtful_value_is_named_by_its_key(key: str) -> None:
    found = doubts(changed(H100, **{key: DOUBTFUL[key]}))
    assert any(sentence.startswith(f"{key}: ") for sentence in found)


def test_capabilities_are_compared_with_the_compute_capability() -> None:
    found = doubts(changed(H100, compute_capability="6.1", target="sm_61"))
    named = {sentence.partition(":")[0] for sentence in found}
    assert named == {*NOT_BEFORE_HOPPER, "cp_async", "mma_shapes"}


@pytest.mark.parametrize(
    ("one", "two"), itertools.islice(itertools.combinations(profile_names(), 2), 0, None, 13)
)
def test_differences_turn_one_profile_into_the_other(one: str, two: str) -> None:
    first, second = load_profile(one), load_profile(two)
    data = first.to_json()
    for item in differences(first, second):
        head, _, cost = item.key.partition(".")
        place, key = (data["cost"], cost) if cost else (data, head)
        assert place.get(key) == item.first
        if item.second is None:
            del place[key]
        else:
            place[key] = item.second
    naming = {key: getattr(second, key) for key in NAMING}
    assert checked({**data, **naming}, HardwareProfile) == second


def test_a_profile_does_not_differ_from_itself() -> None:
    assert differences(H100, H100) == []
    (clock,) = differences(H100, changed(H100, boost_mhz=990))
    assert (clock.key, clock.ratio) == ("boost_mhz", 0.5)


def test_the_schema_asks_for_what_the_reader_asks_for() -> None:
    schema = profile_schema()
    needed, based = (set(choice["required"]) for choice in schema["anyOf"])
    assert needed == {field.name for field in structs.fields(HardwareProfile) if field.required}
    assert based == {"name", "title", "based_on"}
    assert set(schema["properties"]) == set(HardwareProfile.__struct_fields__)
    assert schema["additionalProperties"] is False
