"""The operators of scans in PyTorch on a CPU, beside the float64 references and torch's own checks."""

from __future__ import annotations

import re
import runpy
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from training import losses_of

from kerneltune.errors import InputError
from kerneltune.inputs.scan_descriptions import linear_cells
from kerneltune.running.scan_arrays import state_width, widths_of
from kerneltune.running.scan_reference import ScanInputs, backward, forward

torch: Any = pytest.importorskip("torch")
CELLS = linear_cells()


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("cell", sorted(CELLS))
def test_values_and_gradients_are_the_references(cell: str, reverse: bool) -> None:
    from kerneltune.torch.scan import scan

    draw = np.random.default_rng(4)
    shape = 3, 11, 5
    widths, state = widths_of(CELLS[cell]), 5 * state_width(CELLS[cell])
    read = tuple(draw.normal(size=(3, 11, 5 * width)) for width in widths)
    inputs = ScanInputs(
        read,
        draw.normal(size=(3, state)),
        np.array([11, 0, 6], np.int32),
        draw.random(shape[:2]) < 0.2,
        reverse,
    )
    module = CELLS[cell].reference_module()
    by_hidden, by_last = draw.normal(size=(3, 11, state)), draw.normal(size=(3, state))
    hidden, last = forward(module, inputs)
    found, by_initial = backward(module, inputs, by_hidden, by_last)
    mine = [torch.tensor(part, dtype=torch.float32, requires_grad=True) for part in (*read, inputs.initial)]
    options = {"lengths": torch.tensor(inputs.lengths), "resets": torch.tensor(inputs.resets)}
    output, end = scan(cell, *mine[:-1], initial=mine[-1], reverse=reverse, **options)
    np.testing.assert_allclose(output.detach(), hidden, rtol=2e-5, atol=2e-6)
    np.testing.assert_allclose(end.detach(), last, rtol=2e-5, atol=2e-6)
    ((output * torch.tensor(by_hidden)).sum() + (end * torch.tensor(by_last)).sum()).backward()
    for tensor, expected in zip(mine, (*found, by_initial), strict=True):
        np.testing.assert_allclose(tensor.grad, expected, rtol=2e-4, atol=2e-5)


def test_the_operator_is_registered_as_torch_wants() -> None:
    from kerneltune.torch.scan import scan

    inputs = [torch.randn(2, 4, 3, requires_grad=True) for _ in range(2)]
    scan("linear", *inputs)
    operator = torch.ops.kerneltune.scan.default
    torch.library.opcheck(operator, ("linear", inputs, None, None, None, None, False))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("cell", ["mingru", "minlstm"])
