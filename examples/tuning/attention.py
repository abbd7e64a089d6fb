"""Tuning attention in Triton: run python examples/tuning/attention.py."""

import numpy as np
import triton
import triton.language as tl

import kerneltune
from kerneltune import In, Out

HEADS, STEPS, DEPTH = 32, 2048, 64  # batch and heads together


@triton.jit
def attention(
    query, key, value, result, steps, scale, DEPTH: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr
):
    """A block of queries against all keys, with a running maximum and sum."""
    start = tl.program_id(1) * steps * DEPTH
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    depth = tl.arange(0, DEPTH)
    own = tl.load(query + start + rows[:, None] * DEPTH + depth[None, :])
    largest = tl.full([BLOCK_M], -float("inf"), tl.float32)
    total = tl.zeros([BLOCK_M], tl.float32)
    sums = tl.zeros([BLOCK_M, DEPTH], tl.float32)
    factor = scale * 1.44269504
    for first in range(0, steps, BLOCK_N):
        columns = first + tl.arange(0, BLOCK_N)
        keys = tl.load(key + start + columns[None, :] * DEPTH + depth[:, None])
        scores = tl.dot(own, keys) * factor
        higher = tl.maximum(largest, tl.max(scores, 1))
        powers = tl.exp2(scores - higher[:, None])
        change = tl.exp2(largest - higher)
        total = total * change + tl.sum(powers, 1)
        values = tl.load(value + start + columns[:, None] * DEPTH + depth[None, :])
        sums = tl.dot(powers.to(tl.float16), values, sums * change[:, None])
        largest = higher
    sums = sums / total[:, None]
    tl.store(result + start + rows[:, None] * DEPTH + depth[None, :], sums.to(tl.float16))


PARAMS = {
    "DEPTH": [DEPTH],
    "BLOCK_M": [64, 128],
    "BLOCK_N": [32, 64, 128],
    "num_warps": [4, 8],
    "num_stages": [2, 3],
}


def reference(query, key, value, result, steps, scale):
    """Attention of each head in float32."""
    found = np.empty(query.shape, np.float32)
    for head in range(len(query)):
        scores = query[head].astype(np.float32) @ key[head].astype(np.float32).T * scale
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        found[head] = (powers / powers.sum(axis=1, keepdims=True)) @ value[head].astype(np.float32)
    return found


def arguments():
    """What the kernel takes."""
    draw = np.random.default_rng(0)
    three = [draw.standard_normal((HEADS, STEPS, DEPTH), np.float32).astype(np.float16) for _ in range(3)]
    return [
        *(In(array, name) for array, name in zip(three, ("query", "key", "value"))),
        Out(np.empty_like(three[0]), "result"),
        STEPS,
        float(DEPTH**-0.5),
    ]


def tuned(**options):
    """Tune it on this machine's GPU."""
    return kerneltune.tune(
        attention,
        params=PARAMS,
        sizes={"heads": HEADS, "steps": STEPS},
        arguments=arguments(),
        grid=["steps // BLOCK_M", "heads"],
        reference=reference,
        tolerance=5e-3,
        flops=f"4 * heads * steps * steps * {DEPTH}",
        **options,
    )


if __name__ == "__main__":
    best = tuned().best
    print(best.configuration, best.objectives)
