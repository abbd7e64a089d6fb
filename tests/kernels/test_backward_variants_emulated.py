"""benchmarks/rnn/backward_variants.py on the emulated GPU."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from emulator.build import Emulator

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "rnn"))
import backward_variants


@pytest.mark.emulated
def test_variants_are_right(emulator: Emulator, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "found.json"
    words = ["--emulated", str(emulator.folder), "--only", "2x16", "--out", str(out)]
    assert backward_variants.main(words) == 0
    rows = json.loads(out.read_text(encoding="utf-8"))["rows"]
    assert "default, stores apart" in {row["variant"] for row in rows}
    assert all(row["passed"] and row["milliseconds_of_rounds"] == [] for row in rows)
    assert "gru 2×16" in capsys.readouterr().out
