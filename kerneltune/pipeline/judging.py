"""Outputs that are judged in the process that tunes, by functions that no child could import."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import msgspec
from numpy.typing import NDArray

from kerneltune.errors import KernelTuneError
from kerneltune.measuring.case import kept_outputs
from kerneltune.messages import Answer, Built, Failed, Finals, Order, Turns
from kerneltune.pipeline.stages import Measuring
from kerneltune.searching.protocol import Configuration

Judge = Callable[[Configuration, Mapping[str, NDArray[Any]]], Mapping[str, float]]
"""Gives further objectives of a configuration and its outputs by name; raises `RunError` for wrong ones."""


class Judged:
    """The measuring stage with a judge of each candidate's outputs.

    Args:
        devices: The measuring stage, whose processes keep the outputs.
        folder: Where they keep them.
        judge: The judge.
    """

    def __init__(self, devices: Measuring, folder: Path, judge: Judge) -> None:
        self._devices, self._folder, self._judge = devices, folder, judge
        self.slots, self.depth = devices.slots, devices.depth

    def submit(
        self, number: int, order: Order, built: Built | None, best: float | None
    ) -> Future[Answer | Failed]:
        """Start one candidate; the judge is called when it is measured."""
        judged: Future[Answer | Failed] = Future()

        def finished(answered: Future[Answer | Failed]) -> None:
            if answered.cancelled():
                judged.cancel()
                return
            try:
                judged.set_result(self._verdict(number, order, answered.result()))
            except BaseException as error:  # it belongs to whoever waits for the result
                judged.set_exception(error)

        self._devices.submit(number, order, built, best).add_done_callback(finished)
        return judged

    def _verdict(self, number: int, order: Order, answer: Answer | Failed) -> Answer | Failed:
        if isinstance(answer, Failed):
            return answer
        outputs = kept_outputs(self._folder, number)
        try:
            told = {name: float(one) for name, one in self._judge(order.configuration, outputs).items()}
        except KernelTuneError as error:
            return Failed(trial=answer.trial, failure=str(error), seconds=answer.seconds, built=answer.built)
        return msgspec.structs.replace(answer, objectives={**answer.objectives, **told})

    def in_turns(self, request: Finals) -> Turns | Failed:
        """The times of finalists, which are not judged again."""
        found: Turns | Failed = self._devices.in_turns(request)  # type: ignore[attr-defined]
        return found

    def close(self) -> None:
        """End the processes."""
        self._devices.close()
