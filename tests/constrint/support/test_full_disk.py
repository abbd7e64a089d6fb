"""Disks that are full, homes that are missing and clocks that go back: one sentence, and nothing is lost."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hostile_folder import ROOT

from constrint.support.caching import user_cache
from constrint.support.own_files import temporary_folder

resource = pytest.importorskip("resource", reason="the system limits no files")

# A stand-in for a full disk: no file grows beyond the limit, and a write beyond it is an error.
LIMITED = """
import resource, signal, sys
from pathlib import Path
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
import constrint, numpy
from constrint import Model
folder, limit = Path(sys.argv[1]), int(sys.argv[2])
def limited():
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
def model():
    m = Model()
    x = m.int_vars("x", 100, 0, 9)
    m.add(constrint.sum_(x) <= 100, constrint.sum_(x[:50]) >= 7)
    return m
def solutions():
    m = Model()
    x, y = m.int_var("x", 0, 400), m.int_var("y", 0, 400)
    m.add(x * y <= 4000)
    return m.solutions()
def told(write):
    limited()
    try:
        write()
    except (constrint.ConstrintError, OSError) as error:
        print(error)
    except Exception as error:
        if type(error).__module__ != "kerneltune.errors":
            raise
        print(error)
    else:
        print("written")
"""
WRITERS = {
    "o.csv": "s = solutions(); told(lambda: s.to_csv(path))",
    "o.npy": "s = solutions(); told(lambda: s.to_npy(path))",
    "o.npz": "s = solutions(); told(lambda: s.save(path))",
    "o.parquet": "s = solutions(); import pyarrow.parquet; told(lambda: s.to_parquet(path))",
    "o.svg": "s = solutions(); told(lambda: s.picture(path))",
    "o.html": "s = solutions(); told(lambda: s.picture(path))",
    "m.json": "m = model(); told(lambda: m.write(path))",
    "m.lp": "m = model(); told(lambda: m.write(path))",
    "m.constrint": "m = model(); told(lambda: m.write(path))",
    "m.json.gz": "m = model(); told(lambda: m.write(path))",
    "t4.json": "from kerneltune.cli.writing import write_file; told(lambda: write_file(path, 'x' * 9000))",
    "cache.json": (
        "from kerneltune.tuning.cache_files import write_cache\n"
        "told(lambda: write_cache(path, {}, {'x': [1]}, [{'x': 'y' * 9000}]))"
    ),
}


def run(program: str, folder: Path, limit: int, **words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program, str(folder), str(limit)],
        env={**os.environ, "PYTHONPATH": ROOT, **words},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, (done.returncode, done.stderr)
    return done.stdout


@pytest.mark.parametrize("name", WRITERS)
def test_what_was_there_stays_and_the_file_is_named(tmp_path: Path, name: str) -> None:
    if name.endswith(".parquet"):
        pytest.importorskip("pyarrow")
    path = tmp_path / name
    path.write_bytes(b"old")
    said = run(f"{LIMITED}\npath = folder / {name!r}\n{WRITERS[name]}\n", tmp_path, 512)
    assert "file too large" in said.lower()
    assert str(path) in said
    assert said.count("\n") == 1
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == [name]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 64 KiB, most of it taken."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this user mounts no file systems")
    try:
        (folder / "taken").write_bytes(b"x" * 48_000)
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk(disk: Path, name: str) -> None:
    """Space that runs out while a file is written through memory ends a process by a signal of the system."""
    if name.endswith(".parquet"):
        pytest.importorskip("pyarrow")
    (disk / "more").write_bytes(b"x" * 8192)
    path = disk / name
    path.write_bytes(b"old")
    said = run(f"{LIMITED}\nlimit = 10**9\npath = folder / {name!r}\n{WRITERS[name]}\n", disk, 10**9)
    if said != "written\n":
        assert "no space left on device" in said.lower()
        assert str(path) in said
        assert path.read_bytes() == b"old"
    assert sorted(os.listdir(disk)) == sorted([name, "more", "taken"])


def test_a_proof_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    program = (
        f"{LIMITED}\nm = model()\n"
        "told(lambda: m.solve(learn=True, proof=folder / 'p.proof', engine='interpreted'))\n"
    )
    said = run(program, tmp_path, 512)
    assert said == f"cannot write the proof to {tmp_path / 'p.proof'}: file too large\n"


STORE = """
from kerneltune.pipeline.trial import Trial
from kerneltune.tuning.store import Store, StoredTrial
def row(number):
    return StoredTrial("k", "identity", "d", {}, "today", Trial({"a": number}, {"time": 1.0}))
store = Store(folder / "s.sqlite")
for number in range(100):
    store.add(str(number), row(number))
