"""The ways that layers take on a GPU, on a CPU: the cells' references stand in for kernels."""

from __future__ import annotations

import contextlib
import copy
import itertools
import random
from typing import Any

import pytest
from reference_launcher import ReferenceLauncher

from kerneltune.errors import InputError

torch: Any = pytest.importorskip("torch")


def each(states: Any) -> tuple[Any, ...]:
    return states if isinstance(states, tuple) else (states,)


def close(found: Any, expected: Any) -> None:
    assert found.shape == expected.shape
    assert float((found - expected).detach().norm()) <= 2e-5 * float(expected.detach().norm()) + 1e-7


def gradients(layer: Any, x: Any, start: Any) -> list[Any]:
    """Results, and gradients of a drawn sum of them."""
    x = x.clone().requires_grad_()
    states = None if start is None else tuple(part.clone().requires_grad_() for part in start)
    output, last = layer(x, states if states is None or len(states) > 1 else states[0])
    found = [output, *each(last)]
    draw = torch.Generator().manual_seed(2)
    total = sum((part * torch.randn(part.shape, generator=draw)).sum() for part in found)
    return found + list(torch.autograd.grad(total, [x, *(states or ()), *layer.parameters()]))


@pytest.mark.parametrize("width", [5, 40])  # W x is put in order instead of W where it has fewer rows
@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_values_and_gradients_are_torchs(kind: str, width: int, kernels_on_cpu: ReferenceLauncher) -> None:
    import kerneltune.torch as ours

    draw = random.Random(kind)
    for two, bias, layers in itertools.product([False, True], [False, True], [1, 2]):
        options = {
            "bidirectional": two,
            "bias": bias,
            "num_layers": layers,
            "batch_first": draw.random() < 0.5,
        }
        theirs = getattr(torch.nn, kind)(width, 16, **options)
        mine = getattr(ours, kind)(width, 16, **options)
        mine.load_state_dict(theirs.state_dict())
        x = torch.randn(4, 3, width)
        rows = 4 if options["batch_first"] else 3
        start = None
        if draw.random() < 0.5:
            start = tuple(torch.randn(layers * (1 + two), rows, 16) for _ in mine.kind.states)
        for found, expected in zip(gradients(mine, x, start), gradients(theirs, x, start), strict=True):
            close(found, expected)
        with torch.no_grad():
            for one, other in zip(each(mine(x)[1]), each(theirs(x)[1]), strict=True):
                close(one, other)
            close(mine(x)[0], theirs(x)[0])
    assert {"forward", "training", "backward"} == set(kernels_on_cpu.passes)


def test_one_launch_runs_both_directions(kernels_on_cpu: ReferenceLauncher) -> None:
    import kerneltune.torch as ours

    layer = ours.GRU(5, 16, bidirectional=True)
    layer(torch.randn(4, 3, 5))[0].sum().backward()
    assert kernels_on_cpu.passes == ["training", "backward"]


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN", "sLSTM"])
def test_heads_and_ragged_rows_agree_with_torchs_operations(
    kind: str, kernels_on_cpu: ReferenceLauncher
) -> None:
    import kerneltune.torch as ours

    layer = getattr(ours, kind)(5, 16, 2, heads=2, bidirectional=True, learned_initial=True)
    x, ends = torch.randn(6, 3, 5), torch.tensor([6, 2, 4])
    for options in ({}, {"lengths": ends}, {"reset": torch.rand(6, 3) < 0.3}):
        found = layer(x, **options)
        with ours.native():
            expected = layer(x, **options)
        for one, other in zip((found[0], *each(found[1])), (expected[0], *each(expected[1])), strict=True):
            close(one, other)
        weights = torch.randn_like(found[0])
        mine = torch.autograd.grad((found[0] * weights).sum(), list(layer.parameters()), allow_unused=True)
        theirs = torch.autograd.grad(
            (expected[0] * weights).sum(), list(layer.parameters()), allow_unused=True
        )
        for one, other in zip(mine, theirs, strict=True):
            if other is not None:
                close(one if one is not None else torch.zeros_like(other), other)


