"""Costs by micro-benchmarks: the kernels compile everywhere, and times become costs and a profile's file."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from kerneltune.cli.main import app
from kerneltune.compiling.nvrtc import Job, compile_job
from kerneltune.inputs.hardware import HardwareProfile, load_profile
from kerneltune.running import detect
from kerneltune.running.detect import Detected, DeviceFacts
from kerneltune.tuning import micro

H100 = load_profile("h100_sxm")
CLOCK = H100.boost_mhz * 1e3  # cycles in a millisecond


def pretended(
    entry: str, profile: HardwareProfile, blocks: int, block: int, expected: Any, **given: Any
) -> float:
    """Times of a GPU with round figures."""
    values, defines = given["arguments"][0].value, given.get("defines", {})
    if entry == "copy":
        return float(2 * values.nbytes / (3000 * 1e6))
    if entry == "read":
        moved = values.nbytes * defines["PASSES"]
        return float(moved / (2800 * CLOCK) if defines["PASSES"] > 1 else moved / (3015 * 1e6))
    if entry == "shared":
        return float(2 * 1024 * 16 * defines["PASSES"] / (120 * CLOCK))
    per_part = defines["WARPS"] * defines["CHAINS"] / profile.sm_sub_partitions
    return float(defines["PASSES"] * max(33.0, 4.5 * per_part) / CLOCK)


def test_times_become_costs() -> None:
    costs, copied = micro.measured_costs(H100, pretended)
    assert copied == pytest.approx(3000)
    assert costs == {
        "scan_memory_percent": 90,
        "stream_percent": 90,
        "l2_stream_bytes_per_cycle": 2800,
        "smem_bytes_per_cycle": 120,
        "mma_centicycles_each": 450,
        "mma_latency_centicycles": 3300,
    }


def test_expected_results_are_exact_in_float32() -> None:
    seen = []

    def noted(*shape: Any, **given: Any) -> float:
        seen.append(np.asarray(shape[4], np.float64).max())
        return 1.0

    micro.measured_costs(H100, noted)
    assert len(seen) == 8
    assert max(seen) < 2**24


@pytest.mark.parametrize("target", ["sm_80", "sm_90a", "sm_120"])
def test_the_kernels_compile(target: str) -> None:
    pytest.importorskip("cuda.bindings.nvrtc")
    names = ("read", "copy", "shared", "product")
    macros = "#define PASSES 9\n#define UNROLL 4\n#define WARPS 8\n#define CHAINS 4\n"
    built = compile_job(Job(macros + micro.SOURCE.read_text(), target, names), None)
    assert len(built.lowered) == 4


def test_every_kernel_compiles_with_what_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file's kernels compile together: one's macros must not be missing where another is measured."""
    pytest.importorskip("cuda.bindings.nvrtc")
    entries: list[Any] = []

    def compiled(source: Path, **given: Any) -> Any:
        first = {name: values[0] for name, values in given["params"].items()}
        macros = "".join(f"#define {name} {value}\n" for name, value in (first | given["defines"]).items())
        built = compile_job(Job(macros + source.read_text(), "sm_90a", (given["entry"],)), None)
        entries.extend(built.lowered)
        return SimpleNamespace(best=SimpleNamespace(time=1.0))

    monkeypatch.setattr(micro, "tune", compiled)
    micro.measured_costs(H100)
    assert len(entries) == 8


def written(detected: Detected, path: Path) -> HardwareProfile:
    costs, copied = micro.measured_costs(H100, pretended)
    path.write_text(micro.written_profile(detected, path.stem, costs, copied, "a test"))
    return load_profile(str(path))


def facts(**changed: Any) -> DeviceFacts:
    names = DeviceFacts.__dataclass_fields__
    own = {name: getattr(H100, name) for name in names if name != "name"}
    return DeviceFacts(**{"name": "NVIDIA: X", **own, **changed})


def test_a_written_profile_has_what_was_measured_and_the_rest_of_the_nearest(tmp_path: Path) -> None:
    found = written(Detected(facts(), "h100_sxm", None), tmp_path / "mine.yaml")
    assert found.cost["smem_bytes_per_cycle"] == 120
    assert found.cost["grid_step_cycles"] == H100.cost["grid_step_cycles"]
    assert found.memory_bandwidth_gbs == H100.memory_bandwidth_gbs
    other = written(Detected(facts(sm_count=100), None, "h100_pcie"), tmp_path / "other.yaml")
    assert (other.sm_count, other.title, other.memory_bandwidth_gbs) == (100, "NVIDIA: X", 3000)
    near = load_profile("h100_pcie")
    assert other.boost_mhz == near.boost_mhz


def test_shares_of_the_bandwidth_follow_it(tmp_path: Path) -> None:
    """Where no data sheet tells the bandwidth, a copy's stands for it, and the shares are of that."""
    found = written(Detected(facts(sm_count=100), None, "h100_sxm"), tmp_path / "other.yaml")
    assert found.cost["scan_memory_percent"] in (100, 101)
    text = (tmp_path / "other.yaml").read_text()
    assert re.search(r"^sm_count: 100$", text, re.M)


def test_the_command_writes_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detect, "detect", lambda: Detected(facts(), "h100_sxm", None))
    monkeypatch.setattr(micro, "_fastest", pretended)
    path = tmp_path / "mine.yaml"
    done = CliRunner().invoke(app, ["profile", "detect", "--write", str(path)])
    assert done.exit_code == 0, done.output
    assert load_profile(str(path)).cost["mma_centicycles_each"] == 450
    for wrong, said in ((path, "exists"), (tmp_path / "mine.txt", "must end in .yaml")):
        done = CliRunner().invoke(app, ["profile", "detect", "--write", str(wrong)])
        assert done.exit_code == 2
        assert said in done.output


@pytest.mark.gpu
def test_costs_of_this_gpu_are_plausible() -> None:
    found = detect.detect()
    profile = load_profile(str(found.profile or found.nearest))
    costs, _ = micro.measured_costs(profile)
    assert 50 <= costs["scan_memory_percent"] <= 110
    assert 32 <= costs["smem_bytes_per_cycle"] <= 140
    assert costs["mma_latency_centicycles"] > costs["mma_centicycles_each"] > 100
