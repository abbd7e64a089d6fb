"""Layers of cells of equations, used as `torch.nn`'s are: rows of their own lengths, resets and more."""

from __future__ import annotations

import copy
import runpy
import subprocess
import sys
import textwrap
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import torch
from reference_launcher import ReferenceLauncher
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from kerneltune.inputs.descriptions import discover
from kerneltune.inputs.equation_cell import EquationCell
from kerneltune.torch import Recurrent, native
from kerneltune.torch.sizes import KINDS, kind_of

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "cells"
CELLS = [
    path for path in sorted(EXAMPLES.glob("*.cell")) if EquationCell.of_file(path).derivation.equations.recurs
]
STEPS, LENGTHS = 7, [7, 3, 5, 0]
States = tuple[torch.Tensor, ...]


def layer_of(path: Path) -> Recurrent:
    torch.manual_seed(0)
    layer = Recurrent(str(path), 5, 16, 2, heads=2, bidirectional=True, dtype=torch.float64)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.mul_(3)
    return layer


def run(layer: Recurrent, *given: object, **options: object) -> tuple[torch.Tensor, States]:
    output, last = layer(*given, **options)
    return output, last if isinstance(last, tuple) else (last,)


def drawn_states(layer: Recurrent, rows: int) -> States:
    return tuple(0.5 + torch.rand(4, rows, 16, dtype=torch.float64) for _ in layer.states)


@pytest.fixture(params=CELLS, ids=lambda path: path.stem)
def layer(request: pytest.FixtureRequest) -> Recurrent:
    return layer_of(request.param)


def test_rows_of_their_own_lengths(layer: Recurrent) -> None:
    x = torch.randn(STEPS, len(LENGTHS), 5, dtype=torch.float64)
    hx = drawn_states(layer, len(LENGTHS))
    for row, end in enumerate(LENGTHS):
        x[end:, row] = float("nan")
    x.requires_grad_()
    given = hx if len(hx) > 1 else hx[0]
    output, last = run(layer, x, given, lengths=torch.tensor(LENGTHS))
    (output.sum() + sum(state.sum() for state in last)).backward()
    assert all(bool(one.grad.isfinite().all()) for one in layer.parameters())
    for row, end in enumerate(LENGTHS):
        assert not output[end:, row].any()
        assert not x.grad[end:, row].any()
        mine = tuple(state[:, row : row + 1] for state in hx)
        if end:
            alone, mine = run(layer, x[:end, row : row + 1], mine if len(mine) > 1 else mine[0])
            torch.testing.assert_close(output[:end, row], alone[:, 0])
        for found, expected in zip(last, mine, strict=True):
            torch.testing.assert_close(found[:, row : row + 1], expected)


def test_packed_rows_and_sequences_one_after_another(layer: Recurrent) -> None:
    ends = [end for end in LENGTHS if end]
    x = torch.randn(STEPS, len(ends), 5, dtype=torch.float64)
    padded, states = run(layer, x, lengths=torch.tensor(ends))
    packed, last = run(layer, pack_padded_sequence(x, ends, enforce_sorted=False))
    torch.testing.assert_close(pad_packed_sequence(packed)[0], padded)
    torch.testing.assert_close(last, states)
    joined = torch.cat([x[:end, row] for row, end in enumerate(ends)])
    bounds = torch.tensor([0, *ends]).cumsum(0)
    output, last = run(layer, joined, cu_seqlens=bounds)
    torch.testing.assert_close(output, torch.cat([padded[:end, row] for row, end in enumerate(ends)]))
    torch.testing.assert_close(last, states)


