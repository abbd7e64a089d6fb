"""Long-lived children that answer requests one at a time, replaced when one is lost."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from kerneltune.errors import KernelTuneError, MissingExtraError, RunError
from kerneltune.messages import BadMessageError, Facts, Failed, M, Message, decoded, encoded
from kerneltune.running.child_process import ChildProcess, SilentError

KIND_VARIABLE = "KERNELTUNE_KIND"  # the kind of kernels, for a measuring process that waits for its set-up
FUNCTION_VARIABLE = "KERNELTUNE_FUNCTION"  # where the first compiling process finds a function, and folders
MOST_ANSWER_BYTES = 1 << 28  # bytes of an answer: machine code travels in it


class Child:
    """A child process that is started when it is needed.

    Args:
        command: Its command.
        set_up: The first message that it is sent, which it answers by its device; None: it needs none.
        environment: Additional environment variables.
        patience: Seconds for the set-up.
        longest: Bytes of an answer.
        niceness: How far its priority is below that of this process.

    Attributes:
        set_up: The first message.
        facts: Its answer to the set-up.
        answered: Requests since it was started.
    """

    def __init__(
        self,
        command: Sequence[str],
        set_up: Message | None = None,
        environment: Mapping[str, str] | None = None,
        *,
        patience: float = 120.0,
        longest: int = MOST_ANSWER_BYTES,
        niceness: int = 0,
    ) -> None:
        self._command, self.set_up, self._longest = list(command), set_up, longest
        self._environment, self._patience, self._niceness = environment, patience, niceness
        self._running: ChildProcess | None = None
        self._is_set_up = False
        self.facts: Facts | None = None
        self.answered = 0

    @property
    def is_running(self) -> bool:
        """Whether there is a process."""
        return self._running is not None

    def begin(self) -> None:
        """Start the process, which imports what it needs, without its set-up.

        Raises:
            RunError: It cannot be started.
        """
        if self._running is not None:
            return
        try:
            self._running = ChildProcess(
                self._command, None, self._environment, self._longest, self._niceness
            )
        except OSError as error:
            raise RunError(f"the process that runs kernels cannot be started: {error}") from None
        self.answered, self._is_set_up = 0, False

    def start(self) -> None:
        """Start the process, if it is not, and wait for its first answer, if it is to give one.

        Raises:
            KernelTuneError: It cannot do its work here, and says why.
        """
        self.begin()
        if self.set_up is None or self._is_set_up:
            return
        self._is_set_up = True
        answer = self._exchange(self.set_up, Facts, self._patience, 0.0)
        if isinstance(answer, Failed):
            self.end()
            raise _error_of(answer)
        self.facts = answer

    def ask(self, request: Message, kind: type[M], timeout: float, loading: float = 0.0) -> M | Failed:
        """The answer to a request: a message of that kind, or a failure.

        If the process ends, hangs or answers nonsense, the failure says so, and the next request gets another
        process.

        Args:
            request: The request.
            kind: The kind of its answer.
            timeout: Seconds for the work.
            loading: Further seconds, in which it reads its input.

        Raises:
            KernelTuneError: The process cannot be started.
        """
        self.start()
        answer = self._exchange(request, kind, timeout, loading)
        self.answered += 1
        if isinstance(answer, Failed) and answer.lost:
            self.end()
        return answer

    def _exchange(self, request: Message, kind: type[M], timeout: float, loading: float) -> M | Failed:
        assert self._running is not None
        self._running.send(encoded(request))
        try:
            answer = decoded(self._running.line(timeout + loading), kind)
            if answer.trial not in (None, request.trial):
                raise BadMessageError(f"it answers request {answer.trial}, not {request.trial}")
        except SilentError as error:
            if not error.timed_out:
                return Failed(failure=str(error), lost=True, died=True)
            reason = f"no answer within {timeout:g} s: the process was ended"
            return Failed(failure=reason, lost=True, died=True, timed_out=True, limit=timeout)
        except BadMessageError as error:
            reason = f"the process that ran it gave no answer that can be used: {error}"
            return Failed(failure=reason, lost=True, died=True)
        return answer

    def finish(self) -> None:
        """Let the process end by itself, so that a tool around it can report; kill it if it does not."""
        running, self._running = self._running, None
        if running is not None:
            running.__exit__(None)

    def end(self) -> None:
        """Kill the process, if there is one."""
        running, self._running = self._running, None
        if running is not None:
            running.end()


def hang_of_kernel(failed: Failed) -> str:
    """The reason of a failure of a process that runs kernels."""
    return f"{failed.failure} (a hang in the kernel?)" if failed.timed_out else failed.failure


def _error_of(failed: Failed) -> KernelTuneError:
    """The error that a set-up was answered by."""
    if failed.died:
        return RunError(f"no kernel can be run here: {failed.failure}")
    if failed.exit_code == MissingExtraError.exit_code:
        return MissingExtraError.said(failed.failure)
    return (RunError if failed.exit_code == RunError.exit_code else KernelTuneError)(failed.failure)


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
