"""A compiled stack is one operator, which runs and is replayed as plain calls are."""

from __future__ import annotations

import copy
import gc
from collections.abc import Iterator
from typing import Any

import pytest
from drawn_calls import states_of
from reference_launcher import ReferenceLauncher
from rerunning import Rerunning

torch: Any = pytest.importorskip("torch")


@pytest.fixture
def recorder(kernels_on_cpu: ReferenceLauncher, monkeypatch: pytest.MonkeyPatch) -> Iterator[Rerunning]:
    """Work is recorded by a stand-in; nothing that was compiled before is used."""
    from kerneltune.torch import replay

    made = Rerunning()
    monkeypatch.setattr(replay, "graphs", lambda: made)
    torch.compiler.reset()
    yield made
    torch.compiler.reset()


def compiled(layer: Any, **options: Any) -> Any:
    return torch.compile(layer, fullgraph=True, backend="aot_eager", **options)


def gradients(run: Any, layer: Any, x: Any, hx: Any, used: tuple[int, ...]) -> list[Any]:
    mine = x.clone().requires_grad_()
    found = states_of(run(mine, hx))
    total = sum(found[k].square().sum() for k in used)
    by = torch.autograd.grad(total, [mine, *layer.parameters()], allow_unused=True)
    return [*found, *by]


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("LSTM", {}),
        ("GRU", {"num_layers": 2}),
        ("RNN", {"bidirectional": True, "bias": False}),
        ("LSTM", {"num_layers": 3, "heads": 2}),
        ("sLSTM", {"heads": 2}),
        ("GRU", {"learned_initial": True}),
    ],
)
def test_results_are_those_of_plain_calls(kind: str, options: dict[str, Any], recorder: Rerunning) -> None:
    import kerneltune.torch as ours

    layer = getattr(ours, kind)(5, 16, **options)
    other = copy.deepcopy(layer)
    run = compiled(layer)
    count = options.get("num_layers", 1) * (1 + options.get("bidirectional", False))
    before = recorder.replays
    for call in range(6):
        x = torch.randn(4, 3, 5)
        parts = tuple(torch.rand(count, 3, 16) for _ in layer.kind.states)
        hx = None if call % 2 else parts if len(parts) > 1 else parts[0]
        used = ((0,), (0, 1), (1,))[call % 3]
        found, expected = gradients(run, layer, x, hx, used), gradients(other, other, x, hx, used)
        for mine, its in zip(found, expected, strict=True):
            assert (mine is None) == (its is None)
            assert mine is None or torch.allclose(mine, its, atol=1e-6), call
    assert recorder.replays > before


@pytest.mark.parametrize("options", [{}, {"bidirectional": True, "num_layers": 2}, {"num_layers": 2}])
def test_what_compilers_are_told_is_what_comes_out(options: dict[str, Any], recorder: Rerunning) -> None:
    import kerneltune.torch as ours

    layer = ours.LSTM(5, 16, **options)
    directions, layers = 1 + options.get("bidirectional", False), options.get("num_layers", 1)
    parameters, x = [one.detach() for one in layer.parameters()], torch.randn(3, 4, 5).transpose(0, 1)
    given = [torch.randn(layers * directions, 3, 16) for _ in "hc"]
    how = ("lstm", 1, layers, directions == 2, 0.0)
    by, checks = torch.randn(4, 3, 16 * directions), ("test_schema", "test_faketensor")
    operators = torch.ops.kerneltune
    for call in range(5):  # as it is, then replayed
        start = given if call % 2 else []
        for training in (False, True):
            torch.library.opcheck(
                operators.stack.default, (x, start, parameters, *how, training), test_utils=checks
            )
        for last in ([None, None], [None, torch.randn(layers * directions, 3, 16)]):
            *_, ticket = operators.stack(x, start, parameters, *how, True)
            told = (by, last, ticket, x, start, parameters, *how, bool(call % 3))
            torch.library.opcheck(operators.stack_backward.default, told, test_utils=checks)


def test_calls_are_replayed_and_slots_go_with_the_layer(recorder: Rerunning) -> None:
    import kerneltune.torch as ours
    from kerneltune.torch import stack_operator

    layer = ours.LSTM(5, 16)
    run, x = compiled(layer), torch.randn(4, 3, 5)
    for _ in range(8):
        run(x)[0].sum().backward()
    assert recorder.records == 2
    assert recorder.replays >= 8
    with torch.no_grad():
        expected = layer(x)[0]
        for _ in range(5):
            assert torch.equal(run(x)[0], expected)
    assert not stack_operator._KEPT
    del layer, run
    torch.compiler.reset()
    gc.collect()
    assert recorder.taken == 0


def test_what_no_backward_pass_asks_for_goes(recorder: Rerunning) -> None:
    import kerneltune.torch as ours
    from kerneltune.torch import stack_operator

    run, x = compiled(ours.GRU(5, 16)), torch.randn(4, 3, 5)
    held = [run(x) for _ in range(7)]
    assert len(stack_operator._KEPT) == 7
    del held
    gc.collect()
    assert not stack_operator._KEPT


