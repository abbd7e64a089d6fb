"""Kernels loaded for tensors: taken from a bundle, kept, or solved and compiled."""

from __future__ import annotations

from dataclasses import dataclass

from kerneltune.compiling.ready import ReadyKernel, supply_of
from kerneltune.inputs.descriptions import Kernels
from kerneltune.inputs.hardware import HardwareProfile
from kerneltune.inputs.request import Request
from kerneltune.running.launch import ExtendedKernel
from kerneltune.running.stepwise import kernel_of
from kerneltune.tiling.candidate import Candidate


@dataclass(frozen=True)
class Stream:
    """A CUDA stream by its handle, as `ExtendedKernel.launch` takes it."""

    handle: int


def loaded(ready: ReadyKernel) -> ExtendedKernel:
    """A kernel in the present context."""
    return kernel_of(ready.cubin, ready.candidate, cooperative=ready.cooperative)


def load(
    problem: Request, profile: HardwareProfile, kernels: Kernels, strategy: str | None
) -> tuple[Candidate, ExtendedKernel]:
    """The best tiling of a request that keeps its promises, and its kernel in the present context."""
    ready = supply_of(profile, kernels, strategy).get(problem)
    return ready.candidate, loaded(ready)
