"""benchmarks/rnn/peers.py and plots.py without a GPU and torch: measuring, resuming, plotting."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks" / "rnn"))
import ahead
import flashrnn_times
import peers
import plots
from sweeps import (
    COMPILED,
    CUDNN,
    FLASHRNN,
    LOOP,
    ORDER,
    OURS,
    OURS_WITH_INPUT,
    SWEEPS,
    Unit,
    expected_seconds,
    units,
)

HEAD: dict[str, Any] = {"gpu": "NVIDIA H100 80GB HBM3", "sources": "abc"}
STEPS = units(["steps"])


def pretended(unit: Unit) -> dict[str, Any]:
    """Times that tell who ran what: 1 ms for each 256 steps, twice as much for every next contender."""
    forward = unit.shape.steps / 256 * 2 ** ORDER.index(unit.who)
    return {"forward": forward, "both": 3 * forward, "forward_host": forward}


def test_the_sweeps_are_those_of_the_figures() -> None:
    shapes = {name: list(sweep()) for name, sweep in SWEEPS.items()}
    assert [shape.dim for shape in shapes["heads"]] == [16, 32, 64, 128, 256, 384, 768]
    assert {shape.heads * shape.dim for shape in shapes["heads"]} == {768}
    assert {(s.batch, s.steps) for s in shapes["heads"]} == {(16, 1024)}
    for name, values in (("batch", [2**i for i in range(1, 9)]), ("steps", [256, 512, 1024, 2048])):
        for heads, dim in ((12, 64), (1, 768)):
            assert [getattr(s, name) for s in shapes[name] if (s.heads, s.dim) == (heads, dim)] == values
    assert {1024, 2048, 4096, 8192} <= {shape.dim for shape in shapes["large"]}
    assert {(s.cell, s.dtype) for s in shapes["cudnn"]} == {
        ("lstm", "fp16"),
        ("lstm", "bf16"),
        ("gru", "fp16"),
    }
    known = {(s.heads, s.dim, s.batch) for s in shapes["table"]}
    assert known == set(flashrnn_times.FUSED) | {(48, 16, 16), (24, 32, 16)}


def test_who_measures_what() -> None:
    everything = units(list(SWEEPS))
    keys = [unit.key for unit in everything]
    assert len(set(keys)) == len(keys)
    for unit in everything:
        if unit.who == CUDNN:
            assert unit.shape.heads == 1
            assert unit.shape.cell != "slstm"
    by_who = Counter(unit.who for unit in units(["heads"]))
    assert by_who == {OURS: 7, OURS_WITH_INPUT: 7, CUDNN: 1, LOOP: 7, COMPILED: 7}
    order = [unit.who for unit in units(["heads"])]
    assert order == sorted(order, key=ORDER.index)  # ours first, if there is not time for all
    assert {unit.who for unit in units(["heads"], (OURS,))} == {OURS}


def test_what_was_measured_is_not_measured_again(tmp_path: Path) -> None:
    path = tmp_path / "peers.json"
    asked: list[Unit] = []

    def measure(unit: Unit) -> dict[str, Any]:
        asked.append(unit)
        return pretended(unit)

    now = [0.0]

    def clock() -> float:
        return now[0]

    def slow(unit: Unit) -> dict[str, Any]:
        now[0] += expected_seconds(unit)
        return measure(unit)

    budget = sum(expected_seconds(unit) for unit in STEPS[:5]) + 1
    left = peers.run(peers.Results(path, HEAD), STEPS, slow, budget, clock)
    assert asked == STEPS[:5]
    assert left == len(STEPS) - 5
    again = peers.Results(path, HEAD)
    assert peers.run(again, STEPS, measure, 1e9) == 0
    assert asked == STEPS
    assert [peers.row_key(row) for row in again.data["units"]] == [unit.key for unit in STEPS]
    assert json.loads(path.read_text()) == again.data


def test_a_short_unit_may_still_fit_where_a_long_one_does_not() -> None:
    wanted = units(["heads"], (OURS, COMPILED))
    asked: list[Unit] = []
    results = peers.Results(None, HEAD)
    clock = iter(range(1000))
    left = peers.run(
        results,
        wanted[::-1],
        lambda u: asked.append(u) or pretended(u),  # type: ignore[func-returns-value]
        40,
        lambda: next(clock),
    )
    assert {unit.who for unit in asked} == {OURS}
    assert left == 7


def test_what_ended_its_process_is_not_tried_again(tmp_path: Path) -> None:
    path = tmp_path / "peers.json"

    def fails(unit: Unit) -> dict[str, Any]:
        if unit == STEPS[1]:
            raise RuntimeError("CUDA error: an illegal memory access was encountered")
        return pretended(unit)

    with pytest.raises(RuntimeError):
        peers.run(peers.Results(path, HEAD), STEPS, fails, 1e9)
    killed = peers.Results(path, HEAD)
    killed.begin(STEPS[2])  # and then the process is gone
    resumed = peers.Results(path, HEAD)
    assert peers.run(resumed, STEPS, fails, 1e9) == 0
    notes = {i: row["note"] for i, row in enumerate(resumed.data["units"]) if "note" in row}
    assert notes == {
        1: "lost: CUDA error: an illegal memory access was encountered",
        2: "lost: the process ended while it ran",
    }


@pytest.mark.parametrize("name", ["gpu", "sources"])
def test_another_gpu_or_other_kernels_do_not_continue_a_file(tmp_path: Path, name: str) -> None:
    path = tmp_path / "peers.json"
    peers.Results(path, HEAD).begin(STEPS[0])
    with pytest.raises(SystemExit, match=f"was measured with {name}"):
        peers.Results(path, {**HEAD, name: "another"})


def test_the_table_says_how_many_times_as_long_others_take() -> None:
    results = peers.Results(None, HEAD)
    wanted = [unit for unit in units(["steps", "large"]) if unit.shape.dim in (768, 8192)]
    peers.run(results, wanted, pretended, 1e9)
    shown = peers.table(results.data["units"], HEAD["gpu"]).splitlines()
    whole = next(line for line in shown if line.startswith("steps lstm 1x768 B=16 T=1024 bf16:"))
    assert "ours 4.000 12.000;" in whole
    assert "ours with W x 8.000 24.000;" in whole
    assert "cuDNN with W x 16.000 48.000 (2.00x 2.00x);" in whole  # beside ours with W x
    assert "PyTorch loop 32.000 96.000 (8.00x 8.00x);" in whole  # beside ours without
    assert "FlashRNN fused (1.14x 1.07x);" in whole
    assert "FlashRNN" not in next(line for line in shown if "T=512" in line)
    large = next(line for line in shown if "1x8192" in line)
    assert f"R at {4 * 8192**2 * 2 * 1024 / 4e-3 / 1e9:.0f} GB/s;" in large
    elsewhere = peers.table(results.data["units"], "NVIDIA A100")
    assert "FlashRNN" not in elsewhere


def test_flashrnn_is_compared_by_a_callers_clock_too() -> None:
    wanted = units(["table"], (OURS, FLASHRNN))
    assert {(u.shape.heads, u.shape.dim, u.shape.batch) for u in wanted if u.who == FLASHRNN} == set(
        flashrnn_times.FUSED
    )
    assert not units([name for name in SWEEPS if name != "table"], (FLASHRNN,))
    pair = [unit for unit in wanted if unit.shape.dim == 768 and unit.shape.batch == 16]
    times = {
        OURS: {"forward": 1.0, "both": 3.0, "forward_call": 2.0, "both_call": 4.0},
        FLASHRNN: {"forward": 5.0, "both": 12.0, "forward_call": 5.5, "both_call": 14.0},
    }
    results = peers.Results(None, HEAD)
    peers.run(results, pair, lambda unit: times[unit.who], 1e9)
    shown = peers.table(results.data["units"], "NVIDIA H200")
    assert "FlashRNN 5.000 12.000 (5.00x 4.00x) (by a caller's clock 2.75x 3.50x);" in shown


def test_a_pass_that_failed_is_a_dash() -> None:
    unit = STEPS[0]
    results = peers.Results(None, HEAD)
    peers.run(
        results, [unit], lambda _: {"forward": 2.0, "both": None, "note": "both: no backward pass"}, 1e9
    )
    assert "ours 2.000 -;" in peers.table(results.data["units"], HEAD["gpu"])


@pytest.mark.slow
def test_figures_are_drawn_from_the_json_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "peers.json"
    peers.run(peers.Results(path, HEAD), units(["heads", "batch", "steps", "large"]), pretended, 1e9)
    data = json.loads(path.read_text())
    capsys.readouterr()
    made = {figure.name: figure for figure in plots.figures(data)}
    assert len(made) == 6  # batch and steps have two shapes of heads each
    batch = made["batch-lstm-1-768-1024-bf16"]
    assert [x for x, _ in batch.lines[OURS]["forward"]] == [2, 4, 8, 16, 32, 64, 128, 256]
    assert batch.marks["FlashRNN fused"]["forward"] == [(16, 4.556), (64, 15.205)]
    heads = made["heads-lstm-16-1024-bf16"]
    assert heads.lines[LOOP]["both"][-1] == (768, 3 * 4 * 8)
    assert [x for x, _ in heads.marks["FlashRNN Triton"]["forward"]] == [16, 32, 64, 128]
    assert heads.marks["FlashRNN Triton"]["both"] == []
    assert plots.main([str(path), "--out", str(tmp_path / "figures")]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 6
    for name in made:
        text = (tmp_path / "figures" / f"{name}.svg").read_text()
        assert text.lstrip().startswith("<?xml")
    empty = {**data, "units": [{**row, "forward": None, "both": None} for row in data["units"]]}
    path.write_text(json.dumps(empty))
    assert plots.main([str(path), "--out", str(tmp_path / "none")]) == 1


def test_unknown_words_are_refused() -> None:
    done = subprocess.run(
        [sys.executable, peers.__file__, "--sweep", "heads,tails"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "--sweep: unknown tails: of table, cudnn, heads" in done.stderr


def test_all_that_is_launched_is_compiled_ahead() -> None:
    """Each pass of each shape once, whatever its steps."""
    problems = ahead.problems(["table", "steps"])
    made = {(p.cell, p.heads, p.head_dim, p.batch, p.dtype, p.direction) for p in problems}
    assert len(made) == len(problems)
    for sweep in ("table", "steps"):
        for s in SWEEPS[sweep]():
            for direction in ("forward", "training", "backward"):
                assert (s.cell, s.heads, s.dim, s.batch, s.dtype, direction) in made


@pytest.mark.parametrize(
    ("arguments", "said"), [(("--sweep", "nope"), "unknown nope"), (("--gpu", "h10"), "unknown GPU 'h10'")]
)
def test_bad_input_compiles_nothing(arguments: tuple[str, ...], said: str) -> None:
    done = subprocess.run(
        [sys.executable, ahead.__file__, *arguments], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