def test_parts_of_time_give_what_the_whole_gives(cell: str, reverse: bool) -> None:
    from kerneltune.torch.scan import scan
    from kerneltune.torch.scan_cpu import _by_parts
    from kerneltune.torch.scan_options import Options

    torch.manual_seed(5)
    inputs = [torch.randn(2, 101, 3) for _ in range(2 if cell == "mingru" else 3)]
    options = {"initial": torch.randn(2, 3), "resets": torch.rand(2, 101) < 0.1, "reverse": reverse}
    whole = scan(cell, *inputs, **options)
    parts = _by_parts(cell, inputs, Options(**options), numbers=6 * 16)
    for found, expected in zip(parts, whole, strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("cell", ["mingru", "minlstm"])
def test_one_pass_gives_the_reference(cell: str, dtype: Any) -> None:
    """Of parts of a projection, in both directions, with resets; extreme gates; NaN stays in its channel."""
    from kerneltune.torch.scan import scan
    from kerneltune.torch.scan_cpu import _fits_one_pass

    torch.manual_seed(6)
    count = 2 if cell == "mingru" else 3
    inputs = (3 * torch.randn(4, 21, count * 70)).to(dtype).chunk(count, -1)
    assert _fits_one_pass(list(inputs))
    extremes = torch.tensor([200.0, -200.0, torch.inf, -torch.inf, 0.0, -60.0, 60.0])
    inputs[0][0, :7, 0] = extremes.to(dtype)
    inputs[-2][1, :7, 0] = extremes.to(dtype)
    inputs[0][2, 5, 9] = torch.nan
    resets, initial = torch.rand(4, 21) < 0.2, torch.randn(4, 70)
    for reverse in (False, True):
        read = tuple(part.double().numpy() for part in inputs)
        given = ScanInputs(read, initial.double().numpy(), np.full(4, 21, np.int32), resets.numpy(), reverse)
        with np.errstate(all="ignore"):
            hidden, last = forward(CELLS[cell].reference_module(), given)
        found, end = scan(cell, *inputs, initial=initial, resets=resets, reverse=reverse)
        limits = {"rtol": 3e-6, "atol": 1e-6} if dtype == torch.float32 else {"rtol": 4e-3, "atol": 1e-6}
        np.testing.assert_allclose(found.double(), hidden, **limits)  # type: ignore[call-overload]
        np.testing.assert_allclose(end, last, rtol=3e-6, atol=1e-6)
        assert torch.isnan(found).any(1).sum() == 1


def test_one_pass_has_the_same_bits_with_other_numbers_of_threads() -> None:
    from kerneltune.torch.scan import scan

    inputs = [torch.randn(2, 9, 601) for _ in range(2)]
    before = torch.get_num_threads()
    try:
        found = []
        for threads in (1, 2, 5):
            torch.set_num_threads(threads)
            found.append(scan("mingru", *inputs)[0])
    finally:
        torch.set_num_threads(before)
    assert torch.equal(found[0], found[1])
    assert torch.equal(found[0], found[2])


@pytest.mark.parametrize("name", ["MinGRU", "MinLSTM", "LinearRecurrence"])
def test_layers_train(name: str) -> None:
    import kerneltune.torch.scan_layers as scans

    torch.manual_seed(1)
    layer = getattr(scans, name)(6, 8)
    losses = losses_of(torch, layer)
    assert losses[-1] < 0.7 * losses[0]


def test_what_does_not_fit_is_refused() -> None:
    from kerneltune.torch.scan import linear_recurrence, scan

    a = torch.zeros(2, 3, 4)
    with pytest.raises(InputError, match="b is"):
        linear_recurrence(a, torch.zeros(2, 3, 5))
    with pytest.raises(InputError, match="initial is"):
        linear_recurrence(a, a, initial=torch.zeros(2, 3))
    with pytest.raises(InputError, match="unknown scan"):
        scan("mingro", a, a)
    with pytest.raises(InputError, match="not supported"):
        linear_recurrence(a.double(), a.double())


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("cell", sorted(CELLS))
def test_sequences_in_one_row_are_rows_of_their_own(cell: str, reverse: bool) -> None:
    """Each with its own first and last h, also where it is empty, and with resets inside."""
    from kerneltune.torch.scan import scan

    torch.manual_seed(2)
    ends = [0, 4, 4, 11, 12]
    widths, state = widths_of(CELLS[cell]), 3 * state_width(CELLS[cell])
    read = [torch.randn(1, 12, 3 * width, requires_grad=True) for width in widths]
    initial = torch.randn(4, state, requires_grad=True)
    resets = torch.rand(1, 12) < 0.2
    h, last = scan(
        cell, *read, initial=initial, resets=resets, cu_seqlens=torch.tensor(ends), reverse=reverse
    )
    weight, last_weight = torch.randn_like(h), torch.randn_like(last)
    mine = torch.autograd.grad((h * weight).sum() + (last * last_weight).sum(), [*read, initial])
    loss = torch.zeros(())
    for row, (begin, end) in enumerate(pairwise(ends)):
        if begin == end:
            torch.testing.assert_close(last[row], initial[row])
            loss = loss + (initial[row] * last_weight[row]).sum()
            continue
        parts = [part[:, begin:end] for part in read]
        first, dropped = initial[row : row + 1], resets[:, begin:end]
        one, end_state = scan(cell, *parts, initial=first, resets=dropped, reverse=reverse)
        torch.testing.assert_close(h[:, begin:end], one)
        torch.testing.assert_close(last[row : row + 1], end_state)
        loss = loss + (one * weight[:, begin:end]).sum() + (end_state * last_weight[row]).sum()
    for found, expected in zip(mine, torch.autograd.grad(loss, [*read, initial]), strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


def test_complex_and_matrix_coefficients_are_the_loop() -> None:
    from kerneltune.torch import linear_recurrence

    torch.manual_seed(3)
    a = (0.7 * torch.randn(2, 9, 3, dtype=torch.complex64)).requires_grad_()
    b = torch.randn(2, 9, 3, dtype=torch.complex64, requires_grad=True)
    initial = torch.randn(2, 3, dtype=torch.complex64, requires_grad=True)
    h, last = linear_recurrence(a, b, initial=initial)
    state, expected = initial, []
    for step in range(9):
        state = a[:, step] * state + b[:, step]
        expected.append(state)
    torch.testing.assert_close(h, torch.stack(expected, 1))
    torch.testing.assert_close(last, state)
    weight = torch.randn_like(h)
    for mine, other in zip(
        torch.autograd.grad((h * weight).real.sum(), (a, b, initial)),
        torch.autograd.grad((torch.stack(expected, 1) * weight).real.sum(), (a, b, initial)),
        strict=True,
    ):
        torch.testing.assert_close(mine, other, rtol=1e-4, atol=1e-5)
    matrices = 0.5 * torch.randn(2, 9, 3, 2, 2)
    pairs = torch.randn(2, 9, 3, 2)
    h, last = linear_recurrence(matrices, pairs)
    state = torch.zeros(2, 3, 2)
    for step in range(9):
        state = (matrices[:, step] @ state[..., None])[..., 0] + pairs[:, step]
        torch.testing.assert_close(h[:, step], state)
    with pytest.raises(InputError, match="both are complex"):
        linear_recurrence(a, b.real)


def test_heads_do_not_see_each_other_and_blocks_do_not_see_ahead() -> None:
    from kerneltune.torch import LinearRecurrence, MinGRU, MinimalBlock

    torch.manual_seed(4)
    layer = MinGRU(8, 12, heads=4)
    x = torch.randn(2, 5, 8)
    changed = x.clone()
    changed[..., 2:4] += 1.0
    same = (layer(x)[0] == layer(changed)[0]).all(dim=1).all(dim=0)
    assert same.tolist() == [True] * 3 + [False] * 3 + [True] * 6
    with pytest.raises(InputError, match="heads is 3"):
        MinGRU(8, 12, heads=3)
    model = torch.nn.Sequential(MinimalBlock(8), MinimalBlock(8, LinearRecurrence))
    later = x.clone()
    later[:, 3:] += 1.0
    assert torch.equal(model(x)[:, :3], model(later)[:, :3])
    assert not torch.equal(model(x)[:, 3:], model(later)[:, 3:])


@pytest.mark.slow
def test_the_character_model_of_the_examples_learns(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    example = Path(__file__).parents[3] / "examples" / "characters.py"
    words = ["--size", "16", "--blocks", "1", "--steps", "25", "--length", "32", "--rate", "0.01"]
    monkeypatch.setattr("sys.argv", [str(example), *words])
    runpy.run_path(str(example), run_name="__main__")
    before, after = re.findall(r"(\d+\.\d+) -> (\d+\.\d+)", capsys.readouterr().out)[0]
    assert float(after) < float(before) - 0.5


def test_a_launch_has_the_request_and_arrays_of_its_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    from kerneltune.torch import scan_launching
    from kerneltune.torch.scan_options import Options

    seen: list[Any] = []

    class Recorder:
        def launch(self, form: Any, tensors: Any) -> None:
            seen.append((form.problem(tensors, 16), tensors))

    monkeypatch.setattr(scan_launching, "launcher", lambda strategy: seen.append(strategy) or Recorder())  # type: ignore[func-returns-value]
    parts = torch.zeros(2, 5, 24).chunk(3, -1)
    arrays = {f"input{number}": part for number, part in enumerate(parts)}
    options = Options(lengths=torch.ones(2), reverse=True, weights=torch.zeros(3, 8), strategy="overlap")
    scan_launching.run_kernel("diag_gru", "training", options, arrays, {"output0": parts[0]})
    strategy, (problem, tensors) = seen
    assert strategy == "overlap"
    assert (problem.batch, problem.steps, problem.channels, problem.dtype) == (2, 5, 8, "fp32")
    assert (problem.direction, problem.reverse, problem.lengths, problem.resets) == (
        *("training", True, True, False),
    )
    assert sorted(tensors) == ["input0", "input1", "input2", "lengths", "output0", "weights"]


def test_a_linear_cell_in_cuda_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has no equations from which its coefficients could be computed here."""
    from kerneltune.inputs.scan_descriptions import discover_scans
    from kerneltune.torch import scan_cpu

    shutil.copytree(discover_scans().root, tmp_path, dirs_exist_ok=True)
    folder = tmp_path / "scan" / "cells" / "written"
    folder.mkdir()
    about = "name: written\nsummary: h' = a h + b\ngates: [a, b]\nstates: [h]\ncell_struct: WrittenCell\n"
    (folder / "cell.yaml").write_text(about)
    kernels = discover_scans(tmp_path)
    monkeypatch.setattr(scan_cpu, "discover_scans", lambda: kernels)
    pair = [torch.zeros(1, 2, 3), torch.zeros(1, 2, 3)]
    with pytest.raises(InputError, match="written is written in CUDA: a CPU needs its equations"):
        scan_cpu.coefficients("written", pair)