def rest():
    for number in range(100, 700):
        store.add(str(number), row(number))
    store.flush(2.0)  # as close does, which waits a minute
told(rest)
"""


def test_trials_that_were_stored_stay(tmp_path: Path) -> None:
    from kerneltune.tuning.store import Store

    said = run(LIMITED + STORE, tmp_path, 60_000)
    assert "cannot be written" in said
    store = Store(tmp_path / "s.sqlite")
    rows = store.rows("k")
    store.close()
    assert len(rows) >= 100
    assert [row.trial.configuration["a"] for row in rows] == list(range(len(rows)))


SOLVE = "from constrint.cli.main import main; sys.argv[1:] = ['solve', str(folder / 'm.constrint')]; "


def test_caches_that_cannot_be_written_cost_nothing_else(tmp_path: Path) -> None:
    """A parser's tables and compiled code do not fit: the answer is the same, and nothing half is kept."""
    (tmp_path / "m.constrint").write_text("x in 1..9; x * x == 49\n", encoding="utf-8")
    for limit in (0, 100, 10_000):
        home = tmp_path / f"home{limit}"
        program = f"{LIMITED}\nlimited()\n{SOLVE}main()\n"
        assert run(program, tmp_path, limit, XDG_CACHE_HOME=str(home)) == "x = 7\n"
        assert [path.stat().st_size for path in home.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize(
    "words",
    [
        {"HOME": "/proc/nothing", "XDG_CACHE_HOME": ""},
        {"HOME": "relative", "XDG_CACHE_HOME": ""},
        {"HOME": "", "XDG_CACHE_HOME": "relative"},
        {"XDG_CACHE_HOME": "/dev/null"},
        {"XDG_CACHE_HOME": "/proc/nothing", "TMPDIR": "/proc/nothing", "KERNELTUNE_CACHE_DIR": "/dev/null/x"},
    ],
)
def test_without_a_home_commands_work_and_leave_nothing_here(tmp_path: Path, words: dict[str, str]) -> None:
    (tmp_path / "m.constrint").write_text("x in 1..9; x * x == 49\n", encoding="utf-8")
    folder = tmp_path / "here"
    folder.mkdir()
    words = {"HOME": str(tmp_path), **words}
    begun = "import os, sys; from pathlib import Path; folder = Path(sys.argv[1]); os.chdir(folder / 'here')"
    program = f"{begun}; {SOLVE}main()"
    assert run(program, tmp_path, 0, **words) == "x = 7\n"
    program = (
        "from constrint.support.children import environment\nimport sys\n"
        "from kerneltune.cli.failures import run_app\nfrom kerneltune.cli.main import app\n"
        "code = run_app(app, ['report'])\nsys.exit(0 if code in (0, 2) else code)\n"
    )
    run(f"import os, sys; os.chdir(sys.argv[1] + '/here')\n{program}", tmp_path, 0, **words)
    assert os.listdir(folder) == []


def test_caches_are_in_no_folder_that_depends_on_where_one_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "cache")
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # a user without a home
    assert user_cache("constrint") == temporary_folder("constrint")


def test_a_clock_that_is_set_back_changes_no_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kerneltune.pipeline.trial import Trial
    from kerneltune.tuning.store import Store, StoredTrial

    store = Store(tmp_path / "s.sqlite")
    for number, measured in enumerate(["2030-01-01", "2020-01-01", "2025-01-01"]):
        trial = Trial({"a": number}, {"time": 1.0})
        store.add(str(number), StoredTrial("k", "identity", "d", {}, measured, trial))
    assert [row.trial.configuration["a"] for row in store.rows("k")] == [0, 1, 2]
    store.close()


def test_deadlines_do_not_follow_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    from constrint import Model, all_different
    from constrint.engine import cache

    monkeypatch.setattr(time, "time", lambda: -1e9)
    monkeypatch.setattr(cache, "time", lambda: -1e9)
    m = Model()
    x = m.int_vars("x", 12, 0, 10)
    m.add(all_different(x))
    begun = time.monotonic()
    m.solve(time_limit=5)
    assert time.monotonic() - begun < 60


def test_no_wall_clock_decides() -> None:
    """`time.time` stands only where ages of files are compared, which are times of that clock."""
    allowed = {"constrint/engine/cache.py", "kerneltune/running/scratch.py"}
    found = {
        str(path.relative_to(ROOT))
        for package in ("constrint", "kerneltune")
        for path in Path(ROOT, package).rglob("*.py")
        if "time.time()" in (text := path.read_text("utf-8")) or "from time import time\n" in text
    }
    assert found == allowed
