"""Stacks of recurrent layers of any cell, in the manner of `torch.nn.LSTM`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.nn import functional

from kerneltune.errors import InputError
from kerneltune.inputs.equation_cell import EquationCell
from kerneltune.torch.headwise import HeadwiseRNN
from kerneltune.torch.launching import Launcher
from kerneltune.torch.sizes import Sizes

_STEP = 8  # kernels take heads of a multiple of so many units


class Recurrent(torch.nn.Module):  # type: ignore[misc] # torch has no types here
    """A stack of recurrent layers of any cell; sequences of a batch have the same length.

    Args:
        cell: Name of the cell, the file of its equations, or a `kerneltune.Cell`.
        input_size: Features of x.
        hidden_size: Units of a layer and direction, a multiple of 8 for each head.
        num_layers: Layers, each of which reads the output of the one before it.
        heads: Units recur within their head.
        batch_first: Whether x and the output are `[B, T, …]`.
        dropout: Probability that a feature between two layers is left out.
        bidirectional: Whether each layer has a second direction, which begins at the last step.
        options: As for `recurrence`: `forward_clip`, `gate_gradient_clip`, `cut_recurrent_gradient`.
        device: Where the parameters are.
        dtype: Their type.
        runs_on: What launches kernels; by default, this machine's GPU.

    Attributes:
        layers: A `HeadwiseRNN` for each layer and direction.
    """

    def __init__(
        self,
        cell: str | EquationCell,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        *,
        heads: int = 1,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        options: dict[str, object] | None = None,
        runs_on: Launcher | None = None,
        **made: object,
    ) -> None:
        super().__init__()
        unknown = made.keys() - {"device", "dtype"}
        if unknown:
            raise InputError(f"unknown option '{min(unknown)}' of Recurrent")
        self.sizes = Sizes(
            input_size,
            hidden_size,
            num_layers,
            batch_first=batch_first,
            dropout=dropout,
            bidirectional=bidirectional,
            heads=heads,
        )
        if self.sizes.head_dim % _STEP:
            raise InputError(
                f"a head has {self.sizes.head_dim} units: hidden_size / heads must be a multiple of {_STEP}"
            )
        directions = self.sizes.directions
        widths = [input_size, *[hidden_size * directions] * (num_layers - 1)]
        self.layers = torch.nn.ModuleList(
            HeadwiseRNN(cell, width, heads, self.sizes.head_dim, options=options, runs_on=runs_on)
            for width in widths
            for _ in range(directions)
        )
        self.to(**made)

    @property
    def states(self) -> tuple[str, ...]:
        """The names of the states, in their order in `hx`."""
        names: tuple[str, ...] = self.layers[0].spec.states
        return names

    def forward(
        self, input: torch.Tensor, hx: torch.Tensor | Sequence[torch.Tensor] | None = None
    ) -> tuple[torch.Tensor, Any]:
        """Run the stack.

        Args:
            input: `[T, B, input_size]`, or `[B, T, input_size]` with `batch_first`.
            hx: The states before the first step, each `[num_layers * directions, B, hidden_size]`; of a cell
                with one state the tensor itself. By default 0, and 1 for those that must be positive.

        Returns:
            The output, `[T, B, directions * hidden_size]` or with `batch_first` `[B, T, …]`, and the states
            after the last step, as `hx`. Raises `InputError` for tensors that do not fit.
        """
        if not isinstance(input, torch.Tensor) or input.dim() != 3:
            raise InputError("the input of Recurrent is a tensor [T, B, input_size], or [B, T, …]")
        data = input.transpose(0, 1) if self.sizes.batch_first else input
        starts = self._starts(hx, data.shape[1])
        lasts: list[torch.Tensor] = []
        directions = self.sizes.directions
        for layer in range(self.sizes.num_layers):
            if layer and self.sizes.dropout:
                data = functional.dropout(data, self.sizes.dropout, self.training)
            outputs = []
            for direction in range(directions):
                number = layer * directions + direction
                read = data.flip(0) if direction else data
                output, last = self.layers[number](read, None if starts is None else starts[number])
                outputs.append(output.flip(0) if direction else output)
                lasts.append(last.flatten(2))
            data = torch.cat(outputs, dim=-1) if directions > 1 else outputs[0]
        found = torch.stack(lasts, dim=1).unbind(0)
        return data.transpose(0, 1) if self.sizes.batch_first else data, found if len(found) > 1 else found[0]

    def _starts(self, hx: Any, rows: int) -> list[torch.Tensor] | None:
        """The states before the first step of each layer and direction, `[S, B, H, D]`."""
        if hx is None:
            return None
        states = (hx,) if isinstance(hx, torch.Tensor) else tuple(hx)
        count = self.sizes.num_layers * self.sizes.directions
        wanted = [count, rows, self.sizes.hidden_size]
        if len(states) != len(self.states):
            raise InputError(f"hx is ({', '.join(self.states)}), not {len(states)} tensors")
        for name, state in zip(self.states, states, strict=True):
            if list(state.shape) != wanted:
                raise InputError(f"{name} of hx is {wanted} here, not {list(state.shape)}")
        by_head = torch.stack(states).unflatten(3, (self.sizes.heads, self.sizes.head_dim))
        return list(by_head.unbind(1))

    def extra_repr(self) -> str:
        """The cell and the sizes."""
        sizes = self.sizes
        return f"{self.layers[0].spec.name}, {sizes.input_size}, {sizes.hidden_size}, heads={sizes.heads}"
