"""Occupancy: the number of blocks of a compiled kernel that an SM holds, by the allocation rules."""

from __future__ import annotations

from kerneltune.inputs.hardware import HardwareProfile


def blocks_per_sm(profile: HardwareProfile, threads: int, registers: int, shared_memory: int) -> int:
    """Blocks of ``threads`` threads resident on one SM at a time.

    Args:
        profile: The GPU.
        threads: Threads in a block.
        registers: Registers of a thread.
        shared_memory: Bytes of a block, static and dynamic, without what the driver reserves.
    """
    warps = _ceil_div(threads, profile.warp_size)
    by_threads = profile.max_threads_per_sm // (warps * profile.warp_size)
    return min(
        profile.max_blocks_per_sm,
        by_threads,
        _by_registers(profile, warps, registers),
        _by_shared_memory(profile, shared_memory),
    )


def _by_registers(profile: HardwareProfile, warps: int, registers: int) -> int:
    unit = profile.register_alloc_unit
    per_warp = _ceil_div(max(registers, 1) * profile.warp_size, unit) * unit
    # A warp's registers are allocated in one sub-partition of the SM.
    per_partition = profile.registers_per_sm // profile.sm_sub_partitions // per_warp
    rounded = _ceil_div(warps, profile.sm_sub_partitions) * profile.sm_sub_partitions
    if rounded * per_warp > profile.registers_per_block:
        return 0
    return per_partition * profile.sm_sub_partitions // warps


def _by_shared_memory(profile: HardwareProfile, shared_memory: int) -> int:
    if shared_memory > profile.smem_per_block_optin:
        return 0
    step = profile.smem_alloc_granularity
    taken = _ceil_div(shared_memory + profile.smem_reserved_per_block, step) * step
    return profile.smem_per_sm // taken if taken else profile.max_blocks_per_sm


def _ceil_div(value: int, step: int) -> int:
    return -(-value // step)
