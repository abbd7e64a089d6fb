import re
from pathlib import Path

import pytest

from kerneltune.errors import InputError
from kerneltune.inputs.folders import data_folder
from kerneltune.inputs.hardware import load_profile, profile_names
from kerneltune.tiling.occupancy import blocks_per_sm

T4 = (data_folder("hardware_profiles") / "t4.yaml").read_text(encoding="utf-8")


def write(folder: Path, text: str) -> str:
    path = folder / "t4.yaml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def message(folder: Path, text: str) -> str:
    with pytest.raises(InputError) as caught:
        load_profile(write(folder, text))
    return str(caught.value).removeprefix(f"{folder / 't4.yaml'}:")


def line_of(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


def test_all_profiles_load() -> None:
    assert {"a100_sxm_80gb", "b200_sxm", "h100_sxm", "h200_sxm", "rtx_4090", "t4"} < set(profile_names())
    for name in profile_names():
        assert load_profile(name).name == name


def test_a_profile_says_what_differs_from_its_base(tmp_path: Path) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_text(
        "name: mine\ntitle: Mine\nbased_on: t4\nsm_count: 30\ncost:\n  grid_step_cycles: 77\n", "utf-8"
    )
    mine_profile, t4 = load_profile(str(mine)), load_profile("t4")
    assert mine_profile.cost == {**t4.cost, "grid_step_cycles": 77}
    assert mine_profile.to_json() == {
        **t4.to_json(),
        "name": "mine",
        "title": "Mine",
        "based_on": "t4",
        "sm_count": 30,
        "cost": mine_profile.cost,
    }


def test_a_profile_may_have_the_name_of_its_base(tmp_path: Path) -> None:
    mine = tmp_path / "t4.yaml"
    mine.write_text("name: t4\ntitle: Mine\nbased_on: t4\nsm_count: 30\n", "utf-8")
    assert load_profile(str(mine)).sm_count == 30


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("title: Mine\nbased_on: t5\n", "mine.yaml: based_on: unknown GPU 't5': did you mean 't4'?"),
        ("title: Mine\nbased_on: mine\n", "mine.yaml: based_on: 'mine' is itself based on 'mine'"),
        ("title: Mine\nbased_on: a10\n", "mine.yaml: based_on: 'a10' is itself based on 'rtx_4090'"),
        ("title: Mine\nbased_on: 4\n", "mine.yaml:3:1: based_on: expected text or null, found 4"),
        ("based_on: t4\n", "mine.yaml:1:1: missing key 'title'"),
        ("title: Mine\nbased_on: t4\nsm_coutn: 3\n", "mine.yaml:4:1: unknown key 'sm_coutn'"),
        ("title: Mine\nbased_on: t4\ncost: 3\n", "mine.yaml:4:1: cost: expected keys and values, found 3"),
        ("title: Mine\nbased_on: t4\nsmem_per_sm: 3\n", "mine.yaml:1:1: smem_per_block_optin: exceeds"),
    ],
)
def test_what_is_wrong_with_a_base_has_a_place(tmp_path: Path, text: str, what: str) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_text("name: mine\n" + text, "utf-8")
    with pytest.raises(InputError) as caught:
        load_profile(str(mine))
    assert what in str(caught.value)


def test_a_wrong_base_is_named_by_its_own_place(tmp_path: Path) -> None:
    (tmp_path / "t4.yaml").write_text(T4.replace("sm_count: 40", "sm_count: 0"), "utf-8")
    mine = tmp_path / "mine.yaml"
    mine.write_text("name: mine\ntitle: Mine\nbased_on: t4\nsm_count: 30\n", "utf-8")
    with pytest.raises(InputError, match=r"t4\.yaml:\d+:1: sm_count: expected a whole number >= 1"):
        load_profile(str(mine))


def test_cluster_sizes_beyond_a_gpus_own_have_no_slots() -> None:
    constants = load_profile("rtx_5090").constants("bf16")
    assert (constants["cluster_slots_8"], constants["cluster_slots_16"]) == (19, 0)


def test_profiles_price_the_same_things() -> None:
    costs = {name: set(load_profile(name).cost) for name in profile_names()}
    for name, found in costs.items():
        if load_profile(name).cluster_max > 1:
            assert found >= costs["t4"], name
        else:
            assert found <= costs["h100_sxm"], name


