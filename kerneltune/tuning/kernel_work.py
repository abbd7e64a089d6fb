"""A user's kernel as work for the pipeline: orders, promises, results."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kerneltune.errors import InfeasibleError, InputError, nearest
from kerneltune.messages import Answer, Built, Failed, Order
from kerneltune.pipeline.trial import TIME, Trial
from kerneltune.searching.protocol import Configuration
from kerneltune.sources.kernel import CALLABLE, CUDA, PROMISES, Kernel
from kerneltune.tiling.occupancy import blocks_per_sm
from kerneltune.tuning.learned_limits import LAUNCH_BOUNDS, LearnedLimits

Metric = Callable[[Mapping[str, Any], Mapping[str, float]], float]
IGNORED_LIMIT = (
    f" (the source has {LAUNCH_BOUNDS}, so the compiler ignores the promise as its limit, --maxrregcount: "
    f"write {LAUNCH_BOUNDS}(THREADS, BLOCKS_PER_SM) for fewer registers, or remove it)"
)
REFUSING = "with strict: true they are refused"
RATES = {"flops": "gflops", "bytes": "gbs"}  # numbers of a kernel, and the objectives that they give


@dataclass(frozen=True)
class KernelWork:
    """Orders of a kernel, and what their answers mean.

    Attributes:
        kernel: The kernel.
        device: The device's name.
        metrics: Objectives of the user, from the configuration and the objectives before them.
        limits: What compile reports say of configurations that are not compiled; None: nothing is learned.
    """

    kernel: Kernel
    device: str = ""
    metrics: Mapping[str, Metric] = field(default_factory=dict)
    limits: LearnedLimits | None = None

    @property
    def compiles(self) -> bool:
        """Whether a compiler runs before each candidate."""
        return self.kernel.compiles

    def order(self, configuration: Configuration) -> Order:
        """The order of a configuration; raises `InfeasibleError` for one that cannot be launched."""
        reason = None if self.limits is None else self.limits.excludes(configuration)
        if reason is not None:
            raise InfeasibleError(reason)
        return self.kernel.order(configuration)

    def refused(self, order: Order, built: Built) -> str | None:
        """Why a compiled kernel is not run: it cannot be launched, or a strict one breaks a promise."""
        if self.limits is not None:
            self.limits.learn(order, built)
        reasons = self.impossible(order, built)
        if self.kernel.strict:
            reasons += self.broken(order, built)
        return "; ".join(reasons) or None

    def impossible(self, order: Order, built: Built) -> list[str]:
        """Why a compiled kernel cannot be launched."""
        found, profile = self.resources(order, built), self.kernel.profile
        reasons = []
        if profile is not None and found["shared_memory"] > profile.smem_per_block_optin:
            shared, most = found["shared_memory"], profile.smem_per_block_optin
            reasons.append(f"{shared} bytes of shared memory, {most} exist")
        elif found.get("blocks_per_sm") == 0:
            threads = found["threads"]
            reasons.append(f"no block of {threads} threads with {built.registers} registers each fits an SM")
        if profile is None:
            return reasons
        for one, (registers, shared) in zip(order.then, built.then, strict=False):
            threads = math.prod(one.block)
            if not blocks_per_sm(profile, threads, registers, shared + one.shared_memory):
                reasons.append(
                    f"{one.entry}: no block of {threads} threads with {registers} registers each fits an SM"
                )
        return reasons

    def broken(self, order: Order, built: Built) -> list[str]:
        """The promises that a compiled kernel breaks: registers, spills, blocks on an SM."""
        found, promised = self.resources(order, built), order.registers
        broken = []
        if promised is not None and built.registers > promised:
            broken.append(f"{built.registers} registers, {promised} promised{self._bounds_words(order)}")
        if promised is not None and built.spills:
            broken.append(f"{built.spills} bytes of spills")
        wanted, resident = order.blocks_per_sm, found.get("blocks_per_sm")
        if wanted is not None and resident is not None and resident < wanted:
            broken.append(f"{resident} blocks per SM, {wanted} promised")
        return broken

    def _bounds_words(self, order: Order) -> str:
        return IGNORED_LIMIT if LAUNCH_BOUNDS in order.source else ""

    def resources(self, order: Order, built: Built | None) -> dict[str, int]:
        """Registers, shared memory, spills and blocks per SM of what was built."""
        if built is None:
            return {}
        threads = math.prod(order.block if built.launch is None else built.launch.block)
        shared = built.shared_memory + order.shared_memory
        found = {
            "threads": threads,
            "registers": built.registers,
            "shared_memory": shared,
            "spills": built.spills,
        }
        if built.instructions:
            found["instructions"] = built.instructions
        profile = self.kernel.profile
        if profile is not None and (self.kernel.kind == CUDA or built.launch is not None):
            found["blocks_per_sm"] = blocks_per_sm(profile, threads, built.registers, shared)
        return found

    def trial(self, order: Order, built: Built | None, answer: Answer | Failed) -> Trial:
        """The result of an answer."""
        built = answer.built or built
        made: dict[str, Any] = {
            "configuration": order.configuration,
            "compile_seconds": 0.0 if built is None else built.seconds,
            "resources": self.resources(order, built),
            "device": self.device,
        }
        if isinstance(answer, Failed):
            return Trial(**made, failure=answer.failure or "no reason", died=answer.died, limit=answer.limit)
        timing = answer.timing
        if timing is None:
            return Trial(**made, failure="it was not timed")
        made |= {
            "run_seconds": answer.seconds,
            "fastest": timing.fastest,
            "spread": timing.spread,
            "samples": timing.samples,
            "relative_error": answer.relative_error,
            "notes": answer.notes,
        }
        try:
            objectives = self._objectives(order.configuration, {TIME: timing.median, **answer.objectives})
            return Trial(**made, objectives=objectives)
        except InputError as error:
            return Trial(**made, failure=str(error))

    def renewed(self, trial: Trial) -> Trial:
        """A stored trial with this run's metrics in place of those that were stored."""
        if not self.metrics or not trial.passed:
            return trial
        try:
            return replace(trial, objectives=self._objectives(trial.configuration, dict(trial.objectives)))
        except InputError as error:
            return replace(trial, objectives={}, failure=str(error))

    def _objectives(self, configuration: Configuration, found: dict[str, float]) -> dict[str, float]:
        numbers = self.kernel.numbers.of(configuration)
        for number, rate in RATES.items():
            if number in numbers:
                found[rate] = numbers[number] / found[TIME] / 1e6
        for name, metric in self.metrics.items():
            try:
                found[name] = float(metric(dict(configuration), dict(found)))
            except Exception as error:  # the user's own function
                raise InputError(f"the metric '{name}' fails: {error!r}") from None
            if not math.isfinite(found[name]):
                raise InputError(f"the metric '{name}' is {found[name]}")
        return found


