"""A lexicographic tiling model of a fused recurrent layer: 28 variables and preferences, 60 constraints.

A step of the layer multiplies, for each of ``heads`` heads, the recurrent weights ``[gates * units, units]``
with the states ``[units, batch]``, and finishes gates and states unit by unit. Blocks hold tiles of units,
batch rows and heads over all steps; warps share a block's tile and its sum over ``units``. Of its weights a
warp keeps some tiles in registers; the rest lies in shared memory beside states, inputs and partial sums.

The model is written with operators that constrint's expressions and those of tiling_peers.py both have.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

GATES = 4
ELEMENT = 2  # bytes
SMS, SM_THREADS, SM_REGISTERS, SM_SHARED, BLOCK_SHARED, RESERVED = 132, 2048, 65536, 233472, 232448, 1024


class Shape(NamedTuple):
    heads: int
    units: int
    batch: int

    @property
    def name(self) -> str:
        return f"{self.heads}x{self.units}, batch {self.batch}"


class Words(NamedTuple):
    """A solver's names for its functions."""

    int_var: Callable[..., Any]
    add: Callable[..., Any]
    divides: Callable[[Any, Any], Any]
    ceildiv: Callable[[Any, Any], Any]
    least: Callable[[Any, Any], Any]


def tiling(shape: Shape, words: Words) -> list[tuple[Any, str]]:
    """State the model; returns the preferences, the most important first."""
    heads, units, batch = shape
    var, divides, ceildiv = words.int_var, words.divides, words.ceildiv

    # Blocks
    unit_tile = var("unit_tile", 8, units, step=8)
    unit_blocks = var("unit_blocks", 1, units // 8)
    batch_tile = var("batch_tile", 8, 64, step=8)
    batch_blocks = var("batch_blocks", 1, batch)
    head_tile = var("head_tile", 1, heads)
    head_blocks = var("head_blocks", 1, heads)
    blocks = var("blocks", 1, 2**16)
    blocks_per_sm = var("blocks_per_sm", 1, 8)
    waves = var("waves", 1, 64)
    # Warps of a block
    row_warps = var("row_warps", 1, 16)
    column_warps = var("column_warps", 1, 8)
    sum_warps = var("sum_warps", 1, 16)
    warps = var("warps", 1, 32)
    threads = var("threads", 32, 1024, step=32)
    # What a warp does in a step: tiles of 16 gate rows by 8 batch rows by 16 units
    row_loops = var("row_loops", 1, 64)
    column_loops = var("column_loops", 1, 8)
    sum_loops = var("sum_loops", 1, 256)
    register_loops = var("register_loops", 0, 64)
    shared_loops = var("shared_loops", 0, 256)
    registers = var("registers", 40, 255)
    # Shared memory
    padding = var("padding", 0, 64, step=8)
    stages = var("stages", 2, 8)
    vector = var("vector", 1, 8)
    weight_bytes = var("weight_bytes", 0, BLOCK_SHARED)
    state_bytes = var("state_bytes", 0, BLOCK_SHARED)
    ring_bytes = var("ring_bytes", 0, BLOCK_SHARED)
    partial_bytes = var("partial_bytes", 0, BLOCK_SHARED)
    shared_bytes = var("shared_bytes", 0, BLOCK_SHARED)

    rows = GATES * unit_tile * head_tile
    resident = SMS * blocks_per_sm
    words.add(
        # Every unit, batch row and head has its block
        divides(unit_tile, units),
        unit_blocks * unit_tile == units,
        batch_blocks == ceildiv(batch, batch_tile),
        batch_tile <= 8 * ceildiv(batch, 8),
        divides(head_tile, heads),
        head_blocks * head_tile == heads,
        blocks == unit_blocks * batch_blocks * head_blocks,
        waves == ceildiv(blocks, resident),
        blocks_per_sm <= ceildiv(blocks, SMS),
        # Blocks that exchange states must all run at once, and exchange those of one head only
        blocks * (unit_blocks - 1) <= resident * (unit_blocks - 1),
        (head_tile - 1) * (unit_blocks - 1) == 0,
        unit_blocks <= 64,
        # Warps
        warps == row_warps * column_warps * sum_warps,
        threads == 32 * warps,
        threads * blocks_per_sm <= SM_THREADS,
        divides(4, warps),
        blocks_per_sm * warps <= 64,
        row_warps <= rows // 16,
        column_warps <= batch_tile // 8,
        sum_warps <= units // 16,
        sum_warps <= 4 * row_warps,
        row_warps * column_warps >= 2,
        # Whole tiles for every warp
        divides(16 * row_warps, rows),
        16 * row_loops * row_warps == rows,
        divides(8 * column_warps, batch_tile),
        8 * column_loops * column_warps == batch_tile,
        units % (16 * sum_warps) == 0,
        16 * sum_loops * sum_warps == units,
        column_loops <= 4,
        row_loops * column_loops <= 32,
        # Weights in registers or in shared memory
        register_loops + shared_loops == sum_loops,
        row_loops * register_loops <= 48,
        shared_loops <= 4 * register_loops + 8,
        registers
        == 4 * row_loops * register_loops + 4 * row_loops * column_loops + 2 * column_loops * stages + 40,
        registers >= 48,
        8 * ceildiv(registers, 8) * threads <= SM_REGISTERS,
        8 * ceildiv(registers, 8) * threads * blocks_per_sm <= SM_REGISTERS,
        # Shared memory, to the byte
        weight_bytes == 16 * ELEMENT * shared_loops * sum_warps * rows,
        state_bytes == 2 * ELEMENT * head_tile * batch_tile * (units + padding),
        ring_bytes == stages * ELEMENT * rows * batch_tile,
        partial_bytes == 4 * rows * batch_tile * (sum_warps - 1),
        shared_bytes == weight_bytes + state_bytes + ring_bytes + partial_bytes,
        shared_bytes <= BLOCK_SHARED - RESERVED,
        (128 * ceildiv(shared_bytes, 128) + RESERVED) * blocks_per_sm <= SM_SHARED,
        ring_bytes <= 98304,
        partial_bytes <= 65536,
        weight_bytes <= 196608,
        # Rows of states start in different banks; loads and copies are aligned
        (units + padding) % 16 == 8,
        padding <= 24,
        divides(vector, unit_tile),
        divides(vector, padding),
        16 % (vector * ELEMENT) == 0,
        vector >= 2,
        divides(2 * threads, rows * batch_tile),
        divides(vector * 8, units),
        # The ring is as deep as its latency requires, less if a warp's work hides part of it
        stages >= ceildiv(48, row_loops * column_loops * sum_loops + 4),
        stages == words.least(8, 2 + ceildiv(32, row_loops * sum_loops)),
        # No idle share of the machine
        blocks * 8 >= words.least(SMS, head_blocks * batch_blocks),
        batch_tile * batch_blocks <= 2 * batch + 8,
        row_loops * column_loops * sum_loops >= 2,
    )
    return [
        (waves, "min"),
        (unit_blocks, "min"),
        (shared_loops, "min"),
        (head_tile, "min"),
        (batch_tile, "min"),
        (column_loops, "max"),
        (sum_warps, "min"),
        (row_loops, "min"),
        (blocks_per_sm, "max"),
        (warps, "max"),
        (vector, "max"),
        (registers, "min"),
        (padding, "min"),
        (register_loops, "max"),
        (stages, "max"),
        (shared_bytes, "min"),
        (blocks, "max"),
        (threads, "max"),
        (row_warps, "max"),
        (column_warps, "max"),
        (sum_loops, "max"),
        (unit_tile, "max"),
        (batch_blocks, "min"),
        (head_blocks, "max"),
        (weight_bytes, "min"),
        (state_bytes, "min"),
        (ring_bytes, "min"),
        (partial_bytes, "min"),
    ]
