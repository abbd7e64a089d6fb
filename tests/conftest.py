"""What the tests need of the machine: without it they are deselected, and the last lines say so."""

from __future__ import annotations

import signal

import pytest
from emulator.compiler import compiler

NO_COMPILER = "kernels on the emulated GPU (marker 'emulated'): NOT RUN, there is no C++ compiler that can"


# A shell that runs the tests in the background has Ctrl-C ignored, by processes of theirs, too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


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
