"""Replaces the recurrent layers of a model by this package's, in place, and all of them or none."""

from __future__ import annotations

from typing import TypeVar, cast

import torch
from torch.nn.utils import parametrize

from kerneltune.errors import InputError
from kerneltune.torch.layers import GRU, LSTM, RNN, TorchLayer

Model = TypeVar("Model", bound=torch.nn.Module)
_KINDS: dict[type, type[TorchLayer]] = {torch.nn.LSTM: LSTM, torch.nn.GRU: GRU, torch.nn.RNN: RNN}
_NAMES = ("input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout", "bidirectional")
_OLD = {  # what torch's hooks of before parametrisations leave on a layer, by how names of parameters end
    "_g": "torch.nn.utils.parametrizations.weight_norm in place of torch.nn.utils.weight_norm",
    "_v": "torch.nn.utils.parametrizations.weight_norm in place of torch.nn.utils.weight_norm",
    "_orig": "torch.nn.utils.parametrizations.spectral_norm in place of torch.nn.utils.spectral_norm, and "
    "torch.nn.utils.prune.remove for what is pruned",
}


def convert(model: Model) -> Model:
    """Replace every `torch.nn.LSTM`, `GRU` and `RNN` of a model in place, and give the model back.

    Parameters, hooks, parametrisations (such as weight_norm) and attributes of your own stay the same objects
    under the same names, so that optimisers and checkpoints go on with them; a layer that has several names
    is one layer afterwards, too. Subclasses of torch's layers are left as they are. A model that is such a
    layer itself is given back as the new layer. Raises `InputError` for layers that are not torch's in their
    parameters, buffers or methods; nothing is converted then.
    """
    found = [(name, one) for name, one in model.named_modules() if _kind_of(one) is not None]
    made: dict[int, TorchLayer] = {}
    refused = []
    for name, layer in found:
        try:
            made[id(layer)] = _made(layer)
        except InputError as error:
            refused.append(f"{name or 'the layer'}: {error}")
    if refused:
        raise InputError("nothing is converted: " + "; ".join(refused))
    for module in list(model.modules()):
        for name, child in module._modules.items():  # all names: those of a shared layer, too
            if id(child) in made:
                module._modules[name] = made[id(child)]
    for _, layer in found:
        _hand_over_hooks(layer, made[id(layer)])
    return cast("Model", made.get(id(model), model))


def converted(layer: torch.nn.RNNBase) -> TorchLayer:
    """The layer with torch's parameters, not copied."""
    if _kind_of(layer) is None:
        raise InputError(f"{type(layer).__name__} is no LSTM, GRU or RNN of torch.nn")
    found: TorchLayer = convert(layer)
    return found


def _kind_of(module: torch.nn.Module) -> type | None:
    """The class of torch's that a layer is, behind its parametrisations; None for others."""
    kind = type(module)
    if parametrize.is_parametrized(module):
        kind = kind.__bases__[0]
    return kind if kind in _KINDS else None


def _made(layer: torch.nn.Module) -> TorchLayer:
    """The new layer with the old one's parameters and parametrisations; the old one stays as it is."""
    kind = _kind_of(layer)
    assert kind is not None
    added = _added_attributes(layer, kind)
    options = {name: getattr(layer, name) for name in _NAMES}
    if kind is torch.nn.LSTM:
        options["proj_size"] = layer.proj_size
    if kind is torch.nn.RNN:
        options["nonlinearity"] = layer.nonlinearity
    made: TorchLayer = _KINDS[kind](**options, device="meta")
    parametrised = layer._modules.get("parametrizations")
    _check_names(layer, made, set(parametrised or ()))
    for name in parametrised or ():
        parametrize.register_parametrization(made, name, torch.nn.Identity(), unsafe=True)
    if parametrised is not None:
        made._modules["parametrizations"] = parametrised  # theirs, which the identities gave the way to
    for name, parameter in layer._parameters.items():
        made._parameters[name] = parameter
    made.training = layer.training
    made.__dict__.update(added)
    return made


def _check_names(layer: torch.nn.Module, made: TorchLayer, parametrised: set[str]) -> None:
    """Raise `InputError` where parameters, buffers or modules are not torch's."""
    wanted, names = set(made._parameters), set(layer._parameters) | parametrised
    if names != wanted:
        strange = sorted(names ^ wanted)
        ways = sorted({way for name in names - wanted for end, way in _OLD.items() if name.endswith(end)})
        hint = f" (use {', '.join(ways)})" if ways else ""
        raise InputError(f"the layer's parameters are not torch's: {', '.join(strange)}{hint}")
    for kind, found in (("buffers", layer._buffers), ("modules", layer._modules)):
        if more := sorted(set(found) - {"parametrizations"}):
            raise InputError(f"the layer has {kind} that torch's has not: {', '.join(more)}")
    for name, parameter in layer._parameters.items():
        if parameter is not None and parameter.shape != made._parameters[name].shape:
            raise InputError(f"{name} is {list(parameter.shape)}, not {list(made._parameters[name].shape)}")


def _added_attributes(layer: torch.nn.Module, kind: type) -> dict[str, object]:
    """Attributes that were set on the layer from outside; raises `InputError` for ones that change it."""
    usual = kind(1, 1, device="meta").__dict__
    added = {name: value for name, value in layer.__dict__.items() if name not in usual}
    for name in added:
        if hasattr(kind, name) or hasattr(_KINDS[kind], name) or name in ("sizes", "kind"):
            raise InputError(f"the layer's own {name} has been set: convert ahead of that")
    return added


def _hand_over_hooks(layer: torch.nn.Module, made: TorchLayer) -> None:
    """Hooks of all kinds, in the same dictionaries, so that what removes them still does."""
    for name, value in layer.__dict__.items():
        if "_hook" not in name:
            continue
        made.__dict__[name] = value
        for key, hook in value.items() if isinstance(value, dict) else ():
            if getattr(hook, "with_module", False):  # it holds the layer that it is called with
                value[key] = type(hook)(hook.hook, made)
