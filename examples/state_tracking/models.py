"""Sequence models for state tracking, with one interface: logits and the state to go on with."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from kerneltune.torch import GRU, LSTM, RNN, MinGRU, MinLSTM, linear_recurrence, sLSTM

State = Any  # what a model goes on with; None at the beginning


class Recurrent(nn.Module):
    """A nonlinear recurrent layer on this project's kernels; `[B, T, D]` to `[B, T, D]`."""

    def __init__(self, size: int, kind: type[nn.Module]) -> None:
        super().__init__()
        self.layer = kind(size, size, batch_first=True)

    def forward(self, x: torch.Tensor, state: State) -> tuple[torch.Tensor, State]:
        """The layer over all steps."""
        output, last = self.layer(x, state)
        return output, last


class Loop(nn.Module):
    """The same LSTM as a plain PyTorch loop: one step after the other."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(size, size)

    def forward(self, x: torch.Tensor, state: State) -> tuple[torch.Tensor, State]:
        """The layer over all steps."""
        outputs = []
        for step in x.unbind(1):
            state = self.cell(step, state)
            outputs.append(state[0])
        return torch.stack(outputs, 1), state


class Scanned(nn.Module):
    """minGRU or minLSTM, whose gates do not see h."""

    def __init__(self, size: int, kind: type[nn.Module]) -> None:
        super().__init__()
        self.layer = kind(size, 2 * size)
        self.down = nn.Linear(2 * size, size)

    def forward(self, x: torch.Tensor, state: State) -> tuple[torch.Tensor, State]:
        """The layer over all steps."""
        hidden, last = self.layer(x, state)
        return self.down(hidden), last


class DiagonalSSM(nn.Module):
    """A selective state space: h' = a(x) h + b(x), gated, with a in (0, 1) or in (-1, 1)."""

    def __init__(self, size: int, negative: bool) -> None:
        super().__init__()
        self.negative = negative
        self.maps = nn.Linear(size, 3 * 2 * size)
        self.down = nn.Linear(2 * size, size)

    def forward(self, x: torch.Tensor, state: State) -> tuple[torch.Tensor, State]:
        """The layer over all steps."""
        decay, b, gate = self.maps(x).chunk(3, -1)
        a = torch.tanh(decay + 1) if self.negative else torch.sigmoid(decay + 2)
        hidden, last = linear_recurrence(a, b * (1 - a.abs()), initial=state)
        return self.down(hidden * functional.silu(gate)), last


class Attention(nn.Module):
    """Causal attention with rotary positions."""

    def __init__(self, size: int, heads: int = 4) -> None:
        super().__init__()
        self.heads = heads
        self.maps, self.down = nn.Linear(size, 3 * size), nn.Linear(size, size)
        half = size // heads // 2
        self.register_buffer("speeds", 10_000 ** -(torch.arange(half) / half))

    def turned(self, x: torch.Tensor) -> torch.Tensor:
        """Pairs of features turned by their step's angle."""
        angles = torch.arange(x.shape[2], device=x.device)[:, None] * self.speeds
        cosine, sine = angles.cos(), angles.sin()
        a, b = x.chunk(2, -1)
        return torch.cat([a * cosine - b * sine, a * sine + b * cosine], -1)

    def forward(self, x: torch.Tensor, state: State) -> tuple[torch.Tensor, State]:
        """The layer over all steps; it has no state, so it must see them all at once."""
        assert state is None
        parts = self.maps(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        query, key, value = self.turned(parts[0]), self.turned(parts[1]), parts[2]
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.down(mixed.transpose(1, 2).flatten(2)), None


class Block(nn.Module):
    """A mixer and an MLP, each with a norm ahead and a bypass."""

    def __init__(self, size: int, mixer: nn.Module) -> None:
        super().__init__()
        self.mixer = mixer
        self.norms = nn.ModuleList(nn.LayerNorm(size) for _ in range(2))
        self.mlp = nn.Sequential(nn.Linear(size, 4 * size), nn.GELU(), nn.Linear(4 * size, size))

    def forward(self, x: torch.Tensor, state: State) -> tuple[torch.Tensor, State]:
        """The block over all steps."""
        mixed, state = self.mixer(self.norms[0](x), state)
        x = x + mixed
        return x + self.mlp(self.norms[1](x)), state


class Model(nn.Module):
    """Token embedding, mixers, and a linear map to the answers."""

    def __init__(self, tokens: int, answers: int, size: int, layers: list[nn.Module]) -> None:
        super().__init__()
        self.embedding = nn.Embedding(tokens, size)
        self.layers = nn.ModuleList(layers)
        self.out = nn.Linear(size, answers)

    def forward(self, tokens: torch.Tensor, states: State = None) -> tuple[torch.Tensor, State]:
        """Logits after each token, `[B, T, answers]`, and the states."""
        x, after = self.embedding(tokens), []
        for layer, state in zip(self.layers, states or [None] * len(self.layers)):
            x, state = layer(x, state)
            after.append(state)
        return self.out(x), after


NONLINEAR = {"LSTM": LSTM, "GRU": GRU, "sLSTM": sLSTM, "Elman": RNN}
BLOCKS = {
    "minGRU": lambda size: Scanned(size, MinGRU),
    "minLSTM": lambda size: Scanned(size, MinLSTM),
    "SSM, a in (0, 1)": lambda size: DiagonalSSM(size, False),
    "SSM, a in (-1, 1)": lambda size: DiagonalSSM(size, True),
    "Transformer": Attention,
}
NAMES = (*NONLINEAR, *BLOCKS)
SEES_ALL = ("Transformer",)  # has no state: sequences are not cut


def made(name: str, tokens: int, answers: int, size: int, depth: int) -> Model:
    """A model: one layer where h is in the gates, `depth` blocks where it is not."""
    if name == "loop":
        return Model(tokens, answers, size, [Loop(size)])
    if name in NONLINEAR:
        return Model(tokens, answers, size, [Recurrent(size, NONLINEAR[name])])
    return Model(tokens, answers, size, [Block(size, BLOCKS[name](size)) for _ in range(depth)])


def parameters(model: nn.Module) -> int:
    """Number of trained values."""
    return sum(math.prod(one.shape) for one in model.parameters())
