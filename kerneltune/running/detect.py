"""Detection of the profile that fits this machine's GPU."""

from __future__ import annotations

import math
import os
from dataclasses import asdict, dataclass

from kerneltune.errors import InputError
from kerneltune.inputs.hardware import GPU_VARIABLE, HardwareProfile, load_profile, profile_names
from kerneltune.running import driver


@dataclass(frozen=True)
class DeviceFacts:
    """A GPU's properties, as the driver reports them."""

    name: str
    compute_capability: str
    sm_count: int
    registers_per_sm: int
    smem_per_sm: int
    smem_per_block_optin: int
    memory_bytes: int


@dataclass(frozen=True)
class Detected:
    """A GPU and the profile that fits it.

    Attributes:
        facts: The driver's facts.
        profile: The profile's name; None if none fits.
        nearest: If none fits, the profile of the same compute capability with the nearest number of SMs.
    """

    facts: DeviceFacts
    profile: str | None
    nearest: str | None

    @property
    def sentence(self) -> str:
        """The result as a sentence."""
        facts = self.facts
        gpu = f"{facts.name}, compute capability {facts.compute_capability}, {facts.sm_count} SMs"
        if self.profile is not None:
            return f"{self.profile} fits this GPU ({gpu})"
        start = f"copy the profile {self.nearest}" if self.nearest else "copy the nearest profile"
        return f"no profile fits this GPU ({gpu}): {start}, change what differs, and give its path to --gpu"

    def to_json(self) -> dict[str, object]:
        """A JSON object."""
        return {"profile": self.profile, "nearest": self.nearest, "device": asdict(self.facts)}


def detect() -> Detected:
    """Ask the driver for the first GPU; raises `RunError` without one."""
    return matching(DeviceFacts(**driver.device_facts()), [load_profile(name) for name in profile_names()])


def profile_here() -> HardwareProfile:
    """The profile that KERNELTUNE_GPU names, or that fits this machine's GPU.

    Raises `RunError` without a GPU, `InputError` if no profile fits.
    """
    named = os.environ.get(GPU_VARIABLE)
    if named:
        return load_profile(named)
    found = detect()
    if found.profile is None:
        raise InputError(f"{found.sentence}; or name a profile in the environment variable {GPU_VARIABLE}")
    return load_profile(found.profile)


def matching(facts: DeviceFacts, profiles: list[HardwareProfile]) -> Detected:
    """The profile whose compute capability, SMs, registers and shared memory match the facts.

    Of several, the nearest by memory size, then by name: products with the same chip differ in these.
    """
    alike = [p for p in profiles if p.compute_capability == facts.compute_capability]
    compared = ("sm_count", "registers_per_sm", "smem_per_sm", "smem_per_block_optin")
    fitting = [p for p in alike if all(getattr(p, name) == getattr(facts, name) for name in compared)]
    if fitting:
        return Detected(facts, min(fitting, key=lambda profile: _distance(facts, profile)).name, None)
    alike.sort(key=lambda profile: abs(profile.sm_count - facts.sm_count))
    return Detected(facts, None, alike[0].name if alike else None)


def _distance(facts: DeviceFacts, profile: HardwareProfile) -> tuple[int, float]:
    """Distance in memory, to an eighth of its size, and dissimilarity of the names."""
    memory = abs(math.log2(facts.memory_bytes / profile.memory_bytes))
    from difflib import SequenceMatcher  # imported late: few calls need it

    return round(8 * memory), -SequenceMatcher(None, facts.name, profile.title).ratio()
