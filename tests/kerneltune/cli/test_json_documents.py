"""`--json` of each command has a schema, and what is printed agrees with it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import click
import pytest
from agreeing import agrees
from click.testing import CliRunner
from made import FAKE_KERNELS

from kerneltune.cli.documents import DOCUMENTS, OWN
from kerneltune.cli.main import app, with_folders
from kerneltune.cli.subjects import BOTH, OF_FOLDERS, REFUSED
from kerneltune.inputs.hardware import load_profile
from kerneltune.running.detect import DeviceFacts, matching
from kerneltune.tuning.store import Store

jsonschema: Any = pytest.importorskip("jsonschema")
YAML = """name: waiting
kind: callable
source: kernel.py
entry: waiting
sizes: {n: 3}
tune_params: {step: [0, 1, 2], unroll: [1, 2, 4]}
restrictions: [step + unroll < 6]
"""
SOURCE = """
def waiting(step, unroll):
    if step == 2 and unroll == 2:
        raise ValueError("no")
    return sum(range(1000 * (step + unroll)))
"""
CUDA_YAML = """name: scale
entry: scale
tune_params: {BLOCK: [64, 128], WRONG: [0, 1]}
grid: [4]
block: [BLOCK]
registers: 16
"""
CUDA_SOURCE = """extern "C" __global__ void scale(float* out) {
  out[threadIdx.x] = BLOCK;
#if WRONG
  undefined;
#endif
}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "waiting"
    found.mkdir()
    (found / "kernel.yaml").write_text(YAML)
    (found / "kernel.py").write_text(SOURCE)
    return found


@pytest.fixture
def compiled(tmp_path: Path) -> Path:
    found = tmp_path / "scale"
    found.mkdir()
    (found / "kernel.yaml").write_text(CUDA_YAML)
    (found / "kernel.cu").write_text(CUDA_SOURCE)
    return found


def printed(*words: object) -> Any:
    found = CliRunner().invoke(app, with_folders([str(word) for word in words]))
    return json.loads(found.stdout)


def test_what_is_printed_agrees_with_its_schema(folder: Path, compiled: Path, tmp_path: Path) -> None:
    store = ("--store", tmp_path / "s")
    seen = set()

    def check(command: str, *words: object) -> Any:
        document = printed(*words, "--json")
        agrees(document, command)
        seen.add(command)
        return document

    tuned = check("tune", "tune", folder, *store)
    assert tuned["trials"]
    assert tuned["failed"]
    assert check("results", "results", *store)["results"][0]["kernel"] == "waiting"
    assert check("best", "best", folder, *store)["configuration"]
    assert check("retune", "retune", tmp_path / "s", "--evaluations", "2")["kernels"][0]["best"]
    passed = check("compile", "compile", compiled, "--gpu", "t4", "--all")["compilations"]
    assert {one["failure"] is None for one in passed} == {True, False}
    assert check("compile", "tune", compiled, "--gpu", "t4", "--dry-run")["status"] == "failed"
    assert check("why", "why", folder, "step=2,unroll=4", "--gpu", "t4")["nearest"]
    recorded = tmp_path / "cache.json"
    CliRunner().invoke(app, ["results", "waiting", "--to-cache", str(recorded), *map(str, store)])
    assert check("replay", "replay", recorded, "--evaluations", "5")["evaluations"] == 5
    assert len(check("replay --seeds", "replay", recorded, "--seeds", "2")["strategies"]) == 1
    data = json.loads(recorded.read_text())
    for row in data["cache"].values():
        row["own"] = row["time"]
    recorded.write_text(json.dumps(data))
    front = check("replay --objective", "replay", recorded, "--objective", "time,own", "--strategy", "random")
    assert front["hypervolume"] == pytest.approx(1.0)
    check("doctor", "doctor")
    assert "there is no folder" in check("failure", "compile", tmp_path / "none", "--gpu", "t4")["reason"]
    assert seen == set(OWN)


def test_a_document_with_another_field_is_found(folder: Path) -> None:
    document = printed("why", folder, "step=2,unroll=4", "--gpu", "t4", "--json")
    for wrong in ({**document, "more": 1}, {**document, "status": "odd"}, {"status": "valid"}):
        with pytest.raises(jsonschema.ValidationError):
            agrees(wrong, "why")


def test_schemas_are_printed_and_listed() -> None:
    runner = CliRunner()
    listed = runner.invoke(app, ["schema"]).stdout
    assert [line.partition(":")[0] for line in listed.splitlines()] == list(DOCUMENTS)
    for command in DOCUMENTS:
        found = json.loads(runner.invoke(app, ["schema", *command.split()]).stdout)
        jsonschema.Draft202012Validator.check_schema(found)
    assert "there is no schema of 'tun'" in runner.invoke(app, ["schema", "tun"]).stderr


def checked(command: str, *words: object) -> Any:
    document = printed(*words, "--json")
    agrees(document, command)
    return document


def test_what_is_printed_of_tilings_profiles_and_cells_agrees_with_its_schema(tmp_path: Path) -> None:
    request = "--gpu h100_sxm --heads 12 --head-dim 64 --batch 16"
    echo = ["echo", "--kernels", FAKE_KERNELS, *request.split()]
    assert len(checked("tile", "tile", *echo, "--top", "2")["candidates"]) == 2
    assert checked("compile CELL", "compile", *echo)["report"]["registers"]
    scan = ("scan", "--gpu", "h100_sxm", "--channels", "64", "--batch", "2")
    assert checked("tile", "tile", *scan)["candidates"][0]["problem"]["channels"] == 64
    for cell in ("lstm", "gru"):
        assert checked("cell show", "cell", "show", cell)["equations"]
    assert len(checked("profile list", "profile", "list")) > 5
    assert checked("profile show", "profile", "show", "t4")["sm_count"] == 40
    assert checked("profile diff", "profile", "diff", "t4", "a10")["sm_count"] == [40, 72]
    assert checked("profile check", "profile", "check", "t4", tmp_path / "none.yaml")["t4"]["errors"] == []
    path = tmp_path / "trials.sqlite"
    with closing(Store(path)):
        assert checked("report", "report", "--store", path)["problems"] == []


def test_a_gpu_that_is_detected_agrees_with_its_schema() -> None:
    facts = DeviceFacts("a GPU", "9.0", 132, 65536, 233472, 232448, 85 << 30)
    agrees(matching(facts, [load_profile("h100_sxm")]).to_json(), "profile detect")


def test_every_command_with_json_has_a_schema() -> None:
    """Those of folders share their names with those of tilings."""

    def commands(group: click.Group, before: str = "") -> Iterator[str]:
        for name, command in group.commands.items():
            if isinstance(command, click.Group):
                yield from commands(command, f"{before}{name} ")
            elif any("--json" in one.opts for one in command.params):
                yield f"{before}{name}"

    named = {f"{one} CELL" if one in BOTH else one.removesuffix(OF_FOLDERS) for one in commands(app)}
    assert named - {REFUSED} == set(DOCUMENTS) - {"failure", "replay --seeds", "replay --objective"}