def test_a_reset_begins_anew(layer: Recurrent) -> None:
    x = torch.randn(STEPS, 2, 5, dtype=torch.float64)
    reset = torch.zeros(STEPS, 2, dtype=torch.bool)
    reset[3, 1] = True
    hx = drawn_states(layer, 2)
    output, last = run(layer, x, hx if len(hx) > 1 else hx[0], reset=reset)
    parts = [(x[:3, 1:], 0), (x[3:, 1:], 1)]
    for part, number in parts:
        begin = [one.expand(-1, 1, -1).clone() for one in layer.first_states(1, x)]
        way = slice(number, None, 2)  # a direction enters where its first step lies
        for state, given in zip(begin, hx, strict=True):
            state[way] = given[way, 1:]
        alone, ends = run(layer, part, tuple(begin) if len(begin) > 1 else begin[0])
        torch.testing.assert_close(output[3:, 1:] if number else output[:3, 1:], alone)
        way = slice(1 - number, None, 2)
        for found, end in zip(last, ends, strict=True):
            torch.testing.assert_close(found[way, 1:], end[way])


def test_kernels_and_torch_agree(layer: Recurrent) -> None:
    """By the stand-in for kernels, in float32."""
    mine = copy.deepcopy(layer).float()
    x, lengths = torch.randn(STEPS, len(LENGTHS), 5), torch.tensor(LENGTHS)
    found = []
    for launcher in (None, ReferenceLauncher()):
        mine.runs_on = launcher
        output, last = run(mine, x, lengths=lengths)
        gradients = torch.autograd.grad(
            (output, *last), [*mine.parameters()], [torch.ones_like(o) for o in (output, *last)]
        )
        found.append((output, *last, *gradients))
    for expected, launched in zip(*found, strict=True):
        torch.testing.assert_close(launched, expected, rtol=5e-4, atol=1e-4)


@pytest.mark.parametrize("kind", ["even", "packed", "cu_seqlens"])
def test_a_stack_as_one_operation(layer: Recurrent, kind: str, kernels_on_cpu: ReferenceLauncher) -> None:
    """By the stand-in for kernels, with gradients of gradients."""
    mine = copy.deepcopy(layer).float()
    x, ends = torch.randn(STEPS, 3, 5), [7, 3, 5]
    x.requires_grad_()
    found = []
    for natively in (False, True):
        data: Any = x.flatten(0, 1) if kind == "cu_seqlens" else x
        if kind == "packed":
            data = pack_padded_sequence(x, ends, enforce_sorted=False)
        given = {"cu_seqlens": torch.tensor([0, 4, 5, 21])} if kind == "cu_seqlens" else {}
        with native() if natively else nullcontext():
            output, last = run(mine, data, **given)
        results = (output.data if kind == "packed" else output, *last)
        inputs = [x, *mine.parameters()]
        by = [torch.ones_like(one) for one in results]
        first = torch.autograd.grad(results, inputs, by, retain_graph=True)
        again = torch.autograd.grad(results, inputs, by, create_graph=True)
        second = torch.autograd.grad(sum(one.square().sum() for one in again), inputs)
        found.append((*results, *first, *second))
    assert "backward" in kernels_on_cpu.passes
    for launched, expected in zip(*found, strict=True):
        assert float((launched - expected).norm()) <= 2e-3 * float(expected.norm()) + 1e-5


@pytest.mark.parametrize("name", [name for name in KINDS if name != "elman_relu"])
def test_what_keeps_states_is_found_in_the_equations(name: str) -> None:
    """As it is written for the layers in the place of torch's."""
    cell = EquationCell.of_file(discover().root / "cells" / f"{name}.cell")
    found, known = kind_of(cell.key), KINDS[name]
    assert found.states == tuple(known.states)
    assert found.positive == tuple(known.positive)
    assert found.keeps_hidden == known.keeps_hidden
    assert all(mine == sign for mine, sign in zip(found.keeps or (), known.keeps or (), strict=True) if sign)


def test_a_saved_layer_is_loaded_in_another_process(tmp_path: Path) -> None:
    layer = layer_of(CELLS[0])
    x = torch.randn(STEPS, 2, 5, dtype=torch.float64)
    torch.save((layer, x), tmp_path / "layer.pt")
    code = (
        "import sys, torch; layer, x = torch.load(sys.argv[1], weights_only=False); "
        "torch.save(layer(x)[0], sys.argv[1])"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "layer.pt")], check=True, timeout=120)
    torch.testing.assert_close(torch.load(tmp_path / "layer.pt"), layer(x)[0])


