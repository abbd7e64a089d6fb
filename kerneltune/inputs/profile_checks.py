"""Profiles compared with each other, and checked for values that are legal and yet doubtful."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kerneltune.inputs.hardware import MMA_DEPTHS, NAMING, HardwareProfile

TENSOR_CORES_SINCE = (7, 0)
CLUSTERS_SINCE = (9, 0)
ASYNC_COPIES_SINCE = (8, 0)


@dataclass(frozen=True)
class Difference:
    """A key whose value differs between two profiles; None where one of them lacks the key."""

    key: str
    first: Any
    second: object

    @property
    def ratio(self) -> float | None:
        """The second value divided by the first, where both are numbers."""
        numbers = [value for value in (self.first, self.second) if type(value) is int]
        return numbers[1] / numbers[0] if len(numbers) == 2 and numbers[0] else None


def differences(first: HardwareProfile, second: HardwareProfile) -> list[Difference]:
    """The keys in which two profiles differ: limits and capabilities first, costs (``cost.…``) after them."""
    sides = [_flat(first), _flat(second)]
    keys = dict.fromkeys(key for side in sides for key in side)
    pairs = [Difference(key, sides[0].get(key), sides[1].get(key)) for key in keys]
    return [pair for pair in pairs if pair.first != pair.second]


def _flat(profile: HardwareProfile) -> dict[str, object]:
    limits = {key: value for key, value in profile.to_json().items() if key not in (*NAMING, "cost")}
    return {**limits, **{f"cost.{name}": value for name, value in profile.cost.items()}}


def doubts(profile: HardwareProfile) -> list[str]:
    """Sentences about values that no known GPU has, or that contradict the compute capability.

    An empty list says that nothing looks wrong; it does not say that the values are those of the GPU.
    """
    found = [f"{key}: {sentence}" for key, sentence, wrong in _rules(profile) if wrong]
    unused = sorted(set(profile.mma_shapes) - set(MMA_DEPTHS))
    return [*found, f"mma_shapes: no kernel computes in {', '.join(unused)}"] if unused else found


def _rules(p: HardwareProfile) -> list[tuple[str, str, bool]]:
    major, minor = map(int, p.compute_capability.split("."))
    number = f"{major}{minor}"
    capability = (major, minor)
    warps = p.warp_size * p.sm_sub_partitions
    per_block = p.smem_per_block_optin + p.smem_reserved_per_block
    odd_threads = p.max_threads_per_block % p.warp_size > 0
    odd_smem = p.smem_per_sm % p.smem_alloc_granularity > 0
    stated = f"compute capability {p.compute_capability}"
    return [
        ("warp_size", "every CUDA GPU has 32", p.warp_size != 32),
        ("target", f"is not of {stated}", p.target.removeprefix("sm_").rstrip("a") != number),
        ("max_threads_per_block", "is not a multiple of the warp size", odd_threads),
        ("max_threads_per_sm", f"is not a multiple of {warps}", p.max_threads_per_sm % warps > 0),
        ("registers_per_sm", "a thread could not have 32 registers", _starved(p)),
        ("registers_per_block", "exceeds registers_per_sm", p.registers_per_block > p.registers_per_sm),
        ("smem_per_block_optin", "with the reserved part exceeds smem_per_sm", per_block > p.smem_per_sm),
        ("smem_alloc_granularity", "does not divide smem_per_sm", odd_smem),
        ("cluster_max", f"{stated} has no clusters", p.cluster_max > 1 and capability < CLUSTERS_SINCE),
        ("tma", f"{stated} has none", p.tma and capability < CLUSTERS_SINCE),
        ("wgmma", "only targets sm_90a have it", p.wgmma and p.target != "sm_90a"),
        ("cp_async", f"{stated} has none", p.cp_async and capability < ASYNC_COPIES_SINCE),
        ("mma_shapes", f"{stated} has none", bool(p.mma_shapes) and capability < TENSOR_CORES_SINCE),
        ("boost_mhz", "is not between 300 and 4000 MHz", not 300 <= p.boost_mhz <= 4000),
        ("memory_bandwidth_gbs", "is in GB/s, and not between 10 and 100,000", _odd_bandwidth(p)),
        ("memory_bytes", "is in bytes, and under 1 GiB", p.memory_bytes < 2**30),
        ("l2_bytes", "is in bytes, and under 256 KiB", p.l2_bytes < 2**18),
        *(
            ("cluster_slots", f"{slots} clusters of {size} exceed the SMs", bad)
            for size, slots, bad in _slots(p)
        ),
    ]


def _starved(p: HardwareProfile) -> bool:
    return p.registers_per_sm < 32 * p.max_threads_per_sm


def _odd_bandwidth(p: HardwareProfile) -> bool:
    return not 10 <= p.memory_bandwidth_gbs <= 100_000


def _slots(p: HardwareProfile) -> list[tuple[int, int, bool]]:
    most = p.sm_count * p.max_blocks_per_sm
    return [(size, slots, size * slots > most) for size, slots in p.cluster_slots.items()]


def profile_schema() -> dict[str, Any]:
    """The JSON Schema of a profile's file, for editors.

    A file that says ``based_on`` may leave out every other key but its name, its title and what differs.
    """
    from msgspec.json import schema_components

    (_,), described = schema_components([HardwareProfile])
    schema: dict[str, Any] = described[HardwareProfile.__name__]
    required = schema.pop("required")
    naming = [key for key in NAMING if key in required]
    schema["anyOf"] = [{"required": required}, {"required": [*naming, "based_on"]}]
    schema["title"] = "kerneltune hardware profile"
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    return schema
