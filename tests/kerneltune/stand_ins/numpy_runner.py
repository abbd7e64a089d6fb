"""A runner that stands in for a GPU and computes with numpy."""

from __future__ import annotations

import numpy as np
from made import hand_made

from kerneltune.compiling.halffloat import Bits
from kerneltune.inputs.descriptions import Kernels
from kerneltune.running.case import LayerCase, random_case
from kerneltune.running.measure import Measurement, TrialPlan, try_candidate
from kerneltune.tiling.candidate import Candidate


class NumpyRunner:
    """Plays a GPU: the echo cell's states are the first inputs."""

    device = "numpy"
    compute_capability = "9.0"

    def __init__(self, spoil: str = "") -> None:
        self.spoil = spoil
        self.count = 0

    def prepare(self, candidate: Candidate, cubin: bytes, case: LayerCase, *, cooperative: bool) -> None:
        self.case = case

    def run_once(self) -> None:
        self.count += 1
        output = self.case.outputs["states"]
        self.states = np.full(output.shape, 0xFFFF, np.uint16)
        self.states[:, 0] = output.initial
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

    def time(self, count: int) -> list[float]:
        return [0.004, 0.002, 0.003, 0.002, 0.009][:count]


def measured(kernels: Kernels, runner: NumpyRunner) -> Measurement:
    candidate = hand_made()
    cell = kernels.cell("echo")
    case = random_case(candidate.problem, cell, seed=5)
    runner.prepare(candidate, b"", case, cooperative=False)
    plan = TrialPlan(runs=3, timed=5, seed=5)
    return try_candidate(runner, candidate, case, plan)
