"""Tables that need a GPU to be seen, on outcomes made up here."""

from __future__ import annotations

import pytest
from made import hand_made
from msgspec.structs import replace

from kerneltune.cli.tables import show_outcomes
from kerneltune.running.measure import Measurement
from kerneltune.running.trial import Outcome

RIGHT = Measurement("pretended", 0, 1e-3, True, "as drawn", 3, 3, 2.5, 2.25, 0.125, 0.25, 0.5)


def test_a_run_shows_every_column_of_every_outcome(capsys: pytest.CaptureFixture[str]) -> None:
    wrong = replace(RIGHT, right=False, runs_with_same_bits=2, milliseconds=None, ratio=None)
    tiling = hand_made()
    show_outcomes([Outcome(tiling, RIGHT), Outcome(tiling, wrong), Outcome(tiling, None, "it hung")])
    head, _, *rows = capsys.readouterr().out.splitlines()
    for column in ("strategy", "result", "same bits", "µs per step", "predicted", "ratio", "ms"):
        assert column in head
    assert rows[0].split() == [
        "1", tiling.strategy, "as", "drawn", "3", "of", "3", "runs", "0.125", "0.250", "0.500", "2.500"
    ]  # fmt: skip
    assert "WRONG: as drawn" in rows[1]
    assert "2 of 3 runs" in rows[1]
    assert rows[2].split() == ["3", tiling.strategy, "lost:", "it", "hung"]
