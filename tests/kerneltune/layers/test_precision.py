"""The precision of float32 products, by torch's older switches and by its newer ones."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch")

# Each setting in a copy of a process that has imported torch, which takes seconds.
PROGRAM = """
import os, sys
import torch
for setting in sys.argv[1:]:
    sys.stdout.flush()
    if os.fork() == 0:
        exec(setting)
        from kerneltune.torch import precision
        print(precision.rnn_takes_tf32(), hash(precision.of_products()) != 0)
        sys.exit()
    assert os.wait()[1] == 0, setting
"""
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


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.slow
def test_precisions_are_read_however_they_were_set() -> None:
    newer = hasattr(torch.backends, "fp32_precision")
    settings = {setting: takes for setting, takes in SETTINGS if newer or "fp32_precision" not in setting}
    command = [sys.executable, "-c", PROGRAM, *settings]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = zip(settings, done.stdout.splitlines(), strict=True)
    assert dict(found) == {setting: f"{takes} True" for setting, takes in settings.items()}


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
