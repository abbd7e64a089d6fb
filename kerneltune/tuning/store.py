"""The store of trials: one sqlite file, a row for each candidate that was tried.

A row is written as soon as its candidate is measured; a run that is killed at any moment resumes behind its
last row. While the disk is full or another process holds the file, rows wait in memory.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kerneltune.compiling.cubin_cache import default_folder
from kerneltune.errors import InputError
from kerneltune.inputs import rules
from kerneltune.inputs.request import Request
from kerneltune.pipeline.tiling_trial import TilingTrial
from kerneltune.pipeline.trial import Trial
from kerneltune.tuning import old_trials
from kerneltune.tuning.rows import VERSION, Patience, RowFile

SCHEMA = """
create table if not exists kernels (
  key text primary key,
  measured text not null,      -- when, UTC
  kernel text not null,        -- its name; of a tiling, its request's label
  identity text not null,      -- a hash of source, options, arguments and sizes
  device text not null,
  sizes text not null,         -- JSON
  trial text not null          -- JSON
);
create index if not exists kernels_by_name on kernels (kernel, device);
create table if not exists folders (
  kernel text primary key,
  folder text not null         -- where it was last tuned from
);
"""
DAMAGES = (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError, InputError)


@dataclass(frozen=True)
class StoredTrial:
    """A row: a kernel on a device at some sizes, and one trial."""

    kernel: str
    identity: str
    device: str
    sizes: dict[str, int]
    measured: str
    trial: Trial


@dataclass(frozen=True)
class StoredTiling:
    """A row of a tiling."""

    key: str
    measured: str
    trial: TilingTrial


class Store(RowFile):
    """Trials in a sqlite file, which is created if it does not exist.

    Args:
        path: The file; by default that of users' kernels in the user's cache folder.
        patience: How long to wait for a file that another process has locked.
        notice: Called with a sentence if that takes long.
    """

    SCHEMA = SCHEMA

    def __init__(
        self,
        path: Path | str | None = None,
        *,
        patience: Patience | None = None,
        notice: Callable[[str], None] = lambda sentence: None,
    ) -> None:
        rules.check({"store": path}, {"store": rules.optional(rules.path)})
        self._tables: set[str] = set()
        place = default_folder() / "kernels.sqlite" if path is None else Path(path)
        super().__init__(place, patience or Patience(), notice)

    def _create(self) -> None:
        # A write-ahead log survives the end of the process at any moment, without waiting for the disk.
        self._connection.execute("pragma journal_mode = wal")
        super()._create()

    def _prepared(self) -> int:
        version = super()._prepared()
        self._connection.execute("pragma synchronous = normal")
        self._tables = self._present()
        if version == VERSION and not {"kernels", "folders"} <= self._tables:
            self._add_table()
        return version

    def _present(self) -> set[str]:
        rows = self._connection.execute("select name from sqlite_master where type = 'table'").fetchall()
        return {str(name) for (name,) in rows}

    def _add_table(self) -> None:
        """Add the tables to a store of an earlier version; a read-only file is read without them."""
        try:
            self._connection.executescript(SCHEMA)
        except sqlite3.OperationalError as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_READONLY:
                raise
        self._tables = self._present()

    def add(self, key: str, row: StoredTrial) -> None:
        """Keep a trial, replacing an earlier one with its key.

        If the file cannot be written now, a later call writes it.
        """
        values = (
            *(key, row.measured, row.kernel, row.identity, row.device),
            json.dumps(row.sizes, sort_keys=True),
            json.dumps(row.trial.to_json(), sort_keys=True),
        )
        self._keep(key, ("insert or replace into kernels values (?, ?, ?, ?, ?, ?, ?)", values))

    def remember_folder(self, kernel: str, folder: Path) -> None:
        """Keep from which folder a kernel was tuned."""
        values = kernel, str(folder.resolve())
        self._keep(f"folder of {kernel}", ("insert or replace into folders values (?, ?)", values))

    def folders(self) -> dict[str, Path]:
        """The folders of kernels by name."""
        if "folders" not in self._tables:
            return {}
        found = self._fetched("select kernel, folder from folders", {})
        return {_said(kernel): Path(_said(folder)) for kernel, folder in found}

    def find(self, key: str) -> Trial | None:
        """The trial with a key."""
        for _, row in self._rows({"key": key}):
            return row.trial
        return next((row.trial for row in self._old({"key": key})), None)

    def rows(
        self, kernel: str | None = None, device: str | None = None, identity: str | None = None
    ) -> list[StoredTrial]:
        """The rows of a kernel, a device or an identity, the oldest first."""
        wanted = {"kernel": kernel, "device": device, "identity": identity}
        return [row for _, row in self._rows(wanted)]

    def tilings(self, gpu: str | None = None, problem: Request | None = None) -> list[StoredTiling]:
        """The tilings, the oldest first; of one profile or one request, if given."""
        label = None if problem is None else problem.label
        found = {row.key: row for row in self._old({"gpu": gpu})}
        for key, stored in self._rows({"kernel": label}):
            if isinstance(stored.trial, TilingTrial):
                found.pop(key, None)
                found[key] = StoredTiling(key, stored.measured, stored.trial)
        candidates = ((row, row.trial.candidate) for row in found.values())
        return [row for row, one in candidates if gpu in (None, one.gpu) and problem in (None, one.problem)]

    def _rows(self, wanted: dict[str, str | None]) -> Iterator[tuple[str, StoredTrial]]:
        if "kernels" not in self._tables:
            return
        query = "select key, kernel, identity, device, sizes, measured, trial from kernels"
        for key, kernel, identity, device, sizes, measured, trial in self._fetched(query, wanted):
            with self._undamaged(key, f" of {str(kernel)[:80]!a}"):
                data = json.loads(trial)
                kind = TilingTrial if "candidate" in data else Trial
                row = StoredTrial(
                    *(str(kernel), str(identity), str(device), dict(json.loads(sizes)), str(measured)),
                    kind.from_json(data),
                )
            yield str(key), row

    def _old(self, wanted: dict[str, str | None]) -> Iterator[StoredTiling]:
        """The rows of a store of version 0.1."""
        if "trials" not in self._tables:
            return
        query = old_trials.query("limits" in self._tables)
        for key, measured, *rest in self._fetched(query, wanted):
            with self._undamaged(key):
                row = StoredTiling(_said(key), _said(measured), old_trials.trial_of_row(*rest))
            yield row

    @contextmanager
    def _undamaged(self, key: object, of: str = "") -> Iterator[None]:
        """Errors of a row as a sentence that names it."""
        try:
            yield
        except DAMAGES as error:
            named = ascii(key[:12])[1:-1] if isinstance(key, str) else "without a key"
            said = f"{error} is missing" if isinstance(error, KeyError) else ascii(str(error)[:200])[1:-1]
            raise InputError(f"the store {self.path} has a damaged trial {named}{of}: {said}") from None


def _said(value: object) -> str:
    text = str(value)
    text.encode()  # a lone surrogate cannot be shown
    return text


def tilings_path() -> Path:
    """The file of tilings in the user's cache folder."""
    return default_folder() / "trials.sqlite"
