"""benchmarks/rnn/flashrnn_library.py: what it computes, and builds that fail. Needs no GPU."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks" / "rnn"))
import flashrnn_library
from sweeps import Shape

from kerneltune.inputs.descriptions import discover

SHAPE = Shape("table", "lstm", 2, 16, 8, 12, "bf16")


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flashrnn_library.tempfile, "gettempdir", lambda: str(tmp_path))


def test_the_layer_computes_what_our_lstm_does() -> None:
    """FlashRNN's own loop in PyTorch, given the orders of its fused kernels."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("flashrnn.flashrnn")
    forward, inputs = flashrnn_library.flashrnn_layer(SHAPE, "cpu", "vanilla")
    hidden = forward()
    gradients = torch.autograd.grad(hidden, inputs, torch.ones_like(hidden))
    assert [g.shape for g in gradients] == [x.shape for x in inputs]
    product, recurrent, bias = (x.detach().double().numpy() for x in inputs)
    states = (
        discover()
        .cells["lstm"]
        .reference()(
            product, recurrent.transpose(0, 2, 1, 3), bias.transpose(0, 2, 1), np.zeros((2, 8, 2, 16))
        )
    )
    found = hidden.detach().double().numpy()
    assert found.shape == (12, 8, 2, 16)
    assert np.linalg.norm(found - states[0, 1:]) < 0.01 * np.linalg.norm(states[0, 1:])


def test_what_is_not_built_is_not_compiled_while_others_are_timed() -> None:
    with pytest.raises(RuntimeError, match="not built: python"):
        flashrnn_library.built_layer(SHAPE, "cpu")


def test_what_was_built_is_loaded_without_a_search(tmp_path: Path) -> None:
    loaded: list[dict[str, Any]] = []
    given = {"name": "lstm_f", "sources": ["a.cu"], "extra_cuda_cflags": ["-O3"]}
    for tile in (8, 16):  # a search tries two tilings
        flags = {"extra_cflags": [f"-DTILE={tile}"]}
        flashrnn_library.load_and_note(lambda **o: loaded.append(o), tmp_path, {**given, **flags})
    wanted = {**given, "constraint_str": "a == b;", "extra_cflags": ["-DHIDDEN=64"]}
    flashrnn_library.load_again(lambda **o: loaded.append(o), tmp_path, wanted)
    first, second, again = loaded
    assert again == second
    assert first["name"] != second["name"]
    assert second["extra_cflags"] == ["-DTILE=16"]


def test_builds_that_fail_or_take_too_long_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "build.py"
    monkeypatch.setattr(flashrnn_library, "__file__", str(script))
    shapes = [Shape("table", "lstm", 1, dim, 8, 12, "bf16") for dim in (16, 32)]
    script.write_text("import sys\nif sys.argv[2] == '1':\n    sys.exit('no tiling fits')\n")
    assert flashrnn_library.build_all(shapes, 60.0) == ["lstm 1x32 B=8 T=12 bf16: no tiling fits"]
    script.write_text("import time\ntime.sleep(60)\n")
    assert flashrnn_library.build_all(shapes[:1], 0.5) == ["lstm 1x16 B=8 T=12 bf16: not built in 0.5 s"]
