"""Tuning a Triton layer norm: run python examples/tuning/layer_norm.py."""

import numpy as np
import triton
import triton.language as tl

import kerneltune
from kerneltune import In, Out

ROWS, COLUMNS = 8192, 4096


@triton.jit
def layer_norm(given, weight, bias, result, columns, BLOCK: tl.constexpr):
    """Each program normalises one row, in pieces of BLOCK columns."""
    row = tl.program_id(0)
    sums = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        places = start + tl.arange(0, BLOCK)
        sums += tl.load(given + row * columns + places, mask=places < columns, other=0.0)
    mean = tl.sum(sums, axis=0) / columns
    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        places = start + tl.arange(0, BLOCK)
        values = tl.load(given + row * columns + places, mask=places < columns, other=0.0)
        off = tl.where(places < columns, values - mean, 0.0)
        squares += off * off
    scale = 1.0 / tl.sqrt(tl.sum(squares, axis=0) / columns + 1e-5)
    for start in range(0, columns, BLOCK):
        places = start + tl.arange(0, BLOCK)
        mask = places < columns
        values = tl.load(given + row * columns + places, mask=mask, other=0.0)
        factors = tl.load(weight + places, mask=mask)
        offsets = tl.load(bias + places, mask=mask)
        tl.store(result + row * columns + places, (values - mean) * scale * factors + offsets, mask=mask)


PARAMS = {
    "BLOCK": [512, 1024, 2048, 4096],
    "num_warps": [2, 4, 8, 16],
    "num_stages": [1, 2, 4],
}


def grid(meta):
    """A program for each row."""
    return (ROWS,)


def reference(given, weight, bias, result, columns):
    """Layer norm of each row in float64."""
    wide = given.astype(np.float64)
    off = wide - wide.mean(axis=1, keepdims=True)
    return off / np.sqrt((off**2).mean(axis=1, keepdims=True) + 1e-5) * weight + bias


def arguments():
    """The arrays that the kernel takes."""
    draw = np.random.default_rng(0)
    given = draw.standard_normal((ROWS, COLUMNS), np.float32)
    weight, bias = (draw.standard_normal(COLUMNS, np.float32) for _ in range(2))
    return [
        In(given, "given"),
        In(weight, "weight"),
        In(bias, "bias"),
        Out(np.empty_like(given), "result"),
        COLUMNS,
    ]


def tuned(**options):
    """Tune it on this machine's GPU."""
    return kerneltune.tune(
        layer_norm,
        params=PARAMS,
        sizes={"rows": ROWS, "columns": COLUMNS},
        arguments=arguments(),
        grid="rows",
        reference=reference,
        bytes="8 * rows * columns",
        **options,
    )


if __name__ == "__main__":
    best = tuned().best
    print(best.configuration, best.objectives)
