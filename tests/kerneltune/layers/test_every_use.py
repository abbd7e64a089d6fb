"""Layers in uses that tutorials do not have, on the CPU and on a GPU, beside torch's or beside themselves."""

# mypy: disable-error-code="misc,no-untyped-call"
from __future__ import annotations

import copy
import io
from typing import Any

import pytest

from kerneltune.errors import InputError

torch: Any = pytest.importorskip("torch")
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]
KINDS = ("LSTM", "GRU", "RNN", "sLSTM")
pytestmark = pytest.mark.parametrize("device", DEVICES)
HOSTILE = (float("nan"), float("inf"), -float("inf"), 1e30)


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_tf32 = False


def made(kind: str, device: str, size: int = 5, width: int = 16, **options: Any) -> Any:
    import kerneltune.torch as ours

    return getattr(ours, kind)(size, width, **options).to(device)


def each(states: Any) -> tuple[Any, ...]:
    return states if isinstance(states, tuple) else (states,)


def given(states: tuple[Any, ...]) -> Any:
    return states if len(states) > 1 else states[0]


def close(found: Any, expected: Any, tolerance: float = 1e-4) -> None:
    assert found.shape == expected.shape
    torch.testing.assert_close(found.double(), expected.double(), rtol=tolerance, atol=tolerance)


def drawn_states(layer: Any, rows: int, device: str) -> tuple[Any, ...]:
    count = layer.num_layers * layer.sizes.directions
    return tuple(torch.rand(count, rows, 16, device=device) + 0.3 for _ in layer.kind.states)


@pytest.mark.parametrize("steps", [1, 6])
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_a_reset_at_step_0_drops_given_states(kind: str, layers: int, steps: int, device: str) -> None:
    layer = made(kind, device, num_layers=layers)
    x = torch.randn(steps, 3, 5, device=device)
    start = drawn_states(layer, 3, device)
    reset = torch.zeros(steps, 3, dtype=torch.bool, device=device)
    reset[0, 1] = True
    default = layer.first_states(3, x)
    mixed = tuple(state.clone() for state in start)
    for mine, plain in zip(mixed, default, strict=True):
        mine[:, 1] = plain[:, 1]
    for _ in range(4):  # recorded calls, too
        output, last = layer(x, given(start), reset=reset)
        expected, ends = layer(x, given(mixed))
        close(output, expected)
        for one, other in zip(each(last), each(ends), strict=True):
            close(one, other)
    whole = torch.ones(steps, 3, dtype=torch.bool, device=device)
    whole[1:] = False
    close(layer(x, given(start), reset=whole)[0], layer(x)[0])
    assert not torch.allclose(layer(x, given(start))[0], layer(x)[0])


def test_a_reset_leaves_the_backward_direction_its_states(device: str) -> None:
    layer = made("GRU", device, bidirectional=True)
    x, start = torch.randn(4, 2, 5, device=device), torch.rand(2, 2, 16, device=device)
    reset = torch.zeros(4, 2, dtype=torch.bool, device=device)
    reset[0] = True
    found = layer(x, start, reset=reset)[0]
    only_back = torch.stack([torch.zeros_like(start[0]), start[1]])
    close(found, layer(x, only_back)[0])


