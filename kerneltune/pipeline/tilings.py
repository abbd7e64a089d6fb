"""Tilings as work for the pipeline: their order, their compilers, their device, their trials."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from kerneltune.compiling.compile import Compiler
from kerneltune.compiling.source import KERNEL_NAME
from kerneltune.errors import CompilationError, KernelTuneError, RunError
from kerneltune.inputs.descriptions import Kernels, discover
from kerneltune.inputs.hardware import HardwareProfile
from kerneltune.measuring.measure import MeasuringPlan
from kerneltune.messages import Answer, Built, Failed, Order, Request, SetUp
from kerneltune.pipeline.stages import MEASURING_CHILD, Devices
from kerneltune.pipeline.tiling_trial import RUNS, SEED, TOLERANCE, TilingTrial, configuration_of
from kerneltune.pipeline.trial import TIME
from kerneltune.running.cases import Cases
from kerneltune.running.child_output import MOST_LINE_BYTES
from kerneltune.running.children import Child
from kerneltune.running.scratch import scratch_folder
from kerneltune.searching.protocol import Configuration, Outcome
from kerneltune.tiling.candidate import Candidate

LOADED_PER_SECOND = 1e8  # least rate at which a child reads input and references, in bytes


@dataclass(frozen=True)
class CompiledTiling:
    """A compiled candidate, and the seed of the input that it runs on."""

    candidate: Candidate
    cubin: bytes
    cooperative: bool
    seed: int = 0


class InOrder:
    """The search of tilings: the candidates in the model's order."""

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        self._left = [configuration_of(candidate) for candidate in candidates]

    def ask(self, count: int) -> list[Configuration]:
        """The next candidates."""
        taken, self._left = self._left[:count], self._left[count:]
        return taken

    def tell(self, outcome: Outcome) -> None:
        """The order stays."""


@dataclass
class TilingWork:
    """Candidates as orders, and their answers as trials.

    Attributes:
        candidates: The candidates.
        kernels: The kernels of their request.
        plan: The work on each.
        seed: The seed of their input.
        device: Gives the device's name.
        left_out: The reasons why candidates were not run.
    """

    candidates: Sequence[Candidate]
    kernels: Kernels
    plan: MeasuringPlan
    seed: int
    device: Callable[[], str]
    compiles: bool = True
    left_out: dict[int, str] = field(default_factory=dict)

    def candidate(self, configuration: Configuration) -> Candidate:
        """The candidate of a configuration."""
        return self.candidates[self.place(configuration)]

    def place(self, configuration: Configuration) -> int:
        """Its place in the model's order."""
        found = (i for i, one in enumerate(self.candidates) if configuration_of(one) == configuration)
        return next(found)

    def order(self, configuration: Configuration) -> Order:
        """The order of a configuration."""
        candidate = self.candidate(configuration)
        return order_of(candidate, self.kernels.strategy(candidate.strategy).spec.cooperative)

    def refused(self, order: Order, built: Built) -> str | None:
        """Nothing: the compile stage refuses kernels that exceed their predictions."""
        return None

    def trial(self, order: Order, built: Built | None, answer: Answer | Failed) -> TilingTrial:
        """The result of an answer."""
        if built is None and isinstance(answer, Failed):
            self.left_out[self.place(order.configuration)] = answer.failure
        return trial_of(order, answer, self.device(), self.plan.runs, self.seed)


def order_of(candidate: Candidate, cooperative: bool) -> Order:
    """The order of a candidate, with the fields that orders of all kinds have."""
    return Order(
        kind="tiling",
        configuration=configuration_of(candidate),
        entry=KERNEL_NAME,
        grid=(candidate.blocks, 1, 1),
        block=(candidate.threads, 1, 1),
        shared_memory=candidate.shared_memory,
        cooperative=cooperative,
        candidate=candidate.to_json(),
    )


def trial_of(order: Order, answer: Answer | Failed, device: str, runs: int, seed: int) -> TilingTrial:
    """The trial of an answer."""
    candidate = Candidate.from_json(order.candidate)
    if isinstance(answer, Failed):
        return TilingTrial(
            order.configuration,
            failure=answer.failure or "no reason",
            device=device,
            died=answer.lost,
            limit=answer.limit,
            candidate=candidate,
        )
    timing = answer.timing
    notes = {**answer.notes, SEED: seed, RUNS: runs, TOLERANCE: answer.tolerance or 0.0}
    return TilingTrial(
        order.configuration,
        {} if timing is None else {TIME: timing.median},
        run_seconds=answer.seconds,
        fastest=None if timing is None else timing.fastest,
        spread=None if timing is None else timing.spread,
        samples=0 if timing is None else timing.samples,
        relative_error=answer.relative_error,
        notes=notes,
        device=device,
        candidate=candidate,
    )


