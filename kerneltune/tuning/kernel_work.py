"""A user's kernel as work for the pipeline: orders, promises, results."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from kerneltune.errors import InputError
from kerneltune.pipeline.stages import Answer
from kerneltune.pipeline.trial import TIME, Trial
from kerneltune.searching.protocol import Configuration
from kerneltune.sources.kernel import Kernel
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

    def order(self, configuration: Configuration) -> dict[str, Any]:
        """The order of a configuration."""
        return self.kernel.order(configuration)

    def refused(self, order: Mapping[str, Any], built: Mapping[str, Any]) -> str | None:
        """The promises that the compiled kernel breaks: registers, shared memory, blocks on an SM."""
        found = self.resources(order, built)
        profile = self.kernel.profile
        broken = []
        promised = order.get("registers")
        if promised is not None and found.get("registers", 0) > promised:
            broken.append(f"{found['registers']} registers, {promised} promised")
        if promised is not None and built.get("spills"):
            broken.append(f"{built['spills']} bytes of spills")
        if profile is not None and found.get("shared_memory", 0) > profile.smem_per_block_optin:
            broken.append(
                f"{found['shared_memory']} bytes of shared memory, {profile.smem_per_block_optin} exist"
            )
        wanted = order.get("blocks_per_sm")
        if wanted is not None and found.get("blocks_per_sm", wanted) < wanted:
            broken.append(f"{found['blocks_per_sm']} blocks per SM, {wanted} promised")
        elif found.get("blocks_per_sm") == 0:
            broken.append(f"no block fits an SM with {found['registers']} registers a thread")
        return "; ".join(broken) or None

    def resources(self, order: Mapping[str, Any], built: Mapping[str, Any]) -> dict[str, int]:
        """Registers, shared memory, spills and blocks per SM of what was built."""
        if "registers" not in built:
            return {}
        threads = math.prod(order["block"])
        shared = int(built["shared_memory"]) + int(order.get("shared_memory") or 0)
        found = {
            "threads": threads,
            "registers": int(built["registers"]),
            "shared_memory": shared,
            "spills": int(built.get("spills", 0)),
        }
        profile = self.kernel.profile
        if profile is not None and self.kernel.kind == "cuda":
            found["blocks_per_sm"] = blocks_per_sm(profile, threads, found["registers"], shared)
        return found

    def trial(self, order: Mapping[str, Any], built: Answer, answer: Answer) -> Trial:
        """The result of an answer."""
        built = answer.get("built") or built
        made: dict[str, Any] = {
            "configuration": order["configuration"],
            "compile_seconds": float(built.get("seconds", 0.0)),
            "resources": self.resources(order, built),
            "device": self.device,
        }
        if "failure" in answer:
            died, limit = bool(answer.get("died")), answer.get("limit")
            return Trial(**made, failure=str(answer["failure"]) or "no reason", died=died, limit=limit)
        timing = answer["timing"]
        objectives = {TIME: float(timing["median"]), **answer.get("objectives", {})}
        made |= {
            "run_seconds": float(answer.get("seconds", 0.0)),
            "fastest": timing["fastest"],
            "spread": timing["spread"],
            "samples": timing["samples"],
            "relative_error": answer.get("relative_error"),
            "notes": answer.get("notes", {}),
        }
        try:
            return Trial(**made, objectives=self._objectives(order["configuration"], objectives))
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
