"""Killed runs: the child ends with its parent, and the next run removes what was left behind."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest
from made import FAKE_KERNELS
from processes import is_running

from kerneltune.running import scratch
from kerneltune.running.child_process import ChildProcess, SilentError
from kerneltune.running.lifeline import VARIABLE, Lifeline, follow_parent
from kerneltune.running.scratch import LOCK, PREFIX, scratch_folder, sweep

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes of POSIX")

PATIENCE = 60.0  # seconds for what takes milliseconds on an idle machine
# The child of a trial, with a GPU that never answers.
CHILD = """
import os, sys, time
from kerneltune.measuring import child
from kerneltune.messages import Facts
class Hangs:
    facts = Facts(device="pretended", compute_capability="9.0")
    def load(self, *_):
        open({mark!r}, "w").write(str(os.getpid()) + " " + os.environ.get("TMPDIR", ""))
        time.sleep(600)
child.backend_of = lambda set_up: Hangs()
child.main()
"""
# A run of one trial, by the main thread or by another, with or without a program between.
PARENT = """
import sys, threading
sys.path.insert(0, {tests!r})
from pathlib import Path
from made import hand_made
from kerneltune.measuring.measure import tiling_plan
from kerneltune.pipeline.tilings import CompiledTiling, run_tilings
def run():
    command = {between!r} + [sys.executable, "-c", {child!r}]
    tilings, root = [CompiledTiling(hand_made(), b"", False)], Path({tests!r}) / "fake_kernels"
    print(list(run_tilings(tilings, root, tiling_plan(), timeout=500, child=command)))
if {thread}:
    started = threading.Thread(target=run)
    started.start(); started.join()
else:
    run()
"""
BETWEEN = [sys.executable, "-c", "import subprocess, sys; subprocess.call(sys.argv[1:], close_fds=False)"]


def wait_for(done: object, what: str) -> None:
    until = time.monotonic() + PATIENCE
    while not done():  # type: ignore[operator]
        assert time.monotonic() < until, what
        time.sleep(0.02)


@pytest.fixture
def own_temporaries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "temporaries"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.mark.parametrize("kill", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize(("thread", "between"), [(False, False), (True, False), (False, True)])
def test_a_child_ends_with_its_parent_and_its_files_at_the_next_start(
    tmp_path: Path, own_temporaries: Path, thread: bool, between: bool, kill: int
) -> None:
    mark = tmp_path / "mark"
    child = CHILD.format(mark=str(mark))
    code = PARENT.format(
        tests=str(FAKE_KERNELS.parent), thread=thread, between=BETWEEN if between else [], child=child
    )
    parent = subprocess.Popen([sys.executable, "-c", code])
    wait_for(lambda: mark.exists() and mark.read_text().strip(), "the trial did not begin")
    pid = int(mark.read_text().split()[0])
    assert is_running(pid)
    assert sweep(own_temporaries) == 0  # it lives
    left = list(own_temporaries.glob(f"{PREFIX}*"))
    assert len(left) == 1
    parent.send_signal(kill)
    parent.wait()
    wait_for(lambda: not is_running(pid), "the child outlived its parent")
    assert left[0].exists()
    with scratch_folder() as folder:
        assert list(own_temporaries.iterdir()) == [folder]
    assert not list(own_temporaries.iterdir())


def test_an_interrupt_ends_the_child_at_once(tmp_path: Path, own_temporaries: Path) -> None:
    mark = tmp_path / "mark"
    child = CHILD.format(mark=str(mark))
    code = PARENT.format(tests=str(FAKE_KERNELS.parent), thread=False, between=[], child=child)
    parent = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE)
    wait_for(lambda: mark.exists() and mark.read_text().strip(), "the trial did not begin")
    pid = int(mark.read_text().split()[0])
    parent.send_signal(signal.SIGINT)
    assert b"KeyboardInterrupt" in parent.communicate()[1]
    assert not is_running(pid)
    assert not list(own_temporaries.iterdir())


def test_a_parent_that_is_gone_before_the_child_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The child of a parent of another number finds the pipe closed."""
    code = (
        "from kerneltune.running.lifeline import follow_parent; follow_parent(); import time; time.sleep(600)"
    )
    for by_signal in (0, 1):
        read, write = os.pipe()
        inode = os.fstat(read).st_ino
        os.close(write)
        environment = {**os.environ, VARIABLE: f"1:{read}:{inode}:{by_signal}"}
        child = subprocess.Popen([sys.executable, "-c", code], env=environment, pass_fds=[read])
        os.close(read)
        assert child.wait(PATIENCE) == 143