def test_many_forward_passes_before_their_backward_passes(recorder: Rerunning) -> None:
    import kerneltune.torch as ours

    layer = ours.LSTM(5, 16, 2)
    other = copy.deepcopy(layer)
    run, inputs = compiled(layer), [torch.randn(4, 3, 5) for _ in range(9)]
    found, expected = ([call(x)[0].square().sum() for x in inputs] for call in (run, other))
    for k in (3, 0, 8, 1, 7, 2, 6, 4, 5):
        for again in (True, False):
            pair = [
                torch.autograd.grad(total[k], list(one.parameters()), retain_graph=again)
                for total, one in ((found, layer), (expected, other))
            ]
            for mine, its in zip(*pair, strict=True):
                assert torch.allclose(mine, its, atol=1e-6)


def test_layers_alike_in_one_graph_and_copies(recorder: Rerunning) -> None:
    import kerneltune.torch as ours

    layers = torch.nn.ModuleList([ours.GRU(16, 16) for _ in range(3)])
    second = copy.deepcopy(layers)
    for one in second.parameters():
        one.data.mul_(0.5)

    def model(parts: Any, x: Any) -> Any:
        for one in parts:
            x = x + one(torch.relu(x))[0]
        return x

    run = compiled(model)
    for _ in range(5):
        for parts in (layers, second):
            x = torch.randn(4, 3, 16)
            pair = [
                torch.autograd.grad(call(parts, x).square().sum(), list(parts.parameters()))
                for call in (run, model)
            ]
            for mine, its in zip(*pair, strict=True):
                assert torch.allclose(mine, its, atol=1e-5)


def test_weights_that_move_before_the_backward_pass(recorder: Rerunning) -> None:
    import kerneltune.torch as ours
    from kerneltune.torch import stack_operator

    layer, x = ours.LSTM(5, 16), torch.randn(4, 3, 5)
    run = compiled(layer)
    expected = torch.autograd.grad(layer(x)[0].sum(), list(layer.parameters()))
    output = run(x)[0].sum()
    for kept in stack_operator._KEPT.values():
        kept.addresses = []
    for mine, its in zip(torch.autograd.grad(output, list(layer.parameters())), expected, strict=True):
        assert torch.allclose(mine, its, atol=1e-6)


def test_dropout_and_shapes_that_change(recorder: Rerunning) -> None:
    import kerneltune.torch as ours

    layer = ours.LSTM(5, 16, 2, dropout=0.5)
    run = compiled(layer, dynamic=True)
    for steps, batch in ((4, 3), (6, 2), (5, 5)):
        x = torch.randn(steps, batch, 5)
        found = []
        for call in (run, layer):
            torch.manual_seed(0)
            output = call(x)[0]
            found.append((output, *torch.autograd.grad(output.square().sum(), list(layer.parameters()))))
        for mine, its in zip(*found, strict=True):
            assert torch.allclose(mine, its, atol=1e-5)
        layer.eval()
        assert torch.allclose(run(x)[0], layer(x)[0])
        layer.train()


def test_weights_that_are_computed(recorder: Rerunning) -> None:
    import kerneltune.torch as ours

    layer = ours.GRU(5, 16)
    torch.nn.utils.parametrizations.weight_norm(layer, "weight_hh_l0")
    run = compiled(layer)
    for _ in range(4):
        x = torch.randn(4, 3, 5)
        pair = [torch.autograd.grad(call(x)[0].sum(), list(layer.parameters())) for call in (run, layer)]
        for mine, its in zip(*pair, strict=True):
            assert torch.allclose(mine, its, atol=1e-6)


@pytest.mark.gpu
@pytest.mark.parametrize("mode", ["default", "reduce-overhead"])
@pytest.mark.parametrize(("kind", "layers"), [("LSTM", 1), ("GRU", 3), ("sLSTM", 2)])
def test_on_a_gpu(kind: str, layers: int, mode: str) -> None:
    import kerneltune.torch as ours
    from kerneltune.torch import stack_operator

    torch.compiler.reset()
    torch.manual_seed(0)
    layer = getattr(ours, kind)(64, 128, layers).cuda().bfloat16()
    other, into = copy.deepcopy(layer), torch.nn.Linear(32, 64).cuda().bfloat16()
    run = torch.compile(lambda x: layer(torch.relu(into(x)))[0], fullgraph=True, mode=mode)
    parameters = [*into.parameters(), *layer.parameters()]
    for steps in (20, 20, 20, 20, 33, 33, 33, 33, 6000, 6000):
        x = torch.randn(steps, 8, 32, device="cuda", dtype=torch.bfloat16)
        torch.compiler.cudagraph_mark_step_begin()
        output = run(x)
        assert len(stack_operator._KEPT) == 1
        found = [output, *torch.autograd.grad(output.float().square().sum(), parameters)]
        assert not stack_operator._KEPT
        output = other(torch.relu(into(x)))[0]
        by = torch.autograd.grad(output.float().square().sum(), [*into.parameters(), *other.parameters()])
        for mine, its in zip(found, [output, *by], strict=True):
            mine, its = mine.double(), its.double()
            assert float((mine - its).norm() / its.norm().clamp_min(1e-6)) < 2e-2, steps
    with torch.no_grad():
        for _ in range(4):
            torch.compiler.cudagraph_mark_step_begin()
            assert torch.allclose(run(x), other(torch.relu(into(x)))[0], atol=2e-2)
    torch.compiler.reset()
