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

from kerneltune.errors import InputError
from kerneltune.inputs.equation_cell import EquationCell

torch: Any = pytest.importorskip("torch")
LEARNT = EquationCell(
    "leaky",
    gates="a",
    states="h",
    equations="h' = (1 - alpha) * h + alpha * tanh(a)",
    options={"alpha": 0.3},
    learnable="alpha",
)
CHILD = Path(__file__).parents[1] / "stand_ins" / "distributed_child.py"
ROOT = Path(__file__).parents[3]


def found_by(child: Path, words: list[list[str]]) -> list[list[float]]:
    """What processes print that run side by side, one for each list of words."""
    paths = [str(ROOT), str(CHILD.parent), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    children = [
        subprocess.Popen(
            [sys.executable, str(child), *given],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for given in words
    ]
    found = []
    for one in children:
        out, err = one.communicate(timeout=120)
        assert one.returncode == 0, err[-3000:]
        found.append(json.loads(out))
    return found


def worst_of(ways: list[str], device: str, tmp_path: Path) -> list[float]:
    """What both processes found for each way."""
    words = [[str(rank), str(tmp_path / "meet"), device, *ways] for rank in range(2)]
    found = [one for each in found_by(CHILD, words) for one in each]
    assert len(found) == 2 * len(ways)
    return found


def test_two_processes_train_as_one(tmp_path: Path) -> None:
    assert max(worst_of(["ddp", "unused", "fsdp"], "cpu", tmp_path)) < 1e-4


@pytest.mark.slow
def test_two_processes_train_in_mixed_precision(tmp_path: Path) -> None:
    """FSDP2 casts parameters and inputs to bfloat16."""
    assert 1e-4 < max(worst_of(["mixed"], "cpu", tmp_path)) < 0.1


def divided_heads(ranks: int, device: str, backend: str, tmp_path: Path) -> None:
    """Losses of 20 steps are those of one process, and no rank has more than its heads."""
    child = CHILD.with_name("parallel_child.py")
    words = [[str(rank), str(ranks), str(tmp_path / "meet"), device, backend] for rank in range(ranks)]
    for by_loss, by_x, held in found_by(child, words):
        assert by_loss < (1e-5 if device == "cpu" else 1e-3)
        assert by_x < (1e-4 if device == "cpu" else 2e-2)
        assert held == (128 * 4 * (64 + 16 + 2)) / ranks


@pytest.mark.slow
def test_heads_are_divided_over_processes(tmp_path: Path) -> None:
    divided_heads(2, "cpu", "gloo", tmp_path)


@pytest.mark.gpu
def test_heads_are_divided_over_two_gpus(tmp_path: Path) -> None:
    if torch.cuda.device_count() < 2:
        pytest.skip("needs two GPUs")
    divided_heads(2, "cuda", "nccl", tmp_path)


@pytest.mark.parametrize("cell", ["lstm", "peephole_lstm"])
def test_a_layer_that_ran_before_runs_with_the_heads_that_it_is_left(
    cell: str, kernels_on_cpu: ReferenceLauncher
) -> None:
    import kerneltune.torch as ours
    from kerneltune.torch.parallel import _divide

    path = ROOT / "examples" / "cells" / f"{cell}.cell"
    layer = ours.Recurrent(str(path) if path.exists() else cell, 8, 32, heads=4, learned_initial=True)
    x = torch.randn(3, 2, 8)
    whole = layer(x)[0]
    _divide(layer, 1, 2)
    torch.testing.assert_close(layer(x)[0], whole[..., 16:])
    assert kernels_on_cpu.passes


def test_what_cannot_be_divided_is_refused() -> None:
    import kerneltune.torch as ours
    from kerneltune.torch.parallel import _checked

    class Mesh:
        ndim = 1

        def size(self) -> int:
            return 3

    for module, words in (
        (torch.nn.LSTM(4, 6), "not LSTM"),
        (ours.LSTM(4, 8, 2, heads=2), "num_layers=1"),
        (ours.GRU(4, 8, bidirectional=True, heads=2), "one direction"),
        (ours.GRU(4, 16, heads=4), "4 heads cannot be divided over 3 ranks"),
        (ours.Recurrent(LEARNT, 4, 12, heads=3), "option 'alpha' is learnt by all heads"),
    ):
        with pytest.raises(InputError, match=words):
            _checked(module, Mesh())


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
