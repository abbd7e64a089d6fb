"""Triton functions on this machine's GPU. torch and Triton are imported by the children alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from kerneltune.errors import RunError
from kerneltune.measuring.case import Case
from kerneltune.measuring.loaded import guarded
from kerneltune.measuring.torch_arrays import between_events, judged_tensor
from kerneltune.messages import Built, Facts, Order
from kerneltune.running.verify import Verdict
from kerneltune.sources.arguments import NUMBER, Argument
from kerneltune.sources.references import resolved
from kerneltune.sources.targets import without_autotuner
from kerneltune.sources.triton_code import keywords

GUARD = 4096
GUARD_BYTE = 0xA5


class TritonBackend:
    """The arguments of a case as torch tensors."""

    def __init__(self, case: Case) -> None:
        if not torch.cuda.is_available():
            raise RunError("no GPU can be used: torch finds none")
        self.case = case
        self.facts = _facts()
        self.bus: str | None = None
        self.whole: dict[str, torch.Tensor] = {}
        self.values = [self._placed(one) for one in case.arguments]
        self.expected = {name: torch.from_numpy(a.copy()).cuda() for name, a in case.expected.items()}
        self.flushed = torch.empty(
            2 * torch.cuda.get_device_properties(0).L2_cache_size, dtype=torch.int8, device="cuda"
        )

    def _placed(self, one: Argument) -> Any:
        if one.kind == NUMBER:
            return one.value.item()
        if not one.is_output:
            return torch.from_numpy(np.array(one.value)).cuda()
        size = int(np.prod(one.value.shape)) * one.value.dtype.itemsize
        self.whole[one.name] = torch.empty(size + 2 * GUARD, dtype=torch.uint8, device="cuda")
        kind = getattr(torch, str(one.value.dtype))
        return self.whole[one.name][GUARD : GUARD + size].view(kind).view(one.value.shape)

    def load(self, order: Order, built: Built | None) -> TritonLoaded:
        """A function with the values of its parameters."""
        return TritonLoaded(self, without_autotuner(resolved(order.source)), order)


def _facts() -> Facts:
    major, minor = torch.cuda.get_device_capability(0)
    return Facts(device=torch.cuda.get_device_name(0), compute_capability=f"{major}.{minor}")


class TritonLoaded:
    """One configuration of a Triton function."""

    def __init__(self, backend: TritonBackend, function: Any, order: Order) -> None:
        self._backend, self.case = backend, backend.case
        self._launcher = function[order.grid]
        self._keywords = keywords(function, order.configuration)
        self._kept: dict[str, torch.Tensor] = {}

    def _launch(self) -> None:
        try:
            self._launcher(*self._backend.values, **self._keywords)
        except Exception as error:  # Triton's own classes
            lines = str(error).strip().splitlines() or [repr(error)]
            raise RunError(f"launching: {type(error).__name__}: {lines[0][:300]}") from None

    def run(self, poison: int) -> None:
        """Poison the outputs, restore the arrays that are read and written, run once and wait."""
        for place, one in enumerate(self.case.arguments):
            if one.is_output:
                whole = self._backend.whole[one.name]
                whole.fill_(poison)
                whole[:GUARD].fill_(GUARD_BYTE)
                whole[-GUARD:].fill_(GUARD_BYTE)
                if one.kind == "inout":
                    self._backend.values[place].copy_(torch.from_numpy(np.array(one.value)))
        self._launch()
        torch.cuda.synchronize()

    def check(self) -> Verdict:
        """Compare the outputs of the last run with the expected ones, on the GPU."""
        worst = Verdict(0.0, max((self.case.tolerance_of(o) for o in self.case.outputs), default=0.0), 0)
        for place, one in enumerate(self.case.arguments):
            if not one.is_output:
                continue
            self._check_guards(one.name)
            if one.name in self._backend.expected:
                got, wanted = self._backend.values[place], self._backend.expected[one.name]
                verdict = judged_tensor(got, wanted, self.case.tolerance_of(one))
                if not verdict.right:
                    return verdict
                worst = verdict if verdict.relative_error > worst.relative_error else worst
        return worst

    def _check_guards(self, name: str) -> None:
        whole = self._backend.whole[name]
        if bool((whole[:GUARD] != GUARD_BYTE).any() | (whole[-GUARD:] != GUARD_BYTE).any()):
            raise guarded(name)

    def keep(self) -> None:
        """Keep the outputs of the last run."""
        self._kept = {name: whole.clone() for name, whole in self._backend.whole.items()}

    def same(self) -> bool:
        """Whether the outputs have the bits that were kept."""
        return all(bool(torch.equal(kept, self._backend.whole[name])) for name, kept in self._kept.items())

    def time(self, count: int, *, flush: bool, warm_up: int) -> list[float]:
        """Milliseconds of runs, each between its own events."""
        for _ in range(warm_up):
            self._launch()
        return between_events(self._launch, count, self._backend.flushed if flush else None)

    def close(self) -> None:
        """Triton keeps its kernels."""
