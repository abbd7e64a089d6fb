"""The store with other processes, versions and limits: no measured trial is lost or repeated."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from made import FAKE_KERNELS, failed, hand_made, numbered, timed
from old_store import MEASUREMENT
from old_store import row as old_row
from old_store import write as write_old

from kerneltune.cli.main import app
from kerneltune.errors import InputError
from kerneltune.pipeline.tiling_trial import TilingTrial
from kerneltune.tuning import store as stores
from kerneltune.tuning.memory import row_of
from kerneltune.tuning.rows import Patience
from kerneltune.tuning.store import Store, StoredTrial

HUNG = "no answer within 120 s: the process was ended (a hang in the kernel?)"


def hung(limit: float | None) -> TilingTrial:
    return failed(hand_made(), HUNG, died=True, limit=limit)


def row(trial: TilingTrial | int = 0) -> StoredTrial:
    """A row of a trial, or of one that passed and has that number."""
    return row_of(timed(numbered(trial)) if isinstance(trial, int) else trial, "content")


def waiting(adding: float) -> Patience:
    return Patience(adding=adding, closing=adding, attempt=0.05, quiet=0.2)


# Locks the file until standard input ends.
LOCKER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("begin " + sys.argv[2])
print("locked", flush=True)
sys.stdin.read()
connection.execute("rollback")
"""


class Locked:
    """Another process that has the file locked."""

    def __init__(self, path: Path, how: str = "exclusive") -> None:
        command = [sys.executable, "-c", LOCKER, str(path), how]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self) -> Locked:
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"locked\n"
        return self

    def release(self) -> None:
        if self._process.stdin is not None and not self._process.stdin.closed:
            self._process.stdin.close()

    def __exit__(self, *_: object) -> None:
        self.release()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()


@pytest.mark.parametrize("how", ["immediate", "exclusive"])
def test_what_was_measured_is_kept_while_the_file_is_locked(tmp_path: Path, how: str) -> None:
    said: list[str] = []
    store = Store(tmp_path / "trials.sqlite", patience=waiting(0.5), notice=said.append)
    store.add("a", row(0))
    with Locked(store.path, how):
        store.add("b", row(1))
        store.add("b", row(2))
        store.add("c", row(hung(7.0)))
        with pytest.raises(InputError, match="is locked; 2 trials are not written"):
            store.flush(0.1)
    assert said
    assert "cannot be used yet (database is locked): waiting" in said[0]
    store.add("d", row(3))
    rows = Store(store.path).tilings()
    assert [row.key for row in rows] == ["a", "b", "c", "d"]
    trials = [row.trial for row in rows]
    assert trials == [timed(numbered(0)), timed(numbered(2)), hung(7.0), timed(numbered(3))]
    store.close()


def test_waiting_ends_with_the_lock(tmp_path: Path) -> None:
    store = Store(tmp_path / "trials.sqlite", patience=waiting(100.0))
    with Locked(store.path) as locked:
        threading.Timer(0.7, locked.release).start()
        started = time.monotonic()
        store.add("a", row())
        assert time.monotonic() - started > 0.5
        assert Store(store.path, patience=waiting(100.0)).find("a") is not None
    with Locked(store.path) as locked:
        threading.Timer(0.3, locked.release).start()
        opened = Store(store.path, patience=waiting(100.0))
        assert opened.find("a") == timed(numbered())


def test_what_is_kept_is_found_and_written_at_the_end(tmp_path: Path) -> None:
    store = Store(tmp_path / "trials.sqlite", patience=waiting(0.2))
    with Locked(store.path):
        store.add("a", row())
    found = store.find("a")  # which writes it first
    assert found is not None
    with Locked(store.path):
        store.add("b", row(1))
    store.close()
    assert [row.key for row in Store(store.path).tilings()] == ["a", "b"]


@pytest.mark.parametrize("limit", [0.5, 120.0])
def test_a_higher_limit_is_another_try(tmp_path: Path, limit: float) -> None:
    store = Store(tmp_path / "trials.sqlite")
    store.add("a", row(hung(limit)))
    store.add("b", row(failed(hand_made(), "was ended by SIGSEGV", died=True)))
    store.close()
    again = Store(store.path)
    a, b = again.find("a"), again.find("b")
    assert a is not None
    assert b is not None
    assert (a.is_final(limit), a.is_final(limit / 2)) == (True, True)
    assert not a.is_final(2 * limit)
    assert b.is_final(1e9)
    again.add("a", row())
    assert again.find("a") == timed(numbered())


