"""Commands without --gpu: the machine's own GPU, and errors for missing GPUs and extras."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner
from fake_driver import FakeLibrary
from made import FAKE_KERNELS

from kerneltune.cli import options as cli_options
from kerneltune.cli.main import app
from kerneltune.errors import MissingExtraError, RunError
from kerneltune.inputs.hardware import GPU_VARIABLE, load_profile
from kerneltune.running import detect, driver
from kerneltune.running.detect import DeviceFacts

SIZES = ["--heads", "12", "--head-dim", "64", "--batch", "16"]
REQUEST = ["echo", "--kernels", str(FAKE_KERNELS), *SIZES]


def facts_of(name: str, **changes: Any) -> dict[str, Any]:
    profile = load_profile(name)
    limits = ("compute_capability", "sm_count", "registers_per_sm", "smem_per_sm", "smem_per_block_optin")
    found = {limit: getattr(profile, limit) for limit in limits}
    return {**found, "name": profile.title, "memory_bytes": profile.memory_bytes, **changes}


@pytest.fixture(autouse=True)
def no_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(GPU_VARIABLE, raising=False)


def here(monkeypatch: pytest.MonkeyPatch, facts: dict[str, Any] | Exception) -> None:
    def device_facts() -> dict[str, Any]:
        if isinstance(facts, Exception):
            raise facts
        return facts

    monkeypatch.setattr(driver, "device_facts", device_facts)


@pytest.mark.parametrize("name", ["h100_sxm", "a100_sxm_80gb", "h200_sxm"])
@pytest.mark.parametrize("command", ["tile", "compile"])
def test_the_default_is_the_gpu_that_is_here(
    monkeypatch: pytest.MonkeyPatch, name: str, command: str
) -> None:
    here(monkeypatch, facts_of(name))
    done = CliRunner().invoke(app, [command, *REQUEST, "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["gpu"] == name


def test_what_is_named_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    here(monkeypatch, RunError("nobody should ask"))
    done = CliRunner().invoke(app, ["tile", *REQUEST, "--json", "--gpu", "a100_sxm_80gb"])
    assert json.loads(done.stdout)["gpu"] == "a100_sxm_80gb"
    monkeypatch.setenv(GPU_VARIABLE, "h200_sxm")
    done = CliRunner().invoke(app, ["tile", *REQUEST, "--json"])
    assert json.loads(done.stdout)["gpu"] == "h200_sxm"


@pytest.mark.parametrize("command", ["tile", "compile", "run", "tune"])
@pytest.mark.parametrize(
    "reason", [RunError("there is no NVIDIA driver here"), MissingExtraError("asking for the GPU", "gpu")]
)
def test_without_a_gpu_both_fixes_are_said(
    monkeypatch: pytest.MonkeyPatch, command: str, reason: Exception
) -> None:
    here(monkeypatch, reason)
    done = CliRunner().invoke(app, [command, *REQUEST])
    assert done.exit_code == 2
    for part in ("give --gpu NAME", "kerneltune profile list", "where there is a GPU", str(reason)):
        assert part in done.stderr


def test_a_gpu_without_a_profile_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    here(monkeypatch, facts_of("h100_sxm", sm_count=7))
    done = CliRunner().invoke(app, ["tile", *REQUEST])
    assert done.exit_code == 2
    assert "no profile fits this GPU" in done.stderr
    assert "copy the profile h100_" in done.stderr


@pytest.mark.parametrize(
    "raw",
    [b"NVIDIA H100 80GB HBM3" + b"\0" * 107, b"NVIDIA H100 80GB HBM3\0rubbish\0\0", b"NVIDIA H100 80GB HBM3"],
)
def test_the_name_of_a_gpu_ends_where_it_ends(monkeypatch: pytest.MonkeyPatch, raw: bytes) -> None:
    found = FakeLibrary()
    found.name = raw
    monkeypatch.setattr(driver, "library", lambda: found)
    assert driver.device_facts()["name"] == "NVIDIA H100 80GB HBM3"
    done = CliRunner().invoke(app, ["profile", "detect"])
    assert "\0" not in done.output
    assert "NVIDIA H100 80GB HBM3, compute capability 9.9" in done.output


def test_a_missing_extra_has_an_exit_code_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise MissingExtraError("asking for the GPU", "gpu")

    monkeypatch.setattr(detect, "detect", missing)
    done = CliRunner().invoke(app, ["profile", "detect", "--json"])
    assert done.exit_code == 3
    assert json.loads(done.stdout)["status"] == "missing extra"
    assert "pip install 'constrint[gpu]'" in done.stderr


def test_what_detection_says_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    found = detect.matching(DeviceFacts(**facts_of("h100_sxm")), [load_profile("h100_sxm")])
    monkeypatch.setattr(detect, "detect", lambda: found)
    assert cli_options.gpu_here() == "h100_sxm"
    monkeypatch.setattr(detect, "detect", lambda: SimpleNamespace(profile=None, sentence="it is odd"))
    with pytest.raises(Exception, match="--gpu is not given, and it is odd"):
        cli_options.gpu_here()
