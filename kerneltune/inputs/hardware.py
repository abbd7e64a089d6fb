"""GPU limits as data: a profile is one YAML file, and no code depends on a GPU's name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Annotated

from msgspec import Meta, field

from kerneltune.errors import InputError, nearest
from kerneltune.inputs.checked import MOST_INTEGER, Record
from kerneltune.inputs.folders import data_folder
from kerneltune.inputs.yamlfile import read_checked

Positive = Annotated[int, Meta(ge=1, le=MOST_INTEGER)]
Natural = Annotated[int, Meta(ge=0, le=MOST_INTEGER)]
Shape = tuple[Positive, Positive, Positive]

MMA_ROWS, MMA_COLUMNS = 16, 8  # the tensor-core product that the kernels use; its depth depends on the dtype
MMA_DEPTHS = {"bf16": (8, 16), "fp16": (8, 16), "tf32": (4, 8)}
MMA_TYPES = {"fp32": "tf32"}  # dtypes whose products are computed in another dtype
GPU_VARIABLE = "KERNELTUNE_GPU"  # environment variable with the default profile
CLUSTER_SIZES = (2, 4, 8, 16)  # sizes that a constraint file may name; no GPU has larger ones
MAX_GRID_BLOCKS = 2**31 - 1  # of grid.x since compute capability 3.0 (CUDA programming guide)
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
NAMING = ("name", "title", "based_on")  # keys that say what a profile is called, not what the GPU can do
ISA_REGISTER_LIMIT = 255  # register numbers have 8 bits; one of them is the zero register


class HardwareProfile(Record, frozen=True, kw_only=True):
    """Limits, capabilities and costs of one GPU. Sizes are in bytes, costs in clock cycles of an SM."""

    name: str
    title: str
    based_on: str | None = None  # name of the profile that supplies the missing keys
    compute_capability: Annotated[str, Meta(pattern=r"^[0-9]+\.[0-9]+$(?!\n)")]
    target: Annotated[str, Meta(pattern=r"^sm_[0-9]+a?$(?!\n)")]

    sm_count: Positive
    boost_mhz: Positive
    l2_bytes: Positive
    memory_bytes: Positive
    memory_bandwidth_gbs: Positive

    warp_size: Positive
    max_threads_per_block: Positive
    max_threads_per_sm: Positive
    max_blocks_per_sm: Positive
    sm_sub_partitions: Positive

    registers_per_sm: Positive
    registers_per_block: Positive
    max_registers_per_thread: Annotated[int, Meta(ge=1, le=ISA_REGISTER_LIMIT)]
    register_alloc_unit: Positive

    smem_per_sm: Positive
    smem_per_block_optin: Positive
    smem_reserved_per_block: Natural
    smem_alloc_granularity: Positive

    cluster_max: Positive
    cluster_max_portable: Positive
    # Resident clusters, by cluster size.
    cluster_slots: dict[Annotated[int, Meta(ge=2)], Positive] = field(default_factory=dict)

    cp_async: bool
    tma: bool
    wgmma: bool
    cooperative_launch: bool
    mma_shapes: dict[str, list[Shape]]
    cost: dict[str, Positive]

    def disagreements(self) -> Iterator[tuple[str, str]]:
        """Limits that contradict each other; names of costs and depths of products that no kernel uses."""
        for name in self.cost:
            if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
                yield "cost", f"'{name}' is not a valid name in a constraint file"
            if name in self.__struct_fields__:
                yield "cost", f"'{name}' is already a limit"
        yield from self._unknown_depths()
        if self.cluster_max < self.cluster_max_portable:
            yield "cluster_max_portable", f"exceeds cluster_max, which is {self.cluster_max}"
        sizes = {2**power for power in range(1, self.cluster_max.bit_length())}
        if set(self.cluster_slots) != sizes:
            listed = ", ".join(map(str, sorted(sizes))) or "none"
            yield "cluster_slots", f"must name the cluster sizes up to cluster_max and no others: {listed}"
        if self.smem_per_block_optin > self.smem_per_sm:
            yield "smem_per_block_optin", f"exceeds smem_per_sm, which is {self.smem_per_sm}"
        if self.max_threads_per_block > self.max_threads_per_sm:
            yield "max_threads_per_block", f"exceeds max_threads_per_sm, which is {self.max_threads_per_sm}"

    def _unknown_depths(self) -> Iterator[tuple[str, str]]:
        """Depths that no kernel has, and that would be taken for the best; others are ignored."""
        for dtype, depths in MMA_DEPTHS.items():
            for m, n, k in self.mma_shapes.get(dtype, []):
                if (m, n) == (MMA_ROWS, MMA_COLUMNS) and k not in depths:
                    known = " or ".join(map(str, depths))
                    said = f"{dtype} has k = {known} in products of 16 rows by 8 columns, not {k}"
                    yield "mma_shapes", said

    @property
    def capabilities(self) -> dict[str, int]:
        """Everything that a kernel may require: flags and limits by name, and ``cluster``.

        Whether clusters exist.
        """
        return {**self._numbers(), "cluster": int(self.cluster_max > 1)}

    def mma_depth(self, dtype: str) -> int:
        """The largest k of a tensor-core product of 16 rows by 8 columns in ``dtype``; 0 if there is none."""
        shapes = self.mma_shapes.get(MMA_TYPES.get(dtype, dtype), [])
        return max((k for m, n, k in shapes if (m, n) == (MMA_ROWS, MMA_COLUMNS)), default=0)

    def other_products(self, dtype: str) -> list[str]:
        """The shapes of tensor-core products in ``dtype``, as m×n×k, of which kernels have none."""
        shapes = self.mma_shapes.get(MMA_TYPES.get(dtype, dtype), [])
        return [] if self.mma_depth(dtype) else ["×".join(map(str, shape)) for shape in shapes]

    def constants(self, dtype: str) -> dict[str, int]:
        """Everything a constraint file may name about this GPU, for a kernel that computes in ``dtype``."""
        slots = {f"cluster_slots_{size}": self.cluster_slots.get(size, 0) for size in CLUSTER_SIZES}
        return {**self._numbers(), **slots, **self.cost, "mma_k": self.mma_depth(dtype)}

    def _numbers(self) -> dict[str, int]:
        values = {name: getattr(self, name) for name in self.__struct_fields__}
        return {name: int(value) for name, value in values.items() if isinstance(value, int)}

    def microseconds(self, cycles: float) -> float:
        """Microseconds of ``cycles`` at the boost clock."""
        return cycles / self.boost_mhz


def profile_names(root: Path | None = None) -> list[str]:
    """Names of the package's profiles, or of those in ``root``."""
    return sorted(path.stem for path in (root or data_folder("hardware_profiles")).glob("*.yaml"))


