"""Places that can be guessed: what another user or a mishap put there is neither read nor followed.

Every cache and lock of both packages is tried with a folder, a pipe, a link, a file that others may write and
a file of another user in place of its files.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from constrint.engine import cache, claims
from constrint.frontends import parsers
from constrint.support import own_files
from constrint.support.own_files import open_lock, own_folder, read_own, write_own
from kerneltune.compiling import ready
from kerneltune.compiling.compiler_output import CompilerOutput
from kerneltune.compiling.cubin_cache import CubinCache, keep, read_kept
from kerneltune.errors import RunError
from kerneltune.pipeline.elsewhere import device_lock

SHAPES = ("folder", "full folder", "pipe", "link", "dangling link", "open to others", "of another user")
pytestmark = [pytest.mark.timeout(60)]  # a pipe without a writer would be waited for


def put(shape: str, path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes = b"{}") -> None:
    """Put something in the place of a file."""
    if path.is_file():
        content = path.read_bytes()
        path.unlink()
    if shape.endswith("folder"):
        path.mkdir()
        if shape == "full folder":
            (path / "x").write_bytes(b"x")
    elif shape == "pipe":
        os.mkfifo(path)
    elif shape == "link":
        elsewhere = path.with_name("elsewhere")
        elsewhere.write_bytes(content)
        path.symlink_to(elsewhere)
    elif shape == "dangling link":
        path.symlink_to(path.with_name("nowhere"))
    else:
        path.write_bytes(content)
        path.chmod(0o666 if shape == "open to others" else 0o644)
        if shape == "of another user":
            about = os.stat(path)
            own = about.st_ino, about.st_mtime_ns

            def is_own(status: os.stat_result) -> bool:
                return (status.st_ino, status.st_mtime_ns) != own

            monkeypatch.setattr(own_files, "is_own", is_own)


@pytest.mark.parametrize("shape", SHAPES)
def test_what_others_may_have_put_there_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shape: str
) -> None:
    path = tmp_path / "entry"
    write_own(path, b"mine")
    assert read_own(path) is not None
    put(shape, path, monkeypatch)
    assert read_own(path) is None
    assert read_kept(path) is None


@pytest.mark.parametrize("shape", SHAPES)
def test_writing_replaces_what_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shape: str) -> None:
    path = tmp_path / "entry"
    put(shape, path, monkeypatch)
    if shape.endswith("folder"):
        with pytest.raises(OSError, match="directory"):
            keep(path, b"new")
    else:
        keep(path, b"new")
        assert stat.S_IMODE(path.lstat().st_mode) == 0o600
        assert path.read_bytes() == b"new"
    assert (tmp_path / "nowhere").exists() is False
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]


@pytest.mark.parametrize("shape", SHAPES)
def test_the_cache_of_machine_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shape: str) -> None:
    monkeypatch.setattr(cache, "folders", lambda: [tmp_path / "constrint"])
    monkeypatch.setattr(cache, "_known", {})
    place = own_folder(tmp_path / "constrint") / cache.name("jumps")
    assert cache.write("jumps", b"code")
    assert cache.read("jumps") == b"code"
    put(shape, place, monkeypatch)
    monkeypatch.setattr(cache, "_known", {})
    assert cache.read("jumps") is None
    assert not cache.is_filled("jumps")
    assert cache.write("jumps", b"anew") is not shape.endswith("folder")
    if not shape.endswith("folder"):
        assert cache.read("jumps") == b"anew"


@pytest.mark.parametrize("shape", SHAPES)
def test_the_lock_of_the_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shape: str) -> None:
    monkeypatch.setattr(cache, "folders", lambda: [tmp_path / "constrint"])
    place = own_folder(tmp_path / "constrint") / f"{cache.name('jumps')}.lock"
    put(shape, place, monkeypatch)
    with claims.claimed("jumps"):
        claims.is_claimed("jumps")
    assert not (place.parent / "nowhere").exists()


@pytest.mark.parametrize("shape", SHAPES)
def test_the_cache_of_parsers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shape: str) -> None:
    monkeypatch.setattr(parsers, "user_cache", lambda: tmp_path / "constrint")
    own_folder(tmp_path / "constrint")
    place = tmp_path / "constrint" / "x.json"
    parsers._write(place, "{}")
    put(shape, place, monkeypatch)
    assert parsers._kept(place, "grammar", {}) is None
    parsers._write(place, "[]")


@pytest.mark.parametrize("ending", ["json", "cubin"])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_cache_of_cubins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shape: str, ending: str
) -> None:
    kept = CubinCache(tmp_path)
    output = CompilerOutput(b"machine code", "log", "nvrtc 1", 1.0)
    kept.store("key", output)
    found = kept.load("key")
    assert found is not None
    assert found.cubin == b"machine code"
    put(shape, kept.folder / f"key.{ending}", monkeypatch)
    assert kept.load("key") is None
    kept.store("key", output)
    assert (kept.load("key") is None) == shape.endswith("folder")


def test_a_cache_in_a_folder_of_another_user_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = CubinCache(tmp_path)
    kept.store("key", CompilerOutput(b"machine code", "log", "nvrtc 1", 1.0))
    for module in ("kerneltune.compiling.cubin_cache", "constrint.frontends.parsers"):
        monkeypatch.setattr(f"{module}.is_own_folder", lambda path: False)
    assert kept.load("key") is None
    ready._write(tmp_path / "note.json", {})
    assert not (tmp_path / "note.json").exists()
    assert parsers._kept(kept.folder / "key.json", "", {}) is None


@pytest.mark.parametrize("shape", SHAPES)
def test_the_lock_of_a_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shape: str) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with device_lock(3):
        folder = own_files.temporary_folder("kerneltune")
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert stat.S_IMODE((folder / "device-3.lock").stat().st_mode) == 0o600
    put(shape, folder / "device-3.lock", monkeypatch)
    if shape == "open to others":  # its folder is closed
        with device_lock(3):
            pass
        return
    with pytest.raises(RunError, match=r"the GPU cannot be locked: .*; set TMPDIR"), device_lock(3):
        pass
    assert not (folder / "nowhere").exists()


def test_a_folder_of_another_user_is_no_place_for_locks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    own_files.temporary_folder("kerneltune").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RunError, match="cannot be locked"), device_lock(None):
        pass
    monkeypatch.setattr(os, "geteuid", lambda: 4711)
    monkeypatch.setattr(own_files, "is_own", lambda status: False)
    with pytest.raises(OSError, match="belongs to another user"):
        own_folder(tmp_path / "other")


def test_a_lock_of_another_user_is_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.close(open_lock(tmp_path / "lock"))
    monkeypatch.setattr(own_files, "is_own", lambda status: False)
    with pytest.raises(PermissionError, match="another user"):
        open_lock(tmp_path / "lock")
