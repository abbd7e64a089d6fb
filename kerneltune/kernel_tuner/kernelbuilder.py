"""Kernel Tuner's kernels as Python functions: `PythonKernel`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kerneltune.errors import InputError
from kerneltune.kernel_tuner import running


class PythonKernel:
    """A kernel with the values of its parameters, called as a function, as Kernel Tuner 1.5 has it.

    Each call compiles the kernel, unless its machine code is kept, and runs it once in a process of its own.
    `kerneltune.load` gives launches on arrays that are on the GPU, for programs that call a kernel often.

    Args:
        kernel_name: The kernel's name.
        kernel_string: Its file or text.
        problem_size: Elements along each axis.
        arguments: numpy arrays and numbers in the kernel's order.
        params: The value of each parameter.
        inputs: Of each argument, whether a call gives it; by default all. Others are as in ``arguments``.
        outputs: Of each argument, whether a call returns it; by default all.
        device: The GPU's number.
        platform: The OpenCL platform.
        block_size_names: The parameters that are the block's size along each axis.
        grid_div_x: What divides the problem's size along x.
        grid_div_y: The same along y.
        grid_div_z: The same along z.
        verbose: Not used: nothing is printed.
        lang: The language.
        results_file: A file of results, which is refused: give the parameters.
    """

    def __init__(
        self,
        kernel_name: str,
        kernel_string: object,
        problem_size: object,
        arguments: Sequence[object],
        params: Mapping[str, object] | None = None,
        inputs: Sequence[bool] | None = None,
        outputs: Sequence[bool] | None = None,
        **given: Any,
    ) -> None:
        known = {"device", "platform", "block_size_names", "grid_div_x", "grid_div_y", "grid_div_z", "lang"}
        strange = sorted(set(given) - known - {"verbose", "results_file"})
        if strange:
            raise TypeError(f"PythonKernel has no argument '{strange[0]}'")
        if given.get("results_file") is not None:
            raise InputError("results_file: files of results are not read: give params, as from best_config")
        for what, one in (("inputs", inputs), ("outputs", outputs)):
            if one is not None and len(one) != len(arguments):
                raise InputError(f"{what} has {len(one)} entries, but there are {len(arguments)} arguments")
        self.params = dict(params or {})
        self.inputs = list(inputs or [True] * len(arguments))
        self.outputs = list(outputs or [True] * len(arguments))
        self._kernel = (kernel_name, kernel_string, problem_size)
        self._arguments = list(arguments)
        self._more = {name: one for name, one in given.items() if name in known}

    def __call__(self, *args: object) -> list[Any]:
        """Run the kernel once; returns the outputs, as a list."""
        return self.run_kernel(args)

    def run_kernel(self, args: Sequence[object]) -> list[Any]:
        """Run the kernel once; returns the outputs, as a list."""
        if len(args) != len(self._arguments):
            raise InputError(f"the kernel has {len(self._arguments)} arguments, not {len(args)}")
        kept = zip(self.inputs, args, self._arguments, strict=True)
        whole = [new if is_input else old for is_input, new, old in kept]
        found = running.run_kernel(*self._kernel, whole, self.params, **self._more)
        return [one for one, is_output in zip(found, self.outputs, strict=True) if is_output]
