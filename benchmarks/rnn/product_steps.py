"""Times of a step: the strategy "product", its matrix product alone, and the best other strategy.

    python benchmarks/rnn/product_steps.py --out results.json [--others] [--cells lstm gru]

Each time is of a CUDA graph of 64 steps, the median of 7 replays. The constants `product_*` and
`backward_product_*` of a profile's `cost` section were fitted to such times (benchmarks/NOTES.md).
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import torch

from kerneltune.compiling.ready import Supply
from kerneltune.errors import InfeasibleError
from kerneltune.inputs.descriptions import discover
from kerneltune.inputs.problem import Problem
from kerneltune.running.cublas import Products
from kerneltune.running.detect import profile_here
from kerneltune.running.stepwise import Schedule
from kerneltune.torch.launching import DeviceLauncher, arrays_of

STEPS = 64
HEADS = [
    (1, 256),
    (1, 512),
    (1, 768),
    (1, 1024),
    (1, 1536),
    (1, 2048),
    (1, 4096),
    (4, 256),
    (4, 1024),
    (12, 64),
]
BATCHES = (1, 16, 64, 128, 256, 512, 1024)


def requests(arguments: argparse.Namespace) -> Iterator[Problem]:
    """All requests."""
    for cell in arguments.cells:
        for dtype in arguments.dtypes:
            shapes = product(HEADS[:: arguments.each], BATCHES[:: arguments.each], arguments.passes)
            for (heads, dim), batch, direction in shapes:
                if heads * dim * batch <= 4096 * 512:
                    yield Problem(cell, heads, dim, batch, dtype, STEPS, direction)


def tensors_of(problem: Problem) -> dict[str, torch.Tensor]:
    """Random arrays of a request, scaled so that states stay bounded."""
    spec, found = discover().cell(problem.cell).spec, {}
    names = {
        "forward": ("input", "recurrent", "bias", "states"),
        "training": ("input", "recurrent", "bias", "states", "saved_values", "saved_states"),
        "backward": (
            *("recurrent", "states", "output_gradient", "last_gradient", "input_gradient"),
            *("recurrent_gradient", "initial_gradient", "saved_values", "saved_states"),
        ),
    }[problem.direction]
    for name, (dtype, count, of_step) in arrays_of(problem, spec).items():
        if name in names:
            size = count + of_step * problem.steps
            scale = problem.head_dim**-0.5 if name == "recurrent" else 0.5
            found[name] = (torch.rand(size, device="cuda") * scale).to(dtype)
    return found


def microseconds(work: Callable[[], Any]) -> float:
    """Of a step."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        work()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        work()
    times = []
    for _ in range(8):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1e3 / STEPS)
    return statistics.median(times[1:])


def product_alone(launcher: DeviceLauncher, problem: Problem, tensors: dict[str, torch.Tensor]) -> float:
    """Microseconds of a step's product."""
    ready = launcher.supply.get(problem)
    schedule = Schedule.of(ready.candidate)
    products = Products(schedule.product, schedule.library_bytes)
    workspace = torch.empty(ready.candidate.workspace, dtype=torch.uint8, device="cuda")
    places = {name: one.data_ptr() for name, one in tensors.items()}
    fields = {**places, "workspace": workspace.data_ptr(), "steps": problem.steps}

    def work() -> None:
        with products.on(torch.cuda.current_stream().cuda_stream, workspace.data_ptr()):
            for action in schedule.actions(lambda name: fields[name]):
                if not isinstance(action, int):
                    products.queue(*action)

    return microseconds(work)


def main() -> None:
    """Measure all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--others", action="store_true")
    parser.add_argument("--each", type=int, default=1, help="only each so manieth size")
    parser.add_argument("--cells", nargs="+", default=["lstm"])
    parser.add_argument("--dtypes", nargs="+", default=["bf16", "tf32"])
    parser.add_argument("--passes", nargs="+", default=["forward", "training", "backward"])
    arguments = parser.parse_args()
    profile, kernels = profile_here(), discover()
    launcher = DeviceLauncher(profile, kernels)
    launcher._supplied = Supply(profile, kernels, "product")
    tiled = DeviceLauncher(profile, kernels)
    tiled._supplied = Supply(profile, kernels)
    wanted = list(requests(arguments))
    for problem in wanted:
        launcher.supply.begin(problem)
        if arguments.others:
            tiled.supply.begin(problem)
    rows = []
    for problem in wanted:
        tensors = tensors_of(problem)
        row: dict[str, Any] = {
            "cell": problem.cell,
            "dtype": problem.dtype,
            "heads": problem.heads,
            "dim": problem.head_dim,
            "batch": problem.batch,
            "pass": problem.direction,
            "product": product_alone(launcher, problem, tensors),
            "step": microseconds(partial(launcher.launch, problem, tensors)),
        }
        if arguments.others:
            try:
                row["other"] = microseconds(partial(tiled.launch, problem, tensors))
                found = tiled.supply.get(problem).candidate
                row |= {"strategy": found.strategy, "predicted": found.microseconds_per_step}
            except InfeasibleError as error:
                row["strategy"] = str(error)
        rows.append(row)
        print({k: round(v, 2) if isinstance(v, float) else v for k, v in row.items()}, flush=True)
        arguments.out.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
