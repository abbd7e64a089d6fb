"""Hardware counters of each candidate that was measured, in a process of its own."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path

import msgspec

from constrint.support.children import python_command
from kerneltune.errors import KernelTuneError, RunError
from kerneltune.measuring.counters import NOT_PERMITTED, counted, counting
from kerneltune.measuring.measure import MeasuringPlan
from kerneltune.messages import Answer, Built, Failed, Finals, Order, Request, SetUp, Turns
from kerneltune.pipeline.stages import MEASURING_CHILD, Devices
from kerneltune.running.child_process import MODULE
from kerneltune.running.children import Child

ONCE = MeasuringPlan(runs=1, timed=0)


class Counted:
    """The measuring stage with the counters of each candidate; one device.

    A device is free while its candidate is counted, since the stage goes on when that is done.

    Args:
        devices: The measuring stage.
        set_up: The first message to its processes.
        folder: Where the tool may write.
        names: The counters.
        command: The command of the processes.
        timeout: Seconds for one candidate.
    """

    def __init__(
        self,
        devices: Devices,
        set_up: SetUp,
        folder: Path,
        names: Sequence[str],
        command: Sequence[str] = MEASURING_CHILD,
        timeout: float = 60.0,
    ) -> None:
        self._devices, self._folder, self._names = devices, folder, list(names)
        self._set_up = msgspec.structs.replace(set_up, plan=ONCE.to_json(), observers=(), outputs="")
        self._command, self._timeout = command, timeout
        self.slots, self.depth = devices.slots, devices.depth

    def submit(
        self, number: int, order: Order, built: Built | None, best: float | None
    ) -> Future[Answer | Failed]:
        """Start one candidate; it is counted when it is measured."""
        found: Future[Answer | Failed] = Future()

        def finished(answered: Future[Answer | Failed]) -> None:
            if answered.cancelled():
                found.cancel()
                return
            try:
                found.set_result(self._completed(number, order, built, answered.result()))
            except BaseException as error:  # it belongs to whoever waits for the result
                found.set_exception(error)

        self._devices.submit(number, order, built, best).add_done_callback(finished)
        return found

    def _completed(
        self, number: int, order: Order, built: Built | None, answer: Answer | Failed
    ) -> Answer | Failed:
        if isinstance(answer, Failed):
            return answer
        try:
            told = self._counters(number, order, built)
        except KernelTuneError as error:
            return Failed(trial=answer.trial, failure=str(error), seconds=answer.seconds, built=answer.built)
        return msgspec.structs.replace(answer, objectives={**answer.objectives, **told})

    def _counters(self, number: int, order: Order, built: Built | None) -> dict[str, float]:
        """The counters of one run; raises `RunError` where there are none."""
        command = list(self._command)
        if command[0] == MODULE:
            command = python_command(f"from {command[1]} import main; main()")
        log = self._folder / f"counters-{number}.csv"
        child = Child(counting(command, self._names, _plain(order.entry), log), self._set_up)
        try:
            answer = child.ask(Request(trial=number, order=order, built=built), Answer, self._timeout)
        finally:
            child.finish()  # so that the tool around it writes what it counted
        text = log.read_text(encoding="utf-8", errors="replace") if log.is_file() else ""
        log.unlink(missing_ok=True)
        if isinstance(answer, Failed) and NOT_PERMITTED not in text:
            raise RunError(f"while counters were read: {answer.failure}")
        return counted(text, self._names)

    def in_turns(self, request: Finals) -> Turns | Failed:
        """The times of finalists, which are not counted again."""
        return self._devices.in_turns(request)

    def close(self) -> None:
        """End the processes."""
        self._devices.close()


def _plain(entry: str) -> str:
    """A kernel's name without template arguments and namespaces, as `ncu` compares it."""
    return entry.partition("<")[0].rpartition("::")[2].strip()
