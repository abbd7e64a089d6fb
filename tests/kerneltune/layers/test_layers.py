"""The layers beside torch.nn's on a CPU, in float64: values, states and gradients."""

from __future__ import annotations

import copy
import io
import random
from itertools import pairwise
from typing import Any

import pytest

from kerneltune.errors import InputError

torch: Any = pytest.importorskip("torch")
KINDS = ("LSTM", "GRU", "RNN")


@pytest.fixture(autouse=True)
def _in_float64() -> Any:
    torch.manual_seed(0)
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def close(found: Any, expected: Any, tolerance: float = 1e-10) -> None:
    assert found.shape == expected.shape
    assert float((found - expected).detach().abs().max()) < tolerance


def restored(layer: Any) -> Any:
    stream = io.BytesIO()
    torch.save(layer, stream)
    stream.seek(0)
    return torch.load(stream, weights_only=False)


def each(states: Any) -> tuple[Any, ...]:
    return states if isinstance(states, tuple) else (states,)


def drawn(kind: str, draw: random.Random) -> tuple[Any, Any, dict[str, Any]]:
    """A layer of torch's, ours with the same parameters, and their options."""
    import kerneltune.torch as ours

    options: dict[str, Any] = {
        "num_layers": draw.choice([1, 2, 3]),
        "bias": draw.random() < 0.7,
        "batch_first": draw.random() < 0.5,
        "bidirectional": draw.random() < 0.5,
    }
    if kind == "LSTM" and draw.random() < 0.5:
        options["proj_size"] = draw.choice([3, 5])
    if kind == "RNN":
        options["nonlinearity"] = draw.choice(["tanh", "relu"])
    sizes = draw.choice([3, 7]), draw.choice([6, 8, 11])
    theirs = getattr(torch.nn, kind)(*sizes, **options)
    mine = getattr(ours, kind)(*sizes, **options)
    mine.load_state_dict(theirs.state_dict())
    theirs.load_state_dict(mine.state_dict())
    return theirs, mine, options


def drawn_input(layer: Any, draw: random.Random) -> tuple[Any, Any]:
    """A batch, a single sequence or packed sequences, and states before the first step or None."""
    steps, batch = draw.choice([1, 5, 9]), draw.choice([1, 4])
    kind = draw.choice(["batch", "single", "packed"])
    count = layer.num_layers * (2 if layer.bidirectional else 1)
    widths = [getattr(layer, "proj_size", 0) or layer.hidden_size]
    if isinstance(layer, torch.nn.LSTM):
        widths.append(layer.hidden_size)
    states = None
    if draw.random() < 0.6:
        shape = (count,) if kind == "single" else (count, batch)
        states = tuple(torch.randn(*shape, width) for width in widths)
        states = states if len(states) > 1 else states[0]
    if kind == "packed":
        rows = [torch.randn(draw.randint(1, steps), layer.input_size) for _ in range(batch)]
        return torch.nn.utils.rnn.pack_sequence(rows, enforce_sorted=False), states
    if kind == "single":
        return torch.randn(steps, layer.input_size), states
    shape = (batch, steps) if layer.batch_first else (steps, batch)
    return torch.randn(*shape, layer.input_size), states


