"""A user's kernel compiled without a GPU: what each configuration takes, beside what it promises."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from kerneltune.errors import InfeasibleError, InputError, nearest
from kerneltune.messages import Built, Failed, Order
from kerneltune.pipeline.stages import Compilers
from kerneltune.searching.protocol import Configuration
from kerneltune.sources.kernel import Kernel
from kerneltune.tuning.kernel_work import KernelWork

PROMISED = ("registers", "blocks_per_sm")
WHOLE = re.compile(r"-?[0-9]{1,18}")
AHEAD = 2  # orders of each process that wait


@dataclass(frozen=True)
class Compilation:
    """One configuration, compiled or not.

    Attributes:
        configuration: The values of the parameters.
        resources: Threads, registers, shared memory, spills and blocks per SM, of what was compiled.
        promised: Registers and blocks per SM, where the kernel promises them.
        broken: The promises that are broken, or the limits of the GPU.
        failure: Why there is no machine code: the compiler's reason, or what cannot be launched.
        seconds: Time of the compilation; 0 if the machine code was kept.
        compiler: Its version.
    """

    configuration: Configuration
    resources: Mapping[str, int]
    promised: Mapping[str, int]
    broken: str | None = None
    failure: str | None = None
    seconds: float = 0.0
    compiler: str = ""

    @property
    def passed(self) -> bool:
        """Whether it compiled and keeps its promises."""
        return self.failure is None and self.broken is None

    def to_json(self) -> dict[str, object]:
        """A JSON object."""
        return {
            "configuration": dict(self.configuration),
            "resources": dict(self.resources),
            "promised": dict(self.promised),
            "broken": self.broken,
            "failure": self.failure,
            "seconds": self.seconds,
            "compiler": self.compiler,
        }


def compilations(
    kernel: Kernel,
    configurations: Iterable[Configuration],
    *,
    workers: int | None = None,
    timeout: float = 300.0,
) -> Iterator[Compilation]:
    """Compile configurations, several at a time, and give each in its turn.

    Args:
        kernel: The kernel, on the GPU of its profile.
        configurations: They.
        workers: Processes that compile; by default as many as the machine has processors.
        timeout: Seconds for one of them.
    """
    if not kernel.compiles:
        raise InputError(f"{kernel.name} is {kernel.kind}: there is nothing to compile before it runs")
    compilers, work = Compilers(workers or os.cpu_count() or 1, timeout=timeout), KernelWork(kernel)
    begun: list[tuple[Configuration, Order | str, Future[Built | Failed] | None]] = []
    try:
        for configuration in configurations:
            begun.append(_begun(kernel, compilers, configuration))
            if len(begun) > AHEAD * compilers.workers:
                yield _ended(work, *begun.pop(0))
        while begun:
            yield _ended(work, *begun.pop(0))
    finally:
        compilers.close()


def _begun(
    kernel: Kernel, compilers: Compilers, configuration: Configuration
) -> tuple[Configuration, Order | str, Future[Built | Failed] | None]:
    try:
        order = kernel.order(configuration)
    except InfeasibleError as error:
        return configuration, str(error), None
    return configuration, order, compilers.submit(order)


def _ended(
    work: KernelWork, configuration: Configuration, order: Order | str, made: Future[Built | Failed] | None
) -> Compilation:
    if isinstance(order, str) or made is None:
        return Compilation(configuration, {}, {}, failure=str(order))
    promised = {name: value for name in PROMISED if (value := getattr(order, name)) is not None}
    built = made.result()
    if isinstance(built, Failed):
        return Compilation(configuration, {}, promised, failure=built.failure)
    return Compilation(
        configuration,
        work.resources(order, built),
        promised,
        broken="; ".join([*work.impossible(order, built), *work.broken(order, built)]) or None,
        seconds=built.seconds,
        compiler=built.compiler,
    )


def configuration_of(kernel: Kernel, text: str, *, excluded: bool = False) -> dict[str, Any]:
    """The configuration of `NAME=VALUE,NAME=VALUE`; a parameter with one value need not be named.

    Args:
        kernel: The kernel.
        text: The configuration.
        excluded: Whether it may be one that the space does not have, and have other whole numbers.

    Raises:
        InputError: It is none.
    """
    values = {name: list(kernel.space.value_counts(name)) for name in kernel.space.names}
    found: dict[str, Any] = {}
    for part in text.split(","):
        name, equals, value = (one.strip() for one in part.partition("="))
        if not equals or not name:
            raise InputError(f"'{part}' is no NAME=VALUE of a configuration")
        if name not in values:
            raise InputError(f"{kernel.name} has no parameter '{name}': {nearest(name, list(values))}")
        if name in found:
            raise InputError(f"'{name}' is given twice in '{text}'")
        known = {str(one): one for one in values[name]}
        if excluded and value not in known and WHOLE.fullmatch(value):
            known[value] = int(value)
        if value not in known:
            raise InputError(f"{name} is never {value}: {', '.join(list(known)[:20])}")
        found[name] = known[value]
    for name, every in values.items():
        if name not in found and len(every) == 1:
            found[name] = every[0]
    missing = [name for name in values if name not in found]
    if missing:
        raise InputError(f"'{text}' does not say {', '.join(missing)}")
    ordered = {name: found[name] for name in values}
    if not excluded and ordered not in kernel.space:
        raise InputError(f"{text} is no configuration of {kernel.name}: kerneltune why says what excludes it")
    return ordered
