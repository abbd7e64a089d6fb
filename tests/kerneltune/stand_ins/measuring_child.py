"""A measuring process without a GPU: times by a formula, and faults by the value of the parameter ``fault``.

Every measurement adds a line to the file that KERNELTUNE_TEST_LOG names, and its device, begin and end to the
one that KERNELTUNE_TEST_SPANS names. Where outputs are kept, each is the sum of the arrays that a
configuration takes.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from meeting import met

from kerneltune.errors import RunError
from kerneltune.measuring.case import Case
from kerneltune.measuring.child import made
from kerneltune.measuring.measure import MeasuringPlan
from kerneltune.measuring.serving import Server
from kerneltune.messages import REQUESTS, Built, Facts, Failed, Finals, Order, Request, SetUp, required
from kerneltune.running.child_output import private_stdout, say
from kerneltune.running.lifeline import follow_parent
from kerneltune.running.verify import Verdict
from kerneltune.sources.arguments import NUMBER

SECONDS = float(os.environ.get("KERNELTUNE_TEST_SECONDS", "0"))


class Pretended:
    """One candidate."""

    def __init__(self, order: Order, case: Case | None) -> None:
        self._values: dict[str, Any] = order.configuration
        self._case, self._takes = case, order.takes
        self._fault = self._values.get("fault", "none")
        self._began = time.time()

    def run(self, poison: int) -> None:
        if not (met("measuring") and met(f"measuring on {os.environ.get('CUDA_VISIBLE_DEVICES')}")):
            raise RunError("nothing else went on meanwhile")
        if self._fault == "hang":
            time.sleep(3600)
        elif self._fault == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        elif self._fault == "out_of_bounds":
            raise RunError("the kernel wrote outside the array 'c'")
        time.sleep(SECONDS)

    def check(self) -> Verdict:
        if self._fault == "nan":
            return Verdict(float("inf"), 1e-4, 7)
        return Verdict(0.5 if self._fault == "wrong" else 1e-6, 1e-4, 0)

    def keep(self) -> None:
        """Nothing."""

    def same(self) -> bool:
        return self._fault != "unsteady"

    def read(self) -> dict[str, Any]:
        assert self._case is not None
        every = self._case.arguments
        taken = every if self._takes is None else [every[place] for place in self._takes]
        arrays = [one.value.astype("f8") for one in taken if one.kind != NUMBER]
        wrong = self._values.get("tile") == 2 or self._fault == "wrong"
        total = sum(arrays) + wrong
        return {one.name: total.astype(one.value.dtype) for one in taken if one.is_output}

    def time(self, count: int, *, flush: bool, warm_up: int) -> list[float]:
        return [1.0 + abs(self._values.get("x", 0) - 5) * 0.1] * count

    def close(self) -> None:
        _log(self._values, os.environ.get("KERNELTUNE_TEST_LOG"))
        span = {"device": os.environ.get("CUDA_VISIBLE_DEVICES"), "from": self._began, "to": time.time()}
        _log(span, os.environ.get("KERNELTUNE_TEST_SPANS"))


def _log(values: dict[str, Any], path: str | None) -> None:
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps(values, sort_keys=True) + "\n")


class PretendedBackend:
    """A device that is none."""

    facts = Facts(device="pretended", compute_capability="9.0")

    def __init__(self, case: Case | None) -> None:
        self._case = case

    def load(self, order: Order, built: Built | None) -> Pretended:
        return Pretended(order, self._case)


def main() -> None:
    follow_parent()
    answers = private_stdout()
    set_up = required(sys.stdin.readline(), SetUp)
    if os.environ.get("CUDA_VISIBLE_DEVICES") == os.environ.get("KERNELTUNE_TEST_SLOW_DEVICE", ""):
        time.sleep(1.0)
    plan: dict[str, Any] = set_up.plan
    outputs = Path(set_up.outputs) if set_up.outputs else None
    backend = PretendedBackend(None if outputs is None else Case.load(Path(set_up.case)))
    observers = [made(watcher) for watcher in set_up.observers]
    server = Server(backend, MeasuringPlan(**plan), observers, outputs=outputs)
    say(answers, PretendedBackend.facts)
    for line in sys.stdin:
        request: Request | Finals = required(line, REQUESTS)
        if isinstance(request, Request) and request.order.configuration.get("fault") == "garbage":
            answers.write("nonsense\n")
            answers.flush()
            continue
        answer = server.answer(request)
        say(answers, answer)
        if isinstance(answer, Failed) and answer.lost:
            return


if __name__ == "__main__":
    main()
