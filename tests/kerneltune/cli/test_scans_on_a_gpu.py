"""On a machine with an H100: `kerneltune run` and `tune` of every scan, as a user calls them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.gpu
SIZES = ["--batch", "2", "--steps", "2048", "--channels", "256", "--gpu", "h100_sxm", "--seed", "7", "--json"]
SCANS = ["scan", "mingru", "minlstm", "diag_gru", "diag_lstm"]


def answered(*words: str) -> dict[str, Any]:
    """The JSON of a command that succeeds."""
    done = subprocess.run(
        [sys.executable, "-m", "kerneltune", *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("cell", SCANS)
def test_the_best_tilings_run_and_are_right(cell: str, direction: str) -> None:
    found = answered("run", cell, *SIZES, "--pass", direction, "--top", "3", "--timed", "5")
    assert found["status"] == "passed"
    assert len(found["outcomes"]) == 3
    for outcome in found["outcomes"]:
        assert outcome["passed"], outcome
        assert outcome["measurement"]["milliseconds"] > 0


@pytest.mark.parametrize("cell", ["scan", "mingru", "diag_gru"])
def test_tilings_are_tuned_stored_and_resumed(cell: str, tmp_path: Path) -> None:
    words = [cell, *SIZES, "--top", "4", "--each", "0", "--timed", "5", "--store", str(tmp_path / "store")]
    first, again = answered("tune", *words), answered("tune", *words)
    assert first["status"] == again["status"] == "passed"
    times = [[one["measurement"]["milliseconds"] for one in found["outcomes"]] for found in (first, again)]
    assert len(times[0]) == 4
    assert times[0] == times[1] == sorted(times[0])
    assert (first["from_store"], again["from_store"]) == (0, 4)
    assert first["failed"] == []
