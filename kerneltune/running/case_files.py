"""Cases as files with checksums and without pickle: the parent writes them, children run kernels on them."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from constrint.support.placing import reserve
from kerneltune.errors import KernelTuneError, RunError
from kerneltune.inputs.descriptions import Kernels
from kerneltune.inputs.request import Request, request_from_json
from kerneltune.running.any_case import AnyCase, made_of

MANIFEST = "case.json"
CHECKED = 1 << 26  # bytes of a file that a thread hashes at a time


def create_array(
    folder: Path, name: str, shape: tuple[int, ...], dtype: np.dtype[np.generic]
) -> NDArray[np.generic]:
    """An array of zeros in a file; raises `RunError` if there is no space."""
    path = folder / f"{name}.npy"
    if 0 in shape:  # empty files cannot be mapped
        np.save(path, np.empty(shape, dtype), allow_pickle=False)
        return np.empty(shape, dtype)
    needed = int(np.prod(shape, dtype=object)) * dtype.itemsize
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise RunError(_no_space(needed, folder, f"{free / 2**30:.1f} GiB are free"))
    try:
        made = np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=shape)
        reserve(path)
    except OSError as error:
        path.unlink(missing_ok=True)
        raise RunError(_no_space(needed, folder, str(error.strerror))) from None
    return made


def _no_space(needed: int, folder: Path, why: str) -> str:
    return (
        f"no space for the float64 reference: an array of {needed / 2**30:.1f} GiB in {folder}: {why}; "
        "TMPDIR may name a folder on another disk"
    )


def open_array(folder: Path, name: str, *, write: bool = False) -> NDArray[Any]:
    """An array of a file."""
    path = folder / f"{name}.npy"
    with path.open("rb") as file:
        np.lib.format.read_magic(file)
        empty = 0 in np.lib.format.read_array_header_1_0(file)[0]
    array: NDArray[Any] = np.load(
        path, mmap_mode=None if empty else "r+" if write else "r", allow_pickle=False
    )
    return array


def write_manifest(
    folder: Path, problem: Request, seed: int, arrays: Iterable[str], expected: Iterable[str]
) -> None:
    """Write the description and the checksum of each array; only then the files may be read."""
    names = {"arrays": list(arrays), "expected": list(expected)}
    sums = {name: checksum(folder / f"{name}.npy") for group in names.values() for name in group}
    text = json.dumps({"problem": asdict(problem), "seed": seed, **names, "sha256": sums})
    aside = folder / f"{MANIFEST}.new"
    aside.write_text(text, encoding="utf-8")
    aside.replace(folder / MANIFEST)


def load_case(folder: Path, kernels: Kernels) -> AnyCase:
    """The case in a folder; raises `KernelTuneError` if a file is missing or was changed."""
    try:
        about = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        problem = request_from_json(about["problem"])
        for name, wanted in about["sha256"].items():
            if checksum(folder / f"{name}.npy") != wanted:
                raise ValueError(f"{name}.npy is not what was written")
        arrays = {name: open_array(folder, name) for name in about["arrays"]}
        expected = {name: open_array(folder, name) for name in about["expected"]}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise KernelTuneError(f"the input and reference in {folder} cannot be read: {error}") from None
    return made_of(problem, kernels, arrays, expected)


def checksum(path: Path) -> str:
    """A hash over a file's parts, computed by several threads."""
    size = path.stat().st_size

    def of_part(start: int) -> bytes:
        with path.open("rb") as file:
            file.seek(start)
            return hashlib.sha256(file.read(CHECKED)).digest()

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        parts = threads.map(of_part, range(0, size, CHECKED))
        return hashlib.sha256(b"".join(parts)).hexdigest()
