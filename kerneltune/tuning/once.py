"""One configuration, run once: its outputs."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from typing import Any

from numpy.typing import NDArray

from constrint.support.children import search_path
from kerneltune.errors import InputError, RunError
from kerneltune.measuring.case import Case, kept_outputs
from kerneltune.measuring.measure import MeasuringPlan
from kerneltune.messages import Failed, SetUp
from kerneltune.pipeline.stages import Commands, Compilers, Devices
from kerneltune.running.children import Child
from kerneltune.running.scratch import scratch_folder
from kerneltune.searching.protocol import Configuration
from kerneltune.sources.kernel import CUDA, PTX, Kernel
from kerneltune.tuning.kernel_work import KernelWork

ONCE = MeasuringPlan(runs=1, timed=0)


def outputs_of(
    kernel: Kernel,
    case: Case,
    configuration: Configuration,
    commands: Commands | None = None,
    timeout: float = 60.0,
) -> Mapping[str, NDArray[Any]]:
    """The outputs of one run in a child process, by name.

    Args:
        kernel: A kernel of CUDA or PTX.
        case: Its arguments.
        configuration: The values of its parameters.
        commands: The commands of the children.
        timeout: Seconds that the run may take.

    Raises:
        InfeasibleError: The configuration cannot be launched.
        RunError: It does not compile, or does not finish.
    """
    if kernel.kind not in (CUDA, PTX):
        raise InputError(f"{kernel.name}: the outputs of kernels of CUDA and PTX can be had, not of others")
    commands = commands or Commands()
    work = KernelWork(kernel)
    order, built = work.order(configuration), None
    if kernel.compiles:
        with closing(Compilers(1, commands.compile)) as compilers:
            made = compilers.submit(order).result()
        if isinstance(made, Failed):
            raise RunError(made.failure)
        reasons = work.impossible(order, made)
        if reasons:
            raise RunError("; ".join(reasons))
        built = made
    with scratch_folder() as folder:
        case.save(folder)
        path = tuple(search_path())
        set_up = SetUp(
            case=str(folder), kind=kernel.kind, plan=ONCE.to_json(), path=path, outputs=str(folder)
        )
        with closing(Devices([Child(commands.measure, set_up)], timeout)) as devices:
            answer = devices.submit(0, order, built, None).result()
        if isinstance(answer, Failed):
            raise RunError(answer.failure)
        return kept_outputs(folder, 0)