@cache
def load_profile(name_or_path: str, root: Path | None = None) -> HardwareProfile:
    """The profile with that name, in any case and with - for _, or from that YAML file."""
    path = Path(name_or_path)
    if path.suffix not in (".yaml", ".yml"):
        names = {_plain(name): name for name in profile_names(root)}
        found = name_or_path if name_or_path in names.values() else names.get(_plain(name_or_path))
        path = (root or data_folder("hardware_profiles")) / f"{found}.yaml"
        if found is None:
            if len(Path(name_or_path).parts) > 1 or Path(name_or_path).is_file():
                raise InputError(f"{name_or_path}: a profile's path must end in .yaml")
            raise InputError(f"unknown GPU '{name_or_path}': {nearest(name_or_path, profile_names(root))}")
    profile = read_checked(path, HardwareProfile, lambda data: _with_base(path, data))
    if profile.name != path.stem:
        raise InputError(f"{path}: name: is '{profile.name}', but the file is called '{path.stem}'")
    return profile


def _plain(name: str) -> str:
    return name.casefold().replace("-", "_")


def _with_base(path: Path, data: dict[str, object]) -> dict[str, object]:
    """A profile's keys merged with those of its base; costs are merged one by one."""
    named = data.get("based_on")
    if not isinstance(named, str):
        return data
    if not NAME.fullmatch(named):
        raise InputError(f"{path}: based_on: '{named}' is not a name of a profile: give one, not a path")
    places = [folder / f"{named}.yaml" for folder in (path.parent, data_folder("hardware_profiles"))]
    known = [place for place in places if place.is_file()]
    if not known:
        raise InputError(f"{path}: based_on: unknown GPU '{named}': {nearest(named, profile_names())}")
    # A file may have the same name as the profile that it changes.
    source = next((place for place in known if place.resolve() != path.resolve()), path)

    def alone(found: dict[str, object]) -> dict[str, object]:
        if found.get("based_on") is not None:
            raise InputError(f"{path}: based_on: '{named}' is itself based on '{found['based_on']}'")
        return found

    base = read_checked(source, HardwareProfile, alone)
    given = data.get("cost", {})
    cost = {**base.cost, **given} if isinstance(given, dict) else given
    inherited = {key: value for key, value in base.to_json().items() if key not in NAMING}
    return {**inherited, **data, "cost": cost}
