"""Machine code on disk: verified before loading, remade if damaged, never taken from other users."""

from __future__ import annotations

import itertools
import json
import os
import pickle
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from signal import Signals
from typing import Any

import pytest
import small_part
from small_part import PART, places, process

from constrint import Model, Status, all_different
from constrint.engine import background_compile as compiling
from constrint.engine import cache, claims
from constrint.settings import DEFAULT
from constrint.support import own_files

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="XDG_CACHE_HOME and signals of Unix")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own, for this process and others."""
    for name, value in places(tmp_path).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(cache, "_known", {})
    monkeypatch.setattr(cache, "_said", set())
    monkeypatch.setitem(cache.PARTS, PART, ("learning",))
    return tmp_path


def kept(home: Path) -> Path:
    return home / "cache" / "constrint" / cache.name(PART)


# ---------------------------------------------------------------- what is kept


def test_what_is_compiled_is_kept_for_this_user_alone(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    os.umask(os.umask(0o002))
    assert small_part.obtain() == small_part.obtain() == 10
    assert capfd.readouterr().out == "compiling\n10\n10\n"
    assert stat.S_IMODE(kept(home).parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(kept(home).stat().st_mode) == 0o600
    assert cache.is_filled(PART)


def truncated(content: bytes) -> bytes:
    return content[: len(content) // 2]


DAMAGES: dict[Any, Callable[..., Any]] = {
    "truncated": truncated,
    "head only": lambda content: content[: len(cache.MAGIC) + cache.DIGEST],
    "empty": lambda content: b"",
    "garbage": lambda content: bytes(reversed(content)),
    "a bit": lambda content: content[:-100] + bytes([content[-100] ^ 1]) + content[-99:],
    "a pickle": lambda content: pickle.dumps(("loops", 0, [{}])),
    "a whole pickle": lambda content: whole(pickle.dumps(("x", 1))),
    "whole, but nothing": lambda content: whole(b"\x80nothing"),
    "no object file": lambda content: whole(head(content) + b"\nnothing"),
    "half an object file": lambda content: whole(head(content) + code_of(content)[:200]),
    "of another processor": lambda content: whole(head(content, target="sparc") + code_of(content)),
    "of another part": lambda content: whole(
        head(content, symbol="_ZN9constrint6engine3run") + code_of(content)
    ),
    "with a name that nobody has": lambda content: whole(
        head(content, externals=["nobody"]) + code_of(content)
    ),
    "with a number as its name": lambda content: whole(head(content, symbol=5) + code_of(content)),
    "with nothing for a list": lambda content: whole(head(content, externals=None) + code_of(content)),
    "with no number of arguments": lambda content: whole(head(content, arguments=[]) + code_of(content)),
    "with no list of names": lambda content: whole(b'{"symbol": "small_part"}\n'),
}


def code_of(content: bytes) -> bytes:
    """The object file in a file, with the line's end before it."""
    return b"".join(content[len(cache.MAGIC) + cache.DIGEST :].partition(b"\n")[1:])


def head(content: bytes, **other: object) -> bytes:
    """The description of a file's machine code, with other entries."""
    about = json.loads(content[len(cache.MAGIC) + cache.DIGEST :].partition(b"\n")[0])
    return json.dumps({**about, **other}).encode()


def whole(code: bytes) -> bytes:
    """A file whose checksum is right."""
    from hashlib import sha256

    return cache.MAGIC + sha256(code).digest() + code


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_files_are_made_again(home: Path, capfd: pytest.CaptureFixture[str], damage: Any) -> None:
    small_part.obtain()
    content = kept(home).read_bytes()
    kept(home).write_bytes(DAMAGES[damage](content))
    capfd.readouterr()
    assert small_part.obtain() == 10
    assert small_part.obtain() == 10
    assert capfd.readouterr().out == "compiling\n10\n10\n"
    assert kept(home).read_bytes()[: len(cache.MAGIC)] == cache.MAGIC


