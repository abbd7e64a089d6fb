"""Explanations of infeasible requests: the exceeded limit, by how much, and the nearest feasible request."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations

from constrint import IntExpr, Model, Result, Status, UnboundedError
from kerneltune.inputs.descriptions import KernelStrategy
from kerneltune.inputs.dtypes import DTYPES, SIGNIFICANT_BITS
from kerneltune.inputs.hardware import MAX_GRID_BLOCKS, HardwareProfile
from kerneltune.inputs.problem import HEAD_DIM_STEP, Problem
from kerneltune.tiling.memory import arrays
from kerneltune.tiling.space import TilingSpace

SOLVE_LIMIT = 1.0  # seconds for solving one relaxed model
LARGEST_SHOWN = 2**60  # bytes; beyond it digits say nothing
LARGEST_HEAD_DIM = 65536  # start of the search for a feasible head dimension
NEAR_BY = 16  # smaller head dimensions that are tried if the smallest does not fit


@dataclass(frozen=True)
class Resource:
    """A limit of the GPU in the constraint files.

    Attributes:
        constraints: Names of the constraints that enforce it.
        need: Name of the value that must stay below it. If the file defines ``needed_…`` of that name,
            because the value itself is cut off at the limit, that one is asked.
        what: The resource in words.
        limit: Its size on a GPU, given a solution of the relaxed model.
        show: Formats a number of it.
    """

    constraints: tuple[str, ...]
    need: str
    what: str
    limit: Callable[[HardwareProfile, Result], int]
    show: Callable[[int], str]


def _bytes(size: int) -> str:
    """A size in words: exact near the limits of a GPU, rounded far beyond."""
    if size > LARGEST_SHOWN:
        return "more than 1 EiB"
    for power, unit in ((50, "PiB"), (40, "TiB"), (30, "GiB"), (20, "MiB")):
        if size >= 2**power:
            return f"{size / 2**power:.1f} {unit}"
    return f"{size / 1024:.10g} KiB" if size % 256 == 0 else f"{size} bytes"


def _exactly(size: int) -> str:
    return _bytes(size) if size > LARGEST_SHOWN else f"{size} bytes ({_bytes(size)})"


def _register_limit(profile: HardwareProfile, result: Result) -> int:
    unit = profile.register_alloc_unit // profile.warp_size
    threads: int = min(result["threads"], profile.max_threads_per_block)
    in_block = profile.registers_per_block // threads // unit * unit
    return min(profile.max_registers_per_thread, in_block)


RESOURCES = (
    Resource(
        ("shared_memory_fits", "shared_memory_of_sm_fits"),
        "shared_memory",
        "shared memory per block",
        lambda profile, _: profile.smem_per_block_optin,
        _bytes,
    ),
    Resource(
        ("registers_fit", "registers_of_block_fit", "registers_of_sm_fit"),
        "registers",
        "registers per thread",
        _register_limit,
        str,
    ),
    Resource(
        ("threads_fit", "threads_of_sm_fit"),
        "threads",
        "threads per block",
        lambda profile, _: profile.max_threads_per_block,
        str,
    ),
    Resource(
        ("co_resident",),
        "blocks",
        "blocks on the GPU at a time",
        lambda profile, result: profile.sm_count * result["blocks_per_sm"],
        str,
    ),
    Resource(("cluster_fits",), "cluster", "blocks per cluster", lambda profile, _: profile.cluster_max, str),
    Resource(("grid_fits",), "blocks", "blocks in the grid", lambda *_: MAX_GRID_BLOCKS, str),
    Resource(
        ("device_memory_fits",),
        "device_memory",
        "device memory",
        lambda profile, _: profile.memory_bytes,
        _exactly,
    ),
)


def explain(space: TilingSpace) -> str:
    """The reasons, strategy by strategy, and the nearest feasible requests."""
    profile, problem = space.profile, space.problem
    lines = [f"no tiling of {problem.label} fits {profile.name}:"]
    if not space.arrays_fit():
        lines.append(f"  {_arrays_beside_memory(space)}")
        instead = next(_nearest_in_memory(space), None)
        return "\n".join([*lines, f"nearest that works: {instead}"] if instead else lines)
    refused = space.refusals()
    if refused and len(set(refused.values())) == 1 and not space.applicable():
        lines.append(f"  {next(iter(refused.values()))}")
    else:
        lines += [f"  {name}: {reason}" for name, reason in refused.items()]
    lines += [f"  {strategy.name}: {_shortage(space, strategy)}" for strategy in space.applicable()]
    instead = next(_nearest_working(space), None)
    if instead:
        lines.append(f"nearest that works: {instead}")
    return "\n".join(lines)


def _layer(space: TilingSpace) -> Problem:
    """The request, which must be a recurrent layer's: scans have their own explanations."""
    assert isinstance(space.problem, Problem)
    return space.problem


def _shortage(space: TilingSpace, strategy: KernelStrategy) -> str:
    guarded = {constraint.name for constraint in space.model(strategy).constraints}
    known = [resource for resource in RESOURCES if guarded.intersection(resource.constraints)]
    for count in range(1, len(known) + 1):
        reasons = []
        for resources in combinations(known, count):
            needs = _needs(space, strategy, resources)
            if needs:
                reasons.append(" and ".join(needs))
        if reasons:
            return "; or ".join(reasons)
    return _weights_beside_the_chip(space) or "its constraints exclude each other for these sizes"


