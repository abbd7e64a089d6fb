"""benchmarks/rnn/verify.py without a GPU: its draws, its end and its report, with a stand-in child.

tests/kernels/test_verify_emulated.py runs the kernels themselves.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks" / "rnn"))
import campaign
import sanitizer
import verify
from drawing import Drawing, Limits, drawn_shape, prepare
from made import failed

from kerneltune.inputs.problem import HEAD_DIM_STEP, PASSES
from kerneltune.pipeline.tilings import CompiledTiling

FOLDER = Path(verify.__file__).parent
WORK = 100_000
BLOCK = {"pass": "forward", "strategy": "block"}
# Every GRU is wrong, every sLSTM differs from run to run, every ReLU ends the process; other cells are right.
FAULTY = ("gru", "slstm", "elman_relu")
CHILD = """
import json, os, sys
sys.stdin.readline()
print(json.dumps({"message": "Facts", "device": "pretended", "compute_capability": "9.0"}), flush=True)
for request in map(json.loads, sys.stdin):
    cell = request["order"]["candidate"]["problem"]["cell"]
    if cell == "elman_relu":
        os.abort()
    assert request["built"]["cubin"].startswith("f0VMR")  # ELF
    said = {"gru": "relative error 1e-1", "slstm": "repeated runs differ"}.get(cell)
    found = {"message": "Answer", "timing": None, "relative_error": 1e-3, "tolerance": 5e-3}
    if said:
        found = {"message": "Failed", "failure": f"wrong result: {said}", "lost": True}
    print(json.dumps(found), flush=True)
