"""Arrays in numpy's `.npz` files, read as data.

Only one-dimensional plain arrays as written by `np.savez` are read: the header of an array is matched, never
evaluated, and nothing is unpacked before its size is known.
"""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib

import numpy as np

from constrint.diagrams.terms import Array
from constrint.support.limits import Budget

_MAGIC = b"\x93NUMPY"
_HEADER = re.compile(
    r"\{'descr': '([<>|][iufU][0-9]{1,9})', 'fortran_order': (?:False|True), "
    r"'shape': \(([0-9]{1,18}),\), \} *\n"
)
_FOREIGN = (
    *(KeyError, ValueError, TypeError, IndexError, OverflowError, EOFError, OSError, NotImplementedError),
    *(RuntimeError, zipfile.BadZipFile, zlib.error, struct.error),
)
"""The exceptions that Python raises for damaged archives."""


class DamagedArchive(Exception):  # noqa: N818 - carried to where the file's name is known
    """The archive cannot be read; the message says why."""


class Archive:
    """The arrays of a file.

    Attributes:
        names: Their names.
    """

    def __init__(self, content: bytes, budget: Budget) -> None:
        self._budget = budget
        try:
            self._file = zipfile.ZipFile(io.BytesIO(content))
            entries = self._file.infolist()
        except _FOREIGN as problem:
            raise DamagedArchive(str(problem)) from problem
        budget.size(sum([entry.file_size for entry in entries]))
        self.names = [entry.filename.removesuffix(".npy") for entry in entries]

    def __getitem__(self, name: str) -> Array:
        try:
            content = self._file.read(f"{name}.npy")
        except _FOREIGN as problem:
            raise DamagedArchive(f"{name}: {problem}") from problem
        self._budget.count_steps(1 + len(content) // 100)
        return _array(content, name)


def _array(content: bytes, name: str) -> Array:
    """An array of one axis from the content of a `.npy` file."""
    if content[:6] != _MAGIC or len(content) < 10 or content[6] not in (1, 2):
        raise DamagedArchive(f"{name} is not an array")
    begin = 10 if content[6] == 1 else 12
    end = begin + int.from_bytes(content[8:begin], "little")
    match = _HEADER.fullmatch(content[begin:end].decode("latin-1"))
    if match is None:
        raise DamagedArchive(f"{name} is not an array of numbers with one axis")
    try:
        kind = np.dtype(match[1])
    except TypeError as problem:
        raise DamagedArchive(f"{name}: {problem}") from problem
    if not kind.itemsize or kind.itemsize * int(match[2]) != len(content) - end:
        raise DamagedArchive(f"{name} is longer or shorter than it says")
    return np.frombuffer(bytearray(content), kind, offset=end)