def _needs(space: TilingSpace, strategy: KernelStrategy, resources: tuple[Resource, ...]) -> list[str]:
    """The least need of ``resources`` with only their limits lifted; empty if that does not help."""
    model = space.model(strategy)
    lifted = {name for resource in resources for name in resource.constraints}
    model.constraints[:] = [c for c in model.constraints if c.name not in lifted]
    needs = {resource: _need_name(model, resource) for resource in resources}
    model.goals[:] = [(_value(model, name), "min") for name in needs.values()]
    model.preferences.clear()
    try:
        result = model.solve(time_limit=SOLVE_LIMIT)
    except UnboundedError:  # unbounded without its limit: lifting it answers nothing
        return []
    if result.status is not Status.OPTIMAL:
        return []
    return [
        f"needs {resource.show(result[name])} of {resource.what}, "
        f"{space.profile.name} allows {resource.show(resource.limit(space.profile, result))}"
        for resource, name in needs.items()
    ]


def _need_name(model: Model, resource: Resource) -> str:
    uncut = f"needed_{resource.need}"
    return uncut if uncut in model.lets else resource.need


def _value(model: Model, name: str) -> IntExpr:
    return model.variables[name] if name in model.variables else model.lets[name]


def _weights_beside_the_chip(space: TilingSpace) -> str | None:
    """One head's recurrent weights, which stay on chip, against all registers and shared memory."""
    problem, profile = _layer(space), space.profile
    weights = len(space.cell.spec.gates) * problem.head_dim**2 * problem.dtype_bytes
    room = profile.sm_count * (4 * profile.registers_per_sm + profile.smem_per_sm)
    if weights <= room:
        return None
    return (
        f"one head's recurrent weights need {_bytes(weights)}, "
        f"all registers and shared memory of {profile.name} hold {_bytes(room)}"
    )


def _arrays_beside_memory(space: TilingSpace) -> str:
    """The arrays of the request against the GPU's memory, which no tiling can change."""
    problem, profile = _layer(space), space.profile
    parts = ", ".join(f"{name} {_bytes(size)}" for name, size in arrays(problem, space.cell).items())
    return (
        f"needs {_exactly(space.array_bytes())} of device memory for {problem.steps} steps ({parts}), "
        f"{profile.name} has {_exactly(profile.memory_bytes)} (memory_bytes)"
    )


def _nearest_in_memory(space: TilingSpace) -> Iterator[str]:
    """Requests whose arrays fit: fewer sequences, steps, both, or heads as well, or smaller heads."""
    asked = _layer(space)
    one_sequence = replace(asked, batch=1)
    one_step = replace(one_sequence, steps=1)
    for start, name in (
        (asked, "batch"),
        (asked, "steps"),
        (one_sequence, "steps"),
        (one_step, "heads"),
    ):
        value = _largest(_fits_with(space, start, name), getattr(start, name))
        if value:
            found = {"heads": start.heads, "batch": start.batch, "steps": start.steps, name: value}
            yield " ".join(f"--{key} {n}" for key, n in found.items() if n != getattr(asked, key))
    yield from _nearest_working(space)
    largest = _largest_head_dim(space, one_sequence)
    if largest:
        yield f"--batch 1 --head-dim {largest}"


def _nearest_working(space: TilingSpace) -> Iterator[str]:
    """Feasible requests, the most similar first: another dtype if needed, then one smaller size."""
    problem, prefix = _layer(space), ""
    if not space.applicable():
        others = [
            dtype
            for dtype in sorted(DTYPES, key=lambda name: (SIGNIFICANT_BITS[name], DTYPES[name]))
            if SIGNIFICANT_BITS[dtype] >= SIGNIFICANT_BITS[problem.dtype]  # a hint never lowers the precision
            and space.for_problem(replace(problem, dtype=dtype)).applicable()
        ]
        if not others:
            return
        problem, prefix = replace(problem, dtype=others[0]), f"--dtype {others[0]}"
        if _fits(space, problem):
            yield prefix
    largest = _largest_head_dim(space, problem)
    if largest:
        yield f"{prefix} --head-dim {largest}".strip()
    for name, flag in (("batch", "--batch"), ("heads", "--heads")):
        value = _largest(_fits_with(space, problem, name), getattr(problem, name) - 1)
        if value:
            yield f"{prefix} {flag} {value}".strip()


def _fits_with(space: TilingSpace, problem: Problem, name: str) -> Callable[[int], bool]:
    return lambda value: _fits(space, replace(problem, **{name: value}))  # type: ignore[arg-type]


def _largest_head_dim(space: TilingSpace, problem: Problem) -> int | None:
    def fits(n: int) -> bool:
        return _fits(space, problem.with_head_dim(n * HEAD_DIM_STEP))

    top = min(problem.head_dim - 1, LARGEST_HEAD_DIM) // HEAD_DIM_STEP
    # A strategy may need larger multiples than the step, and refuse small sizes: then try sizes near by.
    found = _largest(fits, top) or next(filter(fits, range(top, max(0, top - NEAR_BY), -1)), None)
    return found * HEAD_DIM_STEP if found else None


def _largest(fits: Callable[[int], bool], top: int) -> int | None:
    """The largest number in 1..top that fits, assuming that all smaller ones fit too."""
    if top < 1 or not fits(1):
        return None
    low, high = 1, top + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _fits(space: TilingSpace, problem: Problem) -> bool:
    other = space.for_problem(problem)
    if not other.arrays_fit():
        return False
    for strategy in other.applicable():
        model = other.model(strategy)
        model.goals.clear()
        model.preferences.clear()
        if model.solve(time_limit=SOLVE_LIMIT):
            return True
    return False