@pytest.mark.parametrize("options", [{}, {"bidirectional": True, "num_layers": 2}, {"proj_size": 8}])
@pytest.mark.parametrize("kind", [*KINDS, "relu"])
def test_what_lies_behind_a_rows_end_reaches_nothing(kind: str, options: dict[str, Any], device: str) -> None:
    if "proj_size" in options and kind != "LSTM":
        pytest.skip("torch's LSTM alone has a projection")
    if kind == "relu":
        layer = made("RNN", device, nonlinearity="relu", **options)
        with torch.no_grad():
            layer.weight_hh_l0.copy_(2 * torch.eye(16))  # grows without end where it goes on
    else:
        layer = made(kind, device, **options)
    ends = torch.tensor([70, 0, 1], device=device)
    inside = (torch.arange(70, device=device)[:, None] < ends)[..., None]
    clean = torch.where(inside, torch.randn(70, 3, 5, device=device) / 70, torch.zeros((), device=device))
    results = []
    for value in (0.0, *HOSTILE):
        x = torch.where(inside, clean, torch.full((), value, device=device)).requires_grad_()
        output, last = layer(x, lengths=ends)
        # Not of all rows: the row that relu makes large is looked at for what is finite alone.
        loss = output[:, 1:].sum() + sum(state[:, 1:].sum() for state in each(last))
        found = torch.autograd.grad(loss, [x, *layer.parameters()])
        assert all(bool(torch.isfinite(one).all()) for one in found), value
        results.append([output[:, 1:], *each(last), *found])
        assert bool((found[0] == 0).masked_select(~inside).all())
    for other in results[1:]:
        for one, expected in zip(other, results[0], strict=True):
            torch.testing.assert_close(one, expected, rtol=1e-6, atol=1e-7, equal_nan=True)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_and_sequences_without_a_step_keep_their_states(kind: str, device: str) -> None:
    for options in ({}, {"num_layers": 2, "bidirectional": True}):
        layer = made(kind, device, **options)
        x = torch.randn(4, 3, 5, device=device)
        start = drawn_states(layer, 3, device)
        output, last = layer(x, given(start), lengths=torch.tensor([4, 0, 2]))
        assert bool((output[:, 1] == 0).all())
        tokens = torch.cat([x[:4, 0], x[:2, 2]])
        joined, ends = layer(tokens, given(start), cu_seqlens=torch.tensor([0, 4, 4, 6]))
        close(joined, torch.cat([output[:4, 0], output[:2, 2]]))
        for state, one, other in zip(start, each(last), each(ends), strict=True):
            close(one[:, 1], state[:, 1], 1e-6)
            close(other[:, 1], state[:, 1], 1e-6)
            close(one, other)
        nothing, ends = layer(tokens[:0], given(start), cu_seqlens=torch.tensor([0, 0, 0, 0]))
        assert nothing.shape == (0, 16 * layer.sizes.directions)
        for state, one in zip(start, each(ends), strict=True):
            assert torch.equal(state, one)


@pytest.mark.parametrize("kind", KINDS[:3])
def test_a_batch_without_rows_is_torchs(kind: str, device: str) -> None:
    theirs = getattr(torch.nn, kind)(5, 16, 2, bidirectional=True).to(device)
    mine = made(kind, device, num_layers=2, bidirectional=True)
    for batch_first in (False, True):
        mine.batch_first = theirs.batch_first = batch_first
        shape = (0, 3, 5) if batch_first else (3, 0, 5)
        found = []
        for layer in (theirs, mine):
            x = torch.randn(shape, device=device, requires_grad=True)
            output, last = layer(x)
            layer.zero_grad()
            output.sum().backward()
            found.append([output.shape, *[one.shape for one in each(last)], x.grad.shape])
        assert found[0] == found[1]
        assert all(bool((one.grad == 0).all()) for one in mine.parameters() if one.grad is not None)
    with pytest.raises(InputError, match="at least one step"):
        mine(torch.randn(2, 0, 5, device=device))


@pytest.mark.parametrize("kind", KINDS)
def test_other_devices_types_and_shapes_are_refused_by_name(kind: str, device: str) -> None:
    other = "meta" if device == "cpu" else "cpu"
    for name in ("weight_hh_l0", "bias_ih_l1", "weight_ih_l1"):
        for change in ("device", "dtype", "shape"):
            layer = made(kind, device, num_layers=2)
            whole = getattr(layer, name).detach()
            wrong = {"device": whole.to(other), "dtype": whole.double(), "shape": whole[:-1]}[change]
            setattr(layer, name, torch.nn.Parameter(wrong.clone()))
            x = torch.randn(3, 2, 5, device=device)
            for _ in range(5):  # before, while and after calls would be recorded
                with pytest.raises(InputError, match=name):
                    layer(x)
    layer = made(kind, device)
    for state, name in enumerate(layer.kind.states):
        for wrong in (lambda one: one.to(other), lambda one: one.double()):
            states = list(drawn_states(layer, 2, device))
            states[state] = wrong(states[state])
            x = torch.randn(3, 2, 5, device=device)
            for _ in range(5):
                with pytest.raises(InputError, match=f"{name} of hx"):
                    layer(x, given(tuple(states)))
    for dtype in (torch.bfloat16, torch.float64, torch.int64):
        with pytest.raises(InputError, match=r"weight_ih_l0 is torch\.float32, but the input is"):
            layer(torch.ones(3, 2, 5, device=device, dtype=dtype))


