"""The recurrence as an operator of torch.library, beside the cells' float64 references."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kerneltune.inputs.descriptions import discover

torch: Any = pytest.importorskip("torch")
ROOT = Path(__file__).parents[3]
CELLS = ("lstm", "slstm", "gru", "elman", "elman_relu")
PLAIN = (0.0, 0.0, False, False, True)


def drawn(cell: str, steps: int = 6) -> list[np.ndarray]:
    """Input product, R, bias and first states of two heads of four units."""
    spec = discover().cell(cell).spec
    gates, states = len(spec.gates), len(spec.states)
    draw = np.random.default_rng(len(cell))
    product, bias = draw.normal(size=(steps, 3, 2, 4, gates)), draw.normal(size=(2, gates, 4))
    recurrent = draw.normal(size=(2, gates, 4, 4)) * 0.4
    return [product, recurrent, bias, draw.random((states, 3, 2, 4)) + 0.2]


def tensors(arrays: list[np.ndarray]) -> list[Any]:
    return [torch.tensor(array, requires_grad=True) for array in arrays]


def close(found: Any, expected: Any) -> None:
    assert tuple(found.shape) == tuple(expected.shape)
    assert float((found - torch.as_tensor(expected)).abs().max()) < 1e-10


@pytest.mark.parametrize("cell", CELLS)
def test_values_and_gradients_are_the_references(cell: str) -> None:
    from kerneltune.torch import recurrence

    arrays = drawn(cell)
    reference = discover().cell(cell).reference_module()
    states = reference.forward(*arrays)
    draw = np.random.default_rng(0)
    by_output, by_last = draw.normal(size=states[0, 1:].shape), draw.normal(size=states[:, -1].shape)
    expected = reference.backward(*arrays[:3], states, by_output, by_last)
    by = torch.tensor(by_output), torch.tensor(by_last)
    for run in (recurrence, lambda cell, *parts: torch.ops.kerneltune.recurrence(*parts, cell, *PLAIN)[:2]):
        given = tensors(arrays)
        output, last = run(cell, *given)
        close(output, states[0, 1:])
        close(last, states[:, -1])
        found = torch.autograd.grad((output, last), given, by)
        close(found[0], expected.input)
        close(found[2], expected.recurrent.sum((0, 1)).transpose(0, 2, 1))
        close(found[3], expected.initial)


@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_the_operator_is_registered_as_torch_wants(cell: str) -> None:
    import kerneltune.torch

    assert kerneltune.torch
    operator = torch.ops.kerneltune.recurrence.default
    given = tensors(drawn(cell, steps=3))
    torch.library.opcheck(operator, (*given, cell, *PLAIN))
    permuted = given[0].detach().transpose(0, 1).contiguous().transpose(0, 1)
    torch.library.opcheck(operator, (permuted, *[part.detach() for part in given[1:]], cell, *PLAIN))


def test_vmap_and_derivatives_of_torch_func() -> None:
    from torch.func import grad, vmap

    from kerneltune.torch.transforms import Transformed

    product, recurrent, bias, initial = (part.detach() for part in tensors(drawn("lstm")))
    products = torch.stack([product, product * 2, product - 1])
    starts = torch.stack([initial, initial + 1, initial * 2])
    matrices = torch.stack([recurrent, recurrent * 0.5, -recurrent])

    def run(product: Any, recurrent: Any, initial: Any) -> Any:
        return Transformed.apply(product, recurrent, bias, initial, "lstm", *PLAIN)[:2]

    def loss(recurrent: Any, product: Any, initial: Any) -> Any:
        return run(product, recurrent, initial)[0].pow(2).sum()

    for mapped, at in ((recurrent, None), (matrices, 0)):
        found = vmap(run, (0, at, 0))(products, mapped, starts)
        slopes = vmap(grad(loss), (at, 0, 0))(mapped, products, starts)
        for i in range(3):
            alone = (mapped if at is None else mapped[i]).clone().requires_grad_()
            expected = run(products[i], alone, starts[i])
            close(found[0][i], expected[0].detach())
            close(found[1][i], expected[1].detach())
            close(slopes[i], torch.autograd.grad(expected[0].pow(2).sum(), alone)[0])


def test_compiled_whole_with_shapes_that_change() -> None:
    from kerneltune.torch import LSTM

    layer = LSTM(5, 12, 2, bidirectional=True, dtype=torch.float64)
    compiled = torch.compile(layer, fullgraph=True, dynamic=True, backend="aot_eager")
    for steps, batch in ((4, 3), (6, 2)):
        x = torch.randn(steps, batch, 5, dtype=torch.float64)
        found, expected = compiled(x), layer(x)
        close(found[0], expected[0])
        close(found[1][1], expected[1][1])
        by = torch.autograd.grad(found[0].pow(2).sum(), layer.weight_hh_l1)[0]
        close(by, torch.autograd.grad(expected[0].pow(2).sum(), layer.weight_hh_l1)[0])


def test_exported_with_dynamic_shapes() -> None:
    from torch.export import Dim, export

    from kerneltune.torch import GRU

    layer = GRU(5, 8, dtype=torch.float64)
    shapes = {"input": {0: Dim("T", min=2), 1: Dim("B", min=2)}}
    program = export(layer, (torch.randn(4, 3, 5, dtype=torch.float64),), dynamic_shapes=shapes)
    x = torch.randn(7, 2, 5, dtype=torch.float64)
    close(program.module()(x)[0], layer(x)[0])


AHEAD = """
import sys, torch
import kerneltune.torch as ours