def unkept(work: KernelWork, trials: Iterable[Trial]) -> list[str]:
    """Notes of trials that were measured though they break a promise."""
    kernel, over, under = work.kernel, [], []
    for trial in trials if set(PROMISES) & set(kernel.numbers.names) else ():
        promised, taken = kernel.numbers.of(trial.configuration), trial.resources
        if not trial.passed or not taken.get("registers"):
            continue
        if taken["registers"] > promised.get("registers", taken["registers"]):
            over.append((taken["registers"], promised["registers"]))
        resident = taken.get("blocks_per_sm", 0)
        if resident < promised.get("blocks_per_sm", resident):
            under.append((resident, promised["blocks_per_sm"]))
    found = []
    if over:
        registers, most = max(over, key=lambda pair: pair[0] - pair[1])
        more = IGNORED_LIMIT if LAUNCH_BOUNDS in kernel.source else ""
        found.append(
            f"{len(over)} configurations take more registers than promised, as {registers} in place of "
            f"{most}{more}; {REFUSING}"
        )
    if under:
        resident, least = under[0]
        found.append(
            f"{len(under)} configurations have fewer blocks per SM than promised, as {resident} in place of "
            f"{least}; {REFUSING}"
        )
    return found


def left_out(work: KernelWork) -> list[str]:
    """A note of configurations that were not compiled, since the reports of others exclude them."""
    reasons = [] if work.limits is None else work.limits.left_out
    if not reasons:
        return []
    return [f"{len(reasons)} configurations were not compiled, such as one of {reasons[0]}"]


def check_objectives(kernel: Kernel, wanted: Sequence[str], metrics: Iterable[str]) -> None:
    """Raise `InputError` for an objective that no trial of a kernel will have; callables may give any."""
    if kernel.kind == CALLABLE:
        return
    rates = {rate: number for number, rate in RATES.items()}
    given = [rate for rate, number in rates.items() if number in kernel.numbers.names]
    known = [TIME, "energy", *given, *metrics]
    for name in wanted:
        if name in rates and name not in known:
            raise InputError(f"objective: {name} needs the number `{rates[name]}` of the kernel")
        if name not in known:
            raise InputError(f"objective: unknown '{name}': {nearest(name, known)}")
