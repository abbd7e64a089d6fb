"""`kerneltune profile diff|check|schema` and `kerneltune doctor`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from kerneltune.cli import doctor
from kerneltune.cli.main import app
from kerneltune.errors import KernelTuneError, MissingExtraError, RunError
from kerneltune.inputs.folders import data_folder
from kerneltune.inputs.hardware import profile_names


def ask(*words: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, list(words))
    assert done.exit_code == code, done.output
    return done.stdout


def test_diff_shows_what_differs_alone() -> None:
    assert json.loads(ask("profile", "diff", "h100_sxm", "h200_sxm", "--json")) == {
        "l2_bytes": [52428800, 62914560],
        "memory_bytes": [85899345920, 150754820096],
        "memory_bandwidth_gbs": [3350, 4800],
    }
    assert "1.43" in ask("profile", "diff", "h100_sxm", "h200_sxm")
    assert "agree in every limit" in ask("profile", "diff", "t4", "t4")


def test_check_tells_errors_from_doubts(tmp_path: Path) -> None:
    text = (data_folder("hardware_profiles") / "t4.yaml").read_text("utf-8")

    def with_name(name: str, old: str, new: str) -> Path:
        path = tmp_path / f"{name}.yaml"
        path.write_text(text.replace("name: t4", f"name: {name}").replace(old, new), "utf-8")
        return path

    wrong = with_name("wrong", "sm_count: 40", "sm_count: many")
    odd = with_name("odd", "boost_mhz: 1590", "boost_mhz: 1590000")
    found = json.loads(ask("profile", "check", str(wrong), str(odd), "t4", "--json", code=2))
    assert found["t4"] == {"errors": [], "doubts": []}
    assert found[str(odd)]["errors"] == []
    assert found[str(odd)]["doubts"] == ["boost_mhz: is not between 300 and 4000 MHz"]
    (error,) = found[str(wrong)]["errors"]
    assert "wrong.yaml:10:1: sm_count" in error
    assert "doubtful: boost_mhz" in ask("profile", "check", str(odd))
    assert ask("profile", "check").count(": ok") == len(profile_names())


def test_schema_is_json() -> None:
    assert json.loads(ask("profile", "schema"))["title"] == "kerneltune hardware profile"


def test_doctor_tells_what_works_here() -> None:
    found = {row["what"]: row for row in json.loads(ask("doctor", "--json"))["findings"]}
    assert {"extra tune", "extra nvml", "Triton"} <= set(found)
    for name, fix in (("extra nvml", "constrint[nvml]"), ("Triton", "pip install triton")):
        assert (found[name]["state"] == "ok") != (fix in found[name]["fix"])
    assert found["a tiling solved"]["state"] == "ok"
    assert found["a kernel compiled"]["state"] == "ok"
    assert "promised resources kept" in found["a kernel compiled"]["detail"]


@pytest.mark.parametrize(
    ("error", "state", "code"),
    [
        (KernelTuneError("spills"), "✗", 1),
        (OSError("no space"), "✗", 1),
        (MissingExtraError("compiling", "compile"), "–", 0),
        (RunError("no driver"), "–", 0),
    ],
)
def test_doctor_tells_what_is_broken_from_what_is_absent(
    monkeypatch: pytest.MonkeyPatch, error: Exception, state: str, code: int
) -> None:
    def fails() -> str:
        raise error

    monkeypatch.setattr(doctor, "_compiled", fails)
    assert f"{state} a kernel compiled" in ask("doctor", code=code)
