"""Layers within what people wrap models in: DDP, FSDP, activation checkpoints."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from reference_launcher import ReferenceLauncher

torch: Any = pytest.importorskip("torch")
CHILD = Path(__file__).parents[1] / "stand_ins" / "distributed_child.py"
ROOT = Path(__file__).parents[3]


def worst_of(ways: list[str], device: str, tmp_path: Path) -> list[float]:
    """What both processes found for each way."""
    paths = [str(ROOT), str(CHILD.parent), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    children = [
        subprocess.Popen(
            [sys.executable, str(CHILD), str(rank), str(tmp_path / "meet"), device, *ways],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    found = []
    for child in children:
        out, err = child.communicate(timeout=120)
        assert child.returncode == 0, err[-3000:]
        found += json.loads(out)
    assert len(found) == 2 * len(ways)
    return found


def test_two_processes_train_as_one(tmp_path: Path) -> None:
    assert max(worst_of(["ddp", "unused", "fsdp"], "cpu", tmp_path)) < 1e-4


def test_two_processes_train_in_mixed_precision(tmp_path: Path) -> None:
    """FSDP2 casts parameters and inputs to bfloat16."""
    assert 1e-4 < max(worst_of(["mixed"], "cpu", tmp_path)) < 0.1


@pytest.mark.gpu
def test_two_processes_share_a_gpu(tmp_path: Path) -> None:
    """By DDP: gloo has no reduce-scatter for CUDA, which FSDP needs, and nccl refuses two ranks on a GPU."""
    assert max(worst_of(["ddp", "unused"], "cuda", tmp_path)) < 1e-2  # products in TF32


@pytest.mark.parametrize("reentrant", [True, False])
def test_checkpoints_give_the_same_gradients(reentrant: bool, kernels_on_cpu: ReferenceLauncher) -> None:
    from torch.utils.checkpoint import checkpoint

    import kerneltune.torch as ours

    layer = ours.LSTM(5, 16, 2, dropout=0.3)
    x = torch.randn(4, 3, 5, requires_grad=True)
    found = []
    for wrapped in (False, True):
        torch.manual_seed(3)
        output = checkpoint(layer, x, use_reentrant=reentrant)[0] if wrapped else layer(x)[0]
        layer.zero_grad()
        x.grad = None
        output.pow(2).sum().backward()
        found.append([output, x.grad.clone(), *(one.grad.clone() for one in layer.parameters())])
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other)
    assert kernels_on_cpu.passes.count("backward") == 4