def results(layer: Any, x: Any, states: Any) -> tuple[list[Any], list[Any]]:
    """Outputs and last states, and a drawn function's gradients by input, states and parameters."""
    packed = isinstance(x, torch.nn.utils.rnn.PackedSequence)
    leaf = (x.data if packed else x).clone().requires_grad_()
    start = None if states is None else tuple(state.clone().requires_grad_() for state in each(states))
    given = torch.nn.utils.rnn.PackedSequence(leaf, *x[1:]) if packed else leaf
    output, last = layer(given, start if start is None or len(start) > 1 else start[0])
    found = [output.data if packed else output, *each(last)]
    generator = torch.Generator().manual_seed(1)
    total = sum((part * torch.randn(part.shape, generator=generator)).sum() for part in found)
    by = torch.autograd.grad(total, [leaf, *(start or ()), *layer.parameters()])
    return found, list(by)


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_layers_are_torchs(kind: str, padded: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    from kerneltune.torch import native, stack

    draw = random.Random(f"{kind} {padded}")
    if padded:  # heads as kernels take them
        monkeypatch.setattr(stack, "on_kernels", lambda data, cell: True)
    for _ in range(12):
        theirs, mine, _options = drawn(kind, draw)
        x, states = drawn_input(theirs, draw)
        expected, by = results(theirs, x, states)
        found, mine_by = results(mine, x, states)
        for one, other in zip([*found, *mine_by], [*expected, *by], strict=True):
            close(one, other)
        with native():
            found, mine_by = results(mine, x, states)
        for one, other in zip([*found, *mine_by], [*expected, *by], strict=True):
            close(one, other)


@pytest.mark.parametrize("kind", [*KINDS, "sLSTM"])
def test_rows_end_where_they_end(kind: str) -> None:
    import kerneltune.torch as ours

    draw = random.Random(kind)
    ends = torch.tensor([7, 3, 1, 5])
    for _ in range(4):
        options: dict[str, Any] = {"num_layers": draw.choice([1, 2]), "bidirectional": draw.random() < 0.5}
        options |= {"heads": draw.choice([1, 2]), "learned_initial": True, "layer_norm": draw.random() < 0.3}
        layer = getattr(ours, kind)(5, 12, **options)
        for parameter in layer.parameters():
            if parameter.dim() == 1:
                torch.nn.init.normal_(parameter, 1.0, 0.1)
        x = torch.randn(7, 4, 5)
        alone = [layer(x[:end, row]) for row, end in enumerate(ends)]
        output, last = layer(x, lengths=ends)
        tokens = torch.cat([x[:end, row] for row, end in enumerate(ends)])
        joined, joined_last = layer(tokens, cu_seqlens=torch.tensor([0, *ends.cumsum(0)]))
        close(joined, torch.cat([one for one, _ in alone]))
        for row, end in enumerate(ends):
            close(output[:end, row], alone[row][0])
            assert bool((output[end:, row] == 0).all())
            for part, other, expected in zip(each(last), each(joined_last), each(alone[row][1]), strict=True):
                close(part[:, row], expected)
                close(other[:, row], expected)


@pytest.mark.parametrize("kind", [*KINDS, "sLSTM"])
def test_resets_begin_anew(kind: str) -> None:
    import kerneltune.torch as ours

    layer = getattr(ours, kind)(5, 8, 1)
    x = torch.randn(9, 3, 5)
    start = tuple(torch.rand(1, 3, 8) + 0.1 for _ in layer.kind.states)
    reset = torch.zeros(9, 3, dtype=torch.bool)
    reset[4, 0] = reset[2, 2] = reset[7, 2] = True
    output, last = layer(x, start if len(start) > 1 else start[0], reset=reset)
    for row, cuts in enumerate(([0, 4, 9], [0, 9], [0, 2, 7, 9])):
        states: Any = tuple(state[:, row] for state in start)
        states = states if len(states) > 1 else states[0]
        found = []
        for begin, end in pairwise(cuts):
            part, states = layer(x[begin:end, row], states)
            found.append(part)
            states, final = None, states
        close(output[:, row], torch.cat(found))
        for one, other in zip(each(last), each(final), strict=True):
            close(one[:, row], other)


def test_regularisation_draws_in_training_only() -> None:
    import kerneltune.torch as ours

    for options in ({"recurrent_dropout": 0.5}, {"zoneout": 0.5}, {"dropout": 0.5, "num_layers": 2}):
        layer = ours.LSTM(5, 8, **options)  # type: ignore[arg-type]
        x = torch.randn(6, 2, 5)
        assert not torch.equal(layer(x)[0], layer(x)[0])
        torch.manual_seed(3)
        first = layer(x)[0]
        torch.manual_seed(3)
        assert torch.equal(first, layer(x)[0])
        layer.eval()
        assert torch.equal(layer(x)[0], layer(x)[0])
    torch.manual_seed(0)
    kept = ours.GRU(5, 8, zoneout=1.0)(torch.randn(6, 2, 5))[0]
    assert bool((kept == 0).all())


def test_second_derivatives_and_gradcheck() -> None:
    import kerneltune.torch as ours

    for kind in (*KINDS, "sLSTM"):
        layer = getattr(ours, kind)(2, 4, heads=2)
        x = torch.randn(3, 2, 2, requires_grad=True)
        run = lambda x, layer=layer: layer(x)[0]  # noqa: E731
        assert torch.autograd.gradcheck(run, (x,), fast_mode=True)
        assert torch.autograd.gradgradcheck(run, (x,), fast_mode=True)


def test_what_is_asked_wrongly_is_said() -> None:
    from kerneltune.torch import LSTM, RNN

    with pytest.raises(InputError, match="HeadwiseRNN takes the name of a cell"):
        RNN("lstm", 16, 2, 8)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="multiple of heads"):
        LSTM(4, 6, heads=4)
    layer = LSTM(4, 6)
    with pytest.raises(InputError, match=r"\[T, B, 4\] or \[T, 4\]"):
        layer(torch.zeros(3, 2, 5))
    with pytest.raises(InputError, match=r"h of hx is \[1, 2, 6\]"):
        layer(torch.zeros(3, 2, 4), (torch.zeros(1, 3, 6), torch.zeros(1, 3, 6)))
    with pytest.raises(InputError, match=r"hx of LSTM is \(h, c\)"):
        layer(torch.zeros(3, 2, 4), torch.zeros(1, 2, 6))
    with pytest.raises(InputError, match="exclude one another"):
        layer(torch.zeros(3, 2, 4), lengths=torch.ones(2), reset=torch.zeros(3, 2))
    with pytest.raises(InputError, match="ends with the number of steps"):
        layer(torch.zeros(3, 4), cu_seqlens=torch.tensor([0, 2]))
    with pytest.raises(InputError, match="nonlinearity is 'sin'"):
        RNN(4, 6, nonlinearity="sin")


