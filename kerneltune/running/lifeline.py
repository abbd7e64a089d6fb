"""A child process that ends with its parent, however that ends, so that it never occupies a GPU for nothing.

On Linux the kernel signals a direct child. In three cases the child instead watches a pipe whose other end
only the parent holds: a thread other than the main one started it (the signal would come at that thread's
end), a program such as compute-sanitizer is in between, or the system is not Linux.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from collections.abc import Mapping

VARIABLE = "KERNELTUNE_PARENT"  # PID:DESCRIPTOR:INODE:SIGNAL
PR_SET_PDEATHSIG = 1  # <sys/prctl.h>
ORPHANED = 143  # exit code of a child whose parent is gone


class Lifeline:
    """The parent's end: open it for a child, and close it after the child has ended."""

    def __init__(self) -> None:
        self._read = self._write = -1
        if os.name == "posix":
            self._read, self._write = os.pipe()

    @property
    def descriptors(self) -> tuple[int, ...]:
        """File descriptors that the child must inherit."""
        return (self._read,) if self._read >= 0 else ()

    def environment(self) -> Mapping[str, str]:
        """Environment variables that the child needs."""
        by_signal = threading.current_thread() is threading.main_thread()
        inode = os.fstat(self._read).st_ino if self._read >= 0 else 0
        return {VARIABLE: f"{os.getpid()}:{self._read}:{inode}:{int(by_signal)}"}

    def child_started(self) -> None:
        """Close the parent's copy of the child's end."""
        if self._read >= 0:
            os.close(self._read)
            self._read = -1

    def close(self) -> None:
        """Close the parent's end; a living child then ends."""
        self.child_started()
        if self._write >= 0:
            os.close(self._write)
            self._write = -1


def follow_parent() -> None:
    """Called first by a child: from now on it ends with the process that opened its lifeline."""
    text = os.environ.pop(VARIABLE, "")
    try:
        parent, descriptor, inode, by_signal = (int(part) for part in text.split(":"))
    except ValueError:
        return  # started by hand
    if sys.platform == "linux" and by_signal and os.getppid() == parent and _signal_at_parents_end():
        if os.getppid() != parent:  # the parent ended before the signal was requested
            os._exit(ORPHANED)
        return
    if descriptor >= 0:
        threading.Thread(target=_wait_for_the_end, args=(descriptor, inode), daemon=True).start()


def _signal_at_parents_end() -> bool:
    try:
        return bool(ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False


def _wait_for_the_end(descriptor: int, inode: int) -> None:
    try:
        if os.fstat(descriptor).st_ino != inode:
            return  # a program in between closed the pipe, and the number belongs to another file
        while os.read(descriptor, 1):
            pass
    except OSError:
        return
    os._exit(ORPHANED)
