"""A lexicographic tiling model of a fused recurrent layer: 28 variables and preferences, 60 constraints.

A step of the layer multiplies, for each of ``heads`` heads, the recurrent weights ``[gates * units, units]``
with the states ``[units, batch]``, and finishes gates and states unit by unit. Blocks hold tiles of units,
batch rows and heads over all steps; warps share a block's tile and its sum over ``units``. Of its weights a
warp keeps some tiles in registers; the rest lies in shared memory beside states, inputs and partial sums.

The model is written with operators that constrint's expressions and those of tiling_peers.py both have.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
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
    v = variables(shape, words.int_var)
    words.add(
        *blocks(v, shape, words),
        *warps(v, shape, words),
        *memory(v, shape, words),
        *alignment(v, shape, words),
    )
    return [
        (v.waves, "min"),
        (v.unit_blocks, "min"),
        (v.shared_loops, "min"),
        (v.head_tile, "min"),
        (v.batch_tile, "min"),
        (v.column_loops, "max"),
        (v.sum_warps, "min"),
        (v.row_loops, "min"),
        (v.blocks_per_sm, "max"),
        (v.warps, "max"),
        (v.vector, "max"),
        (v.registers, "min"),
        (v.padding, "min"),
        (v.register_loops, "max"),
        (v.stages, "max"),
        (v.shared_bytes, "min"),
        (v.blocks, "max"),
        (v.threads, "max"),
        (v.row_warps, "max"),
        (v.column_warps, "max"),
        (v.sum_loops, "max"),
        (v.unit_tile, "max"),
        (v.batch_blocks, "min"),
        (v.head_blocks, "max"),
        (v.weight_bytes, "min"),
        (v.state_bytes, "min"),
        (v.ring_bytes, "min"),
        (v.partial_bytes, "min"),
    ]


def variables(shape: Shape, var: Callable[..., Any]) -> SimpleNamespace:
    """The variables by name, and two terms that occur often."""
    heads, units, batch = shape
    v = SimpleNamespace()
    # Blocks
    v.unit_tile = var("unit_tile", 8, units, step=8)
    v.unit_blocks = var("unit_blocks", 1, units // 8)
    v.batch_tile = var("batch_tile", 8, 64, step=8)
    v.batch_blocks = var("batch_blocks", 1, batch)
    v.head_tile = var("head_tile", 1, heads)
    v.head_blocks = var("head_blocks", 1, heads)
    v.blocks = var("blocks", 1, 2**16)
    v.blocks_per_sm = var("blocks_per_sm", 1, 8)
    v.waves = var("waves", 1, 64)
    # Warps of a block
    v.row_warps = var("row_warps", 1, 16)
    v.column_warps = var("column_warps", 1, 8)
    v.sum_warps = var("sum_warps", 1, 16)
    v.warps = var("warps", 1, 32)
    v.threads = var("threads", 32, 1024, step=32)
    # What a warp does in a step: tiles of 16 gate rows by 8 batch rows by 16 units
    v.row_loops = var("row_loops", 1, 64)
    v.column_loops = var("column_loops", 1, 8)
    v.sum_loops = var("sum_loops", 1, 256)
    v.register_loops = var("register_loops", 0, 64)
    v.shared_loops = var("shared_loops", 0, 256)
    v.registers = var("registers", 40, 255)
    # Shared memory
    v.padding = var("padding", 0, 64, step=8)
    v.stages = var("stages", 2, 8)
    v.vector = var("vector", 1, 8)
    v.weight_bytes = var("weight_bytes", 0, BLOCK_SHARED)
    v.state_bytes = var("state_bytes", 0, BLOCK_SHARED)
    v.ring_bytes = var("ring_bytes", 0, BLOCK_SHARED)
    v.partial_bytes = var("partial_bytes", 0, BLOCK_SHARED)
    v.shared_bytes = var("shared_bytes", 0, BLOCK_SHARED)
    v.rows = GATES * v.unit_tile * v.head_tile
    v.resident = SMS * v.blocks_per_sm
    return v


def blocks(v: SimpleNamespace, shape: Shape, words: Words) -> list[Any]:
    """Blocks, and what each computes."""
    heads, units, batch = shape
    divides, ceildiv = words.divides, words.ceildiv
    return [
        # Every unit, batch row and head has its block
        divides(v.unit_tile, units),
        v.unit_blocks * v.unit_tile == units,
        v.batch_blocks == ceildiv(batch, v.batch_tile),
        v.batch_tile <= 8 * ceildiv(batch, 8),
        divides(v.head_tile, heads),
        v.head_blocks * v.head_tile == heads,
        v.blocks == v.unit_blocks * v.batch_blocks * v.head_blocks,
        v.waves == ceildiv(v.blocks, v.resident),
        v.blocks_per_sm <= ceildiv(v.blocks, SMS),
        # Blocks that exchange states must all run at once, and exchange those of one head only
        v.blocks * (v.unit_blocks - 1) <= v.resident * (v.unit_blocks - 1),
        (v.head_tile - 1) * (v.unit_blocks - 1) == 0,
        v.unit_blocks <= 64,
    ]


def warps(v: SimpleNamespace, shape: Shape, words: Words) -> list[Any]:
    """Warps of a block, and the tiles of each."""
    units, divides = shape.units, words.divides
    return [
        # Warps
        v.warps == v.row_warps * v.column_warps * v.sum_warps,
        v.threads == 32 * v.warps,
        v.threads * v.blocks_per_sm <= SM_THREADS,
        divides(4, v.warps),
        v.blocks_per_sm * v.warps <= 64,
        v.row_warps <= v.rows // 16,
        v.column_warps <= v.batch_tile // 8,
        v.sum_warps <= units // 16,
        v.sum_warps <= 4 * v.row_warps,
        v.row_warps * v.column_warps >= 2,
        # Whole tiles for every warp
        divides(16 * v.row_warps, v.rows),
        16 * v.row_loops * v.row_warps == v.rows,
        divides(8 * v.column_warps, v.batch_tile),
        8 * v.column_loops * v.column_warps == v.batch_tile,
        units % (16 * v.sum_warps) == 0,
        16 * v.sum_loops * v.sum_warps == units,
        v.column_loops <= 4,
        v.row_loops * v.column_loops <= 32,
    ]


def memory(v: SimpleNamespace, shape: Shape, words: Words) -> list[Any]:
    """Registers and shared memory."""
    units, ceildiv = shape.units, words.ceildiv
    return [
        # Weights in v.registers or in shared memory
        v.register_loops + v.shared_loops == v.sum_loops,
        v.row_loops * v.register_loops <= 48,
        v.shared_loops <= 4 * v.register_loops + 8,
        v.registers
        == 4 * v.row_loops * v.register_loops
        + 4 * v.row_loops * v.column_loops
        + 2 * v.column_loops * v.stages
        + 40,
        v.registers >= 48,
        8 * ceildiv(v.registers, 8) * v.threads <= SM_REGISTERS,
        8 * ceildiv(v.registers, 8) * v.threads * v.blocks_per_sm <= SM_REGISTERS,
        # Shared memory, to the byte
        v.weight_bytes == 16 * ELEMENT * v.shared_loops * v.sum_warps * v.rows,
        v.state_bytes == 2 * ELEMENT * v.head_tile * v.batch_tile * (units + v.padding),
        v.ring_bytes == v.stages * ELEMENT * v.rows * v.batch_tile,
        v.partial_bytes == 4 * v.rows * v.batch_tile * (v.sum_warps - 1),
        v.shared_bytes == v.weight_bytes + v.state_bytes + v.ring_bytes + v.partial_bytes,
        v.shared_bytes <= BLOCK_SHARED - RESERVED,
        (128 * ceildiv(v.shared_bytes, 128) + RESERVED) * v.blocks_per_sm <= SM_SHARED,
        v.ring_bytes <= 98304,
        v.partial_bytes <= 65536,
        v.weight_bytes <= 196608,
    ]


def alignment(v: SimpleNamespace, shape: Shape, words: Words) -> list[Any]:
    """Banks, vectors, the depth of the ring, and idle shares."""
    units, batch = shape.units, shape.batch
    divides, ceildiv = words.divides, words.ceildiv
    return [
        # Rows of states start in different banks; loads and copies are aligned
        (units + v.padding) % 16 == 8,
        v.padding <= 24,
        divides(v.vector, v.unit_tile),
        divides(v.vector, v.padding),
        16 % (v.vector * ELEMENT) == 0,
        v.vector >= 2,
        divides(2 * v.threads, v.rows * v.batch_tile),
        divides(v.vector * 8, units),
        # The ring is as deep as its latency requires, less if a warp's work hides part of it
        v.stages >= ceildiv(48, v.row_loops * v.column_loops * v.sum_loops + 4),
        v.stages == words.least(8, 2 + ceildiv(32, v.row_loops * v.sum_loops)),
        # No idle share of the machine
        v.blocks * 8 >= words.least(SMS, v.head_blocks * v.batch_blocks),
        v.batch_tile * v.batch_blocks <= 2 * batch + 8,
        v.row_loops * v.column_loops * v.sum_loops >= 2,
    ]
