"""Replaces the recurrent layers of a model by this package's, in place."""

from __future__ import annotations

from typing import TypeVar

import torch

from kerneltune.errors import InputError
from kerneltune.torch.layers import GRU, LSTM, RNN, Recurrent

Model = TypeVar("Model", bound=torch.nn.Module)
_KINDS: dict[type, type[Recurrent]] = {torch.nn.LSTM: LSTM, torch.nn.GRU: GRU, torch.nn.RNN: RNN}
_NAMES = ("input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout", "bidirectional")


def convert(model: Model) -> Model:
    """Replace every `torch.nn.LSTM`, `GRU` and `RNN` of a model in place, and give the model back.

    Parameters stay the same objects under the same names, so that optimisers and checkpoints go on with
    them. Subclasses of torch's layers are left as they are. A model that is such a layer itself is given back
    as the new layer. Raises `InputError` for parameters that torch's layer would not have.
    """
    if type(model) in _KINDS:
        return converted(model)
    for module in model.modules():
        for name, child in list(module.named_children()):
            if type(child) in _KINDS:
                setattr(module, name, converted(child))
    return model


def converted(layer: torch.nn.RNNBase) -> Recurrent:
    """The layer with torch's parameters, not copied."""
    options = {name: getattr(layer, name) for name in _NAMES}
    if isinstance(layer, torch.nn.LSTM):
        options["proj_size"] = layer.proj_size
    if isinstance(layer, torch.nn.RNN):
        options["nonlinearity"] = layer.nonlinearity
    made: Recurrent = _KINDS[type(layer)](**options, device="meta")
    names = dict(layer.named_parameters(recurse=False))
    if set(names) != set(made._parameters):
        strange = sorted(set(names) ^ set(made._parameters))
        raise InputError(f"the layer's parameters are not torch's: {', '.join(strange)}")
    for name, parameter in names.items():
        made._parameters[name] = parameter
    made.train(layer.training)
    return made
