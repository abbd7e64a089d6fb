"""Tables that need a GPU to be seen, on trials made up here."""

from __future__ import annotations

import pytest
from made import failed, hand_made, timed

from kerneltune.cli.tables import show_trials


def test_a_run_shows_every_column_of_every_trial(capsys: pytest.CaptureFixture[str]) -> None:
    tiling = hand_made()
    wrong = failed(tiling, "wrong result: relative error 1.00e-01, above 5e-03")
    show_trials([timed(tiling, 0.001), timed(tiling, None), wrong, failed(tiling, "it hung")])
    head, _, *rows = capsys.readouterr().out.splitlines()
    for column in ("strategy", "result", "same bits", "µs per step", "predicted", "ratio", "ms"):
        assert column in head
    assert rows[0].split() == [
        *("1", tiling.strategy, "relative", "error", "1.00e-03,", "within", "5e-03"),
        *("2", "runs", "0.125", "0.194", "0.645", "0.001"),
    ]
    assert rows[1].split()[-2:] == ["2", "runs"]
    assert rows[2].split()[1:5] == [tiling.strategy, "WRONG:", "wrong", "result:"]
    assert rows[3].split() == ["4", tiling.strategy, "lost:", "it", "hung"]
