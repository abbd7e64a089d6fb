"""A tuned kernel as a callable: the best known configuration for this GPU and these sizes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from kerneltune.errors import InputError
from kerneltune.inputs.hardware import load_profile
from kerneltune.searching.protocol import Configuration
from kerneltune.sources.description import Description
from kerneltune.sources.folder import is_kernel_folder, read_folder
from kerneltune.sources.kernel import CALLABLE, CUDA, PTX, TRITON, Kernel
from kerneltune.tuning.best import KnownBest, best_known

DESCRIBED = {one.name for one in fields(Description)} - {"source", "sizes"}


@dataclass(frozen=True, eq=False)
class LoadedKernel:
    """A kernel with a configuration; call it with the kernel's arguments in order.

    Arrays are torch tensors, cupy or pycuda arrays, or whatever else has a device address; numbers are
    converted to the types that were described.

    Attributes:
        kernel: The kernel.
        configuration: The values of its parameters.
        known: Where the configuration comes from; None: it is the fallback.
    """

    kernel: Kernel
    configuration: Configuration
    known: KnownBest | None
    _launcher: Any

    def __call__(self, *arguments: Any, stream: Any = None) -> None:
        """Launch it, without waiting.

        Args:
            arguments: The kernel's arguments.
            stream: A stream of torch, cupy, pycuda or the driver; by default torch's current one for tensors,
                else the default stream.
        """
        self._launcher(arguments, stream)


def load(
    source: object,
    sizes: Mapping[str, int] | None = None,
    *,
    fallback: Configuration | None = None,
    gpu: str | None = None,
    store: Path | str | None = None,
    **described: object,
) -> LoadedKernel:
    """Load a kernel with its best known configuration.

    Args:
        source: A folder of a kernel, or what `tune` takes.
        sizes: The sizes; of a folder, in place of its own.
        fallback: The configuration if none is known that is valid here; by default the first valid one.
        gpu: A profile's name; by default this machine's GPU.
        store: The file of results.
        described: What describes the kernel, as for `tune`.

    Raises:
        InputError: The kernel or the fallback is wrong.
        InfeasibleError: No configuration fits the GPU.
        RunError: There is no GPU, or it refuses the kernel.
    """
    description = _described(source, sizes, described)
    kernel = description.kernel(load_profile(gpu) if gpu else _profile(description))
    known = best_known(kernel.name, kernel.sizes, gpu=gpu, store=store)
    if known is not None and not _is_valid(kernel, known.configuration):
        known = None  # of another GPU or size, and impossible here
    configuration = known.configuration if known is not None else fallback
    if configuration is None:
        configuration = next(iter(kernel.space))
    elif not _is_valid(kernel, configuration):
        raise InputError(f"the fallback {dict(configuration)} is not a valid configuration of {kernel.name}")
    return LoadedKernel(kernel, dict(configuration), known, _launcher(kernel, dict(configuration)))


def _described(source: object, sizes: Mapping[str, int] | None, described: Mapping[str, Any]) -> Description:
    if isinstance(source, str | Path) and is_kernel_folder(str(source)):
        return read_folder(Path(source), sizes, with_arrays=False).description
    strange = sorted(set(described) - DESCRIBED)
    if strange:
        raise InputError(f"load has no argument '{strange[0]}'")
    return Description(source, sizes=dict(sizes or {}), **described)


def _profile(description: Description) -> Any:
    from kerneltune.tuning.tune import profile_for

    return profile_for(description, None)


def _is_valid(kernel: Kernel, configuration: Mapping[str, object]) -> bool:
    return set(configuration) == set(kernel.space.names) and dict(configuration) in kernel.space


def _launcher(kernel: Kernel, configuration: Configuration) -> Any:
    if kernel.kind in (CUDA, PTX):
        from kerneltune.measuring.launcher import KernelLauncher

        return KernelLauncher(kernel.order(configuration), kernel.arguments)
    if kernel.kind == TRITON:
        from kerneltune.sources.references import resolved
        from kerneltune.sources.targets import without_autotuner

        function, grid = without_autotuner(resolved(kernel.source)), kernel.order(configuration).grid
        return lambda arguments, stream: function[grid](*arguments, **configuration)
    if kernel.kind == CALLABLE and kernel.function is not None:
        plain = kernel.function
        return lambda arguments, stream: plain(*arguments, **configuration)
    raise InputError(f"{kernel.name} cannot be loaded")
