"""Tensors as a caller has them: copies, comparisons, and times on their device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from kerneltune.measuring.case import LARGEST_ERROR
from kerneltune.measuring.held_arrays import HostArrays, filling
from kerneltune.running.verify import Verdict


class TorchArrays:
    """Tensors of one device.

    Args:
        one: Any of them.
    """

    def __init__(self, one: torch.Tensor) -> None:
        self._place = one.device
        self._is_gpu = one.device.type == "cuda"
        self.device = torch.cuda.get_device_name(one.device) if self._is_gpu else HostArrays().device

    def copied(self, array: torch.Tensor) -> torch.Tensor:
        """A copy."""
        return array.detach().clone()

    def restore(self, array: torch.Tensor, copy: torch.Tensor) -> None:
        """Write a copy back."""
        with torch.no_grad():
            array.copy_(copy)

    def fill(self, array: torch.Tensor, byte: int) -> None:
        """Write a number that depends on the byte into all of a tensor."""
        is_float = array.dtype.is_floating_point or array.dtype.is_complex
        kind = "f" if is_float else "b" if array.dtype is torch.bool else "i"
        with torch.no_grad():
            array.fill_(filling(kind, byte))

    def zero(self, array: torch.Tensor) -> None:
        """Write zeros."""
        with torch.no_grad():
            array.zero_()

    def same(self, array: torch.Tensor, other: torch.Tensor) -> bool:
        """Whether two tensors are equal, NaN to NaN."""
        equal = (array == other) | ((array != array) & (other != other))
        return bool(equal.all())

    def verdict(self, array: torch.Tensor, expected: object, tolerance: float) -> Verdict:
        """How far a tensor is from the expected one."""
        wanted = torch.as_tensor(expected, device=array.device)
        return judged_tensor(array.detach(), wanted.detach(), tolerance)

    def wait(self) -> None:
        """Wait for the device."""
        if self._is_gpu:
            torch.cuda.synchronize(self._place)

    def timed(self, call: Callable[[], object], count: int, *, flush: bool, warm_up: int) -> list[float]:
        """Milliseconds of calls, between events of the current stream."""
        if not self._is_gpu:
            return HostArrays().timed(call, count, flush=flush, warm_up=warm_up)
        flushed: Any = None
        if flush:
            size = 2 * torch.cuda.get_device_properties(self._place).L2_cache_size
            flushed = torch.empty(size, dtype=torch.int8, device=self._place)
        for _ in range(warm_up):
            call()
        return between_events(call, count, flushed)


def between_events(call: Callable[[], object], count: int, flushed: torch.Tensor | None) -> list[float]:
    """Milliseconds of calls, each between its own events; the buffer, if any, is overwritten before each."""
    pairs = []
    for _ in range(count):
        before, after = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        if flushed is not None:
            flushed.zero_()
        before.record()
        call()
        after.record()
        pairs.append((before, after))
    torch.cuda.synchronize()
    return [before.elapsed_time(after) for before, after in pairs]


def judged_tensor(got: torch.Tensor, wanted: torch.Tensor, tolerance: float) -> Verdict:
    """The verdict on a tensor, on its device; a tolerance of 0 asks for equality."""
    if not tolerance:
        return Verdict(float((got != wanted).sum()) / max(got.numel(), 1), 0.0, 0)
    wide = torch.complex128 if got.dtype.is_complex else torch.float64
    one, other = got.to(wide), wanted.to(wide)
    missing = int(one.isnan().sum())
    if missing:
        return Verdict(float("inf"), tolerance, missing)
    off = one - other
    most = max(float(other.abs().max()) if other.numel() else 0.0, 1e-30)
    error = float(off.norm()) / max(float(other.norm()), 1e-30)
    far = float(off.abs().max()) if off.numel() else 0.0
    if error <= tolerance and far > LARGEST_ERROR * tolerance * most:
        error = max(error, far / most)
    return Verdict(error, tolerance, 0)