def test_a_weight_that_moves_between_calls_is_refused(device: str) -> None:
    layer, x = made("LSTM", device), torch.randn(3, 2, 5, device=device)
    for _ in range(5):
        layer(x)
    layer.weight_hh_l0 = torch.nn.Parameter(layer.weight_hh_l0.detach().to("meta"))
    with pytest.raises(InputError, match="weight_hh_l0 is on meta"):
        layer(x)


def test_attributes_that_are_set_hold_or_are_refused(device: str) -> None:
    x = torch.randn(3, 2, 5, device=device)
    for options in ({"num_layers": 2}, {"num_layers": 2, "heads": 2}):
        layer = made("LSTM", device, dropout=0.9, **options)
        layer.dropout = 0.0
        assert layer.dropout == 0.0
        assert torch.equal(layer(x)[0], layer(x)[0])
        layer.dropout = 0.5
        assert not torch.equal(layer(x)[0], layer(x)[0])
        layer.dropout = 0.0
        expected = layer(x)[0]
        layer.batch_first = True
        close(layer(x.transpose(0, 1))[0].transpose(0, 1), expected)
        for name, value in (
            *(("proj_size", 4), ("hidden_size", 8), ("num_layers", 1), ("bidirectional", True)),
            *(("bias", False), ("input_size", 3), ("layer_norm", True), ("learned_initial", True)),
            *(("heads", 4), ("cell", "gru"), ("kind", None)),
        ):
            before = getattr(layer, name)
            with pytest.raises(InputError, match=name):
                setattr(layer, name, value)
            assert getattr(layer, name) == before
        layer.hidden_size = 16
        with pytest.raises(InputError, match="probability"):
            layer.dropout = 2.0
    network = made("RNN", device)
    for _ in range(4):
        network(x)
    network.nonlinearity = "relu"
    assert bool((network(x)[0] >= 0).all())
    assert copy.deepcopy(network).nonlinearity == "relu"


@pytest.mark.parametrize("kind", KINDS)
def test_the_meta_device_gives_shapes(kind: str, device: str) -> None:
    for options in ({"num_layers": 2, "bidirectional": True}, {"heads": 2}):
        layer, x = made(kind, device, **options), torch.randn(4, 3, 5, device=device)
        abstract = copy.deepcopy(layer).to("meta")
        packed = torch.nn.utils.rnn.pack_sequence([x[:4, 0], x[:2, 1]])
        calls = [
            (x, {}),
            (x, {"lengths": torch.tensor([4, 0, 2])}),
            (x, {"reset": torch.zeros(4, 3, device="meta")}),
            (x[:, 0], {"cu_seqlens": torch.tensor([0, 1, 4])}),
            (packed, {}),
        ]
        for data, rest in calls:
            real = {"reset": torch.zeros(4, 3, device=device)} if "reset" in rest else rest
            expected, found = layer(data, **real), abstract(data.to("meta"), **rest)
            shapes = [
                [getattr(output, "data", output).shape, *[one.shape for one in each(last)]]
                for output, last in (expected, found)
            ]
            assert shapes[0] == shapes[1]