def test_layers_are_copied_and_kept() -> None:
    from kerneltune.torch import LSTM

    layer = LSTM(4, 6, 2, bidirectional=True)
    x = torch.randn(3, 2, 4)
    with torch.no_grad():
        expected = layer(x)[0]
        assert torch.equal(copy.deepcopy(layer)(x)[0], expected)
        assert torch.equal(restored(layer)(x)[0], expected)
        layer.weight_hh_l0.mul_(2)
        assert not torch.equal(layer(x)[0], expected)
    assert repr(layer) == "LSTM(4, 6, num_layers=2, bidirectional=True)"


@pytest.mark.parametrize("heads", [1, 2])
def test_weights_are_those_of_the_call(heads: int) -> None:
    """Writes through `.data` leave torch's version counter as it is."""
    from kerneltune.torch import LSTM

    layer, x = LSTM(4, 8, heads=heads), torch.randn(3, 2, 4)
    with torch.no_grad():
        before = layer(x)[0]
        layer.weight_hh_l0.data.mul_(3)
        found = layer(x)[0]
    assert not torch.allclose(found, before)
    close(found, layer(x)[0])


@pytest.mark.parametrize("heads", [1, 2])
def test_parametrised_weights(heads: int) -> None:
    from torch.nn.utils.parametrizations import weight_norm

    from kerneltune.torch import LSTM

    layer, x = weight_norm(LSTM(4, 8, heads=heads), "weight_hh_l0"), torch.randn(3, 2, 4)
    length = layer.parametrizations.weight_hh_l0.original0
    with torch.no_grad():
        before = layer(x)[0]
        length.mul_(3)
        found = layer(x)[0]
    assert not torch.allclose(found, before)
    plain = LSTM(4, 8, heads=heads)
    values = {name: getattr(layer, name).detach() for name in plain.state_dict()}
    plain.load_state_dict(values)
    close(found, plain(x)[0])
    (by,) = torch.autograd.grad(layer(x)[0].sum(), length)
    assert float(by.abs().min()) > 0


def test_checkpoints_draw_the_same_dropout() -> None:
    from torch.utils.checkpoint import checkpoint

    from kerneltune.torch import LSTM

    layer, x = LSTM(4, 8, 3, dropout=0.5, heads=2), torch.randn(6, 2, 4)
    found = []
    for call in (lambda: layer(x)[0], lambda: checkpoint(lambda: layer(x)[0], use_reentrant=False)):
        torch.manual_seed(1)
        found.append(torch.autograd.grad(call().sum(), list(layer.parameters())))  # type: ignore[no-untyped-call]
    for one, other in zip(*found, strict=True):
        close(one, other)
    torch.manual_seed(2)
    assert not torch.equal(torch.autograd.grad(layer(x)[0].sum(), [layer.weight_ih_l0])[0], found[0][0])
