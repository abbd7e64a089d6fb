"""Compile reports: a kernel's actual and predicted resources."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass

from kerneltune.compiling.compiler_output import CompilerOutput as CompilerOutput
from kerneltune.errors import CompilationError
from kerneltune.inputs.hardware import HardwareProfile
from kerneltune.tiling.candidate import Candidate
from kerneltune.tiling.occupancy import blocks_per_sm


@dataclass(frozen=True)
class CompileReport:
    """Resources of one compiled kernel.

    Sizes are in bytes; spills are bytes of code, as ptxas counts them.
    """

    compiler: str
    registers: int
    spill_stores: int
    spill_loads: int
    stack: int
    shared_memory: int
    blocks_per_sm: int
    predicted_registers: int
    predicted_shared_memory: int
    predicted_blocks_per_sm: int
    cubin_bytes: int
    seconds: float
    cached: bool
    # Warpgroups move registers: with fewer than predicted, setmaxnreg waits for ever.
    moves_registers: bool = False

    @property
    def spills(self) -> bool:
        """Whether registers were spilled to local memory."""
        return bool(self.spill_stores or self.spill_loads)

    def broken_promises(self) -> list[str]:
        """A text for each resource that exceeds its prediction."""
        broken = []
        if self.registers > self.predicted_registers:
            broken.append(f"{self.registers} registers, {self.predicted_registers} predicted")
        if self.moves_registers and self.registers < self.predicted_registers:
            broken.append(f"{self.registers} registers to exchange, {self.predicted_registers} predicted")
        if self.spills:
            broken.append(f"spills: {self.spill_stores} bytes stored, {self.spill_loads} loaded")
        if self.shared_memory != self.predicted_shared_memory:
            broken.append(
                f"{self.shared_memory} bytes of shared memory, {self.predicted_shared_memory} predicted"
            )
        if self.blocks_per_sm < self.predicted_blocks_per_sm:
            broken.append(f"{self.blocks_per_sm} blocks per SM, {self.predicted_blocks_per_sm} predicted")
        return broken

    def to_json(self) -> dict[str, object]:
        """A JSON object with every field and the broken promises."""
        return {**asdict(self), "broken_promises": self.broken_promises()}


def report(candidate: Candidate, profile: HardwareProfile, output: CompilerOutput) -> CompileReport:
    """The report for ``output`` and the candidate's predictions."""
    registers = _number(r"Used (\d+) registers", output.log)
    static = _number(r"\b(\d+) bytes smem", output.log, absent=0)
    # A cubin does not record dynamic shared memory. Every kernel asserts at compile time that its layout has
    # exactly the predicted bytes. Static bytes that the compiler adds exceed the prediction.
    shared = static + candidate.shared_memory
    return CompileReport(
        compiler=output.compiler,
        registers=registers,
        spill_stores=_number(r"(\d+) bytes spill stores", output.log),
        spill_loads=_number(r"(\d+) bytes spill loads", output.log),
        stack=_number(r"(\d+) bytes stack frame", output.log),
        shared_memory=shared,
        blocks_per_sm=blocks_per_sm(profile, candidate.threads, registers, shared),
        predicted_registers=candidate.registers,
        predicted_shared_memory=candidate.shared_memory,
        predicted_blocks_per_sm=candidate.blocks_per_sm,
        cubin_bytes=len(output.cubin),
        seconds=output.seconds,
        cached=output.cached,
        moves_registers=bool(candidate.values.get("moved_registers")),
    )


def _number(pattern: str, log: str, absent: int | None = None) -> int:
    found = re.search(pattern, log)
    if found:
        return int(found[1])
    if absent is None:
        raise CompilationError(f"the compiler's log names no '{pattern}':\n{log}")
    return absent
