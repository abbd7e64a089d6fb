"""A scan with its time divided over GPUs, beside one GPU.

    torchrun --nproc-per-node 2 benchmarks/scans/over_ranks.py --out FILE [--steps 4194304] [--channels 1024]

Milliseconds are medians between events behind a barrier; one GPU has the whole sequence.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

sys.path.insert(0, str(Path(__file__).parents[1]))
from environment import environment

from kerneltune.torch import linear_recurrence


def milliseconds(call: Callable[[], object], barrier: Callable[[], object]) -> float:
    """The median of five calls after two."""
    times = []
    for _ in range(7):
        barrier()
        torch.cuda.synchronize()
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        call()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times[2:])


def calls(steps: int, channels: int, group: Any) -> dict[str, Callable[[], object]]:
    """Forward, and both passes, of so many steps on this GPU."""
    shape = 1, steps, channels
    a = torch.rand(shape, device="cuda", dtype=torch.bfloat16).requires_grad_()
    b = torch.randn(shape, device="cuda", dtype=torch.bfloat16).requires_grad_()
    by = torch.randn(shape, device="cuda", dtype=torch.bfloat16)

    def forward() -> None:
        with torch.no_grad():
            linear_recurrence(a, b, group=group)

    def both() -> None:
        a.grad = b.grad = None
        linear_recurrence(a, b, group=group)[0].backward(by)

    return {"forward": forward, "both": both}


def main() -> None:
    """Measure both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=4_194_304)
    parser.add_argument("--channels", type=int, default=1024)
    arguments = parser.parse_args()
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    ranks = dist.get_world_size()
    parts = calls(arguments.steps // ranks, arguments.channels, dist.group.WORLD)
    found = {name: milliseconds(call, dist.barrier) for name, call in parts.items()}
    del parts
    torch.cuda.empty_cache()
    if dist.get_rank() == 0:
        alone = calls(arguments.steps, arguments.channels, None)
        one = {name: milliseconds(call, lambda: None) for name, call in alone.items()}
        rows = {
            name: {"ranks": found[name], "one": one[name], "times": one[name] / found[name]} for name in one
        }
        sizes = {"steps": arguments.steps, "channels": arguments.channels, "ranks": ranks}
        text = json.dumps({"environment": environment(), **sizes, **rows}, indent=1)
        arguments.out.write_text(text + "\n")
        print(rows)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
