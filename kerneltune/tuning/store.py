"""The store of trials: one sqlite file, so that no trial is made twice.

A row is keyed on everything that a time depends on: the kernel's sources and generated code, the compiler and
its options, the profile, the problem and the candidate. It is written before the next trial begins, so an
interrupted run can resume. While another process locks the file, rows are kept in memory and written later.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from kerneltune.compiling.cubin_cache import default_folder
from kerneltune.errors import InputError
from kerneltune.inputs.request import Request
from kerneltune.running.trial import Outcome
from kerneltune.tiling.candidate import Candidate
from kerneltune.tuning.stored_row import StoredRow

Found = TypeVar("Found")

VERSION = 1
SCHEMA = """
create table if not exists trials (
  key text primary key,
  measured text not null,      -- when, UTC
  gpu text not null,           -- the profile's name
  device text,                 -- what the GPU calls itself; null where no kernel ran
  problem text not null,       -- JSON
  strategy text not null,
  candidate text not null,     -- JSON
  measurement text,            -- JSON; null where there is none
  failure text,                -- why there is none
  died integer not null        -- whether the process that ran it crashed, hung or gave no answer
);
create index if not exists trials_of_problem on trials (gpu, problem);
"""
# The limits of trials that exceeded them; older stores lack this table.
LIMITS = "create table if not exists limits (key text primary key, seconds real not null)"
HUNG = "no answer within "  # start of the failure of a trial that has no row in that table


INSERT = "insert or replace into trials values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
INSERT_LIMIT = "insert or replace into limits values (?, ?)"
COLUMNS = "key, measured, candidate, measurement, failure, died"
LIMIT = "(select seconds from limits where limits.key = trials.key)"

# Seconds that a trial waits for a file that another process has locked, before the next is made.
PATIENCE = 60.0
LAST_PATIENCE = 600.0  # and at the end, when nothing else is left to do
ATTEMPT = 1.0  # seconds that sqlite itself waits for a lock
QUIET = 5.0  # seconds of waiting before a notice
# Transient errors: a locked file, a full disk.
PASSING = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_FULL}


@dataclass(frozen=True)
class StoredTrial:
    """A trial and its time."""

    key: str
    measured: str
    outcome: Outcome

    @property
    def candidate(self) -> Candidate:
        """The candidate that was tried."""
        return self.outcome.candidate


def trial_key(content: str, candidate: Candidate) -> str:
    """The key of a trial.

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


