"""Layers of scans and of diagonal cells, and the block that stacks them.

from kerneltune.torch import DiagonalGRU, MinGRU, ScanLayer

layer = MinGRU(512, 1024).to("cuda", torch.bfloat16)
output, last = layer(x)                       # x [B, T, 512] -> [B, T, 1024]; last is [B, 1024], float32
layer = ScanLayer("mine.cell", 512, 1024)     # of equations
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional

from kerneltune.errors import InputError
from kerneltune.inputs.equation_cell import EquationCell, named
from kerneltune.running.scan_arrays import state_width
from kerneltune.torch.diagonal import diagonal
from kerneltune.torch.equations import equations_of, make_known
from kerneltune.torch.fitting import Fixed
from kerneltune.torch.placed import mapped
from kerneltune.torch.scan import scan, scan_cell


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
        self.gates = len(scan_cell(self.cell).spec.gates)
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


class ScanLayer(_Projected):
    """A scan of any cell with its projection: of a cell's name, of equations, or of a `kerneltune.Cell`.

    Args:
        cell: The cell, linear or diagonal.
        input_size: Features of x.
        hidden_size: Channels of h.
        heads: As for the other layers.
        bias: Whether the projection has one.
        parallel: As for `diagonal`.

    Attributes:
        projection: From x to the cell's inputs, side by side.
        recurrent: The weights of each channel, `[W, hidden_size]`; None for a cell without.
        option_NAME: A number, for each option of the cell that is learnable.
    """

    FIXED = _Projected.FIXED | {"cell"}

    def __init__(
        self,
        cell: str | EquationCell,
        input_size: int,
        hidden_size: int,
        *,
        heads: int = 1,
        bias: bool = True,
        parallel: str | None = None,
    ) -> None:
        name = named(cell)
        known = scan_cell(name)
        if state_width(known) > 1:
            raise InputError(f"the channels of {name} are pairs: call kerneltune.torch.linear_recurrence")
        self.__dict__["cell"] = name
        super().__init__(input_size, hidden_size, heads=heads, bias=bias)
        self.nonlinear, self.parallel, self._equations = known.nonlinear, parallel, equations_of(name)
        self.learnable = tuple(name for name, _ in known.spec.learnable)
        count = len(known.spec.weights) - len(self.learnable)
        weights = torch.nn.Parameter(0.5 * torch.randn(count, hidden_size)) if count else None
        self.register_parameter("recurrent", weights)
        for option, value in known.spec.learnable:
            self.register_parameter(f"option_{option}", torch.nn.Parameter(torch.tensor(value)))

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Make the equations known in the process that loads the layer."""
        make_known(state.get("_equations"))
        super().__setstate__(state)

    def forward(
        self, x: torch.Tensor, initial: torch.Tensor | None = None, **options: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """H after each step, `[B, T, hidden_size]`, and the last states, from x `[B, T, input_size]`.

        The last states of a linear cell are `[B, hidden_size]`, of a diagonal one `[S, B, hidden_size]`.
        Options are those of `scan` or `diagonal`.
        """
        if not self.nonlinear:
            return super().forward(x, initial, **options)
        parts = mapped(self.projection, x).chunk(self.gates, dim=-1)
        given = {"parallel": self.parallel, "weights": self._weights(), **options}
        found: tuple[torch.Tensor, torch.Tensor] = diagonal(self.cell, *parts, initial=initial, **given)
        return found

    def _weights(self) -> torch.Tensor | None:
        """The weights of the channels, and behind them what is learnt, of every channel the same."""
        if not self.learnable:
            weights: torch.Tensor | None = self.recurrent
            return weights
        numbers = torch.stack([getattr(self, f"option_{name}") for name in self.learnable])
        rows = numbers[:, None].expand(-1, self.hidden_size)
        return rows if self.recurrent is None else torch.cat([self.recurrent, rows.to(self.recurrent.dtype)])

    def extra_repr(self) -> str:
        """The cell."""
        return self._equations[0] if self._equations else self.cell


class _Diagonal(ScanLayer):
    """The base of the layers of one diagonal cell; arguments are `ScanLayer`'s without the cell."""

    def __init__(self, input_size: int, hidden_size: int, **options: Any) -> None:
        super().__init__(type(self).cell, input_size, hidden_size, **options)


class DiagonalGRU(_Diagonal):
    """The diagonal GRU: z and r of x and u h, n = tanh(x + u r h), h' = (1 - z) h + z n."""

    cell = "diag_gru"


class DiagonalLSTM(_Diagonal):
    """The diagonal LSTM with coupled input and forget gates and peepholes."""

    cell = "diag_lstm"


class DiagonalSLSTM(_Diagonal):
    """The diagonal sLSTM (xLSTM), with an exponential input gate."""

    cell = "diag_slstm"


class MinimalBlock(torch.nn.Module):  # type: ignore[misc] # torch has no types here
    """Convolution, scan and MLP of "Were RNNs all we needed?", each with a norm ahead and a bypass.

    Args:
        size: Features.
        layer: Makes the scan from its sizes, such as `MinGRU`, or `partial(ScanLayer, "mine.cell")`.
        expansion: Channels of the scan, and features inside the MLP, in multiples of `size`.
        kernel: Steps that the convolution sees: this one and those before it.
        dropout: Of each branch.
    """

    def __init__(
        self,
        size: int,
        layer: Callable[[int, int], torch.nn.Module] = MinGRU,
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
