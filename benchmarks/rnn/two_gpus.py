"""Training on several GPUs beside one: DDP, FSDP2, and heads divided over ranks.

    torchrun --nproc-per-node 2 benchmarks/rnn/two_gpus.py --out FILE [--steps 100] [--ways ddp fsdp heads]

For each way: the worst relative distance of a step's loss from one GPU's over float32 training steps with
AdamW, and the milliseconds of a bf16 training step, of one GPU and of all, with the same batch in all.
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

sys.path.insert(0, str(Path(__file__).parents[1]))
from environment import environment

import kerneltune.torch as ours
from kerneltune.torch.parallel import HeadwiseParallel

WAYS = ("ddp", "fsdp", "heads")
SMALL = {"width": 256, "heads": 4, "batch": 32, "length": 64}
LARGE = {"width": 2048, "heads": 16, "batch": 128, "length": 256}


class Model(torch.nn.Module):
    """Two recurrent layers in heads, and a gated product behind each."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.first, self.up = ours.LSTM(width, width, heads=heads), torch.nn.Linear(width, 2 * width)
        self.down = torch.nn.Linear(2 * width, width)
        self.second, self.out = ours.LSTM(width, width, heads=heads), torch.nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """`[T, B, width]` from `[T, B, width]`."""
        x = x + self.down(torch.nn.functional.silu(self.up(self.first(x)[0])))
        return self.out(self.second(x)[0])


def over_ranks(model: Model, way: str, mesh: Any) -> Any:
    """The model as the way has it."""
    if way == "ddp":
        return torch.nn.parallel.DistributedDataParallel(model, device_ids=[torch.cuda.current_device()])
    if way == "fsdp":
        for part in (model.first, model.up, model.down, model.second, model):
            fully_shard(part, mesh=mesh)
        return model
    styles = {
        "first": HeadwiseParallel(gather=True),
        "up": ColwiseParallel(),
        "down": RowwiseParallel(),
        "second": HeadwiseParallel(),
        "out": RowwiseParallel(),
    }
    return parallelize_module(model, mesh, styles)


def trained(model: Any, batches: list[tuple[torch.Tensor, torch.Tensor]], divided: bool) -> list[float]:
    """The loss of each step; the mean over ranks where they have parts of the batch."""
    optimiser = torch.optim.AdamW(model.parameters(), 1e-3, foreach=False)
    found = []
    for x, target in batches:
        loss = (model(x) - target).pow(2).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        value = loss.detach()
        if divided:
            dist.all_reduce(value, dist.ReduceOp.AVG)
        found.append(float(value))
    return found


def part_of(batch: tuple[torch.Tensor, ...], way: str) -> tuple[torch.Tensor, ...]:
    """This rank's rows."""
    if way == "heads":
        return batch
    return tuple(one.chunk(dist.get_world_size(), dim=1)[dist.get_rank()].contiguous() for one in batch)


def batches_of(sizes: dict[str, int], count: int, dtype: torch.dtype) -> list[tuple[torch.Tensor, ...]]:
    """The same on all ranks."""
    generator = torch.Generator("cuda").manual_seed(1)
    shape = sizes["length"], sizes["batch"], sizes["width"]

    def drawn() -> torch.Tensor:
        return torch.randn(shape, generator=generator, device="cuda").to(dtype)

    return [(drawn(), drawn()) for _ in range(count)]


def distance(way: str, mesh: Any, steps: int) -> float:
    """The worst relative distance of a loss."""
    torch.manual_seed(0)
    alone = Model(SMALL["width"], SMALL["heads"]).cuda()
    shared = over_ranks(copy.deepcopy(alone), way, mesh)
    batches = batches_of(SMALL, steps, torch.float32)
    one = trained(alone, batches, divided=False)
    many = trained(shared, [part_of(batch, way) for batch in batches], divided=way != "heads")
    return max(abs(b - a) / a for a, b in zip(one, many, strict=True))


def milliseconds(model: Any, batch: tuple[torch.Tensor, ...], barrier: Callable[[], object]) -> float:
    """The median of a training step without the optimiser."""
    times = []
    for _ in range(12):
        barrier()
        torch.cuda.synchronize()
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        model.zero_grad()
        (model(batch[0]) - batch[1]).pow(2).mean().backward()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times[4:])


def main() -> None:
    """Measure all ways."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS)
    arguments = parser.parse_args()
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl", device_id=torch.device("cuda", int(os.environ["LOCAL_RANK"])))
    mesh = init_device_mesh("cuda", (dist.get_world_size(),))
    torch.backends.cudnn.allow_tf32 = False
    rows: dict[str, dict[str, float]] = {
        way: {"distance": distance(way, mesh, arguments.steps)} for way in arguments.ways
    }
    batch = batches_of(LARGE, 1, torch.bfloat16)[0]
    for way in arguments.ways:
        torch.manual_seed(0)
        model = Model(LARGE["width"], LARGE["heads"]).cuda().bfloat16()
        rows[way]["one"] = milliseconds(model, batch, dist.barrier)
        model = over_ranks(model, way, mesh)
        rows[way]["all"] = milliseconds(model, part_of(batch, way), dist.barrier)
        rows[way]["times"] = rows[way]["one"] / rows[way]["all"]
        del model
    if dist.get_rank() == 0:
        about = {"ranks": dist.get_world_size(), "steps": arguments.steps, "small": SMALL, "large": LARGE}
        arguments.out.write_text(json.dumps({"environment": environment(), **about, "rows": rows}, indent=1))
        for way, row in rows.items():
            print(way, {name: round(value, 7) for name, value in row.items()})
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
    os._exit(0)  # a mesh keeps its process group, whose threads outlive it