def made(layer, x, name):
    program = torch.export.export(layer, (x,))
    path = torch._inductor.aoti_compile_and_package(program, package_path=f"{sys.argv[2]}/{name}.pt2")
    return torch._inductor.aoti_load_package(path)

torch.set_grad_enabled(False)
x = torch.randn(4, 3, 5, device=sys.argv[1])
made(torch.nn.Linear(5, 2).to(x.device), x, "linear")(x)
print("ready", flush=True)
for kind in (ours.LSTM, ours.MinGRU):
    layer = kind(5, 16).to(x.device).eval()
    torch.testing.assert_close(made(layer, x, kind.__name__)(x)[0], layer(x)[0], rtol=1e-3, atol=1e-4)
print("right", flush=True)
"""


@pytest.mark.slow  # AOTInductor compiles C++ for a minute
@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_exported_programs_are_compiled_ahead_of_time(device: str, tmp_path: Path) -> None:
    """By AOTInductor, in a process that has imported kerneltune.torch, whose operators the package calls."""
    if shutil.which("g++") is None:
        pytest.skip("AOTInductor needs g++")
    child = subprocess.run(
        [sys.executable, "-c", AHEAD, device, str(tmp_path)], capture_output=True, text=True, cwd=ROOT
    )
    if "ready" not in child.stdout:
        pytest.skip(f"AOTInductor fails here with torch's own Linear, too: exit code {child.returncode}")
    assert "right" in child.stdout, child.stderr[-3000:]


def test_autocast_casts_all() -> None:
    from kerneltune.torch import LSTM, native

    layer = LSTM(5, 8, dtype=torch.float32)
    x = torch.randn(3, 2, 5)
    with torch.autocast("cpu", dtype=torch.bfloat16), native():
        output, (h, _) = layer(x)
    assert output.dtype == h.dtype == torch.bfloat16
    output.float().sum().backward()
    assert layer.weight_hh_l0.grad.dtype == torch.float32


def test_compilers_are_imported_where_something_is_compiled() -> None:
    """torch._dynamo takes two seconds to import."""
    script = (
        "import sys, torch; before = {*sys.modules}; import kerneltune.torch;"
        "print(sorted(name for name in {*sys.modules} - before if name.split('.')[0] not in"
        " ('kerneltune', 'constrint') and 'torch' in name))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
