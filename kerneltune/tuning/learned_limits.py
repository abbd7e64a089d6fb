"""Limits learned from compile reports: configurations that need not be compiled, since they cannot be run."""

from __future__ import annotations

import math

from kerneltune.errors import KernelTuneError
from kerneltune.messages import Built, Order
from kerneltune.searching.protocol import Configuration
from kerneltune.sources.kernel import BLOCK, CUDA, Kernel
from kerneltune.tiling.occupancy import blocks_per_sm
from kerneltune.tuning.register_reports import RegisterReports

LAUNCH_BOUNDS = "__launch_bounds__"
OWN_BOUNDS = (LAUNCH_BOUNDS, "__maxnreg__")  # in a source, of registers, by a number or a parameter


class LearnedLimits:
    """Configurations that a kernel's compile reports exclude.

    Args:
        kernel: The kernel, on the GPU of its profile.
    """

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        # The compiler ignores its limit for a kernel with bounds of its own.
        self._reports = RegisterReports(kernel.in_code(), obeys_limit=LAUNCH_BOUNDS not in kernel.source)
        self._bounds_itself = any(one in kernel.source for one in OWN_BOUNDS)
        self._left_out: dict[tuple[object, ...], str] = {}

    @property
    def left_out(self) -> list[str]:
        """The reason of each configuration that was left out."""
        return list(self._left_out.values())

    def learn(self, order: Order, built: Built) -> None:
        """Take a compile report."""
        if self._kernel.kind == CUDA and built.registers:
            self._reports.add(order.configuration, built.registers, order.registers)

    def excludes(self, configuration: Configuration) -> str | None:
        """Why a configuration is not compiled; None: the reports do not exclude it."""
        profile = self._kernel.profile
        if profile is None or self._kernel.kind != CUDA:
            return None
        try:
            numbers = self._kernel.numbers.of(configuration)
        except KernelTuneError:
            return None  # its order says what is wrong
        bound = self._reports.least(configuration, numbers.get("registers"))
        # With bounds of its own, registers follow them: those of 64 threads say nothing of 1,024.
        if bound is None or (bound.changed and self._bounds_itself):
            return None
        threads = math.prod(numbers.get(axis, 1) for axis in BLOCK)
        reason = None
        if 1 <= threads <= profile.max_threads_per_block:
            shared = numbers.get("shared_memory", 0)
            resident = blocks_per_sm(profile, threads, bound.registers, shared)
            reason = self._reason(numbers, threads, bound.registers, resident)
        if reason is None:
            return None
        reason = f"{bound.sentence}: {reason}"
        self._left_out.setdefault(tuple(configuration.values()), reason)
        return reason

    def _reason(self, numbers: dict[str, int], threads: int, registers: int, resident: int) -> str | None:
        if resident == 0:
            return f"no block of {threads} threads fits an SM"
        promised, wanted = numbers.get("registers"), numbers.get("blocks_per_sm")
        if not self._kernel.strict:
            return None
        if promised is not None and registers > promised:
            return f"{promised} are promised"
        if wanted is not None and resident < wanted:
            return f"{resident} blocks per SM, {wanted} promised"
        return None
