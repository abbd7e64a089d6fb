"""A user's kernel as work for the pipeline: orders, promises, results."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kerneltune.errors import InputError, nearest
from kerneltune.messages import Answer, Built, Failed, Order
from kerneltune.pipeline.trial import TIME, Trial
from kerneltune.searching.protocol import Configuration
from kerneltune.sources.kernel import CALLABLE, Kernel
from kerneltune.tiling.occupancy import blocks_per_sm

Metric = Callable[[Mapping[str, Any], Mapping[str, float]], float]
RATES = {"flops": "gflops", "bytes": "gbs"}  # numbers of a kernel, and the objectives that they give


@dataclass(frozen=True)
class KernelWork:
    """Orders of a kernel, and what their answers mean.

    Attributes:
        kernel: The kernel.
        device: The device's name.
        metrics: Objectives of the user, from the configuration and the objectives before them.
    """

    kernel: Kernel
    device: str = ""
    metrics: Mapping[str, Metric] = field(default_factory=dict)

    @property
    def compiles(self) -> bool:
        """Whether a compiler runs before each candidate."""
        return self.kernel.compiles

    def order(self, configuration: Configuration) -> Order:
        """The order of a configuration."""
        return self.kernel.order(configuration)

    def refused(self, order: Order, built: Built) -> str | None:
        """The promises that the compiled kernel breaks: registers, shared memory, blocks on an SM."""
        found = self.resources(order, built)
        profile = self.kernel.profile
        broken = []
        promised = order.registers
        if promised is not None and built.registers > promised:
            broken.append(f"{built.registers} registers, {promised} promised")
        if promised is not None and built.spills:
            broken.append(f"{built.spills} bytes of spills")
        shared = found["shared_memory"]
        if profile is not None and shared > profile.smem_per_block_optin:
            broken.append(f"{shared} bytes of shared memory, {profile.smem_per_block_optin} exist")
        wanted, resident = order.blocks_per_sm, found.get("blocks_per_sm")
        if wanted is not None and resident is not None and resident < wanted:
            broken.append(f"{resident} blocks per SM, {wanted} promised")
        elif resident == 0:
            broken.append(f"no block fits an SM with {built.registers} registers a thread")
        return "; ".join(broken) or None

    def resources(self, order: Order, built: Built | None) -> dict[str, int]:
        """Registers, shared memory, spills and blocks per SM of what was built."""
        if built is None:
            return {}
        threads = math.prod(order.block)
        shared = built.shared_memory + order.shared_memory
        found = {
            "threads": threads,
            "registers": built.registers,
            "shared_memory": shared,
            "spills": built.spills,
        }
        profile = self.kernel.profile
        if profile is not None and self.kernel.kind == "cuda":
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
