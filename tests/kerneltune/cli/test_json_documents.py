"""`--json` of each command for users' kernels has a schema, and what is printed agrees with it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from kerneltune.cli.documents import DOCUMENTS, schema_of
from kerneltune.cli.main import app, with_folders

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


def agrees(document: Any, command: str) -> None:
    jsonschema.Draft202012Validator(schema_of(command)).validate(document)


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
    check("doctor", "doctor")
    assert (
        "there is no folder" in check("failure", "compile-kernel", tmp_path / "none", "--gpu", "t4")["reason"]
    )
    assert seen == set(DOCUMENTS)


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
        found = json.loads(runner.invoke(app, ["schema", command]).stdout)
        jsonschema.Draft202012Validator.check_schema(found)
    assert "there is no schema of 'tun'" in runner.invoke(app, ["schema", "tun"]).stderr
