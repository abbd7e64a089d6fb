"""A process of two that train one model by DDP and FSDP.

    python distributed_child.py RANK FILE DEVICE WAY…

Prints, for each way, its gradients' worst distance from those of one process with both halves of the batch.
"""

# mypy: disable-error-code="attr-defined"
from __future__ import annotations

import copy
import json
import os
import sys
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from reference_launcher import ReferenceLauncher

import kerneltune.torch as ours
from kerneltune.torch import fused, operators, rnn, stack

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "cells"


class Model(torch.nn.Module):  # type: ignore[misc]
    """Two kinds of layers, which torch.nn could stand for, and two of equations, one of them a scan."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = ours.LSTM(16, 32, 2), ours.GRU(32, 32, bidirectional=True)
        self.third = ours.Recurrent(str(EXAMPLES / "peephole_lstm.cell"), 64, 16)
        self.scan = ours.ScanLayer(str(EXAMPLES / "sru.cell"), 16, 24)
        self.out = torch.nn.Linear(24, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """From `[T, B, 16]` to `[T, B, 4]`."""
        seen = self.third(self.second(self.first(x)[0])[0])[0]
        return self.out(self.scan(seen.transpose(0, 1))[0].transpose(0, 1))


def wrapped(model: Any, way: str, device: str) -> Any:
    """The model as the way has it."""
    if way in ("ddp", "unused"):
        return torch.nn.parallel.DistributedDataParallel(model, find_unused_parameters=way == "unused")
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
    from torch.distributed.tensor import init_device_mesh

    mesh = init_device_mesh(device, (2,))
    mixed = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    policy = mixed if way == "mixed" else MixedPrecisionPolicy()
    for part in (model.first, model.second, model.third, model.scan, model):
        fully_shard(part, mesh=mesh, mp_policy=policy)
    return model


def worst(way: str, rank: int, device: str) -> float:
    """The worst distance of gradients and weights over two training steps."""
    torch.manual_seed(0)
    alone = Model().to(device)
    if way == "unused":
        alone.spare = ours.LSTM(8, 8).to(device)
    shared = wrapped(copy.deepcopy(alone), way, device)
    found = 0.0
    for _ in range(2):
        x = torch.randn(5, 4, 16).to(device)
        for model, part in ((alone, x), (shared, x[:, 2 * rank : 2 * rank + 2])):
            model.zero_grad()
            model(part).pow(2).mean().backward()
            with torch.no_grad():
                for parameter in model.parameters():
                    if parameter.grad is not None:
                        parameter -= 0.1 * parameter.grad
        for one, other in zip(alone.parameters(), shared.parameters(), strict=True):
            if one.grad is None:
                assert other.grad is None or not bool(other.grad.any())
                continue
            sharded = way in ("fsdp", "mixed")
            whole = [value.full_tensor() if sharded else value for value in (other.grad, other.data)]
            for mine, expected in zip(whole, (one.grad, one.data), strict=True):
                found = max(found, float((mine - expected).norm() / expected.norm()))
    return found


def main() -> None:
    """Train by each way."""
    rank, path, device, *ways = sys.argv[1:]
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{path}", rank=int(rank), world_size=2)
    if device == "cpu":
        made = ReferenceLauncher()
        for module in (fused, operators, rnn):
            module.launcher = lambda: made
        for module in (operators, rnn):
            module.takes_kernels = lambda tensor: True
        stack.kernels_take = lambda device, dtype: True
    sys.stdout.write(json.dumps([worst(way, int(rank), device) for way in ways]))
    sys.stdout.flush()
    dist.barrier()  # neither ends while the other still reads from it
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
    # A mesh keeps its process group, whose threads outlive `destroy_process_group`. One that asks for the
    # interpreter's lock while the interpreter ends is unwound by force, and the process then aborts.
    os._exit(0)
