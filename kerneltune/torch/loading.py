"""Kernels loaded for tensors: solved, compiled, and launched on a stream of torch's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kerneltune.compiling.compile import Compiler
from kerneltune.compiling.feedback import settle
from kerneltune.inputs.hardware import HardwareProfile
from kerneltune.tiling.candidate import Candidate
from kerneltune.tiling.space import TilingSpace

if TYPE_CHECKING:
    from kerneltune.running.launch import ExtendedKernel


@dataclass(frozen=True)
class Stream:
    """A CUDA stream by its handle, as `ExtendedKernel.launch` takes it."""

    handle: int


def load(space: TilingSpace, profile: HardwareProfile) -> tuple[Candidate, ExtendedKernel]:
    """The best tiling of a space that keeps its promises, and its kernel in the present context."""
    from kerneltune.running.launch import ExtendedKernel

    compiled = settle(space, Compiler(space.kernels, profile)).compiled
    candidate = compiled.candidate
    cooperative = space.kernels.strategy(candidate.strategy).spec.cooperative
    return candidate, ExtendedKernel(compiled.cubin, candidate, cooperative=cooperative)
