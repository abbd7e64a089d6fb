"""A solved tiling's kernel on the emulated GPU."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from kerneltune.compiling.arguments import struct_of
from kerneltune.compiling.source import KERNEL_NAME, translation_unit
from kerneltune.inputs.descriptions import Kernels
from kerneltune.inputs.hardware import HardwareProfile
from kerneltune.running.case import LayerCase, random_case
from kerneltune.tiling.candidate import Candidate

from .arguments import struct_layout
from .build import Buffer, Emulator, Launch, run
from .products import run_steps, without_library

POISON = 0xFF


def run_case(
    emulator: Emulator,
    kernels: Kernels,
    profile: HardwareProfile,
    candidate: Candidate,
    case: LayerCase,
    seed: int,
    blocks: int | None = None,
) -> dict[str, np.ndarray]:
    """The outputs of a launch of any pass, poisoned before; ``blocks``: if not as solved."""
    if candidate.stepwise:
        candidate = without_library(candidate)
    executable = emulator.compile(translation_unit(candidate, kernels, profile), KERNEL_NAME)
    problem = case.problem
    buffers = [Buffer(name, array) for name, array in case.inputs.items()]
    for name, output in case.outputs.items():
        array = np.empty(output.shape, output.dtype)
        array.view(np.uint8)[...] = POISON
        if output.initial is not None:
            array[:, 0] = output.initial
        buffers.append(Buffer(name, array, written=True))
    workspace = np.full(max(candidate.workspace, 16), candidate.workspace_fill, np.uint8)
    launch = launch_of(candidate, kernels.for_pass(problem.direction), blocks)
    struct = struct_of(problem.direction, "weights" in case.inputs)
    layout = struct_layout(kernels.root / "common" / "arguments.cuh", struct)
    sizes = {"steps": problem.steps, "batch": problem.batch, "heads": problem.heads}
    buffers.append(Buffer("workspace", workspace, written=True))
    if candidate.stepwise:
        results = run_steps(candidate, partial(run, executable, launch, layout), sizes, buffers, seed)
    else:
        results = run(executable, launch, layout, sizes, buffers, seed)
    return {name: results[name] for name in case.outputs}


def check_case(
    emulator: Emulator,
    kernels: Kernels,
    profile: HardwareProfile,
    candidate: Candidate,
    seeds: Sequence[int],
    blocks: int | None = None,
) -> None:
    """Right by the float64 reference, input drawn by the first seed; the same bits in the order of each."""
    case = random_case(candidate.problem, kernels.cell(candidate.problem.cell), seeds[0])  # type: ignore[arg-type]
    first, *others = (run_case(emulator, kernels, profile, candidate, case, seed, blocks) for seed in seeds)
    verdict = case.judge(first)
    assert verdict.right, f"{verdict.sentence}: {candidate}"
    for other in others:
        for name, array in other.items():
            np.testing.assert_array_equal(array.view(np.uint8), first[name].view(np.uint8), str(candidate))


def launch_of(candidate: Candidate, kernels: Kernels, blocks: int | None = None) -> Launch:
    """The launch that the candidate promises."""
    return Launch(
        blocks=blocks or candidate.blocks,
        threads=candidate.threads,
        cluster=candidate.cluster,
        shared_memory=candidate.shared_memory,
        all_resident=kernels.strategy(candidate.strategy).spec.cooperative,
    )
