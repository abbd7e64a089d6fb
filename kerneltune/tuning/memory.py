"""The part of a store that a run reads and writes: a kernel on a device, or the tilings of a request."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime

from kerneltune.compiling.compile import Compiler
from kerneltune.pipeline.tiling_trial import TilingTrial
from kerneltune.pipeline.tilings import TilingWork
from kerneltune.pipeline.trial import Trial
from kerneltune.searching.protocol import Configuration
from kerneltune.tiling.candidate import Candidate
from kerneltune.tuning.store import Store, StoredTrial


class KernelMemory:
    """The trials of one kernel on one device, measured in one way.

    Args:
        store: The store.
        kernel: The kernel's name.
        identity: A hash of all that results depend on.
        device: The device's name.
        sizes: The sizes.
        again: Whether stored trials are measured again.
        timeout: The time limit of a candidate.
        renewed: Completes a stored trial by what depends on this run.
    """

    def __init__(
        self,
        store: Store,
        kernel: str,
        identity: str,
        device: str,
        sizes: Mapping[str, int],
        *,
        again: bool = False,
        timeout: float = 60.0,
        renewed: Callable[[Trial], Trial] = lambda trial: trial,
    ) -> None:
        self._renewed = renewed
        self._store, self._kernel, self._identity, self._device = store, kernel, identity, device
        self._sizes, self._again, self._timeout = dict(sizes), again, timeout

    def _key(self, configuration: Configuration) -> str:
        parts = [self._identity, self._device, sorted(configuration.items())]
        return hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()

    def find(self, configuration: Configuration) -> Trial | None:
        """The stored trial of a configuration, unless it needs another try."""
        found = None if self._again else self._store.find(self._key(configuration))
        return self._renewed(found) if found is not None and found.is_final(self._timeout) else None

    def add(self, trial: Trial) -> None:
        """Store a trial."""
        row = StoredTrial(self._kernel, self._identity, self._device, self._sizes, now(), trial)
        self._store.add(self._key(trial.configuration), row)


class TilingMemory:
    """The trials of tilings.

    Args:
        store: The store.
        compiler: Knows everything that a kernel depends on.
        work: The candidates.
        again: Whether stored trials are measured again.
        timeout: The time limit of a candidate.
    """

    def __init__(
        self, store: Store, compiler: Compiler, work: TilingWork, *, again: bool, timeout: float
    ) -> None:
        self._store, self._compiler, self._work = store, compiler, work
        self._again, self._timeout = again, timeout

    def find(self, configuration: Configuration) -> Trial | None:
        """The stored trial of the same kernel, with the present cost model's prediction."""
        candidate = self._work.candidate(configuration)
        found = None if self._again else self._store.find(trial_key(self._compiler.key(candidate), candidate))
        if not isinstance(found, TilingTrial) or not found.is_final(self._timeout):
            return None
        return replace(found, configuration=configuration, candidate=candidate, stored=True)

    def add(self, trial: Trial) -> None:
        """Store a trial, unless its failure was not the candidate's."""
        if isinstance(trial, TilingTrial) and (trial.passed or trial.died):
            content = self._compiler.key(trial.candidate)
            self._store.add(trial_key(content, trial.candidate), row_of(trial, content))


def row_of(trial: TilingTrial, content: str) -> StoredTrial:
    """The row of a tiling, of which ``content`` is a hash of all that its machine code depends on."""
    problem = trial.candidate.problem
    sizes = {name: value for name, value in asdict(problem).items() if type(value) is int}
    return StoredTrial(problem.label, content, trial.device, sizes, now(), trial)


def trial_key(content: str, candidate: Candidate) -> str:
    """The key of a tiling's trial.

    Args:
        content: A hash of the generated source, all device sources, the compiler and its options.
        candidate: The candidate, which names the problem and the profile.
    """
    # Predictions are not part of the key: other cost constants do not make another kernel.
    launch = (candidate.threads, candidate.blocks, candidate.cluster, candidate.shared_memory)
    described = json.dumps(
        [
            *(content, candidate.gpu, asdict(candidate.problem), candidate.strategy),
            *(sorted(candidate.parameters.items()), launch, candidate.workspace, candidate.workspace_fill),
        ],
        sort_keys=True,
    )
    return hashlib.sha256(described.encode()).hexdigest()


def now() -> str:
    """The time, as stores have it."""
    return datetime.now(UTC).isoformat(timespec="seconds")
