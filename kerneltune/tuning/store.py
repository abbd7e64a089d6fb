"""What was measured, kept in one sqlite file: a trial that was made once is not made again.

A row is keyed on everything that a time depends on: the kernel's sources and generated code, the compiler and
its options, the profile, the problem and the candidate. It is written before the next trial begins, so a run
that is cut off goes on where it was.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from kerneltune.compiling.cubin_cache import default_folder
from kerneltune.errors import InputError
from kerneltune.inputs.problem import Problem
from kerneltune.running.measure import Measurement
from kerneltune.running.trial import Outcome
from kerneltune.tiling.candidate import Candidate

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
  died integer not null        -- whether the process that ran it crashed or hung
);
create index if not exists trials_of_problem on trials (gpu, problem);
"""


@dataclass(frozen=True)
class StoredTrial:
    """A trial and when it was made."""

    key: str
    measured: str
    outcome: Outcome

    @property
    def is_final(self) -> bool:
        """Whether trying again would tell nothing new: it was measured, or it crashed or hung."""
        return self.outcome.measurement is not None or self.outcome.died

    @property
    def candidate(self) -> Candidate:
        """What was tried."""
        return self.outcome.candidate


def trial_key(content: str, candidate: Candidate) -> str:
    """The key of a trial.

    Args:
        content: A hash of the generated source, all device sources, the compiler and its options.
        candidate: What is tried, which names the problem and the profile.
    """
    # What the cost model says of it is not part of it: other constants do not make another kernel.
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
    """Trials in a sqlite file, which is made if it does not exist.

    Args:
        path: The file; by default in the user's cache folder.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or default_folder() / "trials.sqlite"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(self.path)
            with self._asked():
                (version,) = self._connection.execute("pragma user_version").fetchone()
                if version == 0:
                    script = f"begin immediate; {SCHEMA} pragma user_version = {VERSION}; commit;"
                    self._connection.executescript(script)
        except (OSError, sqlite3.OperationalError) as error:
            raise InputError(f"the store {self.path} cannot be opened: {error}") from None
        if version not in (0, VERSION):
            raise InputError(f"the store {self.path} has version {version}, not {VERSION}: name another file")

    def find(self, key: str) -> StoredTrial | None:
        """The trial with this key."""
        found = list(self._select("where key = ?", (key,)))
        return found[0] if found else None

    def add(self, key: str, outcome: Outcome) -> None:
        """Keep a trial, in place of an earlier one with its key."""
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
        with self._asked(), self._connection:
            self._connection.execute(
                "insert or replace into trials values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row
            )

    def trials(self, gpu: str | None = None, problem: Problem | None = None) -> list[StoredTrial]:
        """All trials, the oldest first; of one profile or one problem, if named."""
        wanted = {"gpu": gpu, "problem": None if problem is None else _text(asdict(problem))}
        named = {name: value for name, value in wanted.items() if value is not None}
        where = "where " + " and ".join(f"{name} = ?" for name in named) if named else ""
        return list(self._select(f"{where} order by measured, rowid", tuple(named.values())))

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _select(self, rest: str, values: tuple[str, ...]) -> Iterator[StoredTrial]:
        with self._asked():
            rows = self._connection.execute(
                f"select key, measured, candidate, measurement, failure, died from trials {rest}", values
            ).fetchall()
        for key, measured, candidate, measurement, failure, died in rows:
            try:
                outcome = Outcome(
                    Candidate.from_json(json.loads(candidate)),
                    None if measurement is None else Measurement.from_json(json.loads(measurement)),
                    failure,
                    bool(died),
                )
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise InputError(f"the store {self.path} has a damaged trial {key[:12]}: {error}") from None
            yield StoredTrial(key, measured, outcome)

    @contextmanager
    def _asked(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise InputError(f"the store {self.path} cannot be used: {error}") from None


def _text(data: object) -> str:
    return json.dumps(data, sort_keys=True, ensure_ascii=False)
