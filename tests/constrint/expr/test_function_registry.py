"""The registry of arithmetic functions is complete as soon as it can be imported.

Tables of other modules copy it when they are imported, so a function that registers later would be missing
from them, depending on what a program imports first.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
ALL = """
import importlib, pathlib
import constrint.expr.arithmetic as folder
for path in sorted(pathlib.Path(folder.__file__).parent.glob("*.py")):
    importlib.import_module("constrint.expr.arithmetic." + path.stem)
"""


def printed(program: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=True,
    ).stdout


@pytest.mark.parametrize("first", ["constrint.expr", "constrint.diagrams.evaluate"])
def test_registry_is_complete_after_the_first_import(first: str) -> None:
    count = "from constrint.expr.arithmetic.base import FUNCTIONS\nprint(sorted(FUNCTIONS))\n"
    assert printed(f"import {first}\n{count}") == printed(ALL + count)


def test_spaces_loaded_first_have_every_function() -> None:
    program = """
from constrint.tuning.spaces import from_tune_params
assert from_tune_params({"a": [1, 2, 3]}, ["a > 1"]).size == 2
from constrint import Model, isqrt, truncdiv
m = Model()
x, y = m.int_var("x", 0, 20), m.int_var("y", 0, 20)
m.add(isqrt(x) + truncdiv(y, 3) == 5)
print(len(m.solutions()) == sum(1 for x in range(21) for y in range(21) if int(x ** 0.5) + y // 3 == 5))
"""
    assert printed(program) == "True\n"
