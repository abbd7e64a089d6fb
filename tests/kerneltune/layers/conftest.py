"""Fixtures for layers."""

from __future__ import annotations

import pytest
from reference_launcher import ReferenceLauncher


@pytest.fixture
def kernels_on_cpu(monkeypatch: pytest.MonkeyPatch) -> ReferenceLauncher:
    """Kernels that are none take all tensors: what layers do on a GPU, on a CPU."""
    import torch

    from kerneltune.torch import fused, operators, rnn, stack
    from kerneltune.torch.native import is_native

    made = ReferenceLauncher()
    for module in (fused, operators, rnn):
        monkeypatch.setattr(module, "launcher", lambda: made)
    for module in (operators, rnn):
        monkeypatch.setattr(module, "takes_kernels", lambda tensor: not is_native())

    def takes(device: str, dtype: torch.dtype) -> bool:
        return not is_native()

    takes._dynamo_marked_constant = True  # type: ignore[attr-defined] # as the function that it stands for
    monkeypatch.setattr(stack, "kernels_take", takes)
    fused._kept_places.cache_clear()
    torch.manual_seed(0)
    return made
