"""Triton functions launched by the driver where that is possible, so that torch need not be imported."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kerneltune.measuring.case import Case
from kerneltune.measuring.cuda_backend import CudaBackend, CudaLoaded
from kerneltune.measuring.own_launches import launched_by_triton
from kerneltune.messages import Built, Facts, Order

if TYPE_CHECKING:
    from kerneltune.measuring.triton_backend import TritonBackend, TritonLoaded


class TritonByDriver:
    """Machine code with its launch goes to the driver; what only Triton can launch goes to Triton.

    Triton gets a copy of the arguments of its own, since its tensors are torch's.
    """

    def __init__(self, case: Case) -> None:
        self._case, self._driver = case, CudaBackend(case)
        self._triton: TritonBackend | None = None
        self.bus = self._driver.bus

    @property
    def facts(self) -> Facts:
        """The GPU."""
        return self._driver.facts

    def load(self, order: Order, built: Built | None) -> CudaLoaded | TritonLoaded:
        """Load the machine code, or a function with the values of its parameters."""
        if built is not None and built.cubin:
            return self._driver.load(order, built)
        if self._triton is None:
            self._triton = launched_by_triton(self._case)
        return self._triton.load(order, built)
