"""Costs of a profile by micro-benchmarks, and the profile of this machine's GPU as a file.

The kernels of `micro.cu` are tuned and verified like any user's kernel; the fastest configuration counts.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kerneltune.errors import InputError
from kerneltune.inputs.hardware import NAMING, HardwareProfile, load_profile
from kerneltune.running.detect import Detected
from kerneltune.sources.arguments import In, Out
from kerneltune.tuning.tune import tune

SOURCE = Path(__file__).with_name("micro.cu")
BLOCK = 1024
READ_BYTES = 1 << 28  # of an array in memory
L2_SHARE, L2_PASSES = 4, 64  # the part of L2 that an array takes, and how often it is read
SHARED_PASSES, PRODUCTS = 20_000, 20_000
MACROS = {"PASSES": 1, "WARPS": 1, "CHAINS": 1}  # of the file's kernels: all compile with each of them
MEANINGS = {
    "scan_memory_percent": "of the memory bandwidth, what a copy reaches",
    "stream_percent": "of the memory bandwidth, what reading reaches",
    "l2_stream_bytes_per_cycle": "read from L2 by all SMs",
    "smem_bytes_per_cycle": "read from shared memory by an SM",
    "mma_centicycles_each": "an m16n8k16 product, per sub-partition",
    "mma_latency_centicycles": "of a product that another waits for",
}
FACTS = ("compute_capability", "sm_count", "registers_per_sm", "smem_per_sm", "smem_per_block_optin")
Timer = Callable[..., float]


def measured_costs(profile: HardwareProfile, timer: Timer | None = None) -> tuple[dict[str, int], float]:
    """The costs by micro-benchmarks, at the boost clock, and the bandwidth of a copy in GB/s.

    Args:
        profile: The limits of this machine's GPU.
        timer: Gives the milliseconds of a kernel's fastest configuration; for tests.

    Raises:
        RunError: There is no GPU, or a kernel gives a wrong result.
    """
    milliseconds = timer or _fastest
    blocks = 2 * profile.sm_count
    threads, clock = blocks * BLOCK, profile.boost_mhz * 1e3  # cycles in a millisecond

    def reading(size: int, passes: int) -> float:
        """Bytes in a millisecond."""
        each = max(1, size // (16 * threads))
        values = np.ones(4 * each * threads, np.float32)
        sums = Out(np.empty(threads, np.float32), "sums")
        given = {"arguments": [In(values, "values"), sums, each], "defines": {"PASSES": passes}}
        expected = np.full(threads, 4.0 * each * passes, np.float32)
        return values.nbytes * passes / milliseconds("read", profile, blocks, BLOCK, expected, **given)

    def copying() -> float:
        each = READ_BYTES // (16 * threads)
        values = np.random.default_rng(0).random(4 * each * threads, np.float32)
        given = {"arguments": [In(values, "from"), Out(np.empty_like(values), "to"), each]}
        return 2 * values.nbytes / milliseconds("copy", profile, blocks, BLOCK, values, **given)

    def sharing() -> float:
        ones, sums = np.ones(4096, np.float32), Out(np.empty(threads, np.float32), "sums")
        given = {"arguments": [In(ones, "values"), sums], "defines": {"PASSES": SHARED_PASSES}}
        expected = np.full(threads, 4.0 * SHARED_PASSES, np.float32)
        return (
            2 * BLOCK * 16 * SHARED_PASSES / milliseconds("shared", profile, blocks, BLOCK, expected, **given)
        )

    def producing(warps: int, chains: int) -> float:
        """Milliseconds of a product of each chain."""
        count = profile.sm_count * 32 * warps
        given = {
            "arguments": [In(np.ones(2, np.float16), "ones"), Out(np.empty(count, np.float32), "sums")],
            "defines": {"PASSES": PRODUCTS, "WARPS": warps, "CHAINS": chains},
        }
        expected = np.full(count, 16.0 * PRODUCTS, np.float32)
        time = milliseconds("product", profile, profile.sm_count, 32 * warps, expected, **given)
        return time / PRODUCTS

    copied, read = copying() / 1e6, reading(READ_BYTES, 1) / 1e6  # GB/s
    parts = profile.sm_sub_partitions
    alone = producing(parts, 1)
    full = min(producing(parts * more, 4) / (4 * more) for more in (1, 2, 4))
    costs = {
        "scan_memory_percent": 100 * copied / profile.memory_bandwidth_gbs,
        "stream_percent": 100 * read / profile.memory_bandwidth_gbs,
        "l2_stream_bytes_per_cycle": reading(profile.l2_bytes // L2_SHARE, L2_PASSES) / clock,
        "smem_bytes_per_cycle": sharing() / clock,
        "mma_centicycles_each": 100 * full * clock,
        "mma_latency_centicycles": 100 * alone * clock,
    }
    return {name: max(1, round(value)) for name, value in costs.items()}, copied


def _fastest(
    entry: str, profile: HardwareProfile, blocks: int, block: int, expected: Any, **given: Any
) -> float:
    given["defines"] = MACROS | given.get("defines", {})
    with tempfile.TemporaryDirectory(prefix="kerneltune-micro-") as folder:
        found = tune(
            SOURCE,
            entry=entry,
            params={"UNROLL": [1, 2, 4, 8]},
            grid=blocks,
            block=block,
            gpu=profile.name,
            reference=[expected],
            tolerance=1e-5,
            strategy="exhaustive",
            finalists=0,
            store=Path(folder) / "s.sqlite",
            **given,
        )
        time = found.best.time
    assert time is not None
    return time


def written_profile(
    detected: Detected, name: str, costs: Mapping[str, int], copied: float, origin: str
) -> str:
    """The text of a profile's file: what differs from the nearest profile, and the measured costs.

    Args:
        detected: The GPU and the profile that fits it, or is nearest.
        name: The profile's name, that of its file.
        costs: What was measured.
        copied: The bandwidth of a copy in GB/s, which stands for the data sheet's where no profile fits.
        origin: Who measured, for the first line.
    """
    near = detected.profile or detected.nearest
    if near is None:
        raise InputError(f"{detected.sentence}: there is no profile to begin with")
    profile = load_profile(near)
    root = profile if profile.based_on is None else load_profile(profile.based_on)
    values = {key: value for key, value in profile.to_json().items() if key not in (*NAMING, "cost")}
    own = {key: cost for key, cost in profile.cost.items() if root.cost.get(key) != cost}
    shares = ("scan_memory_percent", "stream_percent")
    if detected.profile is None:
        values |= {key: getattr(detected.facts, key) for key in FACTS}
        values |= {"memory_bytes": detected.facts.memory_bytes, "memory_bandwidth_gbs": round(copied)}
        bandwidth = profile.memory_bandwidth_gbs / max(1, round(copied))
        costs = {key: round(cost * bandwidth) if key in shares else cost for key, cost in costs.items()}
    lines = [f"# {origin}", f"# (m) measured by kernels of kerneltune on {detected.facts.name}.", ""]
    lines += [f"name: {name}", f"title: {_quoted(detected.facts.name)}", f"based_on: {root.name}"]
    lines += [f"{key}: {_quoted(v)}" for key, v in values.items() if getattr(root, key) != v]
    lines += ["cost:", *(f"  {key}: {cost}" for key, cost in own.items() if key not in costs)]
    lines += [f"  {key}: {cost}   # (m) {MEANINGS[key]}" for key, cost in costs.items()]
    return "\n".join(lines) + "\n"


def _quoted(value: object) -> str:
    import json

    return json.dumps(value)