"""
PRETENDED = (sys.executable, "-c", CHILD)


def words(tmp_path: Path, **options: object) -> list[str]:
    chosen: dict[str, Any] = {"seconds": 9000, "seed": 5, "work": WORK, "workers": 2, "lanes": 2, "sample": 0}
    chosen |= {"patience": 7}  # a slow machine is no hang
    chosen |= {"out": tmp_path / "found.json", **options}
    return [word for name, value in chosen.items() for word in (f"--{name}", str(value))]


def found(tmp_path: Path) -> Any:
    return json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))


def test_every_kind_is_drawn_in_turn_and_by_its_number_alone() -> None:
    drawing = Drawing("h100_sxm", 1, Limits(work=WORK))
    count = len(drawing.kinds)
    assert len(set(drawing.kinds)) == count
    assert {kind.direction for kind in drawing.kinds} == set(PASSES)
    assert {kind.cell for kind in drawing.kinds} == set(drawing.kernels.cells)
    for direction in PASSES:
        strategies = {kind.strategy for kind in drawing.kinds if kind.direction == direction}
        assert strategies == set(drawing.kernels.for_pass(direction).strategies)
    again = Drawing("h100_sxm", 1, Limits(work=WORK))
    for number in (2 * count + 5, 3):  # in another order, without the ones before
        assert again.case(number) == drawing.case(number)
        assert again.case(number).kind == drawing.kinds[number % count]
        assert again.input_seed(number) == drawing.input_seed(number)
    assert drawing.input_seed(3) != drawing.input_seed(4)
    assert Drawing("h100_sxm", 2).kinds != drawing.kinds
    assert {kind.dtype for kind in Drawing("t4", 1).kinds} == {"fp16"}


def test_shapes_are_within_the_limits_and_of_all_sizes() -> None:
    import random

    draw, limits = random.Random(0), Limits()
    shapes = [drawn_shape(draw, limits, gates=4) for _ in range(3000)]
    for shape in shapes:
        assert shape["head_dim"] % HEAD_DIM_STEP == 0
        assert all(value >= 1 for value in shape.values())
        assert shape["heads"] * 4 * shape["head_dim"] ** 2 * shape["batch"] * shape["steps"] <= limits.work
        assert all(value <= getattr(limits, name) for name, value in shape.items())
    assert {1, 2, 3} <= {shape["batch"] for shape in shapes}
    assert sum(shape["head_dim"] % 16 == 8 for shape in shapes) > 300
    assert max(shape["head_dim"] for shape in shapes) > 1500
    assert sum(shape["steps"] == 1 for shape in shapes) < 600


def test_options_of_the_backward_pass_are_drawn() -> None:
    drawing = Drawing("h100_sxm", 1, Limits(work=WORK), "block", ("backward",))
    cases = [drawing.case(number) for number in range(30)]
    problems = [case.candidate.problem for case in cases if case.candidate]
    assert {bool(problem.gate_gradient_clip) for problem in problems} == {True, False}
    assert {problem.cut_recurrent_gradient for problem in problems} == {True, False}


def test_a_campaign_notes_every_failure_with_its_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert verify.main(words(tmp_path, cases=24, **BLOCK), PRETENDED) == 1
    data = found(tmp_path)
    rows = data["rows"]
    assert [row["case"] for row in rows] == list(range(24))
    assert (data["unfinished"], data["errors"]) == (0, [])
    for row in rows:
        if "problem" in row:
            assert row["passed"] == (row["cell"] not in FAULTY), row
    by_cell = Counter(row["cell"] for row in rows)
    assert min(by_cell.get(cell, 0) for cell in FAULTY) > 0
    died = next(row for row in rows if row["cell"] == "elman_relu")
    assert "ended by SIGABRT" in died["failure"]
    assert died["candidate"]["strategy"] == died["strategy"]
    shown = capsys.readouterr().out
    unsteady = next(row for row in rows if row["cell"] == "slstm")
    options = "--gpu h100_sxm --seed 5 --strategy block --pass forward --work 100000"
    assert f"python benchmarks/rnn/verify.py {options} --case {unsteady['case']}\n" in shown
    assert "repeated runs differ" in shown
    assert f"24 rows, {data['failed']} failed, 0 not reached in time" in shown
    assert sum(entry["failed"] for entry in data["summary"]) == data["failed"] > 0

    # The command that was printed gives the same case.
    once = words(tmp_path, case=unsteady["case"], **BLOCK)
    assert verify.main(once, PRETENDED) == 1
    (row,) = found(tmp_path)["rows"]
    assert row == unsteady


def test_nothing_begins_after_the_time_is_over(tmp_path: Path) -> None:
    class Clock:
        now = 0.0

        def __call__(self) -> float:
            Clock.now += 40.0  # whoever looks finds it later: some ten cases' worth
            return Clock.now

    short = campaign.Campaign(
        Drawing("h100_sxm", 1, Limits(work=WORK)),
        campaign.Budget(1000.0, Clock()),
        child=PRETENDED,
        trial_seconds=200.0,
    )
    short.verify(None, workers=1, lanes=1)
    assert len(short.rows) < 40
    assert short.errors == []
    over = campaign.Campaign(
        Drawing("h100_sxm", 1, Limits(work=WORK)), campaign.Budget(0.0), child=("no such program",)
    )
    over.verify(None, workers=1, lanes=1, tools=sanitizer.TOOLS, sample=3)
    assert (over.rows, over.errors) == ([], [])


def broken_preparation(drawing: Drawing, number: int, backend: str) -> object:
    if number == 1:
        raise ValueError("cannot draw this")
    if number == 2:
        os._exit(3)
    return prepare(drawing, number, backend)


def test_faults_of_the_script_itself_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(FOLDER), str(Path(__file__).parent)]))
    faulty = campaign.Campaign(
        Drawing("h100_sxm", 1, Limits(work=WORK)),
        campaign.Budget(9000.0),
        child=PRETENDED,
        trial_seconds=200.0,
    )
    faulty.preparation = broken_preparation
    faulty.verify(3, workers=1, lanes=1)
    assert any("ValueError: cannot draw this" in error for error in faulty.errors)
    assert any("BrokenProcessPool" in error for error in faulty.errors)


def test_a_tiling_that_does_not_compile_is_a_failure() -> None:
    drawing = Drawing("h100_sxm", 1, Limits(work=WORK), "block", ("forward",))
    here = campaign.Campaign(drawing, campaign.Budget(100.0), child=PRETENDED)
    good = prepare(drawing, 0)
    here.preparation = lambda *_: replace(good, failure="does not compile: static assertion failed")
    here.again(0)
    here.preparation = lambda *_: replace(
        good, drawn=replace(good.drawn, candidate=None), failure="none of 30 shapes has a tiling"
    )
    here.again(1)
    assert [row["passed"] for row in here.rows] == [False, True]
    assert "candidate" in here.rows[0]


# Runs the command and writes what the tools write: racecheck finds something.
TOOL = """#!/bin/sh
tool=$2 log=$4
while [ "${1#--}" != "$1" ]; do shift 2; done
case $tool in
racecheck) echo "========= RACECHECK SUMMARY: 2 hazards displayed (1 error, 1 warning)" >"$log" ;;
*) echo "========= ERROR SUMMARY: 0 errors" >"$log" ;;
esac
exec "$@"
"""


def test_a_sample_runs_under_the_sanitizer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tool = tmp_path / "bin" / "compute-sanitizer"
    tool.parent.mkdir()
    tool.write_text(TOOL, encoding="utf-8")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}{os.pathsep}{os.environ['PATH']}")
    chosen = words(tmp_path, cases=2, sample=3, **BLOCK)
    assert verify.main(chosen, PRETENDED) == 1
    rows = [row for row in found(tmp_path)["rows"] if "tool" in row]
    assert Counter(row["tool"] for row in rows) == dict.fromkeys(sanitizer.TOOLS, 3)
    for row in rows:
        assert row["case"] >= campaign.SAMPLE
        assert row["problem"]["steps"] <= 6
        if row["tool"] == "racecheck":
            assert (row["passed"], row["tool_errors"]) == (False, 2)
        else:
            assert row["passed"] == (row["cell"] in ("lstm", "elman"))
    assert "--tool racecheck" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("log", "errors"),
    [
        ("========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n", 0),
        ("========= Invalid __global__ write of size 4 bytes\n========= ERROR SUMMARY: 3 errors\n", 3),
        ("========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n", 0),
        ("========= ERROR SUMMARY: 0 errors\n========= ERROR SUMMARY: 1 error\n", 1),
        ("========= COMPUTE-SANITIZER\n", None),
        (None, None),
    ],
)
def test_what_a_log_says(tmp_path: Path, log: str | None, errors: int | None) -> None:
    path = tmp_path / "log"
    if log is not None:
        path.write_text(log, encoding="utf-8")
    finding = sanitizer.read("memcheck", path)
    assert finding.errors == errors
    assert finding.clean == (errors == 0)


def test_all_hazards_are_counted_whatever_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(
        "========= RACECHECK SUMMARY: 5 hazards displayed (7 errors, 2 warnings)\n", encoding="utf-8"
    )
    assert sanitizer.read("racecheck", path).errors == 9


def test_only_racecheck_gets_kernels_in_which_every_lane_arrives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawing = Drawing("h100_sxm", 5, Limits(work=WORK), "cluster", ("forward",))
    prepared = prepare(drawing.small(), campaign.SAMPLE)
    switched = prepared.cubins["racecheck"]
    assert prepared.failure is None
    assert switched != prepared.cubin
    for cubin in (switched, prepared.cubin):
        assert b"cluster_exchange.cuh" in cubin  # source lines, for what the tools say
    shipped = prepare(replace(drawing.small(), for_tools=False), campaign.SAMPLE)
    assert b"cluster_exchange.cuh" not in shipped.cubin
    assert not shipped.cubins

    ran: dict[str, bytes] = {}

    def run(
        tilings: Sequence[CompiledTiling], *_: object, child: Sequence[str], **__: object
    ) -> list[object]:
        ran[child[child.index("--tool") + 1]] = tilings[0].cubin
        return [failed(tilings[0].candidate, "not run")]

    monkeypatch.setattr(campaign, "run_tilings", run)
    here = campaign.Campaign(drawing, campaign.Budget(100.0), child=PRETENDED)
    here.again(campaign.SAMPLE, sanitizer.TOOLS)
    assert ran == {"memcheck": prepared.cubin, "synccheck": prepared.cubin, "racecheck": switched}


def test_a_tool_that_hangs_is_ended_with_all_it_started(tmp_path: Path) -> None:
    command = sanitizer.command("memcheck", ["child"], tmp_path / "log", 55.0)
    assert command[:3] == ("timeout", "--kill-after=2", "55")
    assert command[-1] == "child"
    assert command[command.index("--log-file") + 1] == str(tmp_path / "log")
    assert command[command.index("--report-api-errors") + 1] == "no"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"seconds": 3}, "--seconds: a case may take 222"),
        ({"pass": "forwards"}, "--pass: unknown forwards"),
        ({"tool": "memcheck"}, "--tool: needs --case"),
    ],
)
def test_bad_options_are_refused(
    tmp_path: Path, options: dict[str, object], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        verify.main(words(tmp_path, **options), PRETENDED)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def test_without_a_gpu_it_says_so_and_compiles_nothing(tmp_path: Path) -> None:
    blocked = "import sys; sys.modules['pycuda'] = None; from kerneltune.measuring.child import main; main()"
    assert verify.main(words(tmp_path, cases=1), (sys.executable, "-c", blocked)) == 3  # a missing extra
    assert not (tmp_path / "found.json").exists()
    helped = subprocess.run(
        [sys.executable, str(FOLDER / "verify.py"), "--help"], capture_output=True, text=True, check=False
    )
    assert helped.returncode == 0
    assert "--seconds" in helped.stdout
