"""Tuning with children that only pretend to compile and to measure."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from kerneltune import In, Out
from kerneltune.pipeline.stages import Commands
from kerneltune.tuning.tuned import TunedKernel

HERE = Path(__file__).parent
MEASURE = (sys.executable, str(HERE / "measuring_child.py"))
COMPILE = (sys.executable, str(HERE / "compiling_child.py"))
COMMANDS = Commands(COMPILE, MEASURE)
SOURCE = """
// What the stand-ins make of x and fault is in no code, but they take other values for other code.
extern "C" __global__ void scale(const float* a, float* c, int n) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n) c[i] = 3.0f * a[i];
}
"""


def tuned(store: Path, source: Any = SOURCE, **more: Any) -> TunedKernel:
    """A kernel whose time is 1 ms at ``x`` = 5, and 0.1 ms more for each step from there."""
    from kerneltune.tuning.tune import tune

    a = np.ones(1000, np.float32)
    given: dict[str, Any] = {
        "params": {"x": list(range(10)), "BLOCK": [64]},
        "sizes": {"n": 1000},
        "arguments": [In(a, "a"), Out(a, "c"), 1000],
        "grid": "ceildiv(n, BLOCK)",
        "block": "BLOCK",
        "gpu": "h100_sxm",
        "device": "pretended",
        "commands": COMMANDS,
        "store": store,
        "strategy": "random",
        "workers": 2,
        "finalists": 0,
    }
    return tune(source, **{**given, **more})
