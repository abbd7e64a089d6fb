"""A rank of those over which the heads of a model's layers are divided.

    python parallel_child.py RANK RANKS FILE DEVICE BACKEND

Prints the worst distance of its losses over 20 steps, and of its gradients by x, from those of one process.
"""

from __future__ import annotations

import copy
import json
import os
import sys

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

import kerneltune.torch as ours
from kerneltune.torch.parallel import HeadwiseParallel


class Model(torch.nn.Module):  # type: ignore[misc]
    """Two layers in heads, of which the second sees all of the first, behind one that each rank has whole."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = torch.nn.Linear(16, 32), torch.nn.Linear(32, 16)
        self.whole = ours.GRU(16, 16)
        self.first = ours.LSTM(16, 64, heads=8, learned_initial=True)
        self.second = ours.sLSTM(64, 128, heads=8)
        self.out = torch.nn.Linear(128, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """From `[T, B, 16]` to `[T, B, 4]`."""
        x = self.whole(self.down(self.up(x)))[0]
        return self.out(self.second(input=self.first(x)[0])[0])


def main() -> None:
    """Train both."""
    rank, ranks, path, device, backend = sys.argv[1:]
    torch.set_num_threads(1)
    if device == "cuda":
        torch.cuda.set_device(int(rank))
    dist.init_process_group(backend, init_method=f"file://{path}", rank=int(rank), world_size=int(ranks))
    torch.manual_seed(0)
    alone = Model().to(device)
    mesh = init_device_mesh(device, (int(ranks),))
    styles = {
        "up": ColwiseParallel(),
        "down": RowwiseParallel(),
        "first": HeadwiseParallel(gather=True),
        "second": HeadwiseParallel(),
        "out": RowwiseParallel(),
    }
    divided = parallelize_module(copy.deepcopy(alone), mesh, styles)
    optimisers = [torch.optim.SGD(model.parameters(), 0.1, foreach=False) for model in (alone, divided)]
    worst, by_x = 0.0, []  # type: ignore[var-annotated]
    for _ in range(20):
        x, target = torch.randn(6, 3, 16).to(device), torch.randn(6, 3, 4).to(device)
        losses, by_x = [], []
        for model, optimiser in zip((alone, divided), optimisers, strict=True):
            read = x.clone().requires_grad_()
            loss = (model(read) - target).pow(2).mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            losses.append(float(loss))
            by_x.append(read.grad)
        worst = max(worst, abs(losses[1] - losses[0]) / losses[0])
    apart = float((by_x[1] - by_x[0]).norm() / by_x[0].norm())
    sys.stdout.write(json.dumps([worst, apart, sum(p.numel() for p in divided.second.parameters())]))
    sys.stdout.flush()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
    os._exit(0)  # a mesh keeps its process group, whose threads outlive it
