"""Building bundles: which requests are common, their kernels, the file and its wheel."""

from __future__ import annotations

import base64
import hashlib
import json
import lzma
import os
import sqlite3
import zipfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

from constrint.support.placing import replaced
from kerneltune.compiling.bundle import APPLICATION, FILE, PACKAGE, SCHEMA, VERSION
from kerneltune.compiling.ready import ReadyKernel, Supply, request_key, sources_digest, without_steps
from kerneltune.errors import CompilationError, InfeasibleError, InputError
from kerneltune.inputs.descriptions import Kernels
from kerneltune.inputs.hardware import HardwareProfile
from kerneltune.inputs.problem import Problem
from kerneltune.inputs.request import Request

SHAPES = (
    *((1, 64), (1, 128), (1, 256), (1, 512), (1, 768), (1, 1024), (1, 1536), (1, 2048)),
    *((3, 256), (4, 128), (6, 128), (12, 64)),
)
CELLS = ("lstm", "gru", "slstm")
DTYPES = ("bf16", "fp16", "fp32")
BATCHES = (16,)
PASSES = ("forward", "training", "backward")
WHEEL_TAG = "py3-none-any"


@dataclass(frozen=True)
class Selection:
    """The contents of a bundle: every combination of these values."""

    cells: tuple[str, ...] = CELLS
    shapes: tuple[tuple[int, int], ...] = SHAPES
    batches: tuple[int, ...] = BATCHES
    dtypes: tuple[str, ...] = DTYPES
    passes: tuple[str, ...] = PASSES

    def layers(self) -> Iterator[list[Problem]]:
        """Requests of one cell, shape and dtype at a time."""
        for cell, (heads, dim), dtype in product(self.cells, self.shapes, self.dtypes):
            yield [
                Problem(cell, heads, dim, batch, dtype, 1, direction)
                for direction, batch in product(self.passes, self.batches)
            ]


@dataclass(frozen=True)
class BuiltBundle:
    """The outcome of a build: kernels written, requests that no tiling fits, bytes of the file."""

    kernels: int
    left_out: tuple[str, ...]
    size: int


def build(
    path: Path,
    profiles: Iterable[HardwareProfile],
    kernels: Kernels,
    selection: Selection,
    progress: Callable[[str], None] = lambda line: None,
    workers: int | None = None,
) -> BuiltBundle:
    """Solve and compile a selection for some GPUs, and write the bundle; one that is there is replaced.

    Kernels that the cache of this machine has are taken from it, so an interrupted build resumes.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replaced(path) as aside, closing(sqlite3.connect(aside)) as connection:
            count, left_out = _filled(connection, profiles, kernels, selection, progress, workers)
        return BuiltBundle(count, tuple(left_out), path.stat().st_size)
    except (OSError, sqlite3.Error) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path} cannot be written: {reason}") from None


def _filled(
    connection: sqlite3.Connection,
    profiles: Iterable[HardwareProfile],
    kernels: Kernels,
    selection: Selection,
    progress: Callable[[str], None],
    workers: int | None,
) -> tuple[int, list[str]]:
    """Fill a new bundle; returns how many kernels it has, and what was left out."""
    left_out: list[str] = []
    count = 0
    compiler = ""
    connection.executescript(SCHEMA)
    connection.execute(f"pragma application_id = {APPLICATION}")
    with ThreadPoolExecutor(workers or os.cpu_count() or 1) as pool:
        for profile in profiles:
            supply = Supply(profile, kernels)
            for problems in selection.layers():
                made = list(pool.map(lambda one, supply=supply: _tried(supply, one), problems))
                found = [(p, m) for p, m in zip(problems, made, strict=True) if isinstance(m, ReadyKernel)]
                left_out += [str(m) for m in made if not isinstance(m, ReadyKernel)]
                if found:
                    _add(connection, profile, found)
                    compiler = found[0][1].compiler
                count += len(found)
                progress(f"{profile.name}: {problems[0].label}: {len(found)} kernels")
    about = {"version": str(VERSION), "sources": sources_digest(kernels.root), "compiler": compiler}
    connection.executemany("insert into about values (?, ?)", about.items())
    connection.commit()
    connection.execute("vacuum")
    return count, left_out


def _tried(supply: Supply, problem: Problem) -> ReadyKernel | str:
    try:
        return supply.get(problem)
    except (InfeasibleError, CompilationError) as error:
        return f"{supply.profile.name}: {problem.label}: {str(error).splitlines()[0]}"


def _add(
    connection: sqlite3.Connection, profile: HardwareProfile, found: list[tuple[Problem, ReadyKernel]]
) -> None:
    """Write kernels of one layer as one block; equal ones once."""
    content = bytearray()
    starts: dict[bytes, int] = {}
    rows = []
    for problem, ready in found:
        if ready.cubin not in starts:
            starts[ready.cubin] = len(content)
            content += ready.cubin
        request: Request = without_steps(problem)
        candidate = replace(ready.candidate, problem=request)
        rows.append(
            (
                *(request_key(request, profile), profile.name, problem.label),
                *(json.dumps(candidate.to_json()), int(ready.cooperative)),
                *(starts[ready.cubin], len(ready.cubin), hashlib.sha256(ready.cubin).hexdigest()),
            )
        )
    packed = lzma.compress(bytes(content), preset=9 | lzma.PRESET_EXTREME)
    # GPUs with the same chip mostly have the same kernels.
    same = connection.execute("select number from blocks where content = ?", (packed,)).fetchone()
    (number,) = same or connection.execute("select count(*) from blocks").fetchone()
    if same is None:
        connection.execute("insert into blocks values (?, ?)", (number, packed))
    placed = [(*row[:5], number, *row[5:]) for row in rows]
    connection.executemany("insert into kernels values (?, ?, ?, ?, ?, ?, ?, ?, ?)", placed)


def write_wheel(bundle: Path, folder: Path, version: str) -> Path:
    """A wheel of the package `constrint-kernels` that carries a bundle; its path."""
    name = f"{PACKAGE}-{version}"
    metadata = (
        f"Metadata-Version: 2.1\nName: constrint-kernels\nVersion: {version}\n"
        "Summary: Prebuilt kernels of kerneltune\nLicense: Apache-2.0\n"
        f"Requires-Dist: constrint=={version}\n"
    )
    about = f"Wheel-Version: 1.0\nGenerator: kerneltune\nRoot-Is-Purelib: true\nTag: {WHEEL_TAG}\n"
    files = {
        f"{PACKAGE}/__init__.py": b'"""Prebuilt kernels, which kerneltune finds by itself."""\n',
        f"{PACKAGE}/{FILE}": bundle.read_bytes(),
        f"{name}.dist-info/METADATA": metadata.encode(),
        f"{name}.dist-info/WHEEL": about.encode(),
    }
    record = f"{name}.dist-info/RECORD"
    lines = [f"{path},{_digest(content)},{len(content)}" for path, content in files.items()]
    files[record] = "\n".join([*lines, f"{record},,", ""]).encode()
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"{name}-{WHEEL_TAG}.whl"
    with replaced(wheel) as aside, zipfile.ZipFile(aside, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            archive.writestr(path, content)
    return wheel


def _digest(content: bytes) -> str:
    encoded = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=")
    return f"sha256={encoded.decode()}"
