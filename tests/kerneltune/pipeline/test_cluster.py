"""The example of a Dask cluster: a worker that is killed loses nothing, and nothing is done twice."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "tuning" / "cluster.py"


def test_a_killed_worker_costs_nothing() -> None:
    pytest.importorskip("distributed")
    done = subprocess.run([sys.executable, EXAMPLE], capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout.splitlines() == [
        "20 of 20 configurations, 0 twice",
        "0 failed; best: {'block': 64, 'unroll': 4}",
    ]
    assert "Restarting worker" in done.stderr  # it was killed


@pytest.mark.gpu
def test_a_killed_worker_of_a_kernel_on_two_gpus_costs_nothing() -> None:
    pytest.importorskip("distributed")
    folder = EXAMPLE.parent / "reduction"
    command = [sys.executable, str(EXAMPLE), "--folder", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    assert done.stdout.startswith("60 of 60 configurations, 0 twice\n0 failed")
