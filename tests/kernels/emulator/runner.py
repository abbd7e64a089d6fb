"""The child process of trials with an emulated GPU: ``python runner.py FOLDER [GPU]``.

Programs that run trials (``kerneltune tune``, benchmarks/rnn/verify.py) can thus be tested as a whole without
a GPU.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from emulator.build import Emulator
from emulator.passes import run_case
from kerneltune.inputs.descriptions import discover
from kerneltune.inputs.hardware import load_profile
from kerneltune.measuring import child
from kerneltune.measuring.loaded import HostChecks
from kerneltune.messages import Built, Facts, Order
from kerneltune.running.case import LayerCase
from kerneltune.running.case_files import load_case
from kerneltune.tiling.candidate import Candidate


class EmulatedLoaded(HostChecks[LayerCase]):
    """A tiling; each run has another order of threads. It has no clock."""

    def __init__(self, backend: EmulatedBackend, candidate: Candidate, case: LayerCase) -> None:
        self.case = case
        self._backend, self._candidate = backend, candidate

    def run(self, poison: int) -> None:
        self._results = self._backend.results(self._candidate, self.case)

    def read(self) -> dict[str, np.ndarray[Any, Any]]:
        return self._results

    def time(self, count: int, *, flush: bool, warm_up: int) -> list[float]:
        raise AssertionError("the emulated GPU has no clock")

    def close(self) -> None:
        """There is nothing to free."""


class EmulatedBackend:
    """A GPU that is none."""

    def __init__(self, folder: Path, gpu: str) -> None:
        self.facts = Facts(device="emulated", compute_capability=load_profile(gpu).compute_capability)
        self._kernels = discover()
        self._emulator = Emulator(self._kernels.root, folder)
        self._order = 0

    def load(self, order: Order, built: Built | None) -> EmulatedLoaded:
        assert built is not None
        assert built.cubin[:4] == b"\x7fELF"
        case = load_case(Path(order.case), self._kernels)
        assert isinstance(case, LayerCase)
        return EmulatedLoaded(self, Candidate.from_json(order.candidate), case)

    def results(self, candidate: Candidate, case: LayerCase) -> dict[str, np.ndarray[Any, Any]]:
        """What the tiling writes."""
        self._order += 1
        profile = load_profile(candidate.gpu)
        return run_case(self._emulator, self._kernels, profile, candidate, case, self._order)


if __name__ == "__main__":
    folder, gpu = Path(sys.argv[1]), (*sys.argv[2:], "h100_sxm")[0]
    child.backend_of = lambda set_up: EmulatedBackend(folder, gpu)
    child.main()
