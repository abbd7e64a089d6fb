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
from made import FAKE_KERNELS, outcome

from kerneltune.cli.main import app
from kerneltune.errors import InputError
from kerneltune.running.trial import Outcome
from kerneltune.tuning import store as stores
from kerneltune.tuning.rows import Patience
from kerneltune.tuning.store import SCHEMA, Store


def hung(limit: float | None) -> Outcome:
    said = "no answer within 120 s: the process was ended (a hang in the kernel?)"
    return outcome(measurement=None, failure=said, died=True, limit=limit)


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
    store.add("a", outcome(0))
    with Locked(store.path, how):
        store.add("b", outcome(1))
        store.add("b", outcome(2))
        store.add("c", hung(7.0))
        with pytest.raises(InputError, match="is locked; 2 trials are not written"):
            store.flush(0.1)
    assert said
    assert "cannot be used yet (database is locked): waiting" in said[0]
    store.add("d", outcome(3))
    rows = Store(store.path).trials()
    assert [row.key for row in rows] == ["a", "b", "c", "d"]
    assert [row.outcome for row in rows] == [outcome(0), outcome(2), hung(7.0), outcome(3)]
    store.close()


def test_waiting_ends_with_the_lock(tmp_path: Path) -> None:
    store = Store(tmp_path / "trials.sqlite", patience=waiting(100.0))
    with Locked(store.path) as locked:
        threading.Timer(0.7, locked.release).start()
        started = time.monotonic()
        store.add("a", outcome())
        assert time.monotonic() - started > 0.5
        assert Store(store.path, patience=waiting(100.0)).find("a") is not None
    with Locked(store.path) as locked:
        threading.Timer(0.3, locked.release).start()
        opened = Store(store.path, patience=waiting(100.0))
        found = opened.find("a")
        assert found is not None
        assert found.outcome == outcome()


def test_what_is_kept_is_found_and_written_at_the_end(tmp_path: Path) -> None:
    store = Store(tmp_path / "trials.sqlite", patience=waiting(0.2))
    with Locked(store.path):
        store.add("a", outcome())
    found = store.find("a")  # which writes it first
    assert found is not None
    with Locked(store.path):
        store.add("b", outcome(1))
    store.close()
    assert [row.key for row in Store(store.path).trials()] == ["a", "b"]


@pytest.mark.parametrize("limit", [0.5, 120.0])
def test_a_higher_limit_is_another_try(tmp_path: Path, limit: float) -> None:
    store = Store(tmp_path / "trials.sqlite")
    store.add("a", hung(limit))
    store.add("b", outcome(measurement=None, failure="was ended by SIGSEGV", died=True))
    store.close()
    again = Store(store.path)
    a, b = again.find("a"), again.find("b")
    assert a is not None
    assert b is not None
    assert (a.outcome.is_final(limit), a.outcome.is_final(limit / 2)) == (True, True)
    assert not a.outcome.is_final(2 * limit)
    assert b.outcome.is_final(1e9)
    again.add("a", outcome())
    found = again.find("a")
    assert found is not None
    assert found.outcome.limit is None


def older(path: Path) -> None:
    """A store as it was before time limits were kept, with a trial that hung."""
    store = Store(path)
    store.add("a", hung(None))
    store.close()
    with sqlite3.connect(path) as connection:
        connection.execute("drop table limits")


def test_an_older_store_is_read_and_what_hung_is_tried_again(tmp_path: Path) -> None:
    older(tmp_path / "trials.sqlite")
    store = Store(tmp_path / "trials.sqlite")
    found = store.find("a")
    assert found is not None
    assert not found.outcome.is_final(120.0)
    store.add("a", hung(120.0))
    found = store.find("a")
    assert found is not None
    assert found.outcome.is_final(120.0)


def test_a_store_that_cannot_be_written_to_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "trials.sqlite"
    older(path)
    connect = sqlite3.connect
    monkeypatch.setattr(
        sqlite3, "connect", lambda name, **options: connect(f"file:{name}?mode=ro", uri=True, **options)
    )
    store = Store(path)
    assert [row.key for row in store.trials()] == ["a"]
    with pytest.raises(InputError, match="readonly database; 1 trials are not written"):
        store.add("b", outcome())


def test_several_processes_write_one_store(tmp_path: Path) -> None:
    path = tmp_path / "trials.sqlite"
    code = (
        "import sys\nfrom pathlib import Path\nsys.path.insert(0, sys.argv[1])\n"
        "from made import outcome\nfrom kerneltune.tuning.store import Store\n"
        "store = Store(Path(sys.argv[2]))\n"
        "for number in range(8): store.add(f'{sys.argv[3]} {number}', outcome(number))\n"
        "store.close()\n"
    )
    here = str(FAKE_KERNELS.parent)
    running = [subprocess.Popen([sys.executable, "-c", code, here, str(path), who]) for who in "abc"]
    assert [process.wait() for process in running] == [0, 0, 0]
    assert len(Store(path).trials()) == 24


def test_a_store_in_use_is_answered_by_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "trials.sqlite"
    Store(path).close()
    monkeypatch.setattr(stores.Store.__init__, "__kwdefaults__", {"patience": waiting(0.2), "notice": print})
    with Locked(path):
        answer = CliRunner().invoke(app, ["report", "--store", str(path)])
    assert answer.exit_code == 2
    assert "database is locked" in answer.output


def test_the_schema_of_the_first_version_is_as_it_was() -> None:
    """Other versions read and write this table by the number and order of its columns."""
    connection = sqlite3.connect(":memory:")
    connection.executescript(SCHEMA)
    names = [row[1] for row in connection.execute("pragma table_info(trials)")]
    assert names == [
        *("key", "measured", "gpu", "device", "problem", "strategy"),
        *("candidate", "measurement", "failure", "died"),
    ]
