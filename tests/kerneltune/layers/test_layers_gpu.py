"""On a GPU: the layers beside torch.nn's in float64, packed, two ways, compiled, captured, transformed."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest

pytestmark = pytest.mark.gpu
LIMIT = {"float16": 0.01, "bfloat16": 0.04, "float32": 2e-5}


def relative(found: Any, expected: Any) -> float:
    found, expected = found.detach().double(), expected.detach().double()
    return float((found - expected).norm() / expected.norm().clamp(min=1e-30))


def each(states: Any) -> tuple[Any, ...]:
    return states if isinstance(states, tuple) else (states,)


@pytest.fixture(autouse=True)
def _exact() -> Any:
    import torch

    torch.manual_seed(0)
    before = torch.backends.cudnn.allow_tf32
    torch.backends.cudnn.allow_tf32 = False
    yield
    torch.backends.cudnn.allow_tf32 = before


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_drawn_layers_are_torchs(kind: str, dtype: str) -> None:
    import torch
    from torch.nn.utils.rnn import PackedSequence, pack_sequence

    import kerneltune.torch as ours

    draw = random.Random(f"{kind} {dtype}")
    for _ in range(2):
        options = {"num_layers": draw.choice([1, 2]), "bidirectional": draw.random() < 0.5}
        if kind == "LSTM" and draw.random() < 0.4:
            options["proj_size"] = 24
        width = draw.choice([40, 64, 100, 256])
        mine = getattr(ours, kind)(32, width, **options).to("cuda", getattr(torch, dtype))
        theirs = getattr(torch.nn, kind)(32, width, **options).to("cuda", torch.float64)
        theirs.load_state_dict(mine.state_dict())
        parts = [torch.randn(draw.randint(1, 30), 32, device="cuda") for _ in range(draw.choice([1, 5, 17]))]
        packed = pack_sequence(parts, enforce_sorted=False)
        found, expected = [], []  # type: ignore[var-annotated]
        for layer, results in ((mine, found), (theirs, expected)):
            leaf = packed.data.to(next(layer.parameters()).dtype).requires_grad_()
            output, last = layer(PackedSequence(leaf, *packed[1:]))
            by = torch.ones_like(output.data)
            by[:, ::3] = -1
            ends = sum(state.double().sum() for state in each(last))
            wanted = [leaf, *layer.parameters()]
            gradients = torch.autograd.grad((output.data * by).double().sum() + ends, wanted)
            results.extend([output.data, *each(last), *gradients])
        for one, other in zip(found, expected, strict=True):
            assert relative(one, other) < 4 * LIMIT[dtype], (options, width, tuple(one.shape))


def test_lengths_are_one_sequence_at_a_time() -> None:
    import torch

    import kerneltune.torch as ours

    for kind in ("LSTM", "GRU", "RNN", "sLSTM"):
        layer = getattr(ours, kind)(16, 64, bidirectional=True).cuda().half()
        x = torch.randn(20, 3, 16, device="cuda").half()
        ends = torch.tensor([20, 7, 1], device="cuda")
        with torch.no_grad():
            output, last = layer(x, lengths=ends)
            for row, end in enumerate([20, 7, 1]):
                alone, state = layer(x[:end, row])
                assert relative(output[:end, row], alone) < 2e-3
                for part, other in zip(each(last), each(state), strict=True):
                    assert relative(part[:, row], other) < 2e-3


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_compiled_whole(kind: str) -> None:
    import torch

    import kerneltune.torch as ours

    layer = getattr(ours, kind)(32, 64, 2, bidirectional=True).cuda().half()
    compiled = torch.compile(layer, fullgraph=True, dynamic=True)
    for steps, batch in ((9, 4), (12, 6)):
        x = torch.randn(steps, batch, 32, device="cuda").half().requires_grad_()
        found, expected = compiled(x)[0], layer(x)[0]
        assert relative(found, expected) < 5e-3
        by = torch.autograd.grad(found.float().sum(), [x, *layer.parameters()])
        for one, other in zip(
            by, torch.autograd.grad(expected.float().sum(), [x, *layer.parameters()]), strict=True
        ):
            assert relative(one, other) < 2e-2


def test_a_training_step_is_captured() -> None:
    import torch

    import kerneltune.torch as ours

    layer = ours.LSTM(32, 64, 2, dropout=0.3).cuda().half()
    plain = copy.deepcopy(layer).eval()
    x = torch.randn(12, 4, 32, device="cuda").half()
    layer.eval()
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            layer(x)[0].float().sum().backward()
            layer.zero_grad(set_to_none=False)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        layer(x)[0].float().sum().backward()
    x.copy_(torch.randn_like(x))
    layer.zero_grad(set_to_none=False)
    graph.replay()
    plain(x)[0].float().sum().backward()
    for one, other in zip(layer.parameters(), plain.parameters(), strict=True):
        assert relative(one.grad, other.grad) < 1e-2


def test_vmap_and_gradients_of_torch_func() -> None:
    import torch
    from torch.func import functional_call, grad, vmap

    import kerneltune.torch as ours

    layer = ours.GRU(16, 32).cuda().half()
    weights = dict(layer.named_parameters())
    x = torch.randn(5, 7, 3, 16, device="cuda").half()

    def loss(weights: Any, x: Any) -> Any:
        return functional_call(layer, weights, (x,))[0].float().pow(2).sum()

    found = vmap(grad(loss), (None, 0))(weights, x)
    for i in range(5):
        expected = torch.autograd.grad(loss(weights, x[i]), list(weights.values()))
        for name, other in zip(weights, expected, strict=True):
            assert relative(found[name][i], other) < 1e-2


def test_long_sequences_streams_and_second_derivatives() -> None:
    import torch

    import kerneltune.torch as ours

    layer = ours.LSTM(8, 16).cuda().half()
    x = torch.randn(200_000, 1, 8, device="cuda").half()
    with torch.no_grad():
        output, _ = layer(x)
        assert relative(output[-100:], layer(x[-2000:])[0][-100:]) < 1e-2
        expected = layer(x[:500])[0]
        streams = [torch.cuda.Stream() for _ in range(4)]
        torch.cuda.synchronize()
        outputs = []
        for stream in streams:
            with torch.cuda.stream(stream):
                outputs.append(layer(x[:500])[0])
        torch.cuda.synchronize()
        assert all(torch.equal(one, expected) for one in outputs)
    short = torch.randn(3, 2, 8, device="cuda").half().requires_grad_()
    with ours.native():
        (slope,) = torch.autograd.grad(layer(short)[0].sum(), short, create_graph=True)
        slope.sum().backward()
    with torch.autocast("cuda", dtype=torch.bfloat16):  # torch casts its own layers to float16 here
        assert ours.GRU(8, 16).cuda()(short.float())[0].dtype == torch.float16
        assert ours.sLSTM(8, 16).cuda()(short.float())[0].dtype == torch.bfloat16
    assert ours.LSTM(8, 16).cuda().double()(short.double())[0].dtype == torch.float64


def test_blocks_and_layers_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows leave blocks when they are over; four layers run in one launch a chunk; both as if not so."""
    import torch
    from torch.nn.utils.rnn import PackedSequence, pack_sequence

    import kerneltune.torch as ours
    from kerneltune.torch import fused

    parts = [torch.randn(n, 32, device="cuda") for n in torch.linspace(3, 40, 24).int().tolist()]
    packed = pack_sequence(parts, enforce_sorted=False)
    dense = torch.randn(64, 5, 32, device="cuda")
    for kind in ("LSTM", "GRU", "sLSTM"):
        layer = getattr(ours, kind)(32, 64, 3, bidirectional=kind == "GRU").cuda().half()
        for name, ways in (
            ("cuts_of", (lambda *_: [(20, 24), (12, 16), (8, 8)], lambda *_: [(40, 24)])),
            ("chunk_for", (lambda *_: 16, lambda *_: 0)),
        ):
            if name == "chunk_for" and kind == "GRU":
                continue
            found = []
            for way in ways:
                monkeypatch.setattr(fused, name, way)
                data = packed.data if name == "cuts_of" else dense
                leaf = data.half().requires_grad_()
                output, last = layer(PackedSequence(leaf, *packed[1:]) if name == "cuts_of" else leaf)
                whole = output.data if name == "cuts_of" else output
                total = whole.float().pow(2).sum() + sum(one.float().sum() for one in each(last))
                results = torch.autograd.grad(total, [leaf, *layer.parameters()])
                found.append([whole, *each(last), *results])
            for one, other in zip(*found, strict=True):
                assert relative(one, other) < 5e-3, (kind, name)
        monkeypatch.undo()


