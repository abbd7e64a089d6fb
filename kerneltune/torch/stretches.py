"""Rows that are set back to their first states in between: each stretch from reset to reset is a row."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from kerneltune.errors import InputError

States = tuple[torch.Tensor, ...]


@dataclass(frozen=True)
class Stretches:
    """Where the stretches of all rows lie, row after row.

    Attributes:
        bounds: Where each begins among the steps of all rows, and their number.
        first: The first stretch of each row.
        final: The last one.
        kept: Of each row, whether the states given for it count: it is not set back at its first step.
        directions: 1 or 2.
    """

    bounds: torch.Tensor
    first: torch.Tensor
    final: torch.Tensor
    kept: torch.Tensor
    directions: int

    @staticmethod
    def of(reset: torch.Tensor, shape: tuple[int, int], device: torch.device, directions: int) -> Stretches:
        """From marks `[T, B]`; raises `InputError` for another shape."""
        steps, rows = shape
        if reset.shape != (steps, rows):
            raise InputError(f"reset is one truth value for each step and row, not {list(reset.shape)}")
        begins = reset.to(device, torch.bool, copy=True)
        kept = ~begins[0]
        begins[0] = True
        flat = begins.t().reshape(-1)
        starts = flat.nonzero().flatten()
        count = len(starts)
        first = flat.cumsum(0)[::steps] - 1
        final = torch.cat([first[1:] - 1, first.new_full((1,), count - 1)])
        bounds = torch.cat([starts, starts.new_full((1,), steps * rows)])
        return Stretches(bounds, first, final, kept, directions)

    @property
    def count(self) -> int:
        """Their number."""
        return len(self.bounds) - 1

    def begin(self, default: torch.Tensor, given: torch.Tensor) -> torch.Tensor:
        """A state before each stretch: the default, but the given one where a row begins in a direction."""
        parts = []
        for d, at in enumerate((self.first, self.final)[: self.directions]):
            mine, put = default[d :: self.directions], given[d :: self.directions].to(default.dtype)
            if d == 0:
                put = torch.where(self.kept[:, None], put, mine.index_select(1, at))
            parts.append(mine.index_copy(1, at, put))
        return torch.stack(parts, dim=1).flatten(0, 1)

    def ends(self, last: torch.Tensor) -> torch.Tensor:
        """A state behind the last step of each row in a direction."""
        ways = (self.final, self.first)[: self.directions]
        parts = [last[d :: self.directions].index_select(1, at) for d, at in enumerate(ways)]
        return torch.stack(parts, dim=1).flatten(0, 1)
