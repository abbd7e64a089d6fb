"""The kernels' argument structs as numpy layouts, read from the header itself."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

FIELD = re.compile(r"^\s*(?:const\s+)?(\w+)\s*(\*?)\s*(\w+);", re.MULTILINE)
SCALARS: dict[str, type[np.generic]] = {"int": np.int32, "float": np.float32, "Stride": np.int64}


def struct_layout(header: Path, name: str) -> np.dtype:
    """The layout of ``struct name`` in ``header``: pointers are 8-byte numbers."""
    text = header.read_text(encoding="utf-8")
    return np.dtype(_fields(text, header, name), align=True)


def _fields(text: str, header: Path, name: str) -> list[tuple[str, type[np.generic]]]:
    """The fields of a struct, after those of the one that it extends."""
    found = re.search(rf"struct {name}(?: : (\w+))? {{(.*?)\n}};", text, re.DOTALL)
    assert found, f"{header} has no struct {name}"
    first = _fields(text, header, found.group(1)) if found.group(1) else []
    own: list[tuple[str, str, str]] = FIELD.findall(found.group(2))
    return [*first, *((field, np.uint64 if star else SCALARS[kind]) for kind, star, field in own)]
