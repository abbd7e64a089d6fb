"""The store of trials: one sqlite file, so that no trial is made twice.

A row is keyed on everything that a time depends on: the kernel's sources and generated code, the compiler and
its options, the profile, the problem and the candidate. It is written before the next trial begins, so an
interrupted run can resume. While another process locks the file, rows are kept in memory and written later.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kerneltune.compiling.cubin_cache import default_folder
from kerneltune.errors import InputError
from kerneltune.inputs.problem import checked
from kerneltune.inputs.request import Request
from kerneltune.running.measure import Measurement
from kerneltune.running.trial import Outcome
from kerneltune.tiling.candidate import Candidate
from kerneltune.tuning.rows import VERSION, Patience, RowFile, Statement

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
DAMAGES = (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError, InputError)

INSERT = "insert or replace into trials values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
COLUMNS = "key, measured, candidate, measurement, failure, died"
LIMIT = "(select seconds from limits where limits.key = trials.key)"


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


class Store(RowFile):
    """Trials in a sqlite file, which is created if it does not exist.

    Args:
        path: The file; by default in the user's cache folder.
        patience: How long to wait for a file that another process has locked.
        notice: Called with a sentence if that takes long.
    """

    SCHEMA = f"{SCHEMA} {LIMITS};"

    def __init__(
        self,
        path: Path | None = None,
        *,
        patience: Patience | None = None,
        notice: Callable[[str], None] = lambda sentence: None,
    ) -> None:
        self._has_limits = True
        super().__init__(path or default_folder() / "trials.sqlite", patience or Patience(), notice)

    def find(self, key: str) -> StoredTrial | None:
        """The trial with this key."""
        found = self._select({"key": key})
        return found[0] if found else None

    def add(self, key: str, outcome: Outcome) -> None:
        """Store a trial, replacing an earlier one with its key.

        If the file stays locked, a later call of `add` or `flush` writes it.
        """
        measurement = outcome.measurement
        row = (
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
        limit: Statement = ("delete from limits where key = ?", (key,))
        if outcome.limit is not None:
            limit = ("insert or replace into limits values (?, ?)", (key, outcome.limit))
        self._keep(key, (INSERT, row), limit)

    def trials(self, gpu: str | None = None, problem: Request | None = None) -> list[StoredTrial]:
        """All trials, the oldest first; of one profile or one problem, if given."""
        return self._select({"gpu": gpu, "problem": None if problem is None else _text(asdict(problem))})

    def _prepared(self) -> int:
        version = super()._prepared()
        if version == VERSION:
            self._add_limits()
        return version

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

    def _select(self, wanted: dict[str, str | None]) -> list[StoredTrial]:
        self.flush(self._patience.adding)
        limit = LIMIT if self._has_limits else "null"
        rows = self._fetched(f"select {COLUMNS}, {limit} from trials", wanted)
        return [self._trial(*row) for row in rows]

    def _trial(self, key: Any, measured: Any, candidate: Any, *rest: Any) -> StoredTrial:
        """A row, every column of which is checked before use."""
        measurement, failure, died, limit = rest
        try:
            if not isinstance(limit, int | float) or not limit >= 0:
                limit = None
            if died and limit is None and str(failure).startswith(HUNG):
                limit = 0.0  # unknown: any other limit is tried
            outcome = Outcome(
                Candidate.from_json(json.loads(_said(candidate, "candidate"))),
                None
                if measurement is None
                else Measurement.from_json(json.loads(_said(measurement, "measurement"))),
                None if failure is None else _said(failure, "failure"),
                died=bool(died),
                limit=limit,
            )
            return StoredTrial(_said(key, "key"), _said(measured, "measured"), outcome)
        except DAMAGES as error:
            named = ascii(key[:12])[1:-1] if isinstance(key, str) else "without a key"
            said = f"{error} is missing" if isinstance(error, KeyError) else ascii(str(error)[:200])[1:-1]
            raise InputError(f"the store {self.path} has a damaged trial {named}: {said}") from None


def _said(value: Any, name: str) -> str:
    text: str = checked(value, str, name)
    text.encode()  # a lone surrogate cannot be shown
    return text


def _text(data: object) -> str:
    return json.dumps(data, sort_keys=True, ensure_ascii=False)