def test_autocast_func_and_other_options() -> None:
    path = EXAMPLES / "peephole_lstm.cell"
    layer = Recurrent(
        str(path), 5, 16, heads=2, batch_first=True, zoneout=0.1, learned_initial=True, bias=False
    )
    assert [name for name, _ in layer.named_parameters()] == [
        *("weight_ih_l0", "weight_hh_l0", "weight_unit_l0", "initial_h_l0", "initial_c_l0")
    ]
    x = torch.randn(3, STEPS, 5)
    assert layer(x)[0].shape == (3, STEPS, 16)
    plain = Recurrent(str(path), 5, 16, heads=2)
    with torch.autocast("cpu", torch.bfloat16):
        assert plain(x)[0].dtype == torch.bfloat16
    parameters = dict(plain.named_parameters())

    def loss(values: dict[str, torch.Tensor], data: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = torch.func.functional_call(plain, values, (data[:, None],))[0].sum()
        return found

    each = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 1))(parameters, x.transpose(0, 1))
    whole = torch.func.grad(lambda values: plain_loss(plain, values, x.transpose(0, 1)))(parameters)
    for name, value in whole.items():
        torch.testing.assert_close(each[name].sum(0), value, rtol=1e-4, atol=1e-5)


def plain_loss(layer: Recurrent, values: dict[str, torch.Tensor], data: torch.Tensor) -> torch.Tensor:
    found: torch.Tensor = torch.func.functional_call(layer, values, (data,))[0].sum()
    return found


@pytest.mark.parametrize(("kind", "cell"), [("LSTM", "lstm"), ("GRU", "gru"), ("RNN", "elman")])
def test_parameters_of_torchs_layers_are_those_of_their_equations(kind: str, cell: str) -> None:
    theirs = getattr(torch.nn, kind)(8, 16, 2, bidirectional=True)
    mine = Recurrent(str(discover().root / "cells" / f"{cell}.cell"), 8, 16, 2, bidirectional=True)
    mine.load_state_dict(theirs.state_dict())
    x = torch.randn(5, 3, 8)
    torch.testing.assert_close(mine(x)[0], theirs(x)[0], rtol=1e-4, atol=1e-5)


def test_compiled_exported_and_checkpointed() -> None:
    layer, x = Recurrent(str(EXAMPLES / "peephole_lstm.cell"), 8, 16, 2, heads=2), torch.randn(4, 2, 8)
    wanted = layer(x)[0]
    compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(x)[0], wanted)
    exported = torch.export.export(layer, (x,)).module()
    torch.testing.assert_close(exported(x)[0], wanted)
    again = torch.utils.checkpoint.checkpoint(lambda part: layer(part)[0], x, use_reentrant=False)
    torch.testing.assert_close(again, wanted)


def manual_program(start: str) -> str:
    """The indented lines of the manual's page about cells that begin with this one."""
    text = (EXAMPLES.parents[1] / "docs" / "kerneltune-cells.md").read_text(encoding="utf-8")
    begin = text.index(start)
    return textwrap.dedent(text[begin : text.index("\n\n##", begin)])


@pytest.mark.slow
def test_the_manuals_cell_learns_parity(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The program of the page "Write a cell", as it stands there."""
    cell = (EXAMPLES / "cifg.cell").read_text(encoding="utf-8")
    (tmp_path / "coupled.cell").write_text(cell, encoding="utf-8")
    program = tmp_path / "parity.py"
    start = "    import torch\n    from kerneltune.torch import Recurrent\n\n    rnn, out"
    program.write_text(manual_program(start), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    runpy.run_path(str(program))
    assert float(capsys.readouterr().out.strip().removeprefix("tensor(").removesuffix(")")) > 0.999