@pytest.mark.parametrize("kind", KINDS[:3])
def test_autocasts_types_are_torchs(kind: str, device: str) -> None:
    for wanted in (torch.bfloat16, torch.float16):
        for dtype in (torch.float32, wanted, torch.float64):
            theirs, mine = getattr(torch.nn, kind)(5, 16), made(kind, "cpu")
            layers = [one.to(device) for one in (theirs, mine)]
            if dtype == torch.float64:
                layers = [one.double() for one in layers]
            x = torch.randn(3, 2, 5, device=device, dtype=dtype)
            found = []
            with torch.autocast(device, dtype=wanted):
                for layer in layers:
                    try:
                        output, last = layer(x)
                    except RuntimeError as error:
                        assert layer is layers[0]
                        assert "primitive" in str(error)  # noqa: PT017 # of oneDNN
                        continue
                    found.append([output.dtype, *[one.dtype for one in each(last)]])
            assert len(set(map(tuple, found))) == 1, (wanted, dtype, found)
            if len(found) == 1:
                assert set(found[0]) == {wanted}


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_of_gradients_come_by_themselves(kind: str, device: str) -> None:
    from kerneltune.torch import native

    for options in ({"num_layers": 2}, {"bidirectional": True}, {"heads": 2}):
        layer = made(kind, device, **options)
        x, ends = torch.randn(4, 3, 5, device=device, requires_grad=True), torch.tensor([4, 1, 3])
        tokens = torch.tensor([0, 4, 9])
        flat = torch.randn(9, 5, device=device, requires_grad=True)
        start = drawn_states(layer, 3, device)
        calls = [
            (x, lambda layer=layer, x=x: layer(x)),
            (x, lambda layer=layer, x=x, start=start: layer(x, given(start))),
            (x, lambda layer=layer, x=x, ends=ends: layer(x, lengths=ends)),
            (flat, lambda layer=layer, flat=flat, tokens=tokens: layer(flat, cu_seqlens=tokens)),
        ]
        for leaf, call in calls:
            for _ in range(3):  # recorded calls, too
                call()
            found = []
            for natively in (False, True):
                if natively:
                    with native():
                        output, last = call()
                else:
                    output, last = call()
                total = output.pow(2).sum() + sum(state.sum() for state in each(last))
                (slope,) = torch.autograd.grad(total, leaf, create_graph=True)
                found.append([slope, *torch.autograd.grad(slope.pow(2).sum(), [leaf, *layer.parameters()])])
            for one, other in zip(*found, strict=True):
                close(one, other, 2e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_transforms_of_torch_func(kind: str, device: str) -> None:
    from torch.func import functional_call, grad, hessian, jacfwd, jvp, stack_module_state, vmap

    layer = made(kind, device, num_layers=2)
    weights, xs = dict(layer.named_parameters()), torch.randn(5, 4, 3, 5, device=device)

    def loss(weights: Any, x: Any) -> Any:
        return functional_call(layer, weights, (x,))[0].pow(2).sum()

    close(vmap(lambda x: layer(x)[0])(xs), torch.stack([layer(x)[0] for x in xs]))
    by_sample = vmap(grad(loss), (None, 0))(weights, xs)
    for i in range(5):
        alone = torch.autograd.grad(loss(weights, xs[i]), list(weights.values()))
        for name, one in zip(weights, alone, strict=True):
            close(by_sample[name][i], one, 2e-3)
    several = [made(kind, device, num_layers=2) for _ in range(3)]
    state, _ = stack_module_state(several)
    found = vmap(lambda one: functional_call(layer, one, (xs[0],))[0])(state)
    close(found, torch.stack([one(xs[0])[0] for one in several]))
    short = torch.randn(2, 1, 5, device=device)
    run = lambda x: layer(x)[0].pow(2).sum()  # noqa: E731
    close(hessian(run)(short), jacfwd(grad(run))(short), 1e-3)
    _, tangent = jvp(run, (short,), (torch.ones_like(short),))
    close(tangent, grad(run)(short).sum(), 1e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_one_step_a_call_is_the_whole(kind: str, device: str) -> None:
    layer = made(kind, device, num_layers=2)
    x = torch.randn(12, 2, 5, device=device)
    with torch.inference_mode():
        expected, ends = layer(x)
        states, outputs = None, []
        for step in x:
            output, states = layer(step[None], states)
            outputs.append(output)
        close(torch.cat(outputs), expected)
        for one, other in zip(each(states), each(ends), strict=True):
            close(one, other)


def test_layers_that_have_recorded_calls_are_copied_and_saved(device: str) -> None:
    layer, x = made("LSTM", device, num_layers=2), torch.randn(6, 2, 5, device=device)
    for _ in range(5):
        layer.zero_grad()
        layer(x)[0].sum().backward()
    copied = copy.deepcopy(layer)
    stream = io.BytesIO()
    torch.save(layer, stream)
    stream.seek(0)
    restored = torch.load(stream, weights_only=False)
    with torch.no_grad():
        expected = layer(x)[0].clone()
        layer.weight_hh_l0.zero_()
    for other in (copied, restored):
        for _ in range(5):
            close(other(x)[0], expected)
    assert not torch.allclose(layer(x)[0], expected)


def test_hooks_of_state_dicts(device: str) -> None:
    layer, seen = made("GRU", device), []
    layer.register_state_dict_pre_hook(lambda module, prefix, keep: seen.append("before"))

    def without(module: Any, state: dict[str, Any], *rest: Any) -> None:
        del state["bias_hh_l0"]

    layer.register_state_dict_post_hook(without)
    layer.register_load_state_dict_pre_hook(
        lambda module, state, prefix, *rest: state.setdefault("bias_hh_l0", module.bias_hh_l0.detach())
    )
    layer.register_load_state_dict_post_hook(lambda module, keys: seen.append("after"))
    state = layer.state_dict()
    assert "bias_hh_l0" not in state
    layer.load_state_dict(state)
    assert seen == ["before", "after"]
