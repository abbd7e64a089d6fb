"""A child process that answers in lines; waiting for a line always ends."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import IO

from constrint.support.children import environment as own_environment
from constrint.support.children import python_command
from kerneltune.running.child_output import MOST_LINE_BYTES
from kerneltune.running.lifeline import Lifeline

STDERR_SHOWN = 500  # most characters of a line of a dead child's last output
STDERR_LINES = 12  # most lines of a dead child's last output
STDERR_BYTES = 1 << 16  # bytes of standard error that are kept
LINES_AHEAD = 64  # lines read ahead; then the child blocks
POLL_SECONDS = 0.05  # interval of checks whether a silent child lives
DRAIN_SECONDS = 0.5  # waiting time for output of a child that has ended
CLOSED_SECONDS = 5.0  # most time between the end of a child's output and its exit
ENDING_SECONDS = 10.0  # time for a child to exit after its last answer
MODULE = "module of this package:"  # first word of a command that is made where the child is started


class SilentError(Exception):
    """There is no line, and none will come; ``timed_out`` distinguishes a hang from an exit."""

    def __init__(self, reason: str, *, timed_out: bool = False) -> None:
        super().__init__(reason)
        self.timed_out = timed_out


class ChildProcess:
    """A child process with the threads that write to it and read from it, in its own process group.

    Args:
        command: Its command, or `MODULE` and the name of a module of this package whose `main` it calls.
        job: Its standard input; None keeps it open for `send`.
        environment: Additional environment variables.
        longest: Bytes of a line that are given at most.
        niceness: How far its priority is below that of this process, as the command `nice` counts.
    """

    def __init__(
        self,
        command: Sequence[str],
        job: bytes | None,
        environment: Mapping[str, str] | None = None,
        longest: int = MOST_LINE_BYTES,
        niceness: int = 0,
    ) -> None:
        self._lifeline = Lifeline()
        self._asked = job is None  # its standard input is open
        if command[0] == MODULE:
            command = python_command(f"from {command[1]} import main; main()")
        own_group = {"process_group": 0} if os.name == "posix" else {}
        try:
            self._process = subprocess.Popen(  # type: ignore[call-overload]
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=self._lifeline.descriptors,
                env={**own_environment(), **(environment or {}), **self._lifeline.environment()},
                **own_group,
            )
        except BaseException:
            self._lifeline.close()
            raise
        self._lifeline.child_started()
        if niceness and os.name == "posix":
            with contextlib.suppress(OSError):  # it has ended already
                own = os.getpriority(os.PRIO_PROCESS, 0)
                os.setpriority(os.PRIO_PROCESS, self._process.pid, own + niceness)
        self._lines: queue.Queue[bytes | None] = queue.Queue(LINES_AHEAD)
        self._stderr = _Tail()
        self._closing = threading.Event()
        works: list[tuple[Callable[..., None], tuple[object, ...]]] = [
            (_read_lines, (self._process.stdout, self._lines, self._closing, longest)),
            (self._stderr.read, (self._process.stderr,)),
        ]
        if job is not None:
            works.append((_feed, (self._process.stdin, job)))
        for work, arguments in works:
            threading.Thread(target=work, args=arguments, daemon=True).start()

    def __enter__(self) -> ChildProcess:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._closing.set()
        self._close_input()
        if kind is None:
            self._wait(ENDING_SECONDS)
        self.end()

    def send(self, data: bytes) -> None:
        """Write to the child's standard input; that a child is gone is noticed by its silence."""
        pipe = self._process.stdin
        if pipe is not None:
            with contextlib.suppress(OSError, ValueError):
                pipe.write(data)
                pipe.flush()

    def line(self, timeout: float | None) -> bytes:
        """The next line with its end; of a line longer than ``longest`` bytes, the first ``longest``.

        Args:
            timeout: Seconds to wait; None: until the child exits.

        Raises:
            SilentError: The child ended, closed its output or did not answer in time.
        """
        until = None if timeout is None else time.monotonic() + timeout
        gone_at: float | None = None
        while True:
            left = POLL_SECONDS if until is None else min(POLL_SECONDS, max(0.0, until - time.monotonic()))
            try:
                line = self._lines.get(timeout=left)
            except queue.Empty:
                now = time.monotonic()
                if gone_at is None and self._has_ended():
                    gone_at = now
                if gone_at is not None and now - gone_at >= DRAIN_SECONDS:
                    # Processes that the child started may keep its output open for any time.
                    raise SilentError(self._last_words()) from None
                if until is not None and now >= until and gone_at is None:
                    self.end()
                    raise SilentError(f"no answer within {timeout:g} s", timed_out=True) from None
                continue
            if line is not None:
                return line
            if not self._wait(
                CLOSED_SECONDS if until is None else min(CLOSED_SECONDS, until - time.monotonic())
            ):
                self.end()
                raise SilentError("the process that ran it closed its output and did not end")
            raise SilentError(self._last_words())

    def end(self) -> None:
        """Kill the child's process group."""
        self._closing.set()
        if self._process.returncode is None:
            self._kill_group()
            self._process.kill()
            self._process.wait()
        self._close_input()
        self._lifeline.close()

    def _close_input(self) -> None:
        if self._asked and self._process.stdin is not None:
            with contextlib.suppress(OSError, ValueError):
                self._process.stdin.close()

    def _kill_group(self) -> None:
        if os.name == "posix":
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def _has_ended(self) -> bool:
        """Whether the child has ended; it is not reaped, so that its group keeps its id."""
        if self._process.returncode is not None:
            return True
        if not hasattr(os, "waitid"):
            return self._process.poll() is not None
        flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
        try:
            return os.waitid(os.P_PID, self._process.pid, flags) is not None
        except ChildProcessError:
            return True

    def _wait(self, seconds: float) -> bool:
        """Wait; returns whether the child ended within this many seconds."""
        until = time.monotonic() + seconds
        while not self._has_ended():
            if time.monotonic() >= until:
                return False
            time.sleep(POLL_SECONDS / 5)
        return True

    def _last_words(self) -> str:
        self.end()
        code = self._process.wait()
        how = f"ended with exit code {code}" if code >= 0 else f"was ended by {_signal_name(-code)}"
        tail = self._stderr.text()
        return f"the process that ran it {how}" + (f":\n{tail}" if tail else "")


