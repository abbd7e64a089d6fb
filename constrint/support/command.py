"""The frame of a command: its standard streams, Ctrl-C, and exit codes that say what failed.

Infeasible is 1 and bad input is 2, so nothing else may end with these: neither an answer that could not be
written nor Ctrl-C.
"""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

WRITE_FAILED = 4  # standard output is closed, or its disk full
INTERRUPTED = 128 + 2  # by SIGINT
PIPE_CLOSED = 128 + 13  # the reader of standard output has gone, as with SIGPIPE


def run_command(main: Callable[[], int]) -> NoReturn:
    """Call a command and end the process with its exit code."""
    _open_streams()
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        with suppress(ValueError):  # in another thread
            signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.unraisablehook = _again_if_interrupted
    try:
        code = _called(main)
    except KeyboardInterrupt:
        code = interrupted()
    # The answer is out: Ctrl-C must not show where Python cleans up, but need not wait for that either.
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        with suppress(ValueError):
            signal.signal(signal.SIGINT, lambda *_: os._exit(code))
    sys.exit(code)


def _called(main: Callable[[], int]) -> int:
    before = sys.stdout
    try:
        code = main()
        sys.stdout.flush()
        return code
    except OSError as error:
        code = output_failed(error)
        if code:
            return code
        raise
    except SystemExit:
        if sys.stdout is before:
            raise
        return _silenced(PIPE_CLOSED)  # click has replaced it, since its reader has gone


def _again_if_interrupted(lost: sys.UnraisableHookArgs) -> None:
    """Repeat Ctrl-C that came where nothing can be raised, as in `__del__` or while a module is imported."""
    if lost.exc_type is KeyboardInterrupt:
        # Later, in another place: this one still belongs to the code that cannot raise.
        threading.Timer(0.01, _interrupt_main).start()
    else:
        sys.__unraisablehook__(lost)


def _interrupt_main() -> None:
    if hasattr(signal, "pthread_kill"):  # it also ends a system call that waits
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    else:
        signal.raise_signal(signal.SIGINT)


def interrupted() -> int:
    """Say that Ctrl-C ended the command; returns its exit code."""
    sys.stderr.write("interrupted\n")
    return INTERRUPTED


def output_failed(error: OSError) -> int:
    """The exit code of an error of standard output, after saying so; 0 if it is an error of another file."""
    if isinstance(error, BrokenPipeError):
        # As in `constrint solve --all … | head`: nothing more can be written, and no message is wanted.
        return _silenced(PIPE_CLOSED)
    try:
        sys.stdout.write("\n")
        sys.stdout.flush()
    except (OSError, ValueError):
        sys.stderr.write(f"error: cannot write the answer: {(error.strerror or str(error)).lower()}\n")
        return _silenced(WRITE_FAILED)
    return 0


def _silenced(code: int) -> int:
    """Drop what is still to be written: Python would try again at exit, and report it."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code


class _Forgiving(io.FileIO):
    """Standard error that drops what cannot be written: no stream is left to report it."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError:
            return len(bytes(data))


def _open_streams() -> None:
    """Give the closed ones of the standard streams a file, so that no other file takes their numbers.

    Reading the input or writing the answer still fails there; messages are dropped.
    """
    for number, way in enumerate((os.O_WRONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            file = os.open(os.devnull, way)
            if file != number:
                os.dup2(file, number)
                os.close(file)
    if sys.stdin is None:
        sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    if sys.stdout is None:
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")  # names of files that are no text
    if sys.stderr is None or type(sys.stderr) is io.TextIOWrapper:
        name = getattr(sys.stderr, "encoding", None) or "utf-8"
        raw = io.BufferedWriter(_Forgiving(2, "wb", closefd=False))
        sys.stderr = io.TextIOWrapper(raw, name, "backslashreplace", line_buffering=True)
