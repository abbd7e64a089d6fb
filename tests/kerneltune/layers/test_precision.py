"""The precision of float32 products, by torch's older switches and by its newer ones."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch")

SETTINGS = (
    ("pass", True),
    ("torch.backends.cudnn.allow_tf32 = False", False),
    ("torch.backends.cuda.matmul.allow_tf32 = True", True),
    ("torch.set_float32_matmul_precision('high')", True),
    ("torch.backends.cudnn.rnn.fp32_precision = 'ieee'", False),
    ("torch.backends.cudnn.rnn.fp32_precision = 'tf32'", True),
    ("torch.backends.cuda.matmul.fp32_precision = 'tf32'", True),
    ("torch.backends.fp32_precision = 'ieee'", False),
)


@pytest.mark.parametrize(("setting", "expected"), SETTINGS)
def test_precisions_are_read_however_they_were_set(setting: str, expected: bool) -> None:
    if "fp32_precision" in setting and not hasattr(torch.backends, "fp32_precision"):
        pytest.skip("this torch has the older switches only")
    program = f"import torch\n{setting}\nfrom kerneltune.torch import precision\n"
    program += "print(precision.rnn_takes_tf32(), hash(precision.of_products()) != 0)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(expected), "True"]


@pytest.mark.gpu
def test_layers_run_however_precision_was_set() -> None:
    program = """
import torch
import kerneltune.torch as ours
layer, x = ours.LSTM(16, 32, device="cuda"), torch.randn(5, 4, 16, device="cuda")
found = {}
for way in ("tf32", "ieee"):
    torch.backends.cudnn.rnn.fp32_precision = torch.backends.cuda.matmul.fp32_precision = way
    for call in range(5):
        found[way] = layer(x)[0]
        found[way].sum().backward()
    compiled = torch.compile(layer, fullgraph=True)
    assert torch.allclose(compiled(x)[0], found[way], atol=1e-3)
    torch.compiler.reset()
exact = torch.nn.LSTM(16, 32, device="cuda")
exact.load_state_dict(layer.state_dict())
expected = exact.double()(x.double())[0]
errors = [float((found[way] - expected).norm() / expected.norm()) for way in ("tf32", "ieee")]
assert errors[1] < 2e-6 < errors[0] < 2e-3, errors
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