class _Tail:
    """The last output of a pipe."""

    def __init__(self) -> None:
        self._kept: deque[bytes] = deque()
        self._size = 0
        self._lock = threading.Lock()
        self._end = threading.Event()

    def read(self, pipe: IO[bytes]) -> None:
        with contextlib.suppress(OSError, ValueError), pipe:
            while piece := os.read(pipe.fileno(), 1 << 14):
                with self._lock:
                    self._kept.append(piece)
                    self._size += len(piece)
                    while self._size - len(self._kept[0]) >= STDERR_BYTES:
                        self._size -= len(self._kept.popleft())
        self._end.set()

    def text(self) -> str:
        """Its last lines, when the pipe has ended or the drain time is over."""
        self._end.wait(DRAIN_SECONDS)
        with self._lock:
            text = b"".join(self._kept)[-STDERR_BYTES:].decode("utf-8", errors="replace").strip()
        lines = [line[:STDERR_SHOWN] for line in text.splitlines()[-STDERR_LINES:]]
        return "\n".join(lines)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _feed(pipe: IO[bytes], job: bytes) -> None:
    try:
        with pipe:
            pipe.write(job)
    except OSError:
        return  # a dead child is noticed by its silence


def _read_lines(
    pipe: IO[bytes], lines: queue.Queue[bytes | None], closing: threading.Event, longest: int
) -> None:
    line: bytes | None = b""
    while line is not None:
        try:
            line = pipe.readline(longest + 1) or None
        except (OSError, ValueError):
            line = None
        while not closing.is_set():
            try:
                lines.put(line, timeout=1.0)
                break
            except queue.Full:
                continue
        if closing.is_set():
            break
    with contextlib.suppress(OSError):
        pipe.close()