def test_vmap_hands_kernels_whole_arrays(kernels_on_cpu: ReferenceLauncher) -> None:
    from torch.func import functional_call, grad, vmap

    import kerneltune.torch as ours

    for kind in ("LSTM", "GRU", "sLSTM"):
        layer = getattr(ours, kind)(5, 16)
        weights = dict(layer.named_parameters())
        x = torch.randn(4, 3, 2, 5)

        def loss(weights: Any, x: Any, layer: Any = layer) -> Any:
            return functional_call(layer, weights, (x,))[0].pow(2).sum()

        found = vmap(grad(loss), (None, 0))(weights, x)
        for i in range(4):
            expected = torch.autograd.grad(loss(weights, x[i]), list(weights.values()))
            for name, other in zip(weights, expected, strict=True):
                close(found[name][i], other)


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN", "sLSTM"])
@pytest.mark.parametrize(
    "options", [{}, {"num_layers": 2, "bidirectional": True}, {"dropout": 0.4, "heads": 2}]
)
def test_second_derivatives_come_natively(
    kind: str, options: dict[str, Any], kernels_on_cpu: ReferenceLauncher
) -> None:
    import kerneltune.torch as ours

    layer = getattr(ours, kind)(5, 16, **{"num_layers": 2, **options})
    x = torch.randn(5, 3, 5, requires_grad=True)
    flat, bounds = torch.randn(9, 5, requires_grad=True), torch.tensor([0, 4, 5, 9])
    rows = [torch.randn(n, 5) for n in (40, 3, 2, *[1] * 40)]
    packed = torch.nn.utils.rnn.pack_sequence(rows)
    leaf = packed.data.requires_grad_()
    start = tuple(torch.rand(layer.num_layers * layer.sizes.directions, 3, 16) for _ in layer.kind.states)
    states = start if len(start) > 1 else start[0]
    calls = [
        (x, lambda: layer(x, states)),
        (x, lambda: layer(x, lengths=torch.tensor([5, 1, 3]))),
        (flat, lambda: layer(flat, cu_seqlens=bounds)),
        (leaf, lambda: layer(torch.nn.utils.rnn.PackedSequence(leaf, *packed[1:]))),
    ]
    for given, call in calls:
        found = []
        for twice in (False, True):
            torch.manual_seed(2)
            output, last = call()  # type: ignore[no-untyped-call]
            total = getattr(output, "data", output).pow(2).sum() + sum(one.sum() for one in each(last))
            found.append(torch.autograd.grad(total, [given, *layer.parameters()], create_graph=twice))
        for one, other in zip(*found, strict=True):
            close(one, other)
        by = torch.autograd.grad(found[1][0].pow(2).sum(), [given, *layer.parameters()])
        assert all(bool(torch.isfinite(one).all()) for one in by)
        assert float(by[0].abs().max()) > 0


