"""Long-lived children that answer requests one at a time, replaced when one is lost."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from kerneltune.errors import KernelTuneError, MissingExtraError, RunError
from kerneltune.running.child_process import ChildProcess, SilentError

LONGEST = 1 << 28  # bytes of an answer: machine code travels in it


class LostError(Exception):
    """A child gave no answer; ``timed_out`` distinguishes a hang from an end."""

    def __init__(self, reason: str, *, timed_out: bool = False) -> None:
        super().__init__(reason)
        self.timed_out = timed_out


class Child:
    """A child process that is started when it is needed.

    Args:
        command: Its command.
        set_up: The first line that it is sent, which it answers; None: it needs none.
        environment: Additional environment variables.
        patience: Seconds for the set-up.
    """

    def __init__(
        self,
        command: Sequence[str],
        set_up: Mapping[str, Any] | None = None,
        environment: Mapping[str, str] | None = None,
        patience: float = 120.0,
    ) -> None:
        self._command, self._set_up = list(command), set_up
        self._environment, self._patience = environment, patience
        self._running: ChildProcess | None = None
        self.facts: dict[str, Any] = {}
        self.answered = 0  # requests since it was started

    def start(self) -> None:
        """Start the process and wait for its first answer, if it is to give one.

        Raises:
            KernelTuneError: It cannot do its work here, and says why.
        """
        if self._running is not None:
            return
        try:
            self._running = ChildProcess(self._command, None, self._environment, LONGEST)
        except OSError as error:
            raise RunError(f"the process for kernels cannot be started: {error}") from None
        self.answered = 0
        if self._set_up is None:
            return
        try:
            answer = self._exchange(self._set_up, self._patience)
        except LostError as error:
            raise RunError(f"no kernel can be run here: {error}") from None
        if "failure" in answer:
            self.end()
            raise _error(answer)
        self.facts = answer

    def ask(self, request: Mapping[str, Any], timeout: float) -> dict[str, Any]:
        """The answer to a request.

        Raises:
            LostError: There is none: the process ended, hung, or answered nonsense. The next request gets
                another process.
            KernelTuneError: It cannot be started.
        """
        self.start()
        answer = self._exchange(request, timeout)
        self.answered += 1
        if answer.get("lost"):
            self.end()
        return answer

    def _exchange(self, request: Mapping[str, Any], timeout: float) -> dict[str, Any]:
        assert self._running is not None
        self._running.send(json.dumps(request).encode() + b"\n")
        try:
            line = self._running.line(timeout)
        except SilentError as error:
            self.end()
            raise LostError(str(error), timed_out=error.timed_out) from None
        try:
            answer = json.loads(line.decode("utf-8")) if line.endswith(b"\n") else None
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict) or answer.get("trial") != request.get("trial"):
            self.end()
            raise LostError(f"the process that ran it gave no answer that can be used: {line[:60]!r}")
        return answer

    def end(self) -> None:
        """Kill the process, if there is one."""
        running, self._running = self._running, None
        if running is not None:
            running.end()


def _error(answer: Mapping[str, Any]) -> KernelTuneError:
    reason, code = str(answer["failure"]), answer.get("exit_code")
    if code == MissingExtraError.exit_code:
        return MissingExtraError.said(reason)
    return (RunError if code == RunError.exit_code else KernelTuneError)(reason)


def visible_device(ordinal: int | str | None) -> dict[str, str]:
    """The environment of a child that is to see one GPU only."""
    if ordinal is None:
        return {}
    named = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    listed = [one for one in named.split(",") if one]
    if isinstance(ordinal, int) and listed:
        if ordinal >= len(listed):
            raise KernelTuneError(f"there is no device {ordinal}: CUDA_VISIBLE_DEVICES is '{named}'")
        return {"CUDA_VISIBLE_DEVICES": listed[ordinal]}
    return {"CUDA_VISIBLE_DEVICES": str(ordinal)}
