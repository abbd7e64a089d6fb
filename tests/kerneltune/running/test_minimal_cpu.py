"""minGRU and minLSTM on a CPU in one pass, beside the float64 references."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from kerneltune.compiling.halffloat import decode, encode
from kerneltune.inputs.scan_descriptions import linear_cells
from kerneltune.running.minimal_cpu import Steps, minimal_scan
from kerneltune.running.scan_reference import ScanInputs, forward


@pytest.mark.parametrize(("cell", "dtype", "reverse"), [("mingru", "fp32", False), ("minlstm", "bf16", True)])
def test_one_pass_is_the_reference(cell: str, dtype: str, reverse: bool) -> None:
    """Of inputs that lie side by side, in several blocks, with resets and extreme gates."""
    draw = np.random.default_rng(3)
    count = 2 if cell == "mingru" else 3
    whole = 3.0 * draw.normal(size=(2, 17, count * 75)).astype(np.float32)
    whole[0, :6, 0] = whole[1, :6, 75] = [200.0, -200.0, np.inf, -np.inf, 60.0, -60.0]
    stored = encode(whole, dtype)
    numbers = stored.reshape(-1).view(np.float32 if dtype == "fp32" else np.uint16)
    hidden = np.zeros((2, 17, 75), numbers.dtype)
    resets, initial = draw.random((2, 17)) < 0.2, draw.normal(size=(2, 75)).astype(np.float32)
    state = initial.copy()
    minimal_scan(
        [Steps(numbers[75 * i :], 17 * count * 75, count * 75) for i in range(count)],
        Steps(hidden.reshape(-1), 17 * 75, 75),
        state,
        resets,
        reverse=reverse,
        parts=2,
    )
    read = tuple(np.split(decode(stored, dtype).astype(np.float64), count, axis=-1))
    given = ScanInputs(read, initial.astype(np.float64), np.full(2, 17, np.int32), resets, reverse)
    with np.errstate(all="ignore"):
        expected, last = forward(linear_cells()[cell].reference_module(), given)
    found = hidden if dtype == "fp32" else decode(hidden, dtype)
    np.testing.assert_allclose(found, expected, rtol=3e-6 if dtype == "fp32" else 4e-3, atol=1e-6)
    np.testing.assert_allclose(state, last, rtol=3e-6, atol=1e-6)


def test_a_linear_scan_without_numba_names_the_extra() -> None:
    """In a process of its own, since this one has compiled scans."""
    program = """
import sys
sys.modules["numba"] = None
import numpy as np
from kerneltune.errors import MissingExtraError
from kerneltune.running import diagonal_cpu, scan_cpu
a = np.ones((1, 1, 1), np.float32)
x, u, one = np.ones((3, 1, 1, 1), np.float32), np.ones((3, 1), np.float32), np.ones(1, np.int32)
read = diagonal_cpu.CpuInputs(x, u, one, np.zeros((1, 1), bool), False)
print("diagonal", diagonal_cpu.forward("diag_gru", read, a)[0].shape)
try:
    scan_cpu.linear_scan(a, a, a[0])
except MissingExtraError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    diagonal, linear = done.stdout.splitlines()
    assert diagonal == "diagonal (1, 1, 1)"  # by numpy
    assert linear.startswith("a scan on a CPU needs the extra 'torch': pip install 'constrint[torch]'")
