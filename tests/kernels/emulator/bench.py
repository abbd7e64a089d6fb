"""Small kernels that test the emulated GPU itself: a body, and a few words of output."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .build import Buffer, Emulator, Launch, run

LAYOUT = np.dtype([("input", np.uint64), ("output", np.uint64), ("number", np.int32)], align=True)
HEAD = """
struct Arguments { const unsigned* input; unsigned* output; int number; };
extern "C" __global__ void kernel(const Arguments arguments) {
  extern __shared__ __align__(128) unsigned shared_memory[];
  const unsigned thread = threadIdx.x;
"""


def outcome(
    bench: Emulator,
    body: str,
    seed: int,
    values: NDArray[np.uint32] | None = None,
    launch: Launch | None = None,
    words: int = 64,
) -> NDArray[np.uint32]:
    """What the kernel with this body leaves in its output, from 64 words of input if none are given."""
    executable = bench.compile(HEAD + body + "}\n", "kernel")
    values = np.arange(64, dtype=np.uint32) if values is None else values
    buffers = [Buffer("input", values), Buffer("output", np.zeros(words, np.uint32), written=True)]
    launch = launch or Launch(blocks=1, threads=64, cluster=1, shared_memory=1024)
    return run(executable, launch, LAYOUT, {"number": 64}, buffers, seed)["output"]  # type: ignore[return-value]


def outcomes(bench: Emulator, body: str, **more: object) -> list[list[int]]:
    """The different outcomes of 24 orders of the threads."""
    found = {tuple(outcome(bench, body, seed, **more).tolist()) for seed in range(24)}  # type: ignore[arg-type]
    return [list(one) for one in sorted(found)]


# What the emulator says of two accesses that no barrier orders, and of two by different proxies
RACE = "shared memory byte [0-9]+: it (reads|writes) what thread [0-9]+ .*no barrier orders the two"
NO_PROXY_FENCE = r"executed no fence\.proxy\.async between the write and the barrier"