class Store:
    """Trials in a sqlite file, which is created if it does not exist.

    Args:
        path: The file; by default in the user's cache folder.
        patience: Seconds to wait for a file that another process has locked.
        notice: Called with a sentence if that takes long.
    """

    def __init__(
        self,
        path: Path | None = None,
        *,
        patience: float = PATIENCE,
        notice: Callable[[str], None] = lambda sentence: None,
    ) -> None:
        self.path = path or default_folder() / "trials.sqlite"
        self._patience, self._notice = patience, notice
        self._pending: dict[str, tuple[object, ...]] = {}  # rows that are not written yet
        self._has_limits = True
        self._limits: dict[str, float | None] = {}  # and their limits
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(self.path, timeout=ATTEMPT)
            with self._asked():
                version = self._patiently(self._prepared)
        except (OSError, sqlite3.OperationalError) as error:
            raise InputError(f"the store {self.path} cannot be opened: {error}") from None
        if version not in (0, VERSION):
            raise InputError(f"the store {self.path} has version {version}, not {VERSION}: name another file")

    def find(self, key: str) -> StoredTrial | None:
        """The trial with this key."""
        found = list(self._select("where key = ?", (key,)))
        return found[0] if found else None

    def add(self, key: str, outcome: Outcome) -> None:
        """Store a trial, replacing an earlier one with its key.

        If the file stays locked, a later call of `add` or `flush` writes it.
        """
        measurement = outcome.measurement
        self._pending[key] = (
            key,
            datetime.now(UTC).isoformat(timespec="seconds"),
            outcome.candidate.gpu,
            None if measurement is None else measurement.device,
            _text(asdict(outcome.candidate.problem)),
            outcome.candidate.strategy,
            _text(outcome.candidate.to_json()),
            None if measurement is None else _text(measurement.to_json()),
            outcome.failure,
            int(outcome.died),
        )
        self._limits[key] = outcome.limit
        with self._asked():
            try:
                self._patiently(self._write)
            except sqlite3.OperationalError as error:
                if not _may_pass(error):
                    raise

    def flush(self, patience: float = LAST_PATIENCE) -> None:
        """Write the rows that are not written yet; raises `InputError` if that still fails."""
        with self._asked():
            self._patiently(self._write, patience)

    def trials(self, gpu: str | None = None, problem: Request | None = None) -> list[StoredTrial]:
        """All trials, the oldest first; of one profile or one problem, if given."""
        wanted = {"gpu": gpu, "problem": None if problem is None else _text(asdict(problem))}
        named = {name: value for name, value in wanted.items() if value is not None}
        where = "where " + " and ".join(f"{name} = ?" for name in named) if named else ""
        # In the order of writing: clocks are set back.
        return list(self._select(f"{where} order by rowid", tuple(named.values())))

    def close(self) -> None:
        """Write remaining rows, and close the file."""
        try:
            self.flush(self._patience)
        finally:
            self._connection.close()

    def _prepared(self) -> int:
        """The file's version, after creating its tables if it is new."""
        (version,) = self._connection.execute("pragma user_version").fetchone()
        if version == 0:
            script = f"begin immediate; {SCHEMA} {LIMITS}; pragma user_version = {VERSION}; commit;"
            self._connection.executescript(script)
        elif version == VERSION:
            self._add_limits()
        return int(version)

    def _add_limits(self) -> None:
        """Add the table of limits; a read-only file is read without it."""
        tables = self._connection.execute("select name from sqlite_master where name = 'limits'").fetchall()
        if not tables:
            try:
                self._connection.execute(LIMITS)
            except sqlite3.OperationalError as error:
                if getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_READONLY:
                    raise
                self._has_limits = False

    def _write(self) -> None:
        if self._pending:
            limits = [(key, limit) for key, limit in self._limits.items() if limit is not None]
            with self._connection:
                self._connection.executemany(INSERT, list(self._pending.values()))
                self._connection.executemany("delete from limits where key = ?", [(k,) for k in self._limits])
                self._connection.executemany(INSERT_LIMIT, limits)
            self._pending.clear()
            self._limits.clear()

    def _select(self, rest: str, values: tuple[str, ...]) -> Iterator[StoredTrial]:
        def ask() -> list[tuple[object, ...]]:
            self._write()
            limit = LIMIT if self._has_limits else "null"
            return self._connection.execute(
                f"select {COLUMNS}, {limit} from trials {rest}", values
            ).fetchall()

        with self._asked():
            rows = self._patiently(ask)
        for row in rows:
            yield self._trial(*row)

    def _trial(self, key: Any, measured: Any, candidate: Any, *rest: Any) -> StoredTrial:
        measurement, failure, died, limit = rest
        row = StoredRow.read(self.path, key, measured, candidate, measurement, failure)
        if not isinstance(limit, int | float) or not limit >= 0:
            limit = None
        if died and limit is None and str(row.failure).startswith(HUNG):
            limit = 0.0  # unknown: any other limit is tried
        outcome = Outcome(row.candidate, row.measurement, row.failure, bool(died), limit)
        return StoredTrial(row.key, row.measured, outcome)

    def _patiently(self, action: Callable[[], Found], patience: float | None = None) -> Found:
        """Run the action, and retry while another process locks the file."""
        started, told = time.monotonic(), False
        while True:
            try:
                return action()
            except sqlite3.OperationalError as error:
                waited = time.monotonic() - started
                if not _may_pass(error) or waited >= (self._patience if patience is None else patience):
                    raise
                if waited >= QUIET and not told:
                    self._notice(f"the store {self.path} cannot be used yet ({error}): waiting")
                    told = True
                time.sleep(0.05)

    @contextmanager
    def _asked(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            kept = f"; {len(self._pending)} trials are not written" if self._pending else ""
            raise InputError(f"the store {self.path} cannot be used: {error}{kept}") from None
        except UnicodeDecodeError:  # a message of sqlite with names that are not UTF-8
            raise InputError(f"the store {self.path} cannot be used: it is damaged") from None


def _may_pass(error: sqlite3.OperationalError) -> bool:
    # Python's own errors, for example for text that is not UTF-8, have no code.
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in PASSING


def _text(data: object) -> str:
    return json.dumps(data, sort_keys=True, ensure_ascii=False)
