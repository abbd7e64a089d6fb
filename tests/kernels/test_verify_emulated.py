"""benchmarks/rnn/verify.py as a whole, on the emulated GPU."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from emulator.build import Emulator

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "rnn"))
import verify

pytestmark = pytest.mark.emulated


def test_drawn_cases_are_verified(
    emulator: Emulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KERNELTUNE_CACHE_DIR", str(tmp_path / "cache"))
    options = {"seconds": 3000, "cases": 4, "seed": 3, "work": 60_000, "runs": 2}
    options |= {"workers": 2, "lanes": 1, "sample": 0, "out": tmp_path / "verified.json"}  # type: ignore[dict-item]
    options |= {"emulated": emulator.folder}  # type: ignore[dict-item]
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    assert verify.main(words) == 0
    found = json.loads((tmp_path / "verified.json").read_text())
    assert [row["case"] for row in found["rows"]] == [0, 1, 2, 3]
    assert (found["failed"], found["unfinished"], found["errors"]) == (0, 0, [])
    served = [row for row in found["rows"] if "problem" in row]
    assert len(served) >= 3
    for row in served:
        assert row["runs_with_same_bits"] == 2
        assert 0 < row["relative_error"] < 1.2e-2
