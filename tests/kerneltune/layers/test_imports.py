"""An import of the layers loads what a first call needs at most."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

pytest.importorskip("torch")
PROGRAM = """
import json, sys, torch
before = set(sys.modules)
import kerneltune.torch
print(json.dumps(sorted(set(sys.modules) - before)))
"""
HEAVY = ("numba", "llvmlite", "sympy", "lark", "yaml", "cuda", "pycuda", "highspy", "scipy", "jinja2", "jax")
SOLVER = ("constrint.model", "constrint.expr", "constrint.propagators", "constrint.engine")


def test_an_import_loads_neither_the_solver_nor_compilers() -> None:
    found = json.loads(
        subprocess.run([sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True).stdout
    )
    packages = {name.partition(".")[0] for name in found}
    assert packages & set(HEAVY) == set()
    assert set(found) & {*SOLVER, "torch._dynamo", "torch._inductor", "kerneltune.tiling.space"} == set()
    assert len([name for name in found if name.startswith(("constrint", "kerneltune"))]) < 100
