"""Solving and tiling use nothing that only POSIX systems have, or the message says so.

A child process plays Windows: modules and names that are missing there are taken away.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from constrint import Model, ModelError
from constrint.support import limits
from kerneltune import errors

PLAY_WINDOWS = """
import concurrent.futures, logging, os, pathlib, select, shutil
import signal, subprocess, sys, tempfile, threading, types

import highspy, llvmlite.binding, numpy  # made for this system

for name in ("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "readline", "curses", "syslog"):
    sys.modules[name] = None  # importing it is a ModuleNotFoundError
sys.modules["msvcrt"] = types.SimpleNamespace(locking=lambda *_: None, LK_LOCK=1, LK_NBLCK=2)
MISSING = {
    os: "fork forkpty getuid geteuid getgid getegid getpgid getpgrp killpg setsid chown fchown lchown uname "
        "nice sched_getaffinity register_at_fork mkfifo mknod waitid WNOHANG posix_fallocate posix_spawn "
        "openpty pread pwrite sysconf getloadavg statvfs sync "
        "O_NOFOLLOW O_NONBLOCK O_CLOEXEC O_DIRECTORY O_NOCTTY O_SYNC",
    signal: "SIGKILL SIGALRM SIGCHLD SIGHUP SIGPIPE SIGQUIT SIGUSR1 SIGUSR2 alarm setitimer pthread_sigmask",
    select: "poll epoll",
}
for module, names in MISSING.items():
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)


def set_blocking(*_):
    raise OSError("only pipes have this")


os.set_blocking = set_blocking
"""
SOLVED = """
from constrint import Model, all_different

m = Model()
x, y = m.int_var("x", 0, 9), m.int_var("y", 0, 9)
m.add(x * y == 12, x < y)
assert m.solve(maximize=x)["x"] == 3
assert m.count() == 2 and len(list(m.solutions())) == 2
queens = Model()
q = queens.int_vars("q", 12, 0, 11)
queens.add(all_different(q))
queens.add(all_different([q[i] + i for i in range(12)]), all_different([q[i] - i for i in range(12)]))
assert queens.solve(engine="compiled")
assert queens.solve(workers=2)
path = pathlib.Path(sys.argv[1], "m.constrint")
m.write(path)
assert Model.from_file(path).count() == 2
"""
COMMANDS = """
from constrint.cli.main import main

sys.argv[1:] = ["solve", str(pathlib.Path(sys.argv[1], "m.constrint"))]
main()
"""
TILED = """
from kerneltune.cli.main import main

sys.argv[1:] = "tile lstm --gpu h100_sxm --heads 2 --head-dim 64 --batch 16 --dtype bf16".split()
main()
"""


def run(program: str, folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / "m.constrint").write_text("x in 1..5\nx * x == 16\n", encoding="utf-8")
    command = [sys.executable, "-c", PLAY_WINDOWS + program, str(folder)]
    return subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)


@pytest.mark.parametrize(
    ("program", "shown"), [(SOLVED, ""), (COMMANDS, "x = 4"), (TILED, "lstm 2×64, batch 16")]
)
def test_nothing_of_posix_is_needed(program: str, shown: str, tmp_path: Path) -> None:
    done = run(program, tmp_path)
    assert done.returncode == 0, done.stderr
    assert shown in done.stdout


def test_a_memory_limit_that_nothing_can_hold_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "resident_bytes", lambda: None)
    with pytest.raises(ModelError, match="this system does not have: leave the limit out"):
        Model.from_text("x in 1..5", memory_limit=10**9)


def test_macos_is_told_that_it_has_no_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "pip install 'constrint[compile]'" in str(errors.MissingExtraError("compiling", "compile"))
    monkeypatch.setattr(sys, "platform", "darwin")
    assert str(errors.MissingExtraError("compiling", "compile")) == (
        "compiling needs the extra 'compile': use Linux or Windows, since there is no CUDA for macOS"
    )
    assert "pip install 'constrint[fit]'" in str(errors.MissingExtraError("fitting", "fit"))
