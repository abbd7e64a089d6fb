"""What runs kernels of recurrent layers on torch's tensors: solved, compiled, loaded once, then launched."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from threading import Lock
from typing import Any, Protocol

import torch

from kerneltune.compiling.arguments import packed
from kerneltune.errors import InputError
from kerneltune.inputs.descriptions import Kernels, discover
from kerneltune.inputs.hardware import GPU_VARIABLE, HardwareProfile, load_profile
from kerneltune.inputs.problem import Problem
from kerneltune.running.detect import detect
from kerneltune.tiling.candidate import Candidate
from kerneltune.tiling.space import TilingSpace
from kerneltune.torch.loading import Stream, load

Tensors = Mapping[str, torch.Tensor]


class Launcher(Protocol):
    """What runs the kernel of a problem's pass on tensors by the names of its arguments."""

    def launch(self, problem: Problem, tensors: Tensors) -> None:
        """Queue one launch on torch's current stream; outputs are among the tensors."""


@dataclass
class _Loaded:
    """A kernel in the device's primary context."""

    candidate: Candidate
    kernel: Any


@dataclass
class DeviceLauncher:
    """Solves, compiles, loads and launches, on whichever CUDA device the tensors are.

    Attributes:
        profile: The profile of the GPUs.
        kernels: The kernels.
    """

    profile: HardwareProfile
    kernels: Kernels = field(default_factory=discover)
    _loaded: dict[tuple[Problem, torch.device], _Loaded] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)  # autograd launches from threads of its own

    def launch(self, problem: Problem, tensors: Tensors) -> None:
        """Queue one launch on the current stream of the tensors' device."""
        device = tensors["states"].device
        if device.type != "cuda":
            raise InputError(f"the tensors are on {device}, but kernels run on a GPU: move them to cuda")
        # A tiling does not depend on the number of steps: whatever it is, the kernel is the same.
        key = replace(problem, steps=1), device
        with self._lock, torch.cuda.device(device):
            if key not in self._loaded:
                self._loaded[key] = self._load(problem)
            loaded = self._loaded[key]
            addresses = {name: tensor.data_ptr() for name, tensor in tensors.items()}
            size = loaded.candidate.workspace
            if size:
                # Each launch has its own, which torch gives away again only behind it: streams may overlap.
                workspace = torch.full(
                    (size,), loaded.candidate.workspace_fill, dtype=torch.uint8, device=device
                )
                addresses["workspace"] = workspace.data_ptr()
            stream = Stream(torch.cuda.current_stream(device).cuda_stream)
            loaded.kernel.launch(packed(problem, addresses), stream)

    def _load(self, problem: Problem) -> _Loaded:
        return _Loaded(*load(TilingSpace(problem, self.profile, self.kernels), self.profile))


@cache
def launcher() -> DeviceLauncher:
    """The launcher of this machine's GPU: of the profile that KERNELTUNE_GPU names, or that fits it."""
    named = os.environ.get(GPU_VARIABLE)
    if named:
        return DeviceLauncher(load_profile(named))
    found = detect()
    if found.profile is None:
        raise InputError(f"{found.sentence}; or name a profile in the environment variable {GPU_VARIABLE}")
    return DeviceLauncher(load_profile(found.profile))
