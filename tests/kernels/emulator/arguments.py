"""The kernels' argument structs as numpy layouts, read from the header itself."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

FIELD = re.compile(r"^\s*(?:const\s+)?(\w+)\s*(\*?)\s*(\w+);", re.MULTILINE)
SCALARS = {"int": np.int32, "float": np.float32, "Stride": np.int64}


def struct_layout(header: Path, name: str) -> np.dtype:
    """The layout of ``struct name`` in ``header``: pointers are 8-byte numbers."""
    text = header.read_text(encoding="utf-8")
    found = re.search(rf"struct {name} {{(.*?)\n}};", text, re.DOTALL)
    assert found, f"{header} has no struct {name}"
    fields = [
        (field, np.uint64 if star else SCALARS[kind]) for kind, star, field in FIELD.findall(found.group(1))
    ]
    return np.dtype(fields, align=True)
