"""Layers of scans, and the block that stacks them.

from kerneltune.torch import LinearRecurrence, MinGRU, MinimalBlock

layer = MinGRU(512, 1024).to("cuda", torch.bfloat16)
output, last = layer(x)                       # x [B, T, 512] -> [B, T, 1024]
"""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional

from kerneltune.errors import InputError
from kerneltune.inputs.scan_descriptions import discover_scans
from kerneltune.torch.fitting import Fixed
from kerneltune.torch.placed import mapped
from kerneltune.torch.scan import scan


class _Projected(Fixed, torch.nn.Module):  # type: ignore[misc] # torch has no types here
    """A cell with its projections: one matrix product, then one scan that reads its parts in place.

    Args:
        input_size: Features of x.
        hidden_size: Channels of h.
        heads: Blocks that the projection has on its diagonal: each head of h sees its own part of x.
        bias: Whether the projections have one.
    """

    FIXED = frozenset(("hidden_size", "heads", "gates"))
    cell: str

    def __init__(self, input_size: int, hidden_size: int, *, heads: int = 1, bias: bool = True) -> None:
        super().__init__()
        if heads < 1 or input_size % heads or hidden_size % heads:
            raise InputError(f"heads is {heads}: it must divide {input_size} and {hidden_size}")
        self.hidden_size, self.heads = hidden_size, heads
        self.gates = len(discover_scans().cell(self.cell).spec.gates)
        self.projection: torch.nn.Module
        if heads == 1:
            self.projection = torch.nn.Linear(input_size, self.gates * hidden_size, bias=bias)
        else:
            self.projection = _HeadProjection(input_size, hidden_size, self.gates, heads, bias)

    def forward(
        self, x: torch.Tensor, initial: torch.Tensor | None = None, **options: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """H after each step, `[B, T, hidden_size]`, and after the last, from x `[B, T, input_size]`."""
        parts = mapped(self.projection, x).chunk(self.gates, dim=-1)
        return scan(self.cell, *self.inputs(parts), initial=initial, **options)

    def inputs(self, parts: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
        """Inputs of the cell, from the parts of the projection."""
        return parts


class _HeadProjection(torch.nn.Module):  # type: ignore[misc] # torch has no types here
    """A linear map without products between heads; its outputs are `[gates, heads, size]`, flat."""

    def __init__(self, input_size: int, hidden_size: int, gates: int, heads: int, bias: bool) -> None:
        super().__init__()
        self.heads, self.gates = heads, gates
        bound = (input_size // heads) ** -0.5
        shape = heads, input_size // heads, gates * (hidden_size // heads)
        self.weight = torch.nn.Parameter(torch.empty(shape).uniform_(-bound, bound))
        self.bias = (
            torch.nn.Parameter(torch.empty(gates * hidden_size).uniform_(-bound, bound)) if bias else None
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """`[B, T, gates * hidden_size]` from `[B, T, input_size]`."""
        made = torch.einsum("bthi,hio->btho", x.unflatten(-1, (self.heads, -1)), self.weight)
        flat = made.unflatten(-1, (self.gates, -1)).transpose(2, 3).flatten(2)
        return flat if self.bias is None else flat + self.bias


class MinGRU(_Projected):
    """minGRU (Feng et al. 2024): z = sigmoid(k), h' = (1 - z) h + z g(n)."""

    cell = "mingru"


class MinLSTM(_Projected):
    """minLSTM with normalised gates (Feng et al. 2024)."""

    cell = "minlstm"


class LinearRecurrence(_Projected):
    """h' = a h + sqrt(1 - a^2) b with a = sigmoid(decay), both projected from x."""

    cell = "linear"

    def inputs(self, parts: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
        """A and b: with this factor h has the variance of b, whatever a is."""
        decay, b = parts
        # 1 - a^2 = (1 - a) (1 + a), from sigmoid(-decay), keeps its digits where a is near 1.
        rest = torch.sigmoid(-decay.float())
        a = torch.sigmoid(decay)
        return a, (b * torch.sqrt(rest * (2.0 - rest) + 1e-6)).to(b.dtype)


class MinimalBlock(torch.nn.Module):  # type: ignore[misc] # torch has no types here
    """Convolution, scan and MLP of "Were RNNs all we needed?", each with a norm ahead and a bypass.

    Args:
        size: Features.
        layer: The scan's class, such as `MinGRU`.
        expansion: Channels of the scan, and features inside the MLP, in multiples of `size`.
        kernel: Steps that the convolution sees: this one and those before it.
        dropout: Of each branch.
    """

    def __init__(
        self,
        size: int,
        layer: type[_Projected] = MinGRU,
        *,
        expansion: int = 2,
        kernel: int = 4,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        inner = expansion * size
        self.norms = torch.nn.ModuleList(torch.nn.LayerNorm(size) for _ in range(3))
        self.convolution = torch.nn.Conv1d(size, size, kernel, groups=size, padding=kernel - 1)
        self.mix = torch.nn.Linear(size, size)
        self.recurrent = layer(size, inner)
        self.down = torch.nn.Linear(inner, size)
        self.mlp = torch.nn.Sequential(
            torch.nn.Linear(size, 2 * inner), torch.nn.GELU(), torch.nn.Linear(2 * inner, size)
        )
        self.dropout = torch.nn.Dropout(dropout)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """`[B, T, size]` from `[B, T, size]`; no step sees a later one."""
        steps = x.shape[1]
        seen = self.convolution(self.norms[0](x).transpose(1, 2))[..., :steps].transpose(1, 2)
        x = x + self.dropout(self.mix(functional.silu(seen)))
        hidden, _ = self.recurrent(self.norms[1](x))
        x = x + self.dropout(self.down(hidden))
        return x + self.dropout(self.mlp(self.norms[2](x)))
