"""`run_kernel`: one configuration, run once, for its outputs."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from constrint.tuning.spaces import from_tune_params
from kerneltune.kernel_tuner.elsewhere import by_kernel_tuner, needs_kernel_tuner
from kerneltune.kernel_tuner.launches import chosen, description_of, name_of
from kerneltune.tuning.once import outputs_of
from kerneltune.tuning.tune import prepared


def run_kernel(
    kernel_name: str,
    kernel_source: object,
    problem_size: object,
    arguments: Sequence[object],
    params: Mapping[str, object],
    grid_div_x: object = None,
    grid_div_y: object = None,
    grid_div_z: object = None,
    lang: str | None = None,
    device: int = 0,
    platform: int = 0,
    smem_args: Mapping[str, object] | None = None,
    cmem_args: Mapping[str, object] | None = None,
    texmem_args: Mapping[str, object] | None = None,
    compiler: str | None = None,
    compiler_options: Sequence[str] | None = None,
    defines: Mapping[str, object] | None = None,
    block_size_names: Sequence[str] | None = None,
    quiet: bool = False,
    log: object = None,
) -> list[Any]:
    """Compile and run a kernel once, with the arguments of Kernel Tuner 1.5.

    Args:
        kernel_name: The kernel's name.
        kernel_source: Its file, text, or a function of the parameters that gives a text.
        problem_size: Elements along each axis: numbers, expressions, or a function of the parameters.
        arguments: numpy arrays and numbers in the kernel's order.
        params: The value of each parameter.
        grid_div_x: What divides the problem's size along x.
        grid_div_y: The same along y.
        grid_div_z: The same along z.
        lang: The language; other languages than CUDA are left to Kernel Tuner.
        device: The GPU's number; others than 0 are left to Kernel Tuner.
        platform: The OpenCL platform; others than 0 are left to Kernel Tuner.
        smem_args: The bytes of dynamic shared memory, as `size`.
        cmem_args: Constant arrays by name.
        texmem_args: Textures, which are left to Kernel Tuner.
        compiler: A compiler, which is left to Kernel Tuner.
        compiler_options: Options of the compiler.
        defines: Preprocessor definitions by name.
        block_size_names: The parameters that are the block's size along each axis.
        quiet: Not used: nothing is printed.
        log: Not used: nothing is logged.

    Returns:
        The arguments after the run, in their order: arrays as new arrays of numpy, numbers as they were.

    Raises:
        InputError: Something is wrong; the message names it.
        InfeasibleError: The configuration cannot be launched.
        RunError: It does not compile or does not finish, or there is no GPU.
    """
    return run_as_asked(dict(locals()), {})


def run_as_asked(given: dict[str, Any], own: Mapping[str, Any]) -> list[Any]:
    """The arguments after a run.

    Args:
        given: All arguments of `run_kernel`.
        own: Options of kerneltune: `gpu` and `commands`.
    """
    if needs_kernel_tuner(given):
        found: list[Any] = by_kernel_tuner("run_kernel", given)
        return found
    params = dict(given["params"])
    space = from_tune_params({name: [value] for name, value in params.items()}, [])
    kernel, case = prepared(description_of(given, space), own.get("gpu"), None, None)
    configuration = next(iter(space))
    outputs = outputs_of(kernel, case, configuration, own.get("commands"))
    return [
        _after(chosen(one, configuration), outputs.get(name_of(place, one, configuration)))
        for place, one in enumerate(given["arguments"])
    ]


def _after(given: object, output: object) -> object:
    """An argument after the run: a number as it was, an array of numpy, a tensor for a tensor."""
    if output is None:
        return given
    if hasattr(given, "data_ptr"):
        return sys.modules["torch"].from_numpy(output)
    return output
