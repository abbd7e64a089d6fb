"""The `Runner` protocol: the interface of a GPU for trials."""

from __future__ import annotations

from typing import Any, Protocol

from numpy.typing import NDArray

from kerneltune.running.any_case import AnyCase
from kerneltune.tiling.candidate import Candidate


class Runner(Protocol):
    """A GPU that holds one kernel and its buffers at a time."""

    @property
    def device(self) -> str:
        """The GPU's name."""

    @property
    def compute_capability(self) -> str:
        """The GPU's compute capability, such as ``9.0``."""

    def prepare(self, candidate: Candidate, cubin: bytes, case: AnyCase, *, cooperative: bool) -> None:
        """Load the kernel and upload its input; frees the previous kernel and buffers."""

    def run_once(self) -> None:
        """Poison the outputs, restore their initial contents, fill the workspace, launch, wait."""

    def read(self) -> dict[str, NDArray[Any]]:
        """The outputs of the last run; raises `RunError` if the kernel wrote outside them."""

    def time(self, count: int) -> list[float]:
        """Milliseconds of ``count`` launches, one after the other, by the GPU's own clock."""


def other_gpu(device: str, capability: str, gpu: str, wanted: str) -> str | None:
    """The reason why a device cannot run kernels of a profile of another compute capability, or None."""
    if capability == wanted:
        return None
    return (
        f"this machine's GPU is a {device} of compute capability {capability}, "
        f"the tiling is for {gpu}, {wanted}"
    )
