"""Bundles: one sqlite file of prebuilt kernels, so that users' machines need no compiler.

Two designs were sketched. A zip file needs its whole directory and a list of all tilings read before the
first kernel; in sqlite a kernel is found in a millisecond however large the file is.

Kernels of one layer lie together, compressed as one block: their machine code differs little.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import lzma
import os
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

from kerneltune.compiling.ready import ReadyKernel, request_key, without_steps
from kerneltune.errors import InputError, KernelTuneError
from kerneltune.inputs.hardware import HardwareProfile
from kerneltune.inputs.request import Request
from kerneltune.tiling.candidate import Candidate

BUNDLE_VARIABLE = "KERNELTUNE_BUNDLE"  # environment variable: a bundle's path, or "none"
PACKAGE = "constrint_kernels"  # the package whose wheel carries a bundle
FILE = "kernels.sqlite"
APPLICATION = 0x6B746275  # of the sqlite header: "ktbu"
VERSION = 1
MOST_BLOCK = 64 << 20  # bytes of a decompressed block
SCHEMA = """
create table about (name text primary key, value text not null);
create table blocks (number integer primary key, content blob not null);  -- xz
create table kernels (
  key text primary key,      -- of the request, with the profile
  gpu text not null,
  label text not null,
  candidate text not null,   -- JSON
  cooperative integer not null,
  block integer not null,
  start integer not null,    -- bytes in the decompressed block
  length integer not null,
  sha256 text not null
);
"""
_ROW = "select candidate, cooperative, block, start, length, sha256 from kernels"


@dataclass
class Bundle:
    """A bundle that is open for reading.

    Attributes:
        path: The file.
        about: What it says of itself: ``sources``, a digest, ``compiler`` and ``made``.
    """

    path: Path
    about: dict[str, str]
    _connection: sqlite3.Connection
    _lock: Lock

    @classmethod
    def open(cls, path: Path, sources: str | None = None) -> Bundle:
        """Open a bundle.

        Args:
            path: The file.
            sources: The digest of the sources that it must have been built from.

        Raises:
            InputError: It is missing, damaged, no bundle, or built from other sources.
        """
        if not path.is_file():
            raise InputError(f"the bundle {path} does not exist: build it with 'kerneltune bundle build'")
        try:
            place = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
            connection = sqlite3.connect(place, uri=True, check_same_thread=False)
            application = connection.execute("pragma application_id").fetchone()[0]
            if application != APPLICATION:
                raise InputError(f"{path} is an sqlite file, but no bundle of kernels")
            about = dict(connection.execute("select name, value from about"))
        except sqlite3.Error as error:
            raise InputError(f"{path} is not a bundle of kernels, or is damaged: {error}") from None
        if about.get("version") != str(VERSION):
            raise InputError(f"the bundle {path} has version {about.get('version')}, not {VERSION}")
        if sources is not None and about.get("sources") != sources:
            raise InputError(
                f"the bundle {path} was built from other kernel sources than those installed: "
                "install its version of constrint, or build it again with 'kerneltune bundle build'"
            )
        return cls(path, about, connection, Lock())

    def find(self, problem: Request, profile: HardwareProfile) -> ReadyKernel | None:
        """The kernel of a request, or None if there is none; raises `InputError` for a damaged bundle."""
        problem = without_steps(problem)
        rows = self._rows(f"{_ROW} where key = ?", (request_key(problem, profile),))
        if not rows:
            return None
        found = self._ready(rows[0])
        if without_steps(found.candidate.problem) != problem or found.candidate.gpu != profile.name:
            raise InputError(f"the bundle {self.path} is damaged: a kernel is filed under another request")
        return found

    def all(self) -> Iterator[ReadyKernel]:
        """Every kernel; raises `InputError` at the first that is damaged."""
        for row in self._rows(f"{_ROW} order by block, start", ()):
            yield self._ready(row)

    def contents(self) -> list[tuple[str, int]]:
        """Profiles' names with the number of their kernels."""
        rows = self._rows("select gpu, count(*) from kernels group by gpu order by gpu", ())
        return [(str(gpu), int(count)) for gpu, count in rows]

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _rows(self, query: str, arguments: tuple[object, ...]) -> list[tuple[Any, ...]]:
        try:
            with self._lock:
                return self._connection.execute(query, arguments).fetchall()
        except sqlite3.Error as error:
            raise InputError(f"the bundle {self.path} is damaged: {error}") from None

    def _ready(self, row: tuple[Any, ...]) -> ReadyKernel:
        described, cooperative, block, start, length, sha256 = row
        try:
            candidate = Candidate.from_json(json.loads(described))
            content = _block(self, int(block))
            cubin = content[int(start) : int(start) + int(length)]
        except (ValueError, KeyError, TypeError, KernelTuneError, lzma.LZMAError) as error:
            raise InputError(f"the bundle {self.path} is damaged: {error}") from None
        if hashlib.sha256(cubin).hexdigest() != sha256:
            raise InputError(f"the bundle {self.path} is damaged: {candidate.problem.label} has changed")
        return ReadyKernel(candidate, cubin, bool(cooperative), self.about.get("compiler", ""), "bundle")

    def block(self, number: int) -> bytes:
        """A block of machine code, decompressed."""
        rows = self._rows("select content from blocks where number = ?", (number,))
        if not rows:
            raise ValueError(f"block {number} is missing")
        decompressor = lzma.LZMADecompressor(format=lzma.FORMAT_XZ)
        content = decompressor.decompress(rows[0][0], max_length=MOST_BLOCK)
        if not decompressor.eof:
            raise ValueError(f"block {number} is cut off or too large")
        return content

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other


@lru_cache(maxsize=4)  # the passes of one layer are asked for in turn
def _block(bundle: Bundle, number: int) -> bytes:
    return bundle.block(number)


def installed_bundle(sources: str) -> Bundle | None:
    """The bundle that the environment names or the wheel of kernels carries, or None.

    Raises `InputError` where there is one that cannot be used.
    """
    named = os.environ.get(BUNDLE_VARIABLE)
    if named == "none":
        return None
    if named:
        return Bundle.open(Path(named), sources)
    found = importlib.util.find_spec(PACKAGE)
    if found is None or found.origin is None:
        return None
    return Bundle.open(Path(found.origin).with_name(FILE), sources)
