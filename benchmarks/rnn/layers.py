"""Times kerneltune's layers beside torch.nn's (cuDNN) in one run on a GPU.

    python benchmarks/rnn/layers.py --out benchmarks/results/h100_layers.json [--seconds 250] [--parts host …]

Milliseconds are medians by the caller's clock around calls that end with a synchronisation.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch
from torch.nn.utils.rnn import pack_sequence

sys.path.insert(0, str(Path(__file__).parents[1]))
from environment import environment

import kerneltune.torch as ours

HALF = torch.float16
MODELS = [(2, 256, 16, 256), (2, 768, 32, 512), (4, 512, 16, 1024), (2, 1024, 64, 512)]
TWO_WAYS = [(256, 16), (512, 32), (1024, 32)]
DIMS, BATCHES, STEPS = (64, 256, 512, 1024, 2048), (1, 16, 64, 256), (16, 256, 1024)
WORDS = 1024
SAMPLE = [(64, 1, 16), (64, 16, 16), (256, 16, 16), (1024, 64, 16), (64, 16, 256), (256, 16, 256)]
SAMPLE += [
    (512, 16, 256),
    (1024, 16, 256),
    (64, 16, 1024),
    (256, 64, 1024),
    (1024, 64, 1024),
    (2048, 64, 256),
]


class Measurement:
    """What all measurements share."""

    seconds = 0.6


def milliseconds(call: Callable[[], object], least: int = 5, seconds: float | None = None) -> float:
    """The median of calls, after three that are not counted."""
    seconds = Measurement.seconds if seconds is None else seconds
    for _ in range(3):
        call()
    torch.cuda.synchronize()
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < least or (time.perf_counter() < end and len(times) < 50):
        begin = time.perf_counter()
        call()
        torch.cuda.synchronize()
        times.append(1e3 * (time.perf_counter() - begin))
    return statistics.median(times)


def microseconds_of_host(call: Callable[[], object], count: int = 15, rounds: int = 9) -> float:
    """What a call takes of the host while the GPU has work enough: the median of rounds its queue holds."""
    for _ in range(10):
        call()
    found = []
    for _ in range(rounds):
        torch.cuda.synchronize()
        torch.cuda._sleep(int(2e9 * 0.06))
        begin = time.perf_counter()
        for _ in range(count):
            call()
        found.append(1e6 * (time.perf_counter() - begin) / count)
    torch.cuda.synchronize()
    return statistics.median(found)


class Model(torch.nn.Module):
    """Embedding, stacked layers, softmax."""

    def __init__(self, kinds: Any, layers: int, width: int) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(WORDS, width)
        self.network = kinds.LSTM(width, width, layers)
        self.words = torch.nn.Linear(width, WORDS)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        hidden, _ = self.network(self.embedding(words))
        return torch.nn.functional.cross_entropy(self.words(hidden).flatten(0, 1).float(), words.flatten())


def step_of(model: torch.nn.Module, words: torch.Tensor) -> Callable[[], object]:
    optimiser = torch.optim.AdamW(model.parameters(), 1e-4, fused=True)

    def step() -> None:
        model(words).backward()
        optimiser.step()
        optimiser.zero_grad()

    return step


def pair(make: Callable[[Any], Callable[[], object]]) -> dict[str, float]:
    """The same with torch.nn and with ours."""
    found = {"torch.nn": milliseconds(make(torch.nn)), "ours": milliseconds(make(ours))}
    return {**found, "times": found["torch.nn"] / found["ours"]}


def models() -> list[dict[str, Any]]:
    """A language model's training step."""
    rows = []
    for dtype, sizes in [*[(HALF, sizes) for sizes in MODELS], (torch.float32, MODELS[-1])]:
        layers, width, batch, steps = sizes
        words = torch.randint(WORDS, (steps, batch), device="cuda")

        def make(
            kinds: Any, layers: int = layers, width: int = width, dtype: Any = dtype, words: Any = words
        ):
            return step_of(Model(kinds, layers, width).to("cuda", dtype), words)

        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
        name = f"{layers}x{width} B{batch} T{steps} {str(dtype).removeprefix('torch.')}"
        rows.append({"work": f"training step {name}", **pair(make)})
    return rows