def test_a_store_of_version_0_1_is_read(tmp_path: Path) -> None:
    """Its rows are those of tilings, a new one takes the place of an old one, and it is never written to."""
    path = tmp_path / "trials.sqlite"
    wrong = {**MEASUREMENT, "right": False, "verdict": "relative error 1.00e-01, above 5e-03"}
    unsteady = {**MEASUREMENT, "runs_with_same_bits": 2}
    rows = [
        old_row("a", numbered(0), MEASUREMENT),
        old_row("b", numbered(1), {**wrong, "relative_error": None}),
        old_row("c", numbered(2), unsteady),
        old_row("d", numbered(3), None, "was ended by SIGSEGV", 1),
        old_row("e", numbered(4), None, HUNG, 1),
        old_row("f", numbered(5), None, "no space"),
    ]
    write_old(path, rows, [("e", 7.0)])
    store = Store(path)
    found = {one.key: one.trial for one in store.tilings("h100_sxm", hand_made().problem)}
    assert [trial.passed for trial in found.values()] == [True, False, False, False, False, False]
    assert [trial.candidate for trial in found.values()] == [numbered(number) for number in range(6)]
    a = found["a"]
    assert (a.time, a.fastest, a.device, a.notes["seed"], a.relative_error) == (0.5, 0.4, "GPU", 1, 1e-3)
    assert found["b"].failure == "wrong result: relative error 1.00e-01, above 5e-03"
    assert found["c"].failure == "wrong result: the same bits in 2 of 3 runs"
    assert [trial.is_final(120.0) for trial in found.values()] == [True, True, True, True, False, False]
    assert found["e"].is_final(7.0)
    store.add("e", row(hung(120.0)))
    assert store.find("e") == hung(120.0)
    store.close()
    again = Store(path)
    assert [one.key for one in again.tilings()] == ["a", "b", "c", "d", "f", "e"]
    assert again.tilings("another GPU") == []
    with sqlite3.connect(path) as connection:
        assert connection.execute("select * from trials order by key").fetchall() == rows
    again.close()


def test_what_hung_in_the_oldest_stores_is_tried_again(tmp_path: Path) -> None:
    """They kept no time limits."""
    path = tmp_path / "trials.sqlite"
    write_old(path, [old_row("a", hand_made(), None, HUNG, 1)], None)
    found = Store(path).find("a")
    assert found is not None
    assert not found.is_final(1.0)


def test_a_store_that_cannot_be_written_to_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "trials.sqlite"
    write_old(path, [old_row("a", hand_made(), MEASUREMENT)], None)
    connect = sqlite3.connect
    monkeypatch.setattr(
        sqlite3, "connect", lambda name, **options: connect(f"file:{name}?mode=ro", uri=True, **options)
    )
    store = Store(path)
    assert [one.key for one in store.tilings()] == ["a"]
    assert store.rows() == []
    with pytest.raises(InputError, match="1 trials are not written"):
        store.add("b", row())


def test_several_processes_write_one_store(tmp_path: Path) -> None:
    path = tmp_path / "trials.sqlite"
    code = (
        "import sys\nfrom pathlib import Path\nsys.path.insert(0, sys.argv[1])\n"
        "from made import numbered, timed\nfrom kerneltune.tuning.memory import row_of\n"
        "from kerneltune.tuning.store import Store\n"
        "store = Store(Path(sys.argv[2]))\n"
        "for number in range(8): store.add(f'{sys.argv[3]} {number}', row_of(timed(numbered(number)), ''))\n"
        "store.close()\n"
    )
    here = str(FAKE_KERNELS.parent)
    running = [subprocess.Popen([sys.executable, "-c", code, here, str(path), who]) for who in "abc"]
    assert [process.wait() for process in running] == [0, 0, 0]
    assert len(Store(path).tilings()) == 24


def test_processes_that_create_one_store_at_the_same_moment(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom pathlib import Path\nfrom kerneltune.tuning.store import Store\n"
        "print(flush=True)\ninput()\n"
        "for number in range(10): Store(Path(sys.argv[1]) / str(number)).close()\n"
    )
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    for process in running:
        assert process.stdout is not None
        assert process.stdout.readline()
    for process in running:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    for process in running:
        process.communicate()
    assert [process.returncode for process in running] == [0] * 4


def test_a_store_in_use_is_answered_by_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "trials.sqlite"
    write_old(path, [])  # its readers wait for who writes
    monkeypatch.setattr(stores.Store.__init__, "__kwdefaults__", {"patience": waiting(0.2), "notice": print})
    with Locked(path):
        answer = CliRunner().invoke(app, ["report", "--store", str(path)])
    assert answer.exit_code == 2
    assert "database is locked" in answer.output