def test_capabilities_and_constants() -> None:
    h100, t4 = load_profile("h100_sxm"), load_profile("t4")
    assert h100.capabilities["cluster"] == 1
    assert t4.capabilities["cluster"] == 0
    assert h100.constants("bf16")["mma_k"] == 16
    assert t4.constants("fp16")["mma_k"] == 8
    assert t4.mma_depth("bf16") == 0
    assert h100.constants("bf16")["tma"] == 1
    assert h100.constants("bf16")["smem_per_block_optin"] == 232448
    assert h100.constants("bf16")["smem_bytes_per_cycle"] == 128
    assert "cluster" not in h100.constants("bf16")  # a tiling defines that name
    assert h100.microseconds(1980) == 1.0


def test_unknown_gpu_names_the_nearest() -> None:
    with pytest.raises(InputError, match=r"unknown GPU 'h100': did you mean 'h100_sxm'"):
        load_profile("h100")


def test_unknown_key_has_place_and_nearest(tmp_path: Path) -> None:
    text = T4.replace("sm_count: 40", "sm_coutn: 40")
    assert f"{line_of(text, 'sm_coutn')}:1: unknown key 'sm_coutn': did you mean 'sm_count'?" in message(
        tmp_path, text
    )


def test_missing_key_is_named(tmp_path: Path) -> None:
    assert "missing key 'sm_count'" in message(tmp_path, T4.replace("sm_count: 40\n", ""))


def test_duplicate_key_has_place(tmp_path: Path) -> None:
    text = T4.replace("boost_mhz: 1590", "boost_mhz: 1590\nsm_count: 41")
    assert message(tmp_path, text).startswith(
        f'{line_of(text, "sm_count: 41")}:1: found duplicate key "sm_count"'
    )


def test_malformed_yaml_has_place(tmp_path: Path) -> None:
    text = T4.replace("sm_count: 40", "sm_count: [40")
    line = int(message(tmp_path, text).split(":")[0])
    assert line in (line_of(text, "sm_count: ["), line_of(text, "sm_count: [") + 1)
    assert "not valid YAML" in message(tmp_path, text)


@pytest.mark.parametrize(
    ("before", "after", "place", "what"),
    [
        ("sm_count: 40", "sm_count: -4", "sm_count", "expected a whole number >= 1, found -4"),
        ("sm_count: 40", 'sm_count: "40"', "sm_count", "expected a whole number, found '40'"),
        ("cp_async: false", "cp_async: 3", "cp_async", "expected true or false, found 3"),
        ("[16, 8, 8]", "[16, 8]", "fp16", "mma_shapes.fp16.0"),
        ("cost:", "cost:\n  latency: slow", "latency", "cost.latency"),
        ("cost:", "cost:\n  Latency-1: 64", "cost", "is not a valid name"),
        ("cost:", "cost:\n  sm_count: 64", "cost", "already a limit"),
        ("max_registers_per_thread: 255", "max_registers_per_thread: 256", "max_registers", "255"),
    ],
)
def test_bad_value_has_place(tmp_path: Path, before: str, after: str, place: str, what: str) -> None:
    text = T4.replace(before, after)
    found = message(tmp_path, text)
    assert found.startswith(f"{line_of(text, place)}:"), found
    assert what in found


def test_limits_must_agree(tmp_path: Path) -> None:
    found = message(tmp_path, T4.replace("smem_per_block_optin: 65536", "smem_per_block_optin: 65537"))
    assert found.endswith("smem_per_block_optin: exceeds smem_per_sm, which is 65536")


@pytest.mark.parametrize("text", ["", "- 1\n- 2\n", "3\n"])
def test_no_mapping_at_all(tmp_path: Path, text: str) -> None:
    assert "expected keys and values" in message(tmp_path, text)


def test_every_error_of_a_file_is_listed(tmp_path: Path) -> None:
    found = message(tmp_path, T4.replace("sm_count: 40", "sm_count: 0").replace("tma: false", "tmaa: false"))
    assert "sm_count" in found
    assert "unknown key 'tmaa'" in found
    assert "missing key 'tma'" in found


def test_name_must_be_the_file_name(tmp_path: Path) -> None:
    assert "the file is called 't4'" in message(tmp_path, T4.replace("name: t4", "name: t5"))


