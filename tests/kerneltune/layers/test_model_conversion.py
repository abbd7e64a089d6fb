"""`convert`: hooks, parametrisations, shared layers, attributes; all layers or none."""

from __future__ import annotations

import copy
import gc
import io
from collections.abc import Callable
from typing import Any

import pytest

from kerneltune.errors import InputError

torch: Any = pytest.importorskip("torch")
nn = torch.nn


def is_torchs(layer: Any) -> bool:
    return isinstance(layer, nn.RNNBase)


def test_hooks_of_all_kinds_stay_and_are_removed_by_their_handles() -> None:
    from kerneltune.torch import GRU, convert

    seen: list[Any] = []

    def noting(name: str) -> Callable[..., None]:
        def hook(module: Any, *rest: Any) -> None:
            seen.append(name)
            assert isinstance(module, GRU)

        return hook

    model = nn.Sequential(nn.GRU(4, 6))
    layer = model[0]
    handles = [
        layer.register_forward_hook(noting("forward")),
        layer.register_forward_hook(lambda module, args, kwargs, output: seen.append("kw"), with_kwargs=True),
        layer.register_forward_pre_hook(noting("ahead")),
        layer.register_full_backward_hook(noting("backward")),
        layer.register_full_backward_pre_hook(noting("ahead of backward")),
        layer.register_state_dict_pre_hook(noting("state")),
        layer.register_load_state_dict_pre_hook(noting("load")),
        layer.register_load_state_dict_post_hook(noting("loaded")),
    ]
    convert(model)
    del layer
    gc.collect()
    x = torch.randn(3, 2, 4, requires_grad=True)
    model(x)[0].sum().backward()
    model.load_state_dict(model.state_dict())
    wanted = ["ahead", "forward", "kw", "ahead of backward", "backward", "state", "load", "loaded"]
    assert seen == wanted
    for handle in handles:
        handle.remove()
    model(x)[0].sum().backward()
    model.load_state_dict(model.state_dict())
    assert seen == wanted


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize("norm", ["weight_norm", "spectral_norm", "orthogonal"])
def test_parametrised_layers_are_the_originals(kind: str, norm: str) -> None:
    from torch.nn.utils import parametrizations

    from kerneltune.torch import convert

    torch.manual_seed(0)
    layer = getattr(nn, kind)(4, 6, 2)
    getattr(parametrizations, norm)(layer, "weight_hh_l0")
    getattr(parametrizations, norm)(layer, "weight_ih_l1")
    layer.eval()
    model = convert(nn.Sequential(copy.deepcopy(layer)))
    assert not is_torchs(model[0])
    assert list(model[0].state_dict()) == list(layer.state_dict())
    x = torch.randn(3, 2, 4)
    for one in (model, copy.deepcopy(model)):
        torch.testing.assert_close(one(x)[0], layer(x)[0])
        mine = torch.autograd.grad(one(x)[0].pow(2).sum(), list(one.parameters()))
        theirs = torch.autograd.grad(layer(x)[0].pow(2).sum(), list(layer.parameters()))
        for found, expected in zip(mine, theirs, strict=True):
            torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)
    parametrised = model[0].parametrizations.weight_hh_l0
    nn.utils.parametrize.remove_parametrizations(model[0], "weight_hh_l0")
    assert parametrised is not None
    torch.testing.assert_close(model(x)[0], layer(x)[0])


def test_a_shared_layer_stays_one() -> None:
    from kerneltune.torch import LSTM, convert

    shared = nn.LSTM(4, 6)
    model = nn.ModuleDict({"first": shared, "inner": nn.ModuleList([nn.GRU(4, 6), shared]), "last": shared})
    names = list(model.state_dict())
    convert(model)
    assert isinstance(model["first"], LSTM)
    assert model["first"] is model["last"] is model["inner"][1]
    assert list(model.state_dict()) == names
    assert model["first"].weight_hh_l0 is shared.weight_hh_l0


def with_old_norm() -> Any:
    with pytest.warns(FutureWarning):
        return nn.utils.weight_norm(nn.LSTM(4, 6), "weight_hh_l0")


def with_buffer() -> Any:
    layer = nn.GRU(4, 6)
    layer.register_buffer("mean", torch.zeros(4))
    return layer


def with_module() -> Any:
    layer = nn.GRU(4, 6)
    layer.add_module("inner", nn.Linear(1, 1))
    return layer


def with_forward() -> Any:
    layer = nn.GRU(4, 6)
    layer.forward = lambda x: (x, None)
    return layer


def with_shape() -> Any:
    layer = nn.GRU(4, 6)
    layer.weight_hh_l0 = nn.Parameter(torch.zeros(18, 5))
    return layer


REFUSED = [
    (with_old_norm, r"weight_hh_l0_g.*parametrizations\.weight_norm"),
    (lambda: nn.utils.spectral_norm(nn.GRU(4, 6), "weight_hh_l0"), r"parametrizations\.spectral_norm"),
    (lambda: nn.utils.prune.l1_unstructured(nn.GRU(4, 6), "weight_hh_l0", 3), r"prune\.remove"),
    (with_buffer, "buffers that torch's has not: mean"),
    (with_module, "modules that torch's has not: inner"),
    (with_forward, "own forward has been set"),
    (with_shape, r"weight_hh_l0 is \[18, 5\], not \[18, 6\]"),
]


@pytest.mark.parametrize(("made", "message"), REFUSED)
def test_nothing_is_converted_where_one_layer_cannot_be(made: Callable[[], Any], message: str) -> None:
    from torch.nn.utils import prune  # noqa: F401 # nn.utils.prune

    from kerneltune.torch import convert

    model = nn.Sequential(nn.LSTM(4, 6), nn.ModuleDict({"odd": made()}), nn.RNN(6, 6))
    before = [id(module) for module in model.modules()]
    seen = []
    model[0].register_forward_hook(lambda module, args, output: seen.append(type(module)))
    with pytest.raises(InputError, match=f"nothing is converted: 1.odd: .*{message}"):
        convert(model)
    assert [id(module) for module in model.modules()] == before
    model[0](torch.randn(3, 2, 4))
    assert seen == [nn.LSTM]


def test_attributes_modes_and_subclasses() -> None:
    from kerneltune.torch import convert

    class Mine(nn.LSTM):  # type: ignore[misc, name-defined]
        pass

    model = nn.Sequential(nn.LSTM(4, 6, dropout=0.5, num_layers=2), Mine(6, 6)).eval()
    model[0].note = "kept"
    model[0].weight_hh_l0.requires_grad_(False)
    convert(model)
    assert model[0].note == "kept"
    assert not model[0].training
    assert not model[0].weight_hh_l0.requires_grad
    assert type(model[1]) is Mine
    stream = io.BytesIO()
    torch.save(model[0], stream)
    stream.seek(0)
    assert torch.load(stream, weights_only=False).note == "kept"
    alone = nn.GRU(4, 6)
    assert convert(alone).weight_hh_l0 is alone.weight_hh_l0
