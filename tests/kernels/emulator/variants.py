"""Copies of the kernels with single changes."""

from __future__ import annotations

import shutil
from pathlib import Path

from kerneltune.inputs.descriptions import Kernels


def changed(kernels: Kernels, root: Path, name: str, *changes: tuple[str, str]) -> None:
    """Each text, found once in the file, for another, in a copy of the kernels at ``root``."""
    if not root.exists():
        shutil.copytree(kernels.root, root)
    text = (root / name).read_text(encoding="utf-8")
    for before, after in changes:
        assert text.count(before) == 1
        text = text.replace(before, after)
    (root / name).write_text(text, encoding="utf-8")
