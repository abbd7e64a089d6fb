"""Host time of a layer's calls, and seconds of the first call of a shape: compiled, kept, out of a bundle.

    python benchmarks/rnn/host_time.py --bundle h100.sqlite            # on a GPU, beside cuDNN
    python benchmarks/rnn/host_time.py --bundle h100.sqlite --without-gpu

Without a GPU, a stand-in takes the driver's place and tensors have no memory, so what is timed is this
package alone, in processor time. Results go to results/host_time.json, or host_time_without_gpu.json.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import torch
from environment import environment

from kerneltune.inputs.hardware import load_profile
from kerneltune.inputs.problem import Problem
from kerneltune.running import driver
from kerneltune.torch.launching import DeviceLauncher, TorchDevice, launcher

OUT = Path(__file__).parents[1] / "results" / "host_time.json"
SHAPES = ((12, 64), (1, 768))
STEPS, BATCH = 16, 16
CALLS, ROUNDS = 100, 7
DIRECTIONS = ("forward", "training", "backward")


class NoDriver:
    """Every function of the driver, doing nothing and succeeding."""

    def __getattr__(self, name: str) -> Callable[..., int]:
        made = ctypes.CFUNCTYPE(ctypes.c_int)(lambda: 0) if name == "cuLaunchKernelEx" else lambda *_: 0
        setattr(self, name, made)
        return made


class NoDevice(TorchDevice):
    """A GPU that is none: tensors are on torch's meta device."""

    def index(self, tensor: torch.Tensor) -> int:
        return 0

    def current(self) -> int:
        return 0

    def on(self, index: int) -> Any:
        return nullcontext()

    def stream(self, index: int) -> int:
        return 7

    def is_capturing(self) -> bool:
        return False

    def empty(self, size: int, index: int) -> torch.Tensor:
        return torch.empty(size, dtype=torch.uint8)

    def lasting(self, size: int, index: int) -> int:
        return 4096


def microseconds(do: Callable[[], object], gpu: bool) -> float:
    """The least mean host time of a call over some rounds; on a GPU by the clock, else by the processor."""
    clock = time.perf_counter if gpu else time.process_time
    for _ in range(20):
        do()
    found = []
    for _ in range(ROUNDS):
        if gpu:
            torch.cuda.synchronize()
        began = clock()
        for _ in range(CALLS):
            do()
        found.append((clock() - began) / CALLS)
    if gpu:
        torch.cuda.synchronize()
    return round(1e6 * min(found), 2)


def launches(heads: int, dim: int, runs_on: DeviceLauncher, gpu: bool) -> dict[str, float]:
    """Microseconds of one launch of each pass, on tensors that are there."""
    device = "cuda" if gpu else "meta"
    gates, rows = 4, (BATCH, heads, dim)
    shapes = {
        "input": (STEPS, *rows, gates),
        "recurrent": (heads, gates, dim, dim),
        "bias": (heads, gates, dim),
        "states": (2, STEPS + 1, *rows),
        "saved_values": (STEPS, *rows, 4),
        "output_gradient": (STEPS, *rows),
        "last_gradient": (2, *rows),
        "input_gradient": (STEPS, *rows, gates),
        "recurrent_gradient": (STEPS, *rows, gates),
        "initial_gradient": (2, *rows),
    }
    tensors = {name: torch.zeros(s, device=device, dtype=torch.bfloat16) for name, s in shapes.items()}
    tensors["saved_states"] = torch.zeros((STEPS + 1, *rows, 1), device=device)
    found = {}
    for direction in DIRECTIONS:
        problem = Problem("lstm", heads, dim, BATCH, "bf16", STEPS, direction)
        found[direction] = microseconds(lambda problem=problem: runs_on.launch(problem, tensors), gpu)
    return found


