"""Files are replaced whole, with the mode of the old ones; what is no file is written to, not replaced."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from threading import Thread

import pytest
from click.testing import CliRunner

from constrint import Model, read
from constrint.cli.main import app
from constrint.support.placing import placed, replace


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