class TilingCompilers:
    """The compile stage: NVRTC and nvcc run outside Python's lock, so threads do.

    Args:
        compiler: Makes cubins for the profile.
        workers: Number of threads; by default one for each processor.
    """

    def __init__(self, compiler: Compiler, workers: int | None = None) -> None:
        self.workers = workers or min(16, os.cpu_count() or 1)
        self._compiler = compiler
        self._pool = ThreadPoolExecutor(self.workers, "kerneltune-compile")

    def submit(self, order: Order) -> Future[Built | Failed]:
        """Start a compilation."""
        return self._pool.submit(self._compiled, Candidate.from_json(order.candidate))

    def _compiled(self, candidate: Candidate) -> Built | Failed:
        try:
            made = self._compiler.compile(candidate)
        except CompilationError as error:
            return Failed(failure=f"{candidate.strategy}: {error}")
        report = made.report
        broken = report.broken_promises()
        if broken:
            return Failed(failure=f"{candidate.strategy}: {'; '.join(broken)}")
        return Built(
            cubin=made.cubin,
            lowered=(KERNEL_NAME,),
            registers=report.registers,
            seconds=report.seconds,
            cached=report.cached,
            compiler=report.compiler,
        )

    def close(self) -> None:
        """Wait for running work."""
        self._pool.shutdown(wait=True, cancel_futures=True)


class TilingDevices(Devices):
    """The measuring stage of tilings: one process; input and references are made when they are first needed.

    Args:
        cases: The files of input and references.
        plan: The work on each candidate.
        seeds: Gives the seed of a request's input.
        timeout: Seconds for one candidate, after its input was read.
        command: The command of the process.
        profile: The GPU that candidates are for; None: whichever there is.
    """

    def __init__(
        self,
        cases: Cases,
        plan: MeasuringPlan,
        seeds: Callable[[Request], int],
        timeout: float,
        command: Sequence[str] = MEASURING_CHILD,
        profile: HardwareProfile | None = None,
    ) -> None:
        self._cases, self._seeds, self._profile = cases, seeds, profile
        self._child = Child(command, set_up_of(plan, cases.kernels), longest=MOST_LINE_BYTES)
        super().__init__([self._child], timeout)

    @property
    def device(self) -> str:
        """The device's name; empty as long as nothing ran."""
        return "" if self._child.facts is None else self._child.facts.device

    def require(self) -> None:
        """Start the process; raises `KernelTuneError` if it cannot run candidates of the profile."""
        self._child.start()
        if self._profile is not None:
            require(self._child, self._profile)

    def finish(self) -> None:
        """Let the process end by itself."""
        self._child.finish()

    def _completed(self, request: Request) -> tuple[Request, float] | Failed:
        self.require()
        problem = Candidate.from_json(request.order.candidate).problem
        try:
            folder = self._cases.folder(problem, self._seeds(request))
        except RunError as error:
            return Failed(trial=request.trial, failure=str(error))
        loading = sum(path.stat().st_size for path in folder.iterdir()) / LOADED_PER_SECOND
        return replace(request, order=replace(request.order, case=str(folder))), loading


def set_up_of(plan: MeasuringPlan, kernels: Kernels) -> SetUp:
    """The set-up of a process that runs tilings."""
    return SetUp(kind="tiling", plan=plan.to_json(), kernels_root=str(kernels.root))


def require(child: Child, profile: HardwareProfile) -> None:
    """Raise `KernelTuneError` if a child that was started has another GPU than the profile's."""
    facts = child.facts
    if facts is not None and facts.compute_capability != profile.compute_capability:
        raise KernelTuneError(
            f"this machine's GPU is a {facts.device} of compute capability {facts.compute_capability}, "
            f"the tiling is for {profile.name}, {profile.compute_capability}"
        )


def require_gpu(
    profile: HardwareProfile,
    kernels: Kernels | None = None,
    *,
    timeout: float = 120.0,
    child: Sequence[str] = MEASURING_CHILD,
) -> None:
    """Check in a child process that tilings can run here, before anything is compiled.

    Args:
        profile: The profile that the GPU must have.
        kernels: The kernels' sources; by default those that `discover` finds.
        timeout: Seconds until the child must have answered.
        child: The command that starts the child.

    Raises:
        KernelTuneError: The GPU is another than the profile's.
        MissingExtraError: The extra is missing.
        RunError: There is no GPU, or the process ended without an answer.
    """
    process = Child(child, set_up_of(MeasuringPlan(), kernels or discover()), patience=timeout)
    process.start()
    process.finish()
    require(process, profile)


def run_tilings(
    tilings: Sequence[CompiledTiling],
    kernels_root: Path,
    plan: MeasuringPlan,
    *,
    timeout: float = 120.0,
    child: Sequence[str] = MEASURING_CHILD,
) -> Iterator[TilingTrial]:
    """Run each compiled tiling in a child process, in order, and yield each trial when it is known.

    A crash, a hang or a sticky CUDA error costs one candidate, never the run. Input and reference of a
    request are made once; if they cannot be made, its candidates fail, and the others run.

    Args:
        tilings: The tilings.
        kernels_root: The kernels folder, for the reference.
        plan: The work on each.
        timeout: Seconds for one of them, after its input was read.
        child: The command of the child process.

    Raises:
        KernelTuneError: Nothing can be run here.
    """
    with scratch_folder() as folder:
        cases = Cases(discover(kernels_root), folder)
        devices = TilingDevices(cases, plan, lambda request: tilings[request.trial or 0].seed, timeout, child)
        try:
            for number, one in enumerate(tilings):
                order = order_of(one.candidate, one.cooperative)
                built = Built(cubin=one.cubin, lowered=(KERNEL_NAME,))
                answer = devices.submit(number, order, built, None).result()
                yield trial_of(order, answer, devices.device, plan.runs, one.seed)
            devices.finish()
        finally:
            devices.close()
