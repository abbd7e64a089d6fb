"""Drawn functions, compiled, give what Python gives, and leave the same memory."""

from __future__ import annotations

import importlib
import random
import sys
from pathlib import Path

import numpy as np
import pytest
from drawn_functions import module_text

from constrint.engine import making, native


def test_drawn_functions_are_pythons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values, and what is written to memory, as far as that says in which order things are done."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "drawn_module.py").write_text(module_text(2_000, 40))
    module = importlib.import_module("drawn_module")
    monkeypatch.delitem(sys.modules, "drawn_module")
    run = native.loaded(making.code_of(module.entry, "drawn", checked=True), "drawn")
    rng = random.Random(11)
    for number in range(40):
        for _ in range(8):
            cells = [[rng.randint(-50, 50) for _ in range(9)] for _ in range(3)]
            x, y = rng.randint(-1000, 1000), rng.choice((0, 1, -1, 60))
            arrays = [np.array(part) for part in cells]
            structure = native.NativeStructure(arrays)
            assert run.bound(structure.address)(number, x, y) == module.entry(
                module.Memory(*cells), number, x, y
            )
            assert [array.tolist() for array in arrays] == cells, number
