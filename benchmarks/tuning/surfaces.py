"""Synthetic recordings: spaces of known tuning problems, with times from an analytic model of a GPU.

No measurement is behind these times. The spaces are those of the kernels in benchmark_hub (AutoTuning
Association); the times follow occupancy, waves of blocks, memory traffic with coalescing and halos, spills,
bank conflicts and loop overheads, each times drawn effects of pairs of parameters and of single points.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Columns = dict[str, np.ndarray]


@dataclass(frozen=True)
class Device:
    """The numbers of a GPU that the model needs."""

    sms: int
    threads_sm: int
    regs_sm: int
    smem_sm: int
    smem_block: int
    gbs: float
    gflops: float
    warp: int = 32
    blocks_sm: int = 32


DEVICES = {
    "A100": Device(108, 2048, 65536, 167936, 49152, 1555.0, 19500.0),
    "A4000": Device(48, 1536, 65536, 102400, 49152, 448.0, 19170.0, blocks_sm=16),
    "MI250X": Device(110, 2048, 131072, 65536, 65536, 1638.0, 23950.0, warp=64),
    "W6600": Device(28, 2048, 131072, 65536, 65536, 224.0, 10400.0, warp=32, blocks_sm=16),
}


@dataclass
class Work:
    """What a configuration does: arrays over all configurations."""

    threads: np.ndarray
    registers: np.ndarray
    shared: np.ndarray
    blocks: np.ndarray
    flops: np.ndarray
    bytes: np.ndarray
    parallel: np.ndarray  # independent operations of a thread
    factor: np.ndarray  # everything else


def milliseconds(work: Work, device: Device) -> np.ndarray:
    """The times; NaN where a block does not fit."""
    warps = -(-work.threads // device.warp) * device.warp
    registers = np.minimum(work.registers, 255)
    spilled = np.maximum(0, work.registers - 255)
    per_sm = np.minimum.reduce(
        [
            device.threads_sm // warps,
            device.regs_sm // np.maximum(1, registers * warps),
            device.smem_sm // np.maximum(1, work.shared),
            np.full_like(warps, device.blocks_sm),
        ]
    )
    fits = (per_sm > 0) & (work.shared <= device.smem_block) & (work.threads <= 1024)
    per_sm = np.maximum(1, per_sm)
    occupancy = per_sm * warps / device.threads_sm
    waves = np.ceil(work.blocks / (per_sm * device.sms))
    used = work.blocks / (waves * per_sm * device.sms)
    hidden = 1 - np.exp(-3.2 * occupancy * np.minimum(work.parallel, 8) ** 0.6)
    lanes = work.threads / warps
    compute = work.flops / (device.gflops * 1e6 * hidden * used**0.8 * lanes)
    traffic = work.bytes / (device.gbs * 1e6 * np.minimum(1, 1.4 * hidden) * used**0.5)
    started = work.blocks * 3e-7 / device.sms
    longest, other = np.maximum(compute, traffic), np.minimum(compute, traffic)
    times = (longest + 0.25 * other + started + 0.004) * work.factor * (1 + spilled / 24)
    return np.where(fits, times, np.nan)


def convolution(c: Columns, device: Device) -> Work:
    bx, by, tx, ty = (c[n] for n in ("block_size_x", "block_size_y", "tile_size_x", "tile_size_y"))
    width = filter_size = 15
    wide, high = bx * tx + width - 1, by * ty + width - 1
    shared = np.where(c["use_shmem"] > 0, (wide + c["use_padding"]) * high * 4, 0)
    blocks = np.ceil(4096 / (bx * tx)) * np.ceil(4096 / (by * ty))
    flops = blocks * bx * tx * by * ty * 2 * filter_size**2
    reads = np.where(c["use_shmem"] > 0, wide * high, bx * by * tx * ty * 9) * blocks * 4
    coalesced = np.minimum(1, bx / device.warp) ** 0.5
    conflicts = np.where((c["use_shmem"] > 0) & (c["use_padding"] == 0) & ((wide % 32) == 0), 1.35, 1.0)
    work = tx * ty
    cached = np.where(c["read_only"] > 0, np.where(c["use_shmem"] > 0, 1.02, 0.9), 1.0)
    loads = 1 + 1.6 / work  # loads of shared memory for each multiplication
    return Work(
        *(bx * by, 24 + 5 * work + 2 * tx, shared, blocks, flops),
        *(reads / coalesced + 4096 * 4096 * 4, work, conflicts * cached * loads),
    )


def dedispersion(c: Columns, device: Device) -> Work:
    bx, by, tx, ty = (c[n] for n in ("block_size_x", "block_size_y", "tile_size_x", "tile_size_y"))
    samples, dms, channels = 25000, 2048, 1536
    blocks = np.ceil(samples / (bx * tx)) * np.ceil(dms / (by * ty))
    flops = blocks * bx * by * tx * ty * channels * 2.0
    strided_x = np.where(c["tile_stride_x"] > 0, 1.0, 1 + 0.12 * (tx - 1))
    strided_y = np.where(c["tile_stride_y"] > 0, 1.0 + 0.03 * (ty > 4), 1 + 0.02 * ty)
    unroll = c["loop_unroll_factor_channel"]
    loop = 1 + np.where(unroll == 0, 0.06, 0.18 / np.maximum(1, unroll)) + 0.004 * unroll * tx * ty / 8
    shared_reads = blocks * (bx * tx) * channels * (1 + 0.15 * by * ty / 32) * 1.0
    coalesced = np.minimum(1, bx / 16) ** 0.7
    work = tx * ty
    return Work(
        *(bx * by, 20 + 3 * work + 2 * unroll, np.zeros_like(bx), blocks, flops),
        *(shared_reads / coalesced + samples * dms * 4.0, work, strided_x * strided_y * loop),
    )


def hotspot(c: Columns, device: Device) -> Work:
    bx, by, tx, ty = (c[n] for n in ("block_size_x", "block_size_y", "tile_size_x", "tile_size_y"))
    t, unroll, power = c["temporal_tiling_factor"], c["loop_unroll_factor_t"], c["sh_power"]
    wide, high = bx * tx + 2 * t, by * ty + 2 * t
    shared = wide * high * (2 + power) * 4
    blocks = np.ceil(4096 / (bx * tx)) * np.ceil(4096 / (by * ty))
    steps = np.ceil(60 / t)
    cells = blocks * wide * high * t * 0.55 + blocks * bx * tx * by * ty * t * 0.45
    flops = cells * 15 * steps
    traffic = blocks * wide * high * 4 * 3 * steps
    coalesced = np.minimum(1, bx / device.warp) ** 0.6
    want = c["blocks_per_sm"]
    registers = 26 + 4 * tx * ty + 3 * unroll
    bounded = np.where(want > 0, device.regs_sm // np.maximum(1, want * bx * by), 255)
    spills = np.maximum(0, registers - bounded) / 30
    loop = 1 + 0.15 / unroll + 0.01 * (unroll > 5)
    factor = (1 + spills) * loop * np.where(power > 0, 0.98, 1.05) * np.where(wide % 32 == 0, 1.12, 1.0)
    return Work(
        *(bx * by, np.minimum(registers, np.maximum(32, bounded)), shared, blocks, flops),
        *(traffic / coalesced, tx * ty, factor * steps / steps),
    )


def gemm(c: Columns, device: Device) -> Work:
    m, n, k = c["MWG"], c["NWG"], c["KWG"]
    rows, columns = c["MDIMC"], c["NDIMC"]
    threads = rows * columns
    work = (m // rows) * (n // columns)
    shared = 4 * (c["SA"] * m * k + c["SB"] * n * k)
    size = 4096
    blocks = np.ceil(size / m) * np.ceil(size / n)
    flops = 2.0 * size**3 * np.ones_like(m, dtype=float)
    again_a = np.where(c["SA"] > 0, 1.0, 1.0 + 0.25 * columns)
    again_b = np.where(c["SB"] > 0, 1.0, 1.0 + 0.25 * rows)
    traffic = blocks * (size / k) * 4.0 * k * (m * again_a + n * again_b)
    vectors = (1 + 0.12 / c["VWM"]) * (1 + 0.10 / c["VWN"]) * (1 + 0.05 * ((c["VWM"] == 8) | (c["VWN"] == 8)))
    shape = (1 + 0.03 * np.abs(np.log2(c["MDIMA"] / rows))) * (
        1 + 0.03 * np.abs(np.log2(c["NDIMB"] / columns))
    )
    strides = np.where(c["STRM"] > 0, 0.97, 1.0) * np.where(c["STRN"] > 0, 1.03, 1.0)
    barriers = 1 + np.where(shared > 0, 0.8 / k, 0.0)
    loads = 1 + 2.2 * (1 / (m // rows) + 1 / (n // columns)) / 2
    return Work(
        *(threads, 30 + work + 2 * (m // rows + n // columns), shared, blocks, flops),
        *(traffic * 0.35, work, vectors * shape * strides * barriers * loads),
    )


SPACES: dict[str, tuple[dict[str, list[int]], list[str], Callable[[Columns, Device], Work]]] = {
    "convolution": (
        {
            "block_size_x": [16 * i for i in range(1, 17)],
            "block_size_y": [1, 2, 4, 8, 16],
            "tile_size_x": [1, 2, 3, 4],
            "tile_size_y": [1, 2, 3, 4],
            "read_only": [0, 1],
            "use_padding": [0, 1],
            "use_shmem": [0, 1],
        },
        [
            "block_size_x * block_size_y <= 1024",
            "block_size_x * block_size_y >= 32",
            "use_padding == 0 or (use_shmem == 1 and block_size_x % 32 != 0)",
        ],
        convolution,
    ),
    "dedispersion": (
        {
            "block_size_x": [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
            "block_size_y": [1, 2, 4, 8, 16, 32, 64, 128],
            "tile_size_x": [1, 2, 3, 4, 5, 6, 8],
            "tile_size_y": [1, 2, 3, 4, 5, 6, 8],
            "tile_stride_x": [0, 1],
            "tile_stride_y": [0, 1],
            "loop_unroll_factor_channel": [0, 1, 2, 4, 8, 16],
        },
        [
            "32 <= block_size_x * block_size_y <= 1024",
            "tile_size_x > 1 or tile_stride_x == 0",
            "tile_size_y > 1 or tile_stride_y == 0",
        ],
        dedispersion,
    ),
    "hotspot": (
        {
            "block_size_x": [1, 2, 4, 8, 16, *[32 * i for i in range(1, 33)]],
            "block_size_y": [1, 2, 4, 8, 16, 32],
            "tile_size_x": [1, 2, 3, 4, 5, 6, 8, 10],
            "tile_size_y": [1, 2, 3, 4, 5, 6, 8, 10],
            "temporal_tiling_factor": [1, 2, 3, 4, 6, 8, 10],
            "loop_unroll_factor_t": [1, 2, 3, 4, 6, 8, 10],
            "sh_power": [0, 1],
            "blocks_per_sm": [0, 1, 2, 3, 4],
        },
        [
            "32 <= block_size_x * block_size_y <= 1024",
            "temporal_tiling_factor % loop_unroll_factor_t == 0",
            "(block_size_x * tile_size_x + temporal_tiling_factor * 2) * (block_size_y * tile_size_y + "
            "temporal_tiling_factor * 2) * (2 + sh_power) * 4 <= 49152",
        ],
        hotspot,
    ),
    "gemm": (
        {
            "MWG": [16, 32, 64, 128],
            "NWG": [16, 32, 64, 128],
            "KWG": [16, 32],
            "MDIMC": [8, 16, 32],
            "NDIMC": [8, 16, 32],
            "MDIMA": [8, 16, 32],
            "NDIMB": [8, 16, 32],
            "VWM": [1, 2, 4, 8],
            "VWN": [1, 2, 4, 8],
            "STRM": [0, 1],
            "STRN": [0, 1],
            "SA": [0, 1],
            "SB": [0, 1],
        },
        [
            "MWG % (MDIMC * VWM) == 0",
            "NWG % (NDIMC * VWN) == 0",
            "MWG % (MDIMA * VWM) == 0",
            "NWG % (NDIMB * VWN) == 0",
            "KWG % ((MDIMC * NDIMC) / MDIMA) == 0",
            "KWG % ((MDIMC * NDIMC) / NDIMB) == 0",
        ],
        gemm,
    ),
}


def times_of(
    kernel: str, device: str, columns: Columns, rugged: float = 0.05, noise: float = 0.02
) -> np.ndarray:
    """Milliseconds of all configurations; NaN where they fail."""
    columns = {name: np.asarray(column, dtype=np.int64) for name, column in columns.items()}
    work = SPACES[kernel][2](columns, DEVICES[device])
    times = milliseconds(work, DEVICES[device])
    source = np.random.default_rng(zlib.crc32(f"{kernel} {device}".encode()))
    names = list(columns)
    for i, one in enumerate(names):
        for other in names[i + 1 :]:
            a = np.unique(columns[one], return_inverse=True)[1]
            b = np.unique(columns[other], return_inverse=True)[1]
            effects = source.normal(0, rugged / np.sqrt(len(names)), (a.max() + 1, b.max() + 1))
            times = times * np.exp(effects[a, b])
    return times * np.exp(source.normal(0, noise, len(times)))
