"""benchmarks/tuning/three.py without a GPU: what it runs, what it leaves out, and its table."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from kerneltune.inputs.hardware import load_profile
from kerneltune.sources.folder import read_folder
from kerneltune.tuning.compiling import compilations

ROOT = Path(__file__).parents[3]
SCRIPT = ROOT / "benchmarks" / "tuning" / "three.py"


def ran(out: Path, *more: str) -> str:
    command = [sys.executable, str(SCRIPT), "--out", str(out), *more]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout


def test_the_table_says_what_was_measured(tmp_path: Path) -> None:
    recorded = {
        "space": 446,
        "tried": 440,
        "failed": 2,
        "seconds": 15.62,
        "time": 0.2,
        "objectives": {"gbs": 2100.0},
    }
    (tmp_path / "exhaustive_stencil.json").write_text(json.dumps(recorded))
    for seed, hit in enumerate(
        [{"evaluations": 7, "seconds": 1.5}, None, {"evaluations": 9, "seconds": 1.9}]
    ):
        one = {"to_5_percent": hit, "evaluations": 60}
        (tmp_path / f"ours_stencil_{seed}.json").write_text(json.dumps(one))
    (tmp_path / "failed_kernel-tuner_stencil.txt").write_text("no cupy")
    said = ran(tmp_path, "--table", "--only", "stencil", "transpose").splitlines()
    assert said[2] == (
        "| stencil | 440 of 446 | 2 | 15.6 s | 0.2 ms, 2,100 GB/s | 7, not in 60, 9: 1.7 s | failed |  |"
    )
    assert said[3].startswith("| transpose | not recorded")


def test_what_fails_is_named_and_the_others_go_on(tmp_path: Path) -> None:
    from kerneltune.running.detect import detect

    try:
        detect()
        pytest.skip("there is a GPU")
    except Exception:  # no driver: each step fails by its own message
        said = ran(tmp_path, "--only", "transpose", "--seconds", "1", "--seeds", "1")
    assert "exhaustive transpose failed" in said
    assert "kernel-tuner transpose failed" in said
    assert (tmp_path / "failed_ours_transpose.txt").read_text()


@pytest.mark.parametrize("name", ["transpose", "stencil"])
def test_the_kernels_compile_and_can_be_launched(name: str) -> None:
    described = read_folder(ROOT / "examples" / "tuning" / name, with_arrays=False).description
    kernel = described.kernel(load_profile("h100_sxm"))
    assert kernel.space.size > 200
    for one in compilations(kernel, kernel.space.sample(4, seed=1), workers=1):
        assert one.passed, one
        assert one.resources["blocks_per_sm"] >= 1
