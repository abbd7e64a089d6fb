"""A store's file: sqlite, whose rows wait in memory while another process locks it or the disk is full."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from kerneltune.errors import InputError

Found = TypeVar("Found")
Statement = tuple[str, tuple[object, ...]]

VERSION = 1
# Errors that may pass: a locked file, a full disk.
PASSING = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_PROTOCOL,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
}


@dataclass(frozen=True)
class Patience:
    """Seconds of waiting for a file that cannot be used now.

    Attributes:
        adding: For each row, beyond an attempt: measurements go on while a file is locked; their rows wait.
        closing: For the rows that are left when the file is closed.
        ending: For the rows that are left when nothing else is to be done.
        attempt: That sqlite itself waits for a lock.
        quiet: Before a notice: shorter waits are common where several processes share a file.
    """

    adding: float = 0.0
    closing: float = 60.0
    ending: float = 600.0
    attempt: float = 5.0
    quiet: float = 5.0


class RowFile:
    """A sqlite file, which is created if it does not exist.

    Args:
        path: The file.
        patience: How long it waits.
        notice: Called with a sentence if that takes long.
    """

    SCHEMA: str

    def __init__(
        self, path: Path, patience: Patience, notice: Callable[[str], None] = lambda sentence: None
    ) -> None:
        self.path = path
        self._patience, self._notice = patience, notice
        self._pending: dict[str, tuple[Statement, ...]] = {}  # what is not written yet, by the row's key
        with self._named("opened"):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(self.path, timeout=patience.attempt)
            # Not every lock is waited for by sqlite: of several that change a new file's journal, it refuses
            # all but one at once.
            version = self._patiently(self._prepared, max(patience.adding, patience.attempt))
        if version not in (0, VERSION):
            raise InputError(f"the store {self.path} has version {version}, not {VERSION}: name another file")

    def flush(self, patience: float | None = None) -> None:
        """Write the rows that are not written yet; raises `InputError` if that still fails."""
        with self._named("written"):
            self._patiently(self._write, self._patience.ending if patience is None else patience)

    def close(self) -> None:
        """Write remaining rows, and close the file."""
        try:
            self.flush(self._patience.closing)
        finally:
            self._connection.close()

    # For subclasses

    def _prepared(self) -> int:
        """The file's version, after creating its tables if it is new."""
        (version,) = self._connection.execute("pragma user_version").fetchone()
        if version == 0:
            self._create()
        return int(version)

    def _create(self) -> None:
        """Create the tables."""
        script = f"begin immediate; {self.SCHEMA} pragma user_version = {VERSION}; commit;"
        self._connection.executescript(script)

    def _keep(self, key: str, *statements: Statement) -> None:
        """Write a row; if the file cannot be written now, a later call does it."""
        self._pending[key] = statements
        self._write_if_possible()

    def _write_if_possible(self) -> None:
        """Write the rows that are not written yet, unless the file cannot be written now."""
        with self._named("written"):
            try:
                self._patiently(self._write, self._patience.adding)
            except sqlite3.OperationalError as error:
                if not _may_pass(error):
                    raise

    def _write(self) -> None:
        if self._pending:
            with self._connection:
                for statements in self._pending.values():
                    for statement in statements:
                        self._connection.execute(*statement)
            self._pending.clear()

    def _fetched(self, query: str, wanted: Mapping[str, str | None]) -> list[tuple[Any, ...]]:
        """The rows of a query whose columns have these values; None: any."""
        self._write_if_possible()
        named = {name: value for name, value in wanted.items() if value is not None}
        clause = " and ".join(f"{name} = ?" for name in named)
        # In the order of writing: clocks are set back.
        whole = f"{query} {'where' if clause else ''} {clause} order by rowid"
        with self._named("read"):
            return self._patiently(
                lambda: self._connection.execute(whole, tuple(named.values())).fetchall(),
                self._patience.adding,
            )

    def _patiently(self, action: Callable[[], Found], patience: float) -> Found:
        """Run the action, and retry while another process locks the file."""
        started, told = time.monotonic(), False
        while True:
            try:
                return action()
            except sqlite3.OperationalError as error:
                waited = time.monotonic() - started
                if not _may_pass(error) or waited >= patience:
                    raise
                if waited >= self._patience.quiet and not told:
                    self._notice(f"the store {self.path} cannot be used yet ({error}): waiting")
                    told = True
                time.sleep(0.05)

    @contextmanager
    def _named(self, done: str) -> Iterator[None]:
        """Errors of the database as sentences that name the file."""
        try:
            yield
        except (OSError, sqlite3.DatabaseError) as error:
            kept = f"; {len(self._pending)} trials are not written" if self._pending else ""
            raise InputError(f"the store {self.path} cannot be {done}: {error}{kept}") from None
        except UnicodeDecodeError:  # a message of sqlite with names that are not UTF-8
            raise InputError(f"the store {self.path} cannot be {done}: it is damaged") from None


def _may_pass(error: sqlite3.OperationalError) -> bool:
    # Python's own errors, for example for text that is not UTF-8, have no code.
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in PASSING
