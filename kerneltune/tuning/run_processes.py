"""The processes of a run over a user's kernel: some start before the kernel is described."""

from __future__ import annotations

import inspect
import json
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from constrint.support.children import search_path
from kerneltune.errors import InputError, RunError
from kerneltune.measuring.case import Case
from kerneltune.measuring.counters import tool
from kerneltune.measuring.serving import Server
from kerneltune.messages import SetUp, Watcher
from kerneltune.pipeline.counting import Counted
from kerneltune.pipeline.elsewhere import InThisProcess, OnExecutor
from kerneltune.pipeline.judging import Judged
from kerneltune.pipeline.stages import Compilers, Devices
from kerneltune.running.children import FUNCTION_VARIABLE, KIND_VARIABLE, Child, visible_device
from kerneltune.sources.kernel import CALLABLE, Kernel
from kerneltune.sources.references import named

if TYPE_CHECKING:
    from kerneltune.tuning.kernel_run import RunOptions

AnyDevices = Devices | InThisProcess | OnExecutor | Judged | Counted
MOST_COMPILERS = {"cuda": 16, "triton": 8}


class Ahead:
    """Processes that start before the kernel is described: the first that compiles, and those that measure.

    They import what they need, and make the GPU's context, meanwhile.

    Args:
        language: The kind of kernels, and where a function that is compiled is found; plain functions have
            none of these processes.
        options: How the kernel is tuned.
    """

    def __init__(self, language: tuple[str, str], options: RunOptions) -> None:
        kind, function = language
        self.measuring: list[Child] = []
        self.compiler: Child | None = None
        if kind == CALLABLE or options.executor is not None:
            return
        self.measuring = measuring_children(kind, options)
        if kind in MOST_COMPILERS:
            told = {KIND_VARIABLE: kind, FUNCTION_VARIABLE: json.dumps([function, *search_path()])}
            self.compiler = Child(options.commands.compile, environment=told)
        for child in self._all:
            with suppress(RunError):  # it is told where the process is needed
                child.begin()

    @classmethod
    def nothing(cls) -> Ahead:
        """No process."""
        made = cls.__new__(cls)
        made.measuring, made.compiler = [], None
        return made

    @property
    def _all(self) -> list[Child]:
        return [*self.measuring, *([] if self.compiler is None else [self.compiler])]

    def close(self) -> None:
        """End the processes."""
        for child in self._all:
            child.end()


def measuring_children(kind: str, options: RunOptions) -> list[Child]:
    """A process for each device, not yet started, without its set-up."""
    numbers: list[int | None] = list(options.devices) if options.devices else [None]
    command, environment = options.commands.measure, {KIND_VARIABLE: kind}
    return [Child(command, environment=visible_device(number) | environment) for number in numbers]


class Processes:
    """Makes the stages of a run.

    Args:
        kernel: The kernel.
        options: How it is tuned.
        ahead: Processes that were started before.
    """

    def __init__(self, kernel: Kernel, options: RunOptions, ahead: Ahead) -> None:
        self._kernel, self._options, self._ahead = kernel, options, ahead

    def compilers(self) -> Compilers | None:
        """The compiling stage; None where nothing is compiled here."""
        kernel, options = self._kernel, self._options
        if not kernel.compiles or options.executor is not None:
            return None
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        workers = options.workers or max(1, min(cores, MOST_COMPILERS[kernel.kind]))
        compilers = Compilers(workers, options.commands.compile, first=self._ahead.compiler)
        compilers.warm_up()
        return compilers

    def devices(self, case: Case | Callable[[], Case], folder: Path, ready: threading.Event) -> AnyDevices:
        """The measuring stage, whose processes are set up once the case is in the folder."""
        kernel, options = self._kernel, self._options
        if options.counters:
            tool()  # raises before processes are started
        devices: AnyDevices = self._uncounted(case, folder, ready)
        if options.counters:
            if not isinstance(devices, Devices):
                raise InputError(f"counters are those of GPU kernels, and {kernel.name} is a {kernel.kind}")
            command, timeout = options.commands.measure, options.timeout
            devices = Counted(devices, self._set_up(folder), folder, options.counters, command, timeout)
        return devices if options.judge is None else Judged(devices, folder, options.judge)

    def _set_up(self, folder: Path) -> SetUp:
        """The first message to the measuring processes."""
        options = self._options
        return SetUp(
            case=str(folder),
            kind=self._kernel.kind,
            plan=options.plan.to_json(),
            observers=tuple(_watcher(one) for one in options.observers),
            path=tuple(search_path()),
            outputs="" if options.judge is None else str(folder),
        )

    def _uncounted(
        self, case: Case | Callable[[], Case], folder: Path, ready: threading.Event
    ) -> Devices | InThisProcess | OnExecutor:
        kernel, options = self._kernel, self._options
        if kernel.kind == CALLABLE and not options.isolated and isinstance(case, Case):
            from kerneltune.measuring.callable_backend import CallableBackend

            backend = CallableBackend(case, kernel.function, kernel.timer)
            made = [one() if isinstance(one, type) else one for one in options.observers]
            outputs = None if options.judge is None else folder
            return InThisProcess(Server(backend, options.plan, made, outputs=outputs))
        set_up = self._set_up(folder)
        if options.executor is not None:
            numbers: tuple[int | None, ...] = tuple(options.devices) if options.devices else (None,)
            tasks, timeout, commands = options.tasks, options.timeout, options.commands
            return OnExecutor(options.executor, set_up, tasks, timeout, numbers, commands)
        children = self._ahead.measuring or measuring_children(kernel.kind, options)
        for child in children:
            child.set_up = set_up
        devices = Devices(children, options.timeout, ready)
        devices.start()
        return devices


def _watcher(observer: object) -> Watcher:
    """An observer for a measuring process: by name, or by its class and the arguments in its `given`."""
    if isinstance(observer, str):
        return Watcher(observer)
    found = named(observer)
    if found is not None:
        return Watcher(found)
    made, given = named(type(observer)), getattr(observer, "given", None)
    if made is None or isinstance(observer, type) or (given is None and not _takes_nothing(type(observer))):
        raise InputError(
            f"the observer {observer!r} cannot be found by name in the measuring process: give a class that "
            "stands at the top level of a file, or an object of one, with its arguments in `given`"
        )
    return Watcher(made, dict(given or {}))


def _takes_nothing(made: type) -> bool:
    """Whether a class can be called without arguments."""
    try:
        inspect.signature(made).bind()
    except (TypeError, ValueError):
        return False
    return True