class Trap:
    """Makes a folder where it is unpickled."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple[Callable[..., object], tuple[str]]:
        return (os.mkdir, (str(self.folder),))


@pytest.mark.parametrize("way", ["writable", "foreign", "a foreign folder", "a link"])
def test_files_that_others_can_have_written_are_not_read(
    home: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    small_part.obtain()
    kept(home).write_bytes(whole(pickle.dumps(("x", Trap(home / "trapped")))))
    if way == "writable":
        kept(home).chmod(0o666)
    elif way == "foreign":
        monkeypatch.setattr(os, "geteuid", lambda: 4711)  # we are somebody else, and root's files are theirs
        monkeypatch.setattr(own_files, "is_own", lambda status: not stat.S_ISREG(status.st_mode))
    elif way == "a foreign folder":
        monkeypatch.setattr(own_files, "is_own_folder", lambda folder: False)
    else:
        kept(home).rename(home / "elsewhere")
        kept(home).symlink_to(home / "elsewhere")
    assert small_part.obtain() == 10
    assert not (home / "trapped").exists()


def test_owners_are_told_apart(tmp_path: Path) -> None:
    own = tmp_path.stat()
    root, other = (os.stat_result([*own[:4], uid, *own[5:]]) for uid in (0, os.geteuid() + 1))
    assert own_files.is_own(own)
    assert own_files.is_own(root)
    assert not own_files.is_own(other)


def test_a_folder_that_others_could_write_is_closed(home: Path) -> None:
    kept(home).parent.mkdir(parents=True)
    kept(home).parent.chmod(0o777)
    small_part.obtain()
    assert stat.S_IMODE(kept(home).parent.stat().st_mode) == 0o700


def test_what_was_never_finished_is_swept(home: Path) -> None:
    folder = kept(home).parent
    folder.mkdir(parents=True, mode=0o700)
    for old in ("engine-old.tmp", ".old.nbc"):
        (folder / old).write_bytes(b"x")
        os.utime(folder / old, (0, 0))
    (folder / ".new.nbc").write_bytes(b"x")
    small_part.obtain()
    assert sorted(path.name for path in [*folder.glob("*.tmp"), *folder.glob(".*")]) == [".new.nbc"]


# ---------------------------------------------------------------- nowhere to write


def test_without_a_place_to_write_each_process_compiles_and_says_so_once(
    home: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (home / "file").write_text("no folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "file"))
    small_part.obtain()
    (said,) = capfd.readouterr().err.splitlines()
    assert str(home / "file") in said
    assert f"it is kept in {home}" in said
    monkeypatch.setattr(cache, "folders", lambda: [home / "file" / "constrint", home / "file" / "other"])
    for _ in range(2):
        assert small_part.obtain() == 10
    out, err = capfd.readouterr()
    assert out == "compiling\n10\n" * 2
    assert "each process that needs it compiles it anew" in err
    assert len(err.splitlines()) == 1


def test_a_search_goes_on_without_a_place_to_write(
    home: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """No other process is started, and nothing is raised; with a limit it stays interpreted."""
    monkeypatch.setattr(cache, "folders", lambda: [home / "file" / "constrint"])
    (home / "file").write_text("no folder")
    monkeypatch.setattr(cache, "_loaded", set())
    monkeypatch.setattr(subprocess, "Popen", None)
    m = Model()
    at_once = {"seconds_before_compiling": 0.0, "seconds_before_loading": 0.0}
    m.settings = DEFAULT.with_fields(search=at_once)
    x = [m.int_var(f"x{i}", 0, 40) for i in range(7)]
    gaps = [b - a for a, b in itertools.combinations(x, 2)]
    m.add(x[0] == 0, *(a < b for a, b in itertools.pairwise(x)), all_different(gaps))
    r = m.solve(minimize=x[-1], learn=False, time_limit=200)
    assert r.status is Status.OPTIMAL
    assert r.statistics.engine == "interpreted"
    assert capfd.readouterr().err.count("compiles it anew") == 1


# ---------------------------------------------------------------- many at once


def test_one_of_eight_processes_compiles(home: Path) -> None:
    many = [process(home, 1.0) for _ in range(8)]
    said = [child.communicate(timeout=120) for child in many]
    assert [child.returncode for child in many] == [0] * 8, said
    assert sorted(out for out, _ in said) == ["10\n"] * 7 + ["compiling\n10\n"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_compiler_that_is_ended_leaves_nothing_behind(home: Path, number: Signals) -> None:
    first = process(home, 600.0)
    assert first.stdout is not None
    assert first.stdout.readline() == "compiling\n"
    assert claims.is_claimed(PART)
    second = process(home)
    first.send_signal(number)
    first.communicate(timeout=60)
    assert first.returncode != 0
    assert second.communicate(timeout=60)[0] == "compiling\n10\n"
    assert not claims.is_claimed(PART)
    assert process(home).communicate(timeout=60)[0] == "10\n"
    assert [path.name for path in kept(home).parent.glob(".*")] == []


IN_THREADS = """
import threading
from concurrent.futures import ThreadPoolExecutor
from constrint.engine import background_compile as compiling
from constrint import Model
def make(limit):
    m = Model()
    x, y, z = (m.int_var(name, 0, 40) for name in "xyz")
    m.add(x * y + z == 100 + limit, y * z - x >= 7, x != y)
    return m, x * x - 3 * y + z
def truth(limit):
    return min(x * x - 3 * y + z for x in range(41) for y in range(41) for z in range(41)
               if x * y + z == 100 + limit and y * z - x >= 7 and x != y)
start = threading.Barrier(8)
def solve(case):
    (m, goal), options = case
    start.wait()
    return m.solve(minimize=goal, **options).objective
one = make(0)
want = truth(0), [truth(i) for i in range(8)]
with ThreadPoolExecutor(8) as pool:
    compiled = {"engine": "compiled"}
    for options in (compiled, {**compiled, "learn": True}, {}, {"learn": True}):
        for _ in range(2):  # the first time may compile and load
            assert list(pool.map(solve, [(one, options)] * 8)) == [want[0]] * 8, options
            assert list(pool.map(solve, [(make(i), options) for i in range(8)])) == want[1], options
print("right")
"""


@pytest.mark.timeout(900)  # the first use on a machine compiles
def test_first_use_from_eight_threads(filled: None) -> None:
    """One model and eight, in a process that has imported and loaded nothing yet."""
    done = subprocess.run([sys.executable, "-c", IN_THREADS], capture_output=True, text=True, check=False)
    assert done.stdout == "right\n", done.stderr


def test_eight_threads_compile_once(home: Path) -> None:
    """In a cold cache."""
    code = (
        "import small_part\nfrom concurrent.futures import ThreadPoolExecutor as Pool\n"
        "from constrint.engine.background_compile import loading\n"
        "def obtain(_):\n    with loading():\n        return small_part.obtain(0.2)\n"
        "print(list(Pool(8).map(obtain, range(8))))"
    )
    out, err = process(home, code=code).communicate(timeout=100)
    assert out.splitlines() == ["compiling", *["10"] * 8, str([10] * 8)], err


def test_a_deadline_holds_while_another_thread_loads() -> None:
    with ThreadPoolExecutor(1) as pool:
        free, held = threading.Event(), threading.Event()

        def hold() -> None:
            with compiling.loading():
                held.set()
                free.wait(60)

        holding = pool.submit(hold)
        held.wait(60)
        from constrint.support.deadline import Deadline, Stopped

        with pytest.raises(Stopped), compiling.loading(Deadline(0.1)):
            pass
        free.set()
        holding.result()
