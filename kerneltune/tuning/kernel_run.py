"""A run over a user's kernel: children are started, the pipeline runs, finalists are measured again."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path

from kerneltune.errors import InputError, RunError
from kerneltune.inputs import rules
from kerneltune.inputs.rules import either, flag, number, optional, text, whole
from kerneltune.measuring.case import Case
from kerneltune.measuring.counters import check_counters
from kerneltune.measuring.measure import MeasuringPlan
from kerneltune.messages import Built, Failed, Finals
from kerneltune.pipeline.elsewhere import OnExecutor
from kerneltune.pipeline.judging import Judge
from kerneltune.pipeline.run import Budget, Notice, Pipeline, Progress
from kerneltune.pipeline.stages import Commands, Compilers
from kerneltune.pipeline.trial import TIME
from kerneltune.running.scratch import scratch_folder
from kerneltune.searching.base import Model, Search
from kerneltune.searching.points import Features
from kerneltune.searching.protocol import Strategy
from kerneltune.sources.kernel import CALLABLE, Kernel
from kerneltune.tuning.finals import Final, finalists, separated
from kerneltune.tuning.goals import Gains, Goals, Minimising
from kerneltune.tuning.kernel_work import KernelWork, Metric, left_out, unkept
from kerneltune.tuning.learned_limits import LearnedLimits
from kerneltune.tuning.memory import KernelMemory
from kerneltune.tuning.run_processes import Ahead, AnyDevices, Processes
from kerneltune.tuning.store import Store
from kerneltune.tuning.tuned import TunedKernel

OBSERVED = ("before_start", "after_finish", "get_results")  # what an observer may have
RULES = {
    "objective": either(text, rules.each(text)),
    "maximise": optional(flag),
    "metrics": rules.values_of(rules.function),
    "model": optional(rules.function),
    "features": optional(rules.function),
    "judge": optional(rules.function),
    "counters": rules.each(text),
    "observers": rules.each(either(text, rules.with_some_of(*OBSERVED))),
    "finalists": whole(0),
    "workers": optional(whole(1)),
    "devices": optional(rules.each(whole(0))),
    "executor": optional(rules.with_methods("submit")),
    "tasks": whole(1),
    "timeout": number(0, above=True),
    "store": optional(rules.path),
    "again": flag,
    "transfer": flag,
    "isolated": flag,
    "commands": rules.instance(Commands),
    "device": optional(text),
}


@dataclass(frozen=True)
class RunOptions:
    """How a kernel is tuned.

    Attributes:
        plan: The work on each candidate.
        budget: When the search ends.
        objective: What is searched for: `time`, `energy`, `gflops`, `gbs`, or a metric's or observer's name;
            several, or their names with commas between, for the Pareto front.
        maximise: Whether all are to be large; by default for `gflops` and `gbs`.
        metrics: Further objectives: functions of the configuration and the objectives.
        model: The predicted cost of a configuration, where searches begin; by default the kernel's `cycles`.
        features: Further numbers of a configuration for `trees` and `ridge`; by default those of the launch.
        observers: Classes or objects with `before_start`, `after_finish` or `get_results`.
        judge: A function of a configuration and its outputs by name, called in this process: it gives further
            objectives, and raises `RunError` for outputs that are wrong.
        counters: Hardware counters of each configuration, by the names of `ncu`, which become objectives.
        finalists: The number of best candidates that are measured again in turns; 0 for none.
        workers: Processes that compile; by default one for each processor, at most 16.
        devices: GPUs to use; None: the first.
        executor: Any executor of `concurrent.futures` that compiles and measures instead.
        tasks: Tasks at a time on the executor.
        timeout: Seconds for one candidate.
        store: The file of results; None: the user's own.
        again: Whether stored candidates are measured again.
        transfer: Whether the search begins with what the store has of this kernel at other sizes and on other
            devices; strategies that learn do, unless it misleads.
        isolated: Whether kernels run in a child process; False only for Python functions.
        commands: The commands of the children.
        device: The device's name in the store, if it is not this machine's.
    """

    plan: MeasuringPlan = field(default_factory=MeasuringPlan)
    budget: Budget = field(default_factory=Budget)
    objective: str | Sequence[str] = TIME
    maximise: bool | None = None
    metrics: Mapping[str, Metric] = field(default_factory=dict)
    model: Model | None = None
    features: Features | None = None
    observers: Sequence[object] = ()
    judge: Judge | None = None
    counters: Sequence[str] = ()
    finalists: int = 5
    workers: int | None = None
    devices: Sequence[int] | None = None
    executor: Executor | None = None
    tasks: int = 1
    timeout: float = 60.0
    store: Path | str | None = None
    again: bool = False
    transfer: bool = False
    isolated: bool = True
    commands: Commands = field(default_factory=Commands)
    device: str | None = None

    def __post_init__(self) -> None:
        """Raise `InputError` for a value that breaks its rule."""
        rules.check({**self.__dict__, "timed": self.plan.timed}, {**RULES, "timed": whole(1)})
        if self.judge is not None and self.executor is not None:
            raise InputError("judge does not go with executor: outputs stay on the machines of its workers")
        if self.counters and (self.executor is not None or len(self.devices or ()) > 1):
            raise InputError("counters are read on one GPU of this machine: give no executor, and one device")
        check_counters(self.counters)

    @property
    def goals(self) -> Goals:
        """The objectives, and which of them are to be large."""
        return Goals.of(self.objective, self.maximise)


def run_kernel(
    kernel: Kernel,
    case: Case | Callable[[], Case],
    strategy: Strategy,
    options: RunOptions,
    notice: Notice = lambda trial, progress: None,
    ahead: Ahead | None = None,
) -> TunedKernel:
    """Tune a kernel.

    Args:
        kernel: The kernel.
        case: Its arguments and reference, or a function that gives them, which is called while the processes
            start and the first configurations are compiled.
        strategy: The search.
        options: How it is tuned.
        notice: Called with each trial.
        ahead: Processes that were started before.

    Raises:
        KernelTuneError: Nothing can be measured here.
    """
    device = options.device or device_name(kernel)
    limits = LearnedLimits(kernel)
    work = KernelWork(kernel, device, options.metrics, limits)
    if isinstance(strategy, Search):
        strategy.excluded = lambda configuration: limits.excludes(configuration) is not None
    parts = [
        kernel.identity(),
        asdict(options.plan),
        *([sorted(options.counters)] if options.counters else []),
    ]
    identity = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
    goals = options.goals
    if not isinstance(case, Case) and (kernel.kind == CALLABLE or options.executor is not None):
        case = case()  # their processes have nothing to do before
    with scratch_folder() as folder, closing(Store(options.store)) as store:
        memory = KernelMemory(
            *(store, kernel.name, identity, device, kernel.sizes),
            again=options.again,
            timeout=options.timeout,
            renewed=work.renewed,
        )
        ready = threading.Event()
        if isinstance(case, Case):
            case.save(folder)
            ready.set()
        made = Processes(kernel, options, ahead or Ahead.nothing())
        devices = made.devices(case, folder, ready)
        compilers = made.compilers()
        try:
            pipeline = Pipeline(
                work,
                Minimising(strategy, goals),
                memory,
                compilers,
                devices,
                better=goals.better,
                gains=Gains(goals) if len(goals.names) > 1 else None,
                notice=notice,
            )
            if not isinstance(case, Case):
                pipeline.begin(options.budget)
                case().save(folder)
                ready.set()
            progress = pipeline.run(options.budget)
            finals = _finals(work, progress, compilers, devices, options)
        finally:
            devices.close()
            if compilers is not None:
                compilers.close()
    return _result(work, progress, finals, options)


def _result(
    work: KernelWork, progress: Progress, finals: Sequence[Final], options: RunOptions
) -> TunedKernel:
    kernel = work.kernel
    return TunedKernel(
        kernel=kernel.name,
        device=work.device,
        trials=tuple(progress.trials),
        goals=options.goals,
        finals=tuple(finals),
        seconds=progress.seconds,
        first_result=progress.first_result,
        measuring=progress.measuring,
        space_size=kernel.space.size,
        notes=_notes(work, progress),
    )


def _notes(work: KernelWork, progress: Progress) -> tuple[str, ...]:
    kernel = work.kernel
    notes = [*unkept(work, progress.trials), *left_out(work)]
    throttled = sum(1 for trial in progress.trials if trial.notes.get("throttled"))
    if throttled:
        notes.append(
            f"the GPU's clocks were throttled during {throttled} of {len(progress.trials)} measurements"
        )
    if kernel.arguments and not any(t.relative_error is not None for t in progress.trials if t.passed):
        notes.append("results were not verified")
    return tuple(notes)


def device_name(kernel: Kernel) -> str:
    """The name of the device that runs a kernel on this machine, as its child will report it."""
    if kernel.kind == CALLABLE:
        from kerneltune.measuring.callable_backend import CallableBackend

        return CallableBackend(Case((), {})).facts.device
    from kerneltune.running.detect import detect

    return detect().facts.name


def _finals(
    work: KernelWork,
    progress: Progress,
    compilers: Compilers | None,
    devices: AnyDevices,
    options: RunOptions,
) -> list[Final]:
    """The finalists measured again; none if they cannot be, or time is not what is searched for."""
    chosen = finalists(progress.trials, options.finalists)
    if len(chosen) < 2 or options.goals.names != (TIME,) or isinstance(devices, OnExecutor):
        return []
    orders = tuple(work.order(trial.configuration) for trial in chosen)
    builts: tuple[Built | None, ...] = (None,) * len(orders)
    if compilers is not None:
        made = [one.result() for one in [compilers.submit(order) for order in orders]]
        builts = tuple(built for built in made if not isinstance(built, Failed))
        if len(builts) < len(made):
            return []

    def in_turns(rounds: int, samples: int) -> Sequence[Sequence[float]]:
        request = Finals(trial=-1, orders=orders, builts=builts, rounds=rounds, samples=samples)
        answer = devices.in_turns(request)
        if isinstance(answer, Failed):
            raise RunError(answer.failure)
        return answer.times

    try:
        return separated(chosen, in_turns)
    except RunError:
        return []  # what was measured before stands
