"""The store of users' kernels: one sqlite file, a row for each candidate that was tried.

A row is written as soon as its candidate is measured; a run that is killed at any moment resumes behind its
last row. While the disk is full or another process holds the file, rows wait in memory.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from kerneltune.compiling.cubin_cache import default_folder
from kerneltune.errors import InputError
from kerneltune.inputs import rules
from kerneltune.pipeline.trial import Trial
from kerneltune.searching.protocol import Configuration
from kerneltune.tuning.rows import Patience, RowFile

SCHEMA = """
create table if not exists kernels (
  key text primary key,
  measured text not null,      -- when, UTC
  kernel text not null,        -- its name
  identity text not null,      -- a hash of source, options, arguments and sizes
  device text not null,
  sizes text not null,         -- JSON
  trial text not null          -- JSON
);
create index if not exists kernels_by_name on kernels (kernel, device);
"""
# Measurements go on while a file is locked: their rows wait.
WAITS = Patience(adding=0.0, attempt=5.0)
DAMAGES = (ValueError, KeyError, TypeError, AttributeError, RecursionError)


@dataclass(frozen=True)
class StoredKernel:
    """A row: a kernel on a device at some sizes, and one trial."""

    kernel: str
    identity: str
    device: str
    sizes: dict[str, int]
    measured: str
    trial: Trial


class KernelStore(RowFile):
    """Trials of users' kernels in a sqlite file, which is created if it does not exist.

    Args:
        path: The file; by default in the user's cache folder.
    """

    SCHEMA = SCHEMA

    def __init__(self, path: Path | str | None = None) -> None:
        rules.check({"store": path}, {"store": rules.optional(rules.path)})
        super().__init__(default_folder() / "kernels.sqlite" if path is None else Path(path), WAITS)

    def _create(self) -> None:
        # A write-ahead log survives the end of the process at any moment, without waiting for the disk.
        self._connection.execute("pragma journal_mode = wal")
        super()._create()

    def _prepared(self) -> int:
        version = super()._prepared()
        self._connection.execute("pragma synchronous = normal")
        return version

    def add(self, key: str, row: StoredKernel) -> None:
        """Keep a trial; if the file cannot be written now, a later call writes it."""
        values = (
            *(key, row.measured, row.kernel, row.identity, row.device),
            json.dumps(row.sizes, sort_keys=True),
            json.dumps(row.trial.to_json(), sort_keys=True),
        )
        self._keep(key, ("insert or replace into kernels values (?, ?, ?, ?, ?, ?, ?)", values))

    def find(self, key: str) -> Trial | None:
        """The trial with a key."""
        row = next(self._rows({"key": key}), None)
        return None if row is None else row.trial

    def rows(
        self, kernel: str | None = None, device: str | None = None, identity: str | None = None
    ) -> list[StoredKernel]:
        """The rows of a kernel, a device or an identity, the oldest first."""
        return list(self._rows({"kernel": kernel, "device": device, "identity": identity}))

    def _rows(self, wanted: dict[str, str | None]) -> Iterator[StoredKernel]:
        query = "select kernel, identity, device, sizes, measured, trial from kernels"
        for kernel, identity, device, sizes, measured, trial in self._fetched(query, wanted):
            try:
                yield StoredKernel(
                    *(str(kernel), str(identity), str(device), dict(json.loads(sizes)), str(measured)),
                    Trial.from_json(json.loads(trial)),
                )
            except DAMAGES as error:
                raise InputError(f"the store {self.path} has a damaged trial of {kernel}: {error}") from None


class KernelMemory:
    """The part of a store that a run reads and writes: one kernel on one device, measured in one way.

    Args:
        store: The store.
        kernel: The kernel's name.
        identity: A hash of all that results depend on.
        device: The device's name.
        sizes: The sizes.
        again: Whether what is stored is measured again.
        timeout: The time limit of a candidate.
        renewed: Completes a stored trial by what depends on this run.
    """

    def __init__(
        self,
        store: KernelStore,
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
        now = datetime.now(UTC).isoformat(timespec="seconds")
        row = StoredKernel(self._kernel, self._identity, self._device, self._sizes, now, trial)
        self._store.add(self._key(trial.configuration), row)
