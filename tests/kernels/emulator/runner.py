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
from kerneltune.running import child
from kerneltune.running.case import LayerCase
from kerneltune.tiling.candidate import Candidate


class EmulatedRunner:
    """A GPU that is none; each run has another order of threads. It has no clock."""

    device = "emulated"

    def __init__(self, folder: Path, gpu: str) -> None:
        self.compute_capability = load_profile(gpu).compute_capability
        self._kernels = discover()
        self._emulator = Emulator(self._kernels.root, folder)
        self._order = 0

    def prepare(self, candidate: Candidate, cubin: bytes, case: LayerCase, *, cooperative: bool) -> None:
        assert cubin[:4] == b"\x7fELF"
        self._candidate, self._case = candidate, case

    def run_once(self) -> None:
        self._order += 1
        profile = load_profile(self._candidate.gpu)
        self._results = run_case(
            self._emulator, self._kernels, profile, self._candidate, self._case, self._order
        )

    def read(self) -> dict[str, np.ndarray[Any, Any]]:
        return self._results

    def time(self, count: int) -> list[float]:
        raise AssertionError("the emulated GPU has no clock")


if __name__ == "__main__":
    folder, gpu = Path(sys.argv[1]), (*sys.argv[2:], "h100_sxm")[0]
    child._runner = lambda: EmulatedRunner(folder, gpu)  # type: ignore[assignment]
    child.main()
