"""Bundles and kept kernels: what is built is found again, and what is damaged or foreign is refused."""

from __future__ import annotations

import json
import shutil
import sqlite3
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from agreeing import agrees
from click.testing import CliRunner
from made import FAKE_KERNELS
from msgspec import structs

from kerneltune.cli.main import app
from kerneltune.compiling import compile as compiling
from kerneltune.compiling.bundle import BUNDLE_VARIABLE, Bundle, installed_bundle
from kerneltune.compiling.bundle_build import Selection, build, write_wheel
from kerneltune.compiling.compile import Compiled, Compiler
from kerneltune.compiling.cubin_cache import CACHE_VARIABLE
from kerneltune.compiling.ready import Supply, sources_digest, supply_of
from kerneltune.errors import InfeasibleError, InputError
from kerneltune.inputs.descriptions import Kernels, discover
from kerneltune.inputs.hardware import HardwareProfile, load_profile
from kerneltune.inputs.problem import Problem

PROBLEM = Problem("echo", 12, 64, 16, "bf16", steps=8)
SELECTION = Selection(("echo",), ((12, 64), (1, 8)), (1, 16), ("bf16",), ("forward",))


@pytest.fixture
def profile() -> HardwareProfile:
    return load_profile("h100_sxm")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle, beside the cache that its kernels are kept in."""
    folder = tmp_path_factory.mktemp("built")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(CACHE_VARIABLE, str(folder))
        done = build(folder / "made.sqlite", [load_profile("h100_sxm")], discover(FAKE_KERNELS), SELECTION)
    assert (done.kernels, done.left_out) == (4, ())
    return folder


@pytest.fixture
def made(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The bundle, to be damaged; compiled kernels are in the cache."""
    monkeypatch.setenv(CACHE_VARIABLE, str(built))
    return Path(shutil.copy(built / "made.sqlite", tmp_path / "made.sqlite"))


def no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: Any) -> None:
        raise AssertionError("the compiler was asked")

    monkeypatch.setitem(compiling.BACKENDS, "nvrtc", missing)


def test_a_bundle_replaces_the_compiler(
    made: Path,
    tmp_path: Path,
    profile: HardwareProfile,
    fake_kernels: Kernels,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compiled = Supply(profile, fake_kernels).get(PROBLEM)
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "other"))
    no_compiler(monkeypatch)
    monkeypatch.setenv(BUNDLE_VARIABLE, str(made))
    found = supply_of(profile, fake_kernels).get(replace(PROBLEM, steps=77))
    assert (found.origin, found.cubin) == ("bundle", compiled.cubin)
    assert found.cubin[:4] == b"\x7fELF"
    assert found.candidate == replace(compiled.candidate, problem=replace(PROBLEM, steps=1))
    assert Bundle.open(made).find(replace(PROBLEM, batch=3), profile) is None
    assert Bundle.open(made).find(PROBLEM, load_profile("h200_sxm")) is None
    assert Bundle.open(made).find(replace(PROBLEM, forward_clip=0.5), profile) is None