def captured() -> list[dict[str, Any]]:
    """The same as CUDA graphs, where the host does nothing."""
    rows = []
    for layers, width, batch, steps in MODELS:
        words = torch.randint(WORDS, (steps, batch), device="cuda")

        def make(kinds: Any, layers: int = layers, width: int = width, words: torch.Tensor = words):
            model = Model(kinds, layers, width).to("cuda", HALF)
            optimiser = torch.optim.AdamW(model.parameters(), 1e-4, fused=True, capturable=True)

            def step() -> None:
                model(words).backward()
                optimiser.step()
                optimiser.zero_grad(set_to_none=False)

            side = torch.cuda.Stream()
            with torch.cuda.stream(side):
                for _ in range(3):
                    step()
            torch.cuda.current_stream().wait_stream(side)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                step()
            return graph.replay

        rows.append({"work": f"captured training step {layers}x{width} B{batch} T{steps}", **pair(make)})
    return rows


def heads() -> list[dict[str, Any]]:
    """The recurrence alone, 12 heads of 64 units, both passes: called, and as a CUDA graph."""
    shapes = (1024, 16, 12, 64, 4), (12, 4, 64, 64), (12, 4, 64), (2, 16, 12, 64)
    parts = [0.1 * torch.randn(s, device="cuda", dtype=torch.bfloat16) for s in shapes]
    for part in parts:
        part.requires_grad_()
    by = torch.ones((1024, 16, 12, 64), device="cuda", dtype=torch.bfloat16)

    def both() -> None:
        torch.autograd.grad(ours.recurrence("lstm", *parts)[0], parts, by)

    called = milliseconds(both)
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        both()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        both()
    return [
        {"work": "recurrence 12x64 B16 T1024 both", "called": called, "graph": milliseconds(graph.replay)}
    ]


def compiled() -> list[dict[str, Any]]:
    """A language model's training step with torch.compile, beside the same without it."""
    rows = []
    for layers, width, batch, steps in MODELS[:2]:
        words = torch.randint(WORDS, (steps, batch), device="cuda")
        plain = Model(ours, layers, width).to("cuda", HALF)
        found = {"eager": milliseconds(step_of(plain, words))}
        found["compiled"] = milliseconds(step_of(torch.compile(plain), words))
        torch.compiler.reset()
        graphs = torch.compile(plain, mode="reduce-overhead")
        found["compiled as graphs"] = milliseconds(step_of(graphs, words))
        work = f"compiled training step {layers}x{width} B{batch} T{steps}"
        rows.append({"work": work, **found, "times": found["eager"] / found["compiled as graphs"]})
    return rows


def calls(layer: Any, x: Any, data: torch.Tensor) -> dict[str, Callable[[], object]]:
    """The forward pass without gradients, and both passes."""

    def forward() -> None:
        with torch.no_grad():
            layer(x)

    def both() -> None:
        out = layer(x)[0]
        values = out if isinstance(out, torch.Tensor) else out.data
        values.backward(torch.ones_like(values))
        data.grad = None

    return {"forward": forward, "both": both}


def directions() -> list[dict[str, Any]]:
    """Two bidirectional layers, T = 512."""
    rows = []
    for width, batch in TWO_WAYS:
        x = torch.randn(512, batch, width, device="cuda", dtype=HALF, requires_grad=True)
        for name in ("forward", "both"):

            def make(kinds: Any, name: str = name, x: torch.Tensor = x, width: int = width):
                return calls(kinds.LSTM(width, width, 2, bidirectional=True).to("cuda", HALF), x, x)[name]

            rows.append({"work": f"bidirectional 2x{width} B{batch} T512 {name}", **pair(make)})
    return rows