@pytest.mark.parametrize(
    ("before", "after", "place", "what"),
    [
        ("cluster_max_portable: 1", "cluster_max_portable: 99", "cluster_max_p", "exceeds cluster_max"),
        ("cp_async", "cluster_slots: {2: 66}\ncp_async", "cluster_slots", "up to cluster_max and no others"),
        ("max_threads_per_block: 1024", "max_threads_per_block: 2048", "max_threads_per_b", "exceeds"),
    ],
)
def test_keys_that_disagree_have_the_place_of_one(
    tmp_path: Path, before: str, after: str, place: str, what: str
) -> None:
    text = T4.replace(before, after)
    found = message(tmp_path, text)
    assert found.startswith(f"{line_of(text, place)}:1: {place}"), found
    assert what in found
    assert "found" not in found  # not the whole profile
    assert "\n" not in found


@pytest.mark.parametrize(
    "value", ["9" * 5000, "!!int many", "!!bool perhaps", "!!timestamp 2020-01-02", "!x 3"]
)
def test_values_that_python_refuses_have_a_place(tmp_path: Path, value: str) -> None:
    text = T4.replace("sm_count: 40", f"sm_count: {value}")
    found = message(tmp_path, text)
    assert found.startswith(f"{line_of(text, 'sm_count')}:11: not valid YAML: "), found


def test_nesting_without_end_has_a_place(tmp_path: Path) -> None:
    text = T4 + "more: " + "[" * 1000
    # The parser may meet a bound of its own first, further along the line.
    assert re.match(rf"{line_of(text, 'more: ')}:\d+: nested too deep", message(tmp_path, text))


@pytest.mark.parametrize("depth", [1, 32])
def test_only_depths_that_kernels_have(tmp_path: Path, depth: int) -> None:
    found = message(tmp_path, T4.replace("[[16, 8, 8]]", f"[[16, 8, {depth}]]"))
    assert f"fp16 has k = 8 or 16 in products of 16 rows by 8 columns, not {depth}" in found


def test_products_of_other_dtypes_are_no_matter(tmp_path: Path) -> None:
    text = T4.replace("[[16, 8, 8]]", "[[16, 8, 8], [8, 8, 4]]\n  int8: [[16, 8, 32]]")
    assert load_profile(write(tmp_path, text)).mma_depth("fp16") == 8


def test_numbers_have_an_end(tmp_path: Path) -> None:
    found = message(tmp_path, T4.replace("sm_count: 40", f"sm_count: {10**23}"))
    assert "sm_count: expected a whole number <= 9223372036854775807" in found


def test_a_path_without_the_suffix_is_no_name(tmp_path: Path) -> None:
    path = tmp_path / "t4.txt"
    path.write_text(T4, encoding="utf-8")
    with pytest.raises(InputError, match=r"t4\.txt: a profile's path must end in \.yaml"):
        load_profile(str(path))


def test_unreadable_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read"):
        load_profile(str(tmp_path / "absent.yaml"))


@pytest.mark.parametrize(
    ("gpu", "threads", "registers", "shared", "blocks"),
    [
        # Worked out by hand from the allocation rules: registers in units of 256 a warp from four parts,
        # shared memory in units of 128 bytes after one reserved kilobyte.
        ("h100_sxm", 256, 32, 0, 8),
        ("h100_sxm", 256, 255, 0, 1),
        ("h100_sxm", 288, 200, 0, 0),
        ("h100_sxm", 128, 255, 0, 2),
        ("h100_sxm", 32, 32, 232448, 1),
        ("h100_sxm", 32, 32, 115712, 2),
        ("h100_sxm", 32, 32, 115713, 1),
        ("h100_sxm", 32, 32, 232449, 0),
        ("h100_sxm", 32, 16, 0, 32),
        ("h100_sxm", 1024, 64, 0, 1),
        ("h100_sxm", 1024, 65, 0, 0),
        ("t4", 1024, 32, 0, 1),
        ("rtx_4090", 1024, 32, 0, 1),
        ("a100_sxm_80gb", 512, 40, 0, 3),
    ],
)
def test_occupancy(gpu: str, threads: int, registers: int, shared: int, blocks: int) -> None:
    assert blocks_per_sm(load_profile(gpu), threads, registers, shared) == blocks
