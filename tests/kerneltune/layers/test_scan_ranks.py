"""Scans and diagonal cells whose time is divided over processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kerneltune.errors import InputError

torch: Any = pytest.importorskip("torch")
STAND_INS = Path(__file__).parents[1] / "stand_ins"
ROOT = Path(__file__).parents[3]


def worst_of(
    count: int,
    device: str,
    backend: str,
    folder: Path,
    cells: tuple[str, ...] = (),
    child: str = "ranks_child.py",
) -> dict[str, float]:
    """Of each case, the worst distance in any process; of some cells or of all."""
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}
    children = [
        subprocess.Popen(
            [
                sys.executable,
                str(STAND_INS / child),
                str(rank),
                str(count),
                str(folder / "meet"),
                device,
                backend,
                *cells,
            ],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(count)
    ]
    found: dict[str, float] = {}
    for one in children:
        out, err = one.communicate(timeout=400)
        assert one.returncode == 0, err[-3000:]
        for name, worst in json.loads(out):
            found[name] = max(found.get(name, 0.0), worst)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 3, 8])
def test_parts_of_time_are_one_sequence(count: int, tmp_path: Path) -> None:
    """Values and gradients of every cell, both ways in time, uneven parts, resets across them."""
    found = worst_of(count, "cpu", "gloo", tmp_path, cells=() if count > 2 else ("linear", "diag_gru"))
    assert len(found) >= 6
    assert {name: worst for name, worst in found.items() if not worst < 1e-5} == {}


@pytest.mark.gpu
def test_two_processes_on_gpus_are_one(tmp_path: Path) -> None:
    """On two GPUs by nccl, or both on one by gloo."""
    backend = "nccl" if torch.cuda.device_count() > 1 else "gloo"
    found = worst_of(2, "cuda", backend, tmp_path)
    assert {name: worst for name, worst in found.items() if not worst < 1e-4} == {}


@pytest.mark.slow
def test_tensors_placed_along_time_need_no_group(tmp_path: Path) -> None:
    """DTensors: values, gradients, layers with distributed parameters, and what is refused."""
    found = worst_of(2, "cpu", "gloo", tmp_path, child="placed_child.py")
    assert {name: worst for name, worst in found.items() if not worst < 1e-5} == {}


@pytest.mark.gpu
def test_tensors_placed_on_gpus(tmp_path: Path) -> None:
    """By nccl, which DTensor's collectives need."""
    if torch.cuda.device_count() < 2:
        pytest.skip("needs two GPUs")
    found = worst_of(2, "cuda", "nccl", tmp_path, child="placed_child.py")
    assert {name: worst for name, worst in found.items() if not worst < 1e-2} == {}  # projections in TF32


def test_what_cannot_be_divided_is_refused() -> None:
    from kerneltune.torch.scan import scan

    a = torch.rand(2, 5, 3)
    with pytest.raises(InputError, match="lengths"):
        scan("linear", a, a, lengths=torch.tensor([3, 5]), group=object())
    with pytest.raises(InputError, match="init_process_group"):
        scan("linear", a, a, group=object())