def test_what_was_compiled_is_kept(
    profile: HardwareProfile, fake_kernels: Kernels, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first = Supply(profile, fake_kernels).get(PROBLEM)
    assert first.origin in ("compiled", "kept")
    no_compiler(monkeypatch)
    again = Supply(profile, fake_kernels)
    assert again.get(replace(PROBLEM, steps=9)).origin == "kept"
    assert again.get(PROBLEM).candidate.parameters == first.candidate.parameters
    for path in again.cache.folder.parent.glob("tilings/*.json"):
        path.write_text(path.read_text().replace('"cooperative"', '"cooperativ'))
    assert again.quickly(PROBLEM) is None
    other = Supply(structs.replace(profile, l2_bytes=1), fake_kernels)
    assert other.quickly(PROBLEM) is None


def test_requests_are_compiled_at_the_same_time(
    profile: HardwareProfile, fake_kernels: Kernels, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = Event()
    waiting: list[str] = []
    compile_one = Compiler.compile

    def meets(self: Compiler, candidate: Any) -> Compiled:
        waiting.append(candidate.problem.dtype)
        if len(waiting) == 2:
            both.set()
        assert both.wait(20), "the other request was not begun"
        return compile_one(self, candidate)

    monkeypatch.setattr(Compiler, "compile", meets)
    supply = Supply(profile, fake_kernels)
    requests = [replace(PROBLEM, dtype=name) for name in ("bf16", "fp16")]
    begun = [supply.begin(one) for one in requests]
    assert [future.result().candidate.problem.dtype for future in begun] == ["bf16", "fp16"]
    assert supply.begin(requests[0]) is begun[0]


def test_a_failure_is_said_and_tried_again(profile: HardwareProfile, fake_kernels: Kernels) -> None:
    supply = Supply(profile, fake_kernels)
    for _ in range(2):
        with pytest.raises(InfeasibleError):
            supply.get(replace(PROBLEM, head_dim=1 << 20))


def test_damaged_and_foreign_bundles_are_refused(made: Path, tmp_path: Path, fake_kernels: Kernels) -> None:
    sources = sources_digest(fake_kernels.root)
    with pytest.raises(InputError, match="does not exist"):
        Bundle.open(tmp_path / "none")
    text = tmp_path / "text"
    text.write_text("no bundle")
    with pytest.raises(InputError, match="not a bundle of kernels, or is damaged"):
        Bundle.open(text)
    other = tmp_path / "other.sqlite"
    sqlite3.connect(other).executescript("create table about (name text, value text)")
    with pytest.raises(InputError, match="an sqlite file, but no bundle"):
        Bundle.open(other)
    with pytest.raises(InputError, match="built from other kernel sources"):
        Bundle.open(made, "0" * 64)
    Bundle.open(made, sources).close()


@pytest.mark.parametrize(
    "harm",
    [
        "update kernels set sha256 = 'x'",
        "update kernels set candidate = '{}'",
        "update kernels set block = 9",
        "update blocks set content = substr(content, 1, 100)",
        "update blocks set content = x'00'",
        "drop table blocks",
        "update kernels set key = (select max(key) from kernels) || key",
    ],
)
def test_damage_is_found_and_kernels_are_compiled_instead(
    made: Path, profile: HardwareProfile, fake_kernels: Kernels, harm: str
) -> None:
    writer = sqlite3.connect(made)
    writer.execute(harm)
    writer.commit()
    writer.close()
    opened = Bundle.open(made)
    supply = Supply(profile, fake_kernels, bundle=opened)
    if "set key" in harm:
        assert opened.find(PROBLEM, profile) is None
        assert supply.get(PROBLEM).origin == "kept"
        return
    with pytest.raises(InputError, match="is damaged"):
        list(opened.all())
    with pytest.warns(RuntimeWarning, match="damaged.*compiled instead"):
        assert supply.get(PROBLEM).origin == "kept"


def test_a_kernel_under_another_request_is_refused(made: Path, profile: HardwareProfile) -> None:
    writer = sqlite3.connect(made)
    rows = writer.execute("select rowid, key from kernels order by rowid").fetchall()
    writer.execute("update kernels set key = 'aside' where rowid = ?", rows[0][:1])
    writer.execute("update kernels set key = ? where rowid = ?", (rows[0][1], rows[1][0]))
    writer.commit()
    writer.close()
    opened = Bundle.open(made)
    first = next(layer for layer in SELECTION.layers())[0]
    with pytest.raises(InputError, match="filed under another request"):
        opened.find(first, profile)


def test_an_unusable_bundle_is_said_once_and_passed_over(
    tmp_path: Path, profile: HardwareProfile, fake_kernels: Kernels, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(BUNDLE_VARIABLE, str(tmp_path / "none"))
    said: list[str] = []
    supply = supply_of(profile, fake_kernels, warn=said.append)
    assert supply.bundle is None
    assert len(said) == 1
    assert "compiled instead" in said[0]
    monkeypatch.setenv(BUNDLE_VARIABLE, "none")
    assert installed_bundle("any") is None


def test_the_wheel_is_found(
    made: Path, tmp_path: Path, fake_kernels: Kernels, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = write_wheel(made, tmp_path / "wheels", "0.1.0")
    with zipfile.ZipFile(wheel) as archive:
        assert archive.testzip() is None
        record = archive.read("constrint_kernels-0.1.0.dist-info/RECORD").decode().splitlines()
        assert sorted(line.split(",")[0] for line in record) == sorted(archive.namelist())
        archive.extractall(tmp_path / "site")
    monkeypatch.delenv(BUNDLE_VARIABLE, raising=False)
    monkeypatch.syspath_prepend(tmp_path / "site")
    found = installed_bundle(sources_digest(fake_kernels.root))
    sys.modules.pop("constrint_kernels", None)
    assert found is not None
    assert found.contents() == [("h100_sxm", 4)]


def test_the_commands(tmp_path: Path) -> None:
    target = str(tmp_path / "b.sqlite")
    asked = ["--gpu", "h100_sxm", "--cell", "elman", "--shape", "1x16", "--batch", "2", "--dtype", "bf16"]
    done = CliRunner().invoke(app, ["bundle", "build", target, *asked, "--wheel", str(tmp_path), "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["kernels"] == 3
    agrees(json.loads(done.stdout), "bundle build")
    assert list(tmp_path.glob("constrint_kernels-*.whl"))
    done = CliRunner().invoke(app, ["bundle", "check", target])
    assert "3 kernels by nvrtc" in done.output
    agrees(json.loads(CliRunner().invoke(app, ["bundle", "check", target, "--json"]).stdout), "bundle check")
    done = CliRunner().invoke(app, ["bundle", "check", str(tmp_path / "none"), "--json"])
    assert done.exit_code == 2
    assert '"status": "bad input"' in done.output
    done = CliRunner().invoke(app, ["bundle", "build", target, "--shape", "12by64", "--gpu", "h100_sxm"])
    assert done.exit_code == 2
    assert "is not heads x units" in done.output


def test_the_doctor_says_what_is_prebuilt(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kerneltune.cli.doctor import _bundle

    monkeypatch.setenv(BUNDLE_VARIABLE, "none")
    assert _bundle() == "none are installed: kernels are compiled at the first call"
    monkeypatch.setenv(BUNDLE_VARIABLE, str(made))
    with pytest.raises(InputError, match="built from other kernel sources"):
        _bundle()  # this one is of the stand-in kernels
