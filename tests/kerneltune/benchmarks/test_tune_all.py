"""benchmarks/rnn/tune_all.py without a GPU: what it tunes, resumes and skips, with a stand-in child."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks" / "rnn"))
import tune_all

from kerneltune.tuning.store import Store

# The more threads a block has, the faster: not what the model says.
CHILD = """
import json, sys
sys.stdin.readline()
facts = {{"message": "Facts", "device": "pretended", "compute_capability": "9.0"}}
print(json.dumps(facts), flush=True)
for request in map(json.loads, sys.stdin):
    with open({log!r}, "a") as log:
        log.write("x")
    ms = 1 + 1 / request["order"]["candidate"]["values"]["threads"]
    timing = {{"median": ms, "fastest": ms, "spread": 0.0, "samples": 2}}
    print(json.dumps({{"message": "Answer", "timing": timing, "relative_error": 1e-3}}), flush=True)
"""


@pytest.mark.slow
def test_requests_are_tuned_kept_and_gone_on_with(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log, store, out = tmp_path / "log", tmp_path / "trials.sqlite", tmp_path / "tuned.json"
    child = (sys.executable, "-c", CHILD.format(log=str(log)))
    words = f"--requests 2 --top 3 --each 0 --workers 1 --seconds 9000 --store {store} --out {out}".split()
    assert tune_all.main([*words[:1], "1", *words[2:]], child) == 0
    first = len(log.read_text())
    assert first == len(Store(store).tilings()) == 3
    assert tune_all.main(words, child) == 0
    assert len(log.read_text()) == len(Store(store).tilings()) == 6  # the first request is not tried again
    data = json.loads(out.read_text())
    assert data["failures"] == []
    assert data["model"]["compared"] == 2
    shown = capsys.readouterr().out
    assert "lstm 12×64, batch 16, bf16: 1.0" in shown
    assert "the first choice is the fastest in" in shown
    assert "0 of 2 requests are left" in shown


def test_no_request_begins_without_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    child = (sys.executable, "-c", CHILD.format(log=str(tmp_path / "log")))
    words = [
        "--store",
        str(tmp_path / "trials.sqlite"),
        "--seconds",
        "1",
        "--requests",
        "2",
        "--workers",
        "1",
    ]
    assert tune_all.main(words, child) == tune_all.LEFT
    assert "2 of 2 requests are left" in capsys.readouterr().out
    assert not (tmp_path / "log").exists()


def test_the_requests_are_all_passes_and_cells() -> None:
    problems = list(tune_all.requests(512))
    assert len(set(problems)) == len(problems)
    assert {problem.direction for problem in problems} == {"forward", "backward", "training"}
    assert {problem.cell for problem in problems} == {"lstm", "gru", "slstm", "elman"}
    assert {problem.steps for problem in problems} == {512}
