"""Tuning a Triton softmax: run python examples/tuning/softmax.py."""

import numpy as np
import triton
import triton.language as tl

import kerneltune
from kerneltune import In, Out

ROWS, COLUMNS = 8192, 4096


@triton.jit
def softmax(
    given, result, rows, columns, BLOCK: tl.constexpr, PROGRAMS: tl.constexpr, num_stages: tl.constexpr
):
    """Each program computes every so many-th row."""
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    for row in tl.range(tl.program_id(0), rows, PROGRAMS, num_stages=num_stages):
        values = tl.load(given + row * columns + offsets, mask=mask, other=-float("inf"))
        powers = tl.exp(values - tl.max(values, axis=0))
        tl.store(result + row * columns + offsets, powers / tl.sum(powers, axis=0), mask=mask)


PARAMS = {
    "BLOCK": [4096],
    "PROGRAMS": [132, 264, 528, 1056, 2112, 8192],
    "num_warps": [2, 4, 8, 16],
    "num_stages": [1, 2, 4],
}


def reference(given, result, rows, columns):
    """Softmax of each row in float32."""
    powers = np.exp(given - given.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def arguments():
    """What the kernel takes."""
    given = np.random.default_rng(0).standard_normal((ROWS, COLUMNS), np.float32)
    return [In(given, "given"), Out(np.empty_like(given), "result"), ROWS, COLUMNS]


def tuned(**options):
    """Tune it on this machine's GPU."""
    return kerneltune.tune(
        softmax,
        params=PARAMS,
        sizes={"rows": ROWS, "columns": COLUMNS},
        arguments=arguments(),
        grid="PROGRAMS",
        reference=reference,
        bytes="8 * rows * columns",
        **options,
    )


if __name__ == "__main__":
    best = tuned().best
    print(best.configuration, best.objectives)