def packed() -> list[dict[str, Any]]:
    """One layer on rows of 10 to 512 steps, beside ours on the padded batch."""
    rows = []
    for width, batch in TWO_WAYS:
        lengths = torch.linspace(10, 512, batch).int().tolist()
        parts = [torch.randn(n, width, device="cuda", dtype=HALF) for n in lengths]
        whole = pack_sequence(parts, enforce_sorted=False)
        whole.data.requires_grad_()
        padded = torch.randn(512, batch, width, device="cuda", dtype=HALF, requires_grad=True)
        for name in ("forward", "both"):

            def make(kinds: Any, name: str = name, x: Any = whole, width: int = width):
                return calls(kinds.LSTM(width, width).to("cuda", HALF), x, x.data)[name]

            found = pair(make)
            dense = calls(ours.LSTM(width, width).to("cuda", HALF), padded, padded)[name]
            rows.append({"work": f"packed {width} B{batch} {name}", **found, "padded": milliseconds(dense)})
    return rows


def sizes(end: float, wanted: Iterable[tuple[int, int, int]]) -> list[dict[str, Any]]:
    """A training step of one layer over many sizes, until the time is up."""
    rows = []
    for width, batch, steps in wanted:
        if time.monotonic() > end:
            rows.append({"work": "sizes", "cut": f"at {width} B{batch} T{steps}"})
            break
        if width * batch * steps > 2048 * 64 * 1024:
            continue
        x = torch.randn(steps, batch, width, device="cuda", dtype=HALF, requires_grad=True)

        def make(kinds: Any, x: torch.Tensor = x, width: int = width):
            return calls(kinds.LSTM(width, width).to("cuda", HALF), x, x)["both"]

        rows.append({"work": f"one layer {width} B{batch} T{steps} both", **pair(make)})
    return rows


def host() -> list[dict[str, Any]]:
    """Host time of a call at one step, where the GPU has little to do."""
    rows = []
    x = torch.randn(8, 16, 64, device="cuda", dtype=HALF, requires_grad=True)
    for name in ("forward", "both"):
        found = {}
        for kinds, label in ((torch.nn, "torch.nn"), (ours, "ours")):
            found[label] = microseconds_of_host(calls(kinds.LSTM(64, 64).to("cuda", HALF), x, x)[name])
        rows.append({"work": f"host us {name}", **found, "times": found["torch.nn"] / found["ours"]})
    return rows


def main() -> None:
    """Measure the parts asked for and write them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=200)
    parser.add_argument("--each", type=float, default=0.6, help="seconds of a measurement")
    parser.add_argument(
        "--parts",
        nargs="*",
        default=["host", "models", "captured", "directions", "packed", "sizes"],
        help="of host, models, captured, heads, compiled, directions, packed, sample, sizes",
    )
    options = parser.parse_args()
    end = time.monotonic() + options.seconds
    Measurement.seconds = options.each
    every = list(itertools.product(DIMS, BATCHES, STEPS))
    parts: dict[str, Callable[[], list[dict[str, Any]]]] = {
        "host": host,
        "models": models,
        "captured": captured,
        "compiled": compiled,
        "heads": heads,
        "directions": directions,
        "packed": packed,
        "sample": lambda: sizes(end, SAMPLE),
        "sizes": lambda: sizes(end, every),
    }
    rows: list[dict[str, Any]] = []
    head = {**environment("torch"), "gpu": torch.cuda.get_device_name()}
    for name in options.parts:
        found = parts[name]()
        rows += found
        options.out.write_text(
            json.dumps({"environment": head, "rows": rows}, indent=1) + "\n", encoding="utf-8"
        )
        for row in found:
            print("  ".join(f"{v:.3f}" if isinstance(v, float) else str(v) for v in row.values()), flush=True)


if __name__ == "__main__":
    main()