def test_closed_input_gates_of_an_slstm() -> None:
    """An input gate that underflows passes the gradients of c and n through, as in float64."""
    import torch

    from kerneltune.torch import native, recurrence

    parts = [torch.randn(4, 3, 1, 16, 4), torch.randn(1, 4, 16, 16) / 4, torch.zeros(1, 4, 16)]
    parts[0][1:, :, :, ::2, 0] = -1e4
    start = torch.rand(4, 3, 1, 16)
    found = []
    for dtype in (torch.float16, torch.float64):
        given = [part.to("cuda", dtype).requires_grad_() for part in (*parts, start)]
        with native() if dtype == torch.float64 else torch.enable_grad():
            output, last = recurrence("slstm", *given)
            total = output.double().sum() + last[1:3].double().sum()
            found.append(torch.autograd.grad(total, given))
    for one, other in zip(*found, strict=True):
        assert relative(one, other) < 1e-2


def test_compiled_as_graphs() -> None:
    import torch

    import kerneltune.torch as ours

    torch.compiler.reset()
    made = {"device": "cuda", "dtype": torch.float16}
    layer = ours.LSTM(24, 32, 2, **made)
    first = torch.nn.Linear(16, 24, **made)
    parameters = [*first.parameters(), *layer.parameters()]

    def model(x: Any) -> Any:
        return layer(first(x))[0]

    compiled = torch.compile(model, mode="reduce-overhead")
    for call in range(6):
        x = torch.randn(5, 4, 16, **made)
        torch.compiler.cudagraph_mark_step_begin()
        found = torch.autograd.grad(compiled(x).pow(2).sum(), parameters)
        expected = torch.autograd.grad(model(x).pow(2).sum(), parameters)
        for one, other in zip(found, expected, strict=True):
            assert relative(one, other) < LIMIT["float16"], call
