"""Kernels loaded for tensors: taken from a bundle, kept, or solved and compiled."""

from __future__ import annotations

from dataclasses import dataclass

from kerneltune.compiling.ready import ReadyKernel, supply_of
from kerneltune.inputs.hardware import HardwareProfile
from kerneltune.running.launch import ExtendedKernel
from kerneltune.running.stepwise import kernel_of
from kerneltune.tiling.candidate import Candidate
from kerneltune.tiling.space import TilingSpace


@dataclass(frozen=True)
class Stream:
    """A CUDA stream by its handle, as `ExtendedKernel.launch` takes it."""

    handle: int


def loaded(ready: ReadyKernel) -> ExtendedKernel:
    """A kernel in the present context."""
    return kernel_of(ready.cubin, ready.candidate, cooperative=ready.cooperative)


def load(space: TilingSpace, profile: HardwareProfile) -> tuple[Candidate, ExtendedKernel]:
    """The best tiling of a space that keeps its promises, and its kernel in the present context."""
    ready = supply_of(profile, space.kernels, space.strategy).get(space.problem)
    return ready.candidate, loaded(ready)
