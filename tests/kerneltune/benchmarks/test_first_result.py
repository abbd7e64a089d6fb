"""benchmarks/tuning/first_result.py without a GPU: its rows, and a run that fails is named."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "tuning" / "first_result.py"


def test_moments_and_ratios_of_pretended_compilations(tmp_path: Path) -> None:
    out = tmp_path / "rows.json"
    words = ["--pretended", "0.2", "--workers", "1", "--seeds", "1", "--out", str(out)]
    subprocess.run([sys.executable, str(SCRIPT), *words], check=True, timeout=250, capture_output=True)
    (row,) = json.loads(out.read_text())["rows"]
    assert row["alone"] == 0.2
    assert row["compile_seconds"] >= 0.2
    assert row["compiling_began"] < row["compiled"] <= row["first_result"]
    took = row["first_result"] - row["compiling_began"]
    assert row["ratio"] == pytest.approx(took / row["compile_seconds"], rel=0.01)
    assert row["ratio"] >= 1.0


def test_an_example_needs_a_gpu(tmp_path: Path) -> None:
    from kerneltune.errors import KernelTuneError
    from kerneltune.running.detect import detect

    try:
        detect()
    except KernelTuneError:
        words = ["--only", "transpose", "--seeds", "1"]
        done = subprocess.run(
            [sys.executable, str(SCRIPT), *words], check=True, timeout=250, capture_output=True
        )
        assert b"--run transpose 0 failed:" in done.stdout
        return
    pytest.skip("there is a GPU")
