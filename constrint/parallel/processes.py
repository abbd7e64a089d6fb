"""Worker processes: an executor of one function that takes texts and returns a text.

Workers are new interpreters that import constrint and never the caller's main program: a script needs no `if
__name__ == "__main__"` guard, a notebook no file. They end at once on shutdown, and by themselves when the
caller ends. Ctrl-C does not reach them.
"""

from __future__ import annotations

import json
import subprocess
import sys
import traceback
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Lock
from typing import Any, TypeAlias

from constrint.errors import InternalError
from constrint.support.children import environment, python_command

Child: TypeAlias = "subprocess.Popen[str]"


class Processes(Executor):
    """An executor of worker processes, each started on demand and served by one thread of the caller."""

    def __init__(self, workers: int, function: Callable[..., str]) -> None:
        """Make the executor of a function.

        Args:
            workers: Maximum number of processes.
            function: A module-level function from texts to a text.
        """
        self._function = function
        self._threads = ThreadPoolExecutor(workers, "constrint")
        self._idle: SimpleQueue[Child] = SimpleQueue()
        self._children: list[Child] = []
        self._lock = Lock()
        self._is_over = False

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call the executor's function, which must be `fn`, in a worker process; arguments are texts."""
        if fn is not self._function or kwargs:
            raise InternalError(f"these processes call {self._function.__qualname__} with texts only")
        return self._threads.submit(self._ask, args)

    def _ask(self, texts: tuple[str, ...]) -> str:
        child = self._child()
        assert child.stdin is not None and child.stdout is not None  # noqa: PT018 - both are pipes
        line = ""
        with suppress(OSError):  # the process has ended
            child.stdin.write(json.dumps(texts) + "\n")
            child.stdin.flush()
            line = child.stdout.readline()
        if not line:
            raise BrokenExecutor(f"exit code {child.wait()}")
        self._idle.put(child)
        kind, answer = json.loads(line)
        if kind != "answer":
            raise InternalError(f"a worker failed: {answer}")
        return str(answer)

    def _child(self) -> Child:
        with suppress(Empty):
            return self._idle.get_nowait()
        module, name = self._function.__module__, self._function.__qualname__
        program = (
            f"from constrint.parallel.processes import serve; from {module} import {name}; serve({name})"
        )
        with self._lock:
            if self._is_over:
                raise BrokenExecutor("shut down")
            child = subprocess.Popen(
                python_command(program),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=environment(),
                start_new_session=True,
                encoding="utf-8",
            )
            self._children.append(child)
        return child

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes; with wait, after the submitted calls are done."""
        if wait and not cancel_futures:
            self._threads.shutdown(wait=True)
        with self._lock:
            self._is_over = True
            for child in self._children:
                child.kill()
        self._threads.shutdown(wait=True, cancel_futures=True)
        for child in self._children:
            for pipe in (child.stdin, child.stdout):
                if pipe is not None:
                    with suppress(OSError):  # the process ended before it read the text
                        pipe.close()
            child.wait()


def serve(function: Callable[..., str]) -> None:
    """The main loop of a worker process: answer texts until the input ends."""
    answers = sys.stdout
    sys.stdout = sys.stderr  # printing must not mix with answers
    for line in sys.stdin:
        try:
            answer = ["answer", function(*json.loads(line))]
        except Exception:
            answer = ["error", traceback.format_exc()]
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