def test_kernels_get_the_weights_of_the_call(kernels_on_cpu: ReferenceLauncher) -> None:
    """Neither a write through `.data` nor a parametrisation is missed."""
    from torch.nn.utils.parametrizations import weight_norm

    from kerneltune.torch import LSTM, native

    layer, x = LSTM(4, 8), torch.randn(3, 2, 4)
    for change in ("data", "weight_norm"):
        if change == "weight_norm":
            weight_norm(layer, "weight_hh_l0")
        with torch.no_grad():
            before = layer(x)[0]
            written = (
                layer.parametrizations.weight_hh_l0.original0 if change != "data" else layer.weight_hh_l0
            )
            written.data.mul_(3)
            found = layer(x)[0]
        with native():
            expected = layer(x)[0]
        assert not torch.allclose(found, before)
        close(found, expected)
        close(layer(x)[0], expected)
    assert {"forward", "training"} <= set(kernels_on_cpu.passes)


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN", "sLSTM"])
@pytest.mark.parametrize("two", [False, True])
@pytest.mark.parametrize("cuts", [None, [(2, 4), (1, 3), (3, 2)]])
def test_packed_rows_agree_with_torchs_operations(
    kind: str, two: bool, cuts: Any, kernels_on_cpu: ReferenceLauncher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one block, and in blocks that rows leave which are over."""
    from torch.nn.utils.rnn import PackedSequence, pack_sequence

    import kerneltune.torch as ours
    from kerneltune.torch import fused

    if cuts:
        monkeypatch.setattr(fused, "cuts_of", lambda *_: cuts)
    parts = [torch.randn(n, 5) for n in (3, 6, 1, 5)]  # two run over step 3, three over step 2
    packed = pack_sequence(parts, enforce_sorted=False)
    layer = getattr(ours, kind)(5, 16, 2, bidirectional=two)
    start = tuple(torch.rand(2 + 2 * two, 4, 16) for _ in layer.kind.states)
    results = []
    for natively in (False, True):
        leaf = packed.data.clone().requires_grad_()
        given = tuple(part.clone().requires_grad_() for part in start)
        with ours.native() if natively else contextlib.nullcontext():
            output, last = layer(PackedSequence(leaf, *packed[1:]), given if len(given) > 1 else given[0])
        found = [output.data, *each(last)]
        draw = torch.Generator().manual_seed(2)
        total = sum((part * torch.randn(part.shape, generator=draw)).sum() for part in found)
        results.append(found + list(torch.autograd.grad(total, [leaf, *given, *layer.parameters()])))
    for one, other in zip(*results, strict=True):
        close(one, other)
    assert kernels_on_cpu.passes.count("backward") == (2 * len(cuts) if cuts else 2)
    with torch.no_grad():
        close(layer(packed)[0].data, layer(packed)[0].data)


def test_blocks_lose_rows_that_are_over_where_that_pays() -> None:
    from kerneltune.torch.fused import cuts_of
    from kerneltune.torch.lengths import Lengths

    sizes = torch.tensor([20] * 5 + [9] * 10 + [8] * 40 + [3] * 100)
    lengths = Lengths.packed(sizes)
    assert cuts_of(lengths, lambda rows: 0.0) == [(155, 20)]
    assert cuts_of(lengths, lambda rows: 1e-5 * rows) == [(5, 20), (150, 16)]
    more = Lengths.packed(torch.tensor([70] * 5 + [20] * 100 + [3] * 50))
    assert cuts_of(more, lambda rows: 1e-5 * rows) == [(5, 70), (100, 32), (50, 16)]
    assert cuts_of(more, lambda rows: 1e-3 * (rows > 16)) == [(105, 70), (50, 16)]
    assert lengths.ends.tolist() == [int((sizes > row).sum()) for row in range(20)]
    assert cuts_of(Lengths.joined(torch.tensor([0, 90, 100])), lambda rows: rows) == [(90, 2)]  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN", "sLSTM"])
def test_layers_side_by_side_are_layers_one_after_another(
    kind: str, kernels_on_cpu: ReferenceLauncher, monkeypatch: pytest.MonkeyPatch
) -> None:
    import kerneltune.torch as ours
    from kerneltune.torch import fused

    for layers, heads, chunk, bias, given in (
        (3, 1, 2, True, True),
        (2, 2, 6, False, False),
        (4, 1, 3, True, False),
    ):
        made = getattr(ours, kind)(5, 16, layers, heads=heads, bias=bias)
        x = torch.randn(6, 3, 5)
        start = tuple(torch.rand(layers, 3, 16) for _ in made.kind.states) if given else None
        found = []
        for steps in (chunk, 0):
            layer = copy.deepcopy(made)
            monkeypatch.setattr(fused, "chunk_for", lambda *_, steps=steps: steps)
            kernels_on_cpu.passes.clear()
            found.append(gradients(layer, x, start))
            assert len(kernels_on_cpu.passes) == 2 * (6 // steps + layers - 1 if steps else layers)
            with torch.no_grad():
                output, last = layer(x, start if start is None or len(start) > 1 else start[0])
            found[-1] += [output, *each(last)]
            with torch.enable_grad():  # of the last states alone
                ends = each(layer(x)[1])
                found[-1] += torch.autograd.grad(sum(one.sum() for one in ends), list(layer.parameters()))
        for one, other in zip(*found, strict=True):
            close(one, other)


def test_layers_side_by_side_hold_a_bounded_amount(
    kernels_on_cpu: ReferenceLauncher, monkeypatch: pytest.MonkeyPatch
) -> None:
    import kerneltune.torch as ours
    from kerneltune.torch import fused

    layer = fused.layer_of(ours.LSTM(512, 512, 4).kind, ours.LSTM(512, 512, 4).sizes, True)
    monkeypatch.setattr(fused, "_step_seconds", lambda *_: 2e-6)  # four layers as fast as one
    for batch, training, pays in ((16, True, True), (256, True, False), (256, False, True)):
        assert bool(fused.chunk_for(layer, 4, (1024, batch), torch.float16, training)) == pays
    fused.chunk_for.cache_clear()


def test_layers_run_side_by_side_where_that_pays() -> None:
    from kerneltune.torch.staggered import chunk_of

    assert chunk_of(1024, 4, True, lambda side: {1: 1.77e-6, 4: 2.86e-6}[side]) == 128
    assert chunk_of(1024, 4, True, lambda side: side * 1.77e-6) == 0  # a launch of all takes as long
    assert chunk_of(1021, 4, True, lambda side: 2e-6) == 0  # no divisor
    assert chunk_of(256, 2, True, lambda side: 1.3e-6) == 0  # too short
    assert chunk_of(1024, 1, True, lambda side: 1e-3) == 0


def test_dropout_between_layers_is_torchs(kernels_on_cpu: ReferenceLauncher) -> None:
    import kerneltune.torch as ours

    for p in (0.4, 1.0):
        layer = ours.LSTM(5, 16, 3, dropout=p)
        x = torch.randn(6, 3, 5, requires_grad=True)
        found = []
        for natively in (False, True):
            torch.manual_seed(1)
            with ours.native() if natively else contextlib.nullcontext():
                output = layer(x)[0]
            found.append([output, *torch.autograd.grad(output.pow(2).sum(), [x, *layer.parameters()])])
        for one, other in zip(*found, strict=True):
            close(one, other)


def test_autocast_runs_as_one_operation_and_gives_gradients_of_the_parameters_type(
    kernels_on_cpu: ReferenceLauncher, monkeypatch: pytest.MonkeyPatch
) -> None:
    import kerneltune.torch as ours
    from kerneltune.torch import fused

    for chunk in (0, 2):
        monkeypatch.setattr(fused, "chunk_for", lambda *_, chunk=chunk: chunk)
        layer = ours.LSTM(5, 16, 2)
        x = torch.randn(4, 3, 5, requires_grad=True)
        start = (torch.rand(2, 3, 16), torch.rand(2, 3, 16))
        expected = layer(x, start)[0]
        wanted = torch.autograd.grad(expected.sum(), [x, *layer.parameters()])
        with torch.autocast("cpu", dtype=torch.bfloat16):
            output, (h, _) = layer(x, start)
            assert output.dtype == h.dtype == torch.bfloat16
            found = torch.autograd.grad(output.float().sum(), [x, *layer.parameters()])
        for one, other in zip((output, *found), (expected, *wanted), strict=True):
            assert float((one.float() - other).detach().norm() / other.detach().norm()) < 0.03
        assert {one.dtype for one in found} == {torch.float32}
    with pytest.raises(InputError, match=r"weight_ih_l0 is torch\.float32, but the input is torch\.float64"):
        layer(x.double())


def test_places_are_kept_for_the_layer_that_gets_the_same_lengths_next(
    kernels_on_cpu: ReferenceLauncher,
) -> None:
    import kerneltune.torch as ours
    from kerneltune.torch import fused

    first, other = ours.GRU(5, 16), ours.GRU(16, 16, bidirectional=True)
    x = torch.randn(9, 5)
    for bounds in ([0, 4, 9], [0, 5, 9], [0, 4, 9], [0, 2, 4, 9]):
        for dtype in (torch.int32, torch.int64):
            marks = torch.tensor(bounds, dtype=dtype)
            output = x
            for layer in (first, other):
                given, (output, last) = output, layer(output, cu_seqlens=marks)
                for k, (begin, end) in enumerate(itertools.pairwise(bounds)):
                    expected, ends = layer(given[begin:end])
                    close(output[begin:end], expected)
                    close(last[:, k], ends)
    assert fused._kept_places.cache_info().hits == 2 * 5
    assert fused._kept_places.cache_info().misses == 2 * 3