@pytest.mark.parametrize("text", ["", "x", "1:2:3", "1:999:5:0", "1:0:5:0", "1:-1:0:1"])
def test_what_is_no_lifeline_ends_nothing(text: str) -> None:
    code = (
        "from kerneltune.running.lifeline import follow_parent; follow_parent(); import time; time.sleep(0.3)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, VARIABLE: text}, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0


def test_a_lifeline_leaves_no_descriptors(monkeypatch: pytest.MonkeyPatch) -> None:
    before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 0
    for _ in range(5):
        with ChildProcess([sys.executable, "-c", "print(1)"], b"") as child:
            assert child.line(PATIENCE) == b"1\n"
            with pytest.raises(SilentError):
                child.line(PATIENCE)
    with pytest.raises(OSError, match="no such program"):
        ChildProcess(["/no such program"], b"")
    if before:
        wait_for(lambda: len(os.listdir("/proc/self/fd")) <= before, "descriptors are left open")


def test_a_lifeline_follows_only_the_main_thread_by_signal() -> None:
    found: list[str] = []

    def open_one() -> None:
        line = Lifeline()
        found.append(line.environment()[VARIABLE].split(":")[-1])
        line.close()

    open_one()
    thread = threading.Thread(target=open_one)
    thread.start()
    thread.join()
    assert found == ["1", "0"]
    monkey = os.environ.pop(VARIABLE, None)
    follow_parent()  # started by hand: nothing to follow
    assert monkey is None


def made(root: Path, name: str, *, lock: bool = True, mode: int = 0o700) -> Path:
    folder = root / name
    folder.mkdir()
    (folder / "case0").mkdir()
    (folder / "case0" / "input.npy").write_bytes(b"x")
    if lock:
        (folder / LOCK).touch()
    folder.chmod(mode)
    return folder


def test_only_what_is_surely_left_is_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = made(tmp_path, f"{PREFIX}abcd1234")
    elsewhere = made(tmp_path, "elsewhere")
    kept = [
        made(tmp_path, "kerneltune-abcd1234"),
        made(tmp_path, f"{PREFIX}ABCD"),
        made(tmp_path, f"x{PREFIX}abcd"),
        made(tmp_path, f"{PREFIX}nolock", lock=False),
        made(tmp_path, f"{PREFIX}open", mode=0o755),
        elsewhere,
    ]
    held = made(tmp_path, f"{PREFIX}held")
    link = tmp_path / f"{PREFIX}link"
    link.symlink_to(elsewhere)
    inner = made(tmp_path, f"{PREFIX}inner")
    (inner / LOCK).unlink()
    (inner / LOCK).symlink_to(elsewhere / LOCK)
    file = tmp_path / f"{PREFIX}file"
    file.touch()
    outward = left / "outward"
    outward.symlink_to(elsewhere)
    handle = os.open(held / LOCK, os.O_RDWR)
    fcntl.flock(handle, fcntl.LOCK_EX)
    assert sweep(tmp_path) == 1
    assert not left.exists()
    for path in [*kept, held, link, inner, file, elsewhere / "case0" / "input.npy"]:
        assert path.exists(), path
    os.close(handle)
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert sweep(tmp_path) == 0  # another user's
    monkeypatch.undo()
    assert sweep(tmp_path) == 1
    assert not held.exists()
    assert sweep(tmp_path / "absent") == 0


@pytest.mark.parametrize("aside", [False, True])
def test_a_run_killed_as_it_began_is_swept_an_hour_later(tmp_path: Path, aside: bool) -> None:
    folder = tmp_path / f"{PREFIX}begun"
    folder.mkdir(mode=0o700)
    if aside:
        (folder / f"{LOCK}.new").touch()
    assert sweep(tmp_path) == 0
    long_ago = time.time() - scratch.EMPTY_SECONDS - 10
    os.utime(folder, (long_ago, long_ago))
    assert sweep(tmp_path) == 1
    assert not folder.exists()


def test_runs_at_a_time_leave_each_other_alone(own_temporaries: Path) -> None:
    with scratch_folder() as one, scratch_folder() as other:
        (one / "x").touch()
        assert one != other
        assert (one / "x").exists()
        assert one.stat().st_mode & 0o777 == 0o700
    assert not list(own_temporaries.iterdir())
