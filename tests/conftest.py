"""Machine requirements of tests: tests without them are deselected, and the summary says so.

Processes have one thread for linear algebra.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile

import pytest
from emulator.compiler import compiler

FRESH = pytest.StashKey[str]()
NO_COMPILER = "kernels on the emulated GPU (marker 'emulated'): NOT RUN, there is no C++ compiler that can"

# Threads of several test processes on the same cores wait for each other at every operation of a library:
# the small layers of these tests then take ten times as long. Before any of them is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# A shell that runs the tests in the background has Ctrl-C ignored, by processes of theirs, too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--fresh-cache",
        action="store_true",
        help="begin with machine code that a process for each part has just compiled, in a drawn order",
    )


def pytest_configure(config: pytest.Config) -> None:
    if not config.getoption("--fresh-cache") or hasattr(config, "workerinput"):
        return
    os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp(prefix="constrint-cache-")
    parts = random.sample(["engine", "learn", "jumps"], 3)
    for part in parts:
        subprocess.run([sys.executable, "-m", "constrint.learning.compile_part", part], check=True)
    config.stash[FRESH] = f"machine code: compiled by others in {os.environ['XDG_CACHE_HOME']}, order {parts}"


def pytest_report_header(config: pytest.Config) -> str | None:
    return config.stash.get(FRESH, None)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if compiler():
        return
    left_out = [item for item in items if item.get_closest_marker("emulated")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("emulated")]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not compiler():
        terminalreporter.write_line(NO_COMPILER, yellow=True)
