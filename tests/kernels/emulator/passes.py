"""A solved tiling's kernel on the emulated GPU."""

from __future__ import annotations

import numpy as np

from kerneltune.arguments import STRUCTS
from kerneltune.candidate import Candidate
from kerneltune.case import Case
from kerneltune.hardware import HardwareProfile
from kerneltune.kernel import Kernels
from kerneltune.source import KERNEL_NAME, translation_unit
from kerneltune.verify import Bits, Inputs

from .arguments import struct_layout
from .build import Buffer, Emulator, Launch, run

POISON = 0xFF


def run_forward(
    emulator: Emulator,
    kernels: Kernels,
    profile: HardwareProfile,
    candidate: Candidate,
    inputs: Inputs,
    seed: int,
    blocks: int | None = None,
) -> Bits:
    """The states that the forward kernel writes into a poisoned array; ``blocks``: if not as solved."""
    executable = emulator.compile(translation_unit(candidate, kernels, profile), KERNEL_NAME)
    states = np.empty(inputs.states_shape, inputs.initial.dtype)
    states.view(np.uint8)[...] = POISON
    states[:, 0] = inputs.initial
    workspace = np.full(max(candidate.workspace, 16), candidate.workspace_fill, np.uint8)
    problem = inputs.problem
    results = run(
        executable,
        launch_of(candidate, kernels, blocks),
        struct_layout(kernels.root / "_common" / "arguments.cuh", "ForwardArguments"),
        {"steps": problem.steps, "batch": problem.batch, "heads": problem.heads},
        [
            Buffer("input", inputs.wx),
            Buffer("recurrent", inputs.r),
            Buffer("bias", inputs.bias),
            Buffer("states", states, written=True),
            Buffer("workspace", workspace, written=True),
        ],
        seed,
    )
    return results["states"]


def run_case(
    emulator: Emulator,
    kernels: Kernels,
    profile: HardwareProfile,
    candidate: Candidate,
    case: Case,
    seed: int,
    blocks: int | None = None,
) -> dict[str, np.ndarray]:
    """The outputs of a launch of any pass, poisoned before; ``blocks``: if not as solved."""
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
    results = run(
        executable,
        launch_of(candidate, kernels.for_pass(problem.direction), blocks),
        struct_layout(kernels.root / "_common" / "arguments.cuh", STRUCTS[problem.direction]),
        {"steps": problem.steps, "batch": problem.batch, "heads": problem.heads},
        [*buffers, Buffer("workspace", workspace, written=True)],
        seed,
    )
    return {name: results[name] for name in case.outputs}


def launch_of(candidate: Candidate, kernels: Kernels, blocks: int | None = None) -> Launch:
    """The launch that the candidate promises."""
    return Launch(
        blocks=blocks or candidate.blocks,
        threads=candidate.threads,
        cluster=candidate.cluster,
        shared_memory=candidate.shared_memory,
        all_resident=kernels.strategy(candidate.strategy).spec.cooperative,
    )
