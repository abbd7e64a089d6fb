"""Tilings of the kernels that are shipped, on this machine's GPU."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kerneltune.compiling.arguments import packed
from kerneltune.compiling.halffloat import POISON
from kerneltune.errors import RunError
from kerneltune.inputs.descriptions import Kernels
from kerneltune.measuring.gpu import Gpu
from kerneltune.measuring.loaded import HostChecks
from kerneltune.messages import Built, Facts, Order
from kerneltune.running.any_case import AnyCase
from kerneltune.running.case_files import load_case
from kerneltune.running.scan_case import ScanCase
from kerneltune.tiling.candidate import Candidate


class TilingBackend:
    """One case on the GPU at a time, which consecutive candidates share.

    Args:
        kernels: The kernels folder.
    """

    def __init__(self, kernels: Kernels) -> None:
        self.gpu = Gpu()
        self.bus = self.gpu.bus
        self._kernels = kernels
        self._folder = ""
        self._case: AnyCase | None = None
        self.inputs: dict[str, int] = {}
        self.places: dict[str, int] = {}

    @property
    def facts(self) -> Facts:
        """The GPU."""
        return self.gpu.facts

    @property
    def case(self) -> AnyCase:
        """The case that candidates run on."""
        assert self._case is not None
        return self._case

    def use(self, case: AnyCase) -> None:
        """Upload a case's input in place of the one before, and allocate its outputs."""
        for place in self.inputs.values():
            self.gpu.free(place)
        for place in self.places.values():
            self.gpu.free_guarded(place)
        self.inputs, self.places, self._folder, self._case = {}, {}, "", case
        for name, array in case.inputs.items():
            self.inputs[name] = self.gpu.upload(array)
        for name, output in case.outputs.items():
            self.places[name] = self.gpu.allocate_guarded(output.nbytes)

    def load(self, order: Order, built: Built | None) -> TilingLoaded:
        """Load a candidate, and its case if another was used."""
        if built is None:
            raise RunError("the kernel was not compiled")
        if order.case and order.case != self._folder:
            self.use(load_case(Path(order.case), self._kernels))
            self._folder = order.case
        candidate = Candidate.from_json(order.candidate)
        return TilingLoaded(self, candidate, built.cubin, cooperative=order.cooperative)


class TilingLoaded(HostChecks[AnyCase]):
    """One candidate on the GPU, with its workspace."""

    def __init__(
        self, backend: TilingBackend, candidate: Candidate, cubin: bytes, *, cooperative: bool
    ) -> None:
        self._gpu, self.case, self._places = backend.gpu, backend.case, backend.places
        self._outputs = dict(self.case.outputs)
        self._candidate = candidate
        self._kernel = self._gpu.load(cubin, candidate, cooperative=cooperative)
        self._workspace = self._gpu.allocate(candidate.workspace)
        if candidate.workspace_kept:
            self._gpu.fill(self._workspace, candidate.workspace_fill, max(candidate.workspace, 16))
        self._arguments = packed(
            self.case.problem,
            {**backend.inputs, **backend.places, "workspace": self._workspace},
            self.case.strides if isinstance(self.case, ScanCase) else None,
        )
        self._last: dict[str, NDArray[np.generic]] | None = None

    def run(self, poison: int) -> None:
        """Poison the outputs by NaN, restore their initial contents, launch and wait."""
        self._last = None
        for name, output in self._outputs.items():
            self._gpu.poison_guarded(self._places[name], POISON, output.nbytes)
        self._gpu.wait()
        self._restore_initial()
        self._launch()
        self._gpu.wait()

    def read(self) -> dict[str, NDArray[np.generic]]:
        """The outputs of the last run; raises `RunError` if the kernel wrote outside them."""
        if self._last is None:
            self._last = {
                name: self._gpu.read_guarded(name, self._places[name], output.nbytes)
                .view(output.dtype)
                .reshape(output.shape)
                for name, output in self._outputs.items()
            }
        return self._last

    def keep(self) -> None:
        """Keep the outputs of the last run, which no other run writes to."""
        self._kept = self.read()

    def time(self, count: int, *, flush: bool, warm_up: int) -> list[float]:
        """Milliseconds of runs."""
        self._restore_initial()
        return self._gpu.timed(self._launch, count, flush=flush, warm_up=warm_up)

    def _launch(self) -> None:
        """Fill the workspace, unless the kernel keeps it, and launch."""
        if not self._candidate.workspace_kept:
            self._gpu.fill(self._workspace, self._candidate.workspace_fill, self._candidate.workspace)
        self._kernel.launch(self._arguments, self._gpu.stream)

    def _restore_initial(self) -> None:
        for name, output in self._outputs.items():
            if output.initial is None:
                continue
            plane = output.nbytes // output.shape[0]
            for index, initial in enumerate(output.initial):
                self._gpu.write(self._places[name] + index * plane, initial)

    def close(self) -> None:
        """Free the module and the workspace."""
        self._kernel.unload()
        self._gpu.free(self._workspace)
