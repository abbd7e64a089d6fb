"""Long-lived children that answer requests one at a time, replaced when one is lost."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from kerneltune.errors import KernelTuneError, MissingExtraError, RunError
from kerneltune.messages import BadMessageError, Facts, Failed, M, Message, SetUp, decoded, encoded
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
        set_up: SetUp | None = None,
        environment: Mapping[str, str] | None = None,
        patience: float = 120.0,
    ) -> None:
        self._command, self._set_up = list(command), set_up
        self._environment, self._patience = environment, patience
        self._running: ChildProcess | None = None
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
            answer = self._exchange(self._set_up, Facts, self._patience)
        except LostError as error:
            raise RunError(f"no kernel can be run here: {error}") from None
        if isinstance(answer, Failed):
            self.end()
            raise error_of(answer.failure, answer.exit_code)

    def ask(self, request: Message, kind: type[M], timeout: float) -> M | Failed:
        """The answer to a request: a message of that kind, or a failure.

        Raises:
            LostError: There is none: the process ended, hung, or answered nonsense. The next request gets
                another process.
            KernelTuneError: It cannot be started.
        """
        self.start()
        answer = self._exchange(request, kind, timeout)
        self.answered += 1
        if isinstance(answer, Failed) and answer.lost:
            self.end()
        return answer

    def _exchange(self, request: Message, kind: type[M], timeout: float) -> M | Failed:
        assert self._running is not None
        self._running.send(encoded(request))
        try:
            answer = decoded(self._running.line(timeout), kind)
            if answer.trial != request.trial:
                raise BadMessageError(f"it answers request {answer.trial}, not {request.trial}")
        except SilentError as error:
            self.end()
            raise LostError(str(error), timed_out=error.timed_out) from None
        except BadMessageError as error:
            self.end()
            raise LostError(f"the process that ran it gave no answer that can be used: {error}") from None
        return answer

    def end(self) -> None:
        """Kill the process, if there is one."""
        running, self._running = self._running, None
        if running is not None:
            running.end()


def error_of(reason: str, code: int | None) -> KernelTuneError:
    """The error that a child told."""
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
