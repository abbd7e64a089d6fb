"""The store of users' kernels: one sqlite file, a row for each candidate that was tried.

A row is written as soon as its candidate is measured; a run that is killed at any moment resumes behind its
last row. While the disk is full or another process holds the file, rows wait in memory.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from kerneltune.compiling.cubin_cache import default_folder
from kerneltune.errors import InputError
from kerneltune.inputs import rules
from kerneltune.pipeline.trial import Trial
from kerneltune.searching.protocol import Configuration

VERSION = 1
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
PASSING = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_PROTOCOL,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
}
PATIENCE = 60.0
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


class KernelStore:
    """Trials of users' kernels in a sqlite file, which is created if it does not exist.

    Args:
        path: The file; by default in the user's cache folder.
    """

    def __init__(self, path: Path | str | None = None) -> None:
        rules.check({"store": path}, {"store": rules.optional(rules.path)})
        self.path = default_folder() / "kernels.sqlite" if path is None else Path(path)
        self._pending: dict[str, tuple[str, ...]] = {}
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(self.path, timeout=5.0)
            version = self._prepared()
        except (OSError, sqlite3.Error) as error:
            raise InputError(f"the store {self.path} cannot be opened: {error}") from None
        if version not in (0, VERSION):
            raise InputError(f"the store {self.path} has version {version}, not {VERSION}: name another file")

    def _prepared(self) -> int:
        (version,) = self._connection.execute("pragma user_version").fetchone()
        if version == 0:
            # A write-ahead log survives the end of the process at any moment, without waiting for the disk.
            self._connection.execute("pragma journal_mode = wal")
            self._connection.executescript(
                f"begin immediate; {SCHEMA} pragma user_version = {VERSION}; commit;"
            )
        self._connection.execute("pragma synchronous = normal")
        return int(version)

    def add(self, key: str, row: StoredKernel) -> None:
        """Keep a trial; if the file cannot be written now, a later call writes it."""
        self._pending[key] = (
            *(key, row.measured, row.kernel, row.identity, row.device),
            json.dumps(row.sizes, sort_keys=True),
            json.dumps(row.trial.to_json(), sort_keys=True),
        )
        try:
            self._write()
        except sqlite3.OperationalError as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF not in PASSING:
                raise InputError(f"the store {self.path} cannot be written: {error}") from None
        except sqlite3.DatabaseError as error:
            raise InputError(f"the store {self.path} cannot be written: {error}") from None

    def _write(self) -> None:
        if self._pending:
            with self._connection:
                self._connection.executemany(
                    "insert or replace into kernels values (?, ?, ?, ?, ?, ?, ?)",
                    list(self._pending.values()),
                )
            self._pending.clear()

    def flush(self, patience: float = PATIENCE) -> None:
        """Write what waits; raises `InputError` if that still fails."""
        started = time.monotonic()
        while self._pending:
            try:
                self._write()
            except sqlite3.DatabaseError as error:
                if time.monotonic() - started >= patience:
                    raise InputError(
                        f"the store {self.path} cannot be written: {error}; "
                        f"{len(self._pending)} trials are lost"
                    ) from None
                time.sleep(0.05)

    def find(self, key: str) -> Trial | None:
        """The trial with a key."""
        row = next(self._rows("where key = ?", (key,)), None)
        return None if row is None else row.trial

    def rows(
        self, kernel: str | None = None, device: str | None = None, identity: str | None = None
    ) -> list[StoredKernel]:
        """The rows of a kernel, a device or an identity, the oldest first."""
        named = {"kernel": kernel, "device": device, "identity": identity}
        wanted = {name: value for name, value in named.items() if value is not None}
        where = " and ".join(f"{name} = ?" for name in wanted)
        rest = (f"where {where} " if where else "") + "order by rowid"  # as written: clocks are set back
        return list(self._rows(rest, tuple(wanted.values())))

    def _rows(self, rest: str, values: tuple[str, ...]) -> Iterator[StoredKernel]:
        columns = "kernel, identity, device, sizes, measured, trial"
        try:
            found = self._connection.execute(f"select {columns} from kernels {rest}", values).fetchall()
        except sqlite3.DatabaseError as error:
            raise InputError(f"the store {self.path} cannot be read: {error}") from None
        for kernel, identity, device, sizes, measured, trial in found:
            try:
                yield StoredKernel(
                    *(str(kernel), str(identity), str(device), dict(json.loads(sizes)), str(measured)),
                    Trial.from_json(json.loads(trial)),
                )
            except DAMAGES as error:
                raise InputError(f"the store {self.path} has a damaged trial of {kernel}: {error}") from None

    def close(self) -> None:
        """Write what waits, and close the file."""
        try:
            self.flush()
        finally:
            self._connection.close()


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
