"""A backend that stands in for a GPU and computes with numpy."""

from __future__ import annotations

import numpy as np
from made import hand_made

from kerneltune.compiling.halffloat import Bits
from kerneltune.inputs.descriptions import Kernels
from kerneltune.measuring.loaded import HostChecks
from kerneltune.measuring.measure import tiling_plan
from kerneltune.measuring.serving import Server
from kerneltune.messages import Answer, Built, Facts, Failed, Order, Request
from kerneltune.pipeline.tiling_trial import TilingTrial
from kerneltune.pipeline.tilings import order_of, trial_of
from kerneltune.running.case import LayerCase, random_case

TIMES = [0.004, 0.002, 0.003, 0.002, 0.009]


class NumpyLoaded(HostChecks[LayerCase]):
    """Plays a kernel: the echo cell's states are the first inputs."""

    def __init__(self, case: LayerCase, spoil: str, times: list[float]) -> None:
        self.case, self.spoil, self.times = case, spoil, times
        self.count = 0

    def run(self, poison: int) -> None:
        self.count += 1
        output = self.case.outputs["states"]
        self.states = np.full(output.shape, 0xFFFF, np.uint16)
        self.states[:, 0] = output.initial  # type: ignore[assignment]
        for state in range(len(self.states)):
            self.states[state, 1:] = self.case.inputs["input"][..., state]
        if self.spoil == "hole":
            self.states[1, -1, 0, 0, 3] = 0xFFFF
        if self.spoil == "wrong":
            self.states[0, 1:] ^= 0x0100
        if self.spoil == "unsteady" and self.count == 2:
            self.states[0, 1, 0, 0, 0] ^= 1

    def read(self) -> dict[str, Bits]:
        return {"states": self.states.copy()}

    def time(self, count: int, *, flush: bool, warm_up: int) -> list[float]:
        return self.times[:count]

    def close(self) -> None:
        """There is nothing to free."""


class NumpyBackend:
    """Plays a GPU."""

    facts = Facts(device="numpy", compute_capability="9.0")

    def __init__(self, case: LayerCase, spoil: str = "", times: list[float] | None = None) -> None:
        self.case, self.spoil, self.times = case, spoil, times or TIMES

    def load(self, order: Order, built: Built | None) -> NumpyLoaded:
        return NumpyLoaded(self.case, self.spoil, self.times)


def measured(kernels: Kernels, spoil: str = "", times: list[float] | None = None) -> TilingTrial:
    """The trial of a hand-made tiling."""
    candidate = hand_made()
    case = random_case(candidate.problem, kernels.cell("echo"), seed=5)  # type: ignore[arg-type]
    order = order_of(candidate, False)
    server = Server(NumpyBackend(case, spoil, times), tiling_plan(3, 5))
    answer = server.answer(Request(trial=0, order=order))
    assert isinstance(answer, Answer | Failed)
    return trial_of(order, answer, "numpy", 3, 5)