def layers(heads: int, dim: int, module: torch.nn.Module, gpu: bool) -> dict[str, float]:
    """Microseconds of a layer's forward call, and of forward and backward."""
    device = "cuda" if gpu else "meta"
    size = heads * dim
    x = torch.zeros((STEPS, BATCH, size), device=device, dtype=torch.bfloat16, requires_grad=True)
    parameters = [x, *module.parameters()]
    with torch.no_grad():
        gradient = torch.zeros_like(module(x)[0])

    def forward() -> None:
        with torch.no_grad():
            module(x)

    def both() -> None:
        torch.autograd.grad(module(x)[0], parameters, gradient)

    return {"forward": microseconds(forward, gpu), "both": microseconds(both, gpu)}


def first_call(heads: int, dim: int, gpu: bool) -> dict[str, Any]:
    """Seconds from the first asking for a shape to all passes launched; run in a process of its own."""
    if gpu:
        torch.zeros(1, device="cuda").add_(1)
        torch.cuda.synchronize()
    began, used = time.perf_counter(), time.process_time()
    runs_on = prepared(gpu)
    runs_on.prepare([Problem("lstm", heads, dim, BATCH, "bf16", STEPS, name) for name in DIRECTIONS])
    if gpu:
        torch.cuda.synchronize()
    return {
        "seconds": round(time.perf_counter() - began, 3),
        "processor": round(time.process_time() - used, 3),
        "compiler_loaded": "cuda.bindings.nvrtc" in sys.modules,
    }


def prepared(gpu: bool) -> DeviceLauncher:
    """What launches; without a GPU, on the stand-ins."""
    if gpu:
        return launcher()
    nothing = NoDriver()
    driver.library = lambda: nothing  # type: ignore[assignment]
    return DeviceLauncher(load_profile("h100_sxm"), device=NoDevice())


def first_calls(options: argparse.Namespace) -> list[dict[str, Any]]:
    """First calls in fresh processes: with an empty cache, with what that left, with the bundle."""
    found = []
    for heads, dim in SHAPES:
        with tempfile.TemporaryDirectory() as cache, tempfile.TemporaryDirectory() as empty:
            ways = [("compiled", "none", cache), ("kept", "none", cache)]
            ways += [("bundle", str(options.bundle.resolve()), empty)] if options.bundle else []
            for way, bundle, folder in ways:
                told = {"KERNELTUNE_BUNDLE": bundle, "KERNELTUNE_CACHE_DIR": folder}
                command = [sys.executable, __file__, "--first", f"{heads}x{dim}"]
                command += ["--without-gpu"] if options.without_gpu else []
                done = subprocess.run(
                    command, env={**os.environ, **told}, capture_output=True, text=True, check=True
                )
                row = {"shape": f"{heads}x{dim}", "way": way, **json.loads(done.stdout.splitlines()[-1])}
                print(row, flush=True)
                found.append(row)
    return found


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bundle", type=Path)
    parser.add_argument("--without-gpu", action="store_true")
    parser.add_argument("--first", help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    gpu = not options.without_gpu
    if options.first:
        heads, dim = map(int, options.first.split("x"))
        print(json.dumps(first_call(heads, dim, gpu)))
        return
    found: dict[str, Any] = {"environment": environment("torch"), "gpu": gpu, "calls": []}
    found["first"] = first_calls(options)
    runs_on = prepared(gpu)
    for heads, dim in SHAPES:
        size = heads * dim
        row: dict[str, Any] = {"shape": f"{heads}x{dim}", "launch": launches(heads, dim, runs_on, gpu)}
        if gpu:
            from kerneltune.torch import LSTM

            for name, kind, more in (("ours", LSTM, {"heads": heads}), ("cudnn", torch.nn.LSTM, {})):
                made = kind(size, size, **more).to("cuda", torch.bfloat16)
                row[name] = layers(heads, dim, made, gpu)
        print(row, flush=True)
        found["calls"].append(row)
    out = options.out or (OUT if gpu else OUT.with_stem("host_time_without_gpu"))
    out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
