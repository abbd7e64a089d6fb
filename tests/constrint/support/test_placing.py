"""Files are replaced whole, with the mode of the old ones; what is no file is written to, not replaced.

Nobody else can read, foresee or take the place of what is half written.
"""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest
from click.testing import CliRunner

from constrint import Model, read
from constrint.cli.main import app
from constrint.support.placing import placed, replace, replaced


def model() -> Model:
    m = Model()
    x = m.int_var("x", 0, 9)
    m.add(2 * x == 6)
    return m


@pytest.mark.parametrize("ending", [".json", ".lp", ".lp.gz", ".constrint"])
def test_a_replaced_file_keeps_its_mode_and_leaves_nothing_behind(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"m{ending}"
    path.write_text("old", "utf-8")
    path.chmod(0o640)
    model().write(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert read(path).solve()["x"] == 3
    assert os.listdir(tmp_path) == [path.name]


def test_a_pipe_is_written_to_and_stays_one(tmp_path: Path) -> None:
    source, pipe = tmp_path / "m.constrint", tmp_path / "pipe"
    os.mkfifo(pipe)
    source.write_text("x in 0..9\n2 * x == 6\n", "utf-8")
    found: list[str] = []
    reader = Thread(target=lambda: found.append(pipe.read_text("utf-8")), daemon=True)
    reader.start()
    done = CliRunner().invoke(app, ["convert", str(source), str(pipe), "--to", "lp"])
    reader.join(20)
    assert done.exit_code == 0, done.output
    assert "Subject To" in found[0]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_failure_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "m.txt"
    path.write_text("old", "utf-8")

    def fail() -> None:
        with placed(path) as aside:
            aside.write_text("half", "utf-8")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert path.read_text("utf-8") == "old"
    assert os.listdir(tmp_path) == ["m.txt"]
    with pytest.raises(OSError, match="directory"):
        replace(tmp_path, b"x")
    assert os.listdir(tmp_path) == ["m.txt"]


def test_threads_and_processes_that_write_one_file_each_write_it_whole(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    failures: list[BaseException] = []

    def write(number: int) -> None:
        try:
            for turn in range(60):
                replace(path, f"{number}.{turn} ".encode() * 2000)
        except BaseException as failure:
            failures.append(failure)

    program = (
        "import sys; from constrint.support.placing import replace\n"
        "for turn in range(60): replace(sys.argv[1], f'p.{turn} '.encode() * 2000)"
    )
    others = [subprocess.Popen([sys.executable, "-c", program, str(path)]) for _ in range(2)]
    threads = [Thread(target=write, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        if path.exists():
            words = path.read_text("utf-8").split()
            assert len(words) == 2000
            assert len(set(words)) == 1
    assert [other.wait(60) for other in others] == [0, 0]
    assert not failures
    assert os.listdir(tmp_path) == ["m.json"]


@pytest.mark.parametrize("length", [5, 241, 250, 255])
@pytest.mark.parametrize("ending", [".json", ".lp.gz", ".x" * 60, "." + "y" * 100])
def test_long_names_and_endings_are_written(tmp_path: Path, length: int, ending: str) -> None:
    path = tmp_path / ("a" * max(1, length - len(ending)) + ending)
    replace(path, b"new")
    replace(path, b"newer")
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("mode", [0o600, 0o400, 0o444, 0o640, 0o664, 0o666, 0o200, 0o755])
def test_odd_modes_stay_and_none_is_wider_meanwhile(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "secret.txt"
    path.write_bytes(b"old")
    path.chmod(mode)
    with replaced(path) as aside:
        aside.write_bytes(b"new")
        assert stat.S_IMODE(aside.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.stat().st_mode) == mode
    path.chmod(0o600)
    assert path.read_bytes() == b"new"


def test_the_right_to_run_as_the_owner_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "m.txt"
    path.write_bytes(b"old")
    path.chmod(0o4755)
    replace(path, b"new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o755


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_a_new_file_has_the_mode_that_the_user_gives_to_new_files(tmp_path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        replace(tmp_path / "m.txt", b"new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "m.txt").stat().st_mode) == 0o666 & ~mask


def test_a_link_that_was_laid_in_advance_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even where the random name is known."""
    victim, path = tmp_path / "victim", tmp_path / "m.txt"
    victim.write_bytes(b"mine")
    monkeypatch.setattr(os, "urandom", lambda count: b"\0" * count)
    (tmp_path / f".{'0' * 16}.txt").symlink_to(victim)
    with pytest.raises(FileExistsError):
        replace(path, b"new")
    assert victim.read_bytes() == b"mine"
    monkeypatch.undo()
    with replaced(path) as one, replaced(path) as other:
        assert one.name != other.name
