"""A recurrent layer of any cell, in heads, with the states as kernels have them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch.nn import functional

from kerneltune.errors import InputError, nearest
from kerneltune.inputs.equation_cell import EquationCell, named
from kerneltune.torch.equations import recurrent_cell
from kerneltune.torch.fitting import Fixed
from kerneltune.torch.launching import Launcher
from kerneltune.torch.rnn import recurrence

OPTIONS = ("forward_clip", "gate_gradient_clip", "cut_recurrent_gradient")


class HeadwiseRNN(Fixed, torch.nn.Module):  # type: ignore[misc] # torch has no types here
    """A recurrent layer with its input projection.

    Args:
        cell: Name of the cell, such as "lstm", "gru", "slstm", "elman"; the file of its equations, or a
            `kerneltune.Cell`.
        input_size: Features of x.
        heads: Heads, which recur apart from one another.
        head_dim: Units of a head, a multiple of 8.
        options: As for `recurrence`: `forward_clip`, `gate_gradient_clip`, `cut_recurrent_gradient`.
        runs_on: What launches kernels; by default, this machine's GPU.

    Attributes:
        weight: W, `[H * D * G, input_size]`; its rows in the order of the input product.
        input_bias: Added to W x, `[H * D * G]`.
        recurrent: R, `[H, G, D, D]`.
        bias: Added to R h, `[H, G, D]`; for most cells the two biases act alike.
        unit_weights: Weights of single units, `[H, P, D]`; None for cells without.
    """

    FIXED = frozenset(("cell", "spec", "input_size", "heads", "head_dim"))

    def __init__(
        self,
        cell: str | EquationCell,
        input_size: int,
        heads: int,
        head_dim: int,
        *,
        options: Mapping[str, Any] | None = None,
        runs_on: Launcher | None = None,
    ) -> None:
        super().__init__()
        self.cell = named(cell)
        self.spec = recurrent_cell(self.cell).spec
        if self.spec.learnable:
            raise InputError(f"{self.spec.name} has options that are learnt: take kerneltune.torch.Recurrent")
        self.input_size, self.heads, self.head_dim = input_size, heads, head_dim
        self.options = dict(options or {})
        for name in self.options:
            if name not in OPTIONS:
                raise InputError(f"unknown option '{name}': {nearest(name, OPTIONS)}")
        self._runs_on = runs_on
        gates = len(self.spec.gates)
        bound = 1 / math.sqrt(head_dim)
        self.register_parameter("unit_weights", None)
        shapes = [
            ("weight", (heads * head_dim * gates, input_size)),
            ("input_bias", (heads * head_dim * gates,)),
            ("recurrent", (heads, gates, head_dim, head_dim)),
            ("bias", (heads, gates, head_dim)),
        ]
        if self.spec.weights:
            shapes.append(("unit_weights", (heads, len(self.spec.weights), head_dim)))
        for name, shape in shapes:
            values = torch.empty(shape).uniform_(-bound, bound)
            self.register_parameter(name, torch.nn.Parameter(values))

    def initial(self, batch: int) -> torch.Tensor:
        """The states before the first step, `[S, B, H, D]`: 0, but 1 for those that must be positive."""
        values = self.weight.new_zeros((len(self.spec.states), batch, self.heads, self.head_dim))
        for i, name in enumerate(self.spec.states):
            if name in self.spec.positive:
                values[i] = 1
        return values

    def forward(
        self, x: torch.Tensor, initial: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Run the layer.

        Args:
            x: `[T, B, input_size]`.
            initial: The states before the first step, `[S, B, H, D]`; see the method `initial`.

        Returns:
            h after each step, `[T, B, H * D]`, and the states after the last, `[S, B, H, D]`.
        """
        if x.dim() != 3 or x.shape[-1] != self.input_size:
            raise InputError(f"x is [T, B, {self.input_size}], not {list(x.shape)}")
        steps, batch, _ = x.shape
        weight, bias = self.weight, self.input_bias

        def product() -> torch.Tensor:
            found = functional.linear(x, weight, bias)
            return found.view(steps, batch, self.heads, self.head_dim, len(self.spec.gates))

        start = self.initial(batch) if initial is None else initial
        output, last = recurrence(
            *(self.cell, product(), self.recurrent, self.bias, start),
            **self.options,
            weights=self.unit_weights,
            runs_on=self._runs_on,
            again=product,
        )
        return output.reshape(steps, batch, self.heads * self.head_dim), last

    @staticmethod
    def from_torch(layer: torch.nn.Module, *, runs_on: Launcher | None = None) -> HeadwiseRNN:
        """The same layer as a torch.nn.LSTM, GRU or RNN of one layer and direction, in one head."""
        kinds = {torch.nn.LSTM: "lstm", torch.nn.GRU: "gru"}
        cell = kinds.get(type(layer))
        if isinstance(layer, torch.nn.RNN):
            cell = {"tanh": "elman", "relu": "elman_relu"}[layer.nonlinearity]
        if cell is None or layer.num_layers != 1 or layer.bidirectional or not layer.bias:
            raise InputError("from_torch takes an LSTM, GRU or RNN of one layer and direction, with biases")
        dim = layer.hidden_size
        made = HeadwiseRNN(cell, layer.input_size, 1, dim, runs_on=runs_on)
        gates = len(made.spec.gates)
        with torch.no_grad():
            # torch has gate after gate; here the gates of a unit lie side by side.
            made.weight.copy_(
                layer.weight_ih_l0.view(gates, dim, -1).transpose(0, 1).reshape(gates * dim, -1)
            )
            made.input_bias.copy_(layer.bias_ih_l0.view(gates, dim).t().reshape(-1))
            made.recurrent.copy_(layer.weight_hh_l0.view(1, gates, dim, dim))
            made.bias.copy_(layer.bias_hh_l0.view(1, gates, dim))
        made.to(layer.weight_ih_l0.device, layer.weight_ih_l0.dtype)
        return made
