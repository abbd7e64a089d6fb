"""This rank's part of the time of a scan or diagonal cell: its passes, as a whole and again in part."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import inf

import torch

from kerneltune.inputs.equation_cell import EquationCell
from kerneltune.inputs.scan_descriptions import discover_scans
from kerneltune.running.diagonal_reference import CHECKPOINT_STEPS
from kerneltune.running.scan_arrays import state_width
from kerneltune.torch.rank_rounds import Chunks, PartProduct
from kerneltune.torch.scan_options import Family, Options, Plain, Results

_WITHOUT_CANDIDATE = {"mingru": -inf, "minlstm": -inf}  # the last input for which g(n) is zero


@dataclass(frozen=True)
class RankCall:
    """A call over ranks.

    Attributes:
        family: The operators.
        cell: The cell.
        plain: Options that are no tensors.
        group: The process group.
        rounds: Where the number of rounds of exchanges is put.
    """

    family: Family
    cell: str
    plain: Plain
    group: object
    rounds: list[int]


class ForwardPart:
    """The forward pass of a part."""

    def __init__(self, call: RankCall, inputs: list[torch.Tensor], options: Options) -> None:
        self._call, self._inputs, self._options = call, inputs, options
        self.steps, self.chunks = _size(inputs)
        self.results: list[torch.Tensor] = []

    def whole(self, entering: torch.Tensor | None) -> torch.Tensor:
        """Compute all steps."""
        options = self._options._replace(initial=entering)
        self.results = list(self._call.family.forward(self._call.cell, self._inputs, options))
        return self.results[1]

    def again(self, begin: int, size: int, entering: torch.Tensor, *, keeps: bool) -> torch.Tensor:
        """Compute some."""
        at = _times(begin, begin + size, self.steps, self._options.reverse)
        options = _part(self._options, at)._replace(initial=entering)
        parts = [one[:, at] for one in self._inputs]
        found = self._call.family.forward(self._call.cell, parts, options)
        if keeps:
            self.results[0][:, at] = found[0]
            if self._call.family.kept:
                first = begin // CHECKPOINT_STEPS
                kept = found[self._call.family.kept]
                self.results[self._call.family.kept][first : first + len(kept)] = kept
        return found[1]

    def end_of(self, begin: int, size: int) -> int:
        """At a state that is kept."""
        return min(begin + size, self.steps)

    def product(self, begin: int, size: int) -> PartProduct:
        """Of the states, for a linear cell."""
        at = _times(begin, begin + size, self.steps, self._options.reverse)
        return _product(self._call, [one[:, at] for one in self._inputs], _part(self._options, at))


class BackwardPart:
    """The backward pass of a part."""

    def __init__(
        self, call: RankCall, inputs: list[torch.Tensor], options: Options, kept: Results, by: torch.Tensor
    ) -> None:
        self._call, self._inputs, self._options = call, inputs, options
        (self._hidden, self._kept), self._by = kept, by
        self.steps, self.chunks = _size(inputs)
        self.by_inputs: list[torch.Tensor] = []
        self.by_weights: torch.Tensor | None = None

    def whole(self, entering: torch.Tensor | None) -> torch.Tensor:
        """Compute all steps."""
        assert entering is not None  # every rank has a gradient of its own to begin with
        found = self._run(0, self.steps, entering)
        self.by_inputs = found[: len(self._inputs)]
        self.by_weights = found[-1] if self._options.weights is not None else None
        return found[len(self._inputs)]

    def again(self, begin: int, size: int, entering: torch.Tensor, *, keeps: bool) -> torch.Tensor:
        """Compute some, counted from the last."""
        first, end = self.steps - begin - size, self.steps - begin
        found = self._run(first, end, entering)
        at = _times(first, end, self.steps, self._options.reverse)
        if keeps:
            for mine, one in zip(self.by_inputs, found, strict=False):
                mine[:, at] = one
        if self.by_weights is not None:
            self.by_weights = self.by_weights + (found[-1] if keeps else -found[-1])
        return found[len(self._inputs)]

    def end_of(self, begin: int, size: int) -> int:
        """At a state that is kept."""
        first = max(0, self.steps - begin - size) // CHECKPOINT_STEPS * CHECKPOINT_STEPS
        return self.steps - first

    def product(self, begin: int, size: int) -> PartProduct:
        """Of the gradients, for a linear cell."""
        at = _times(self.steps - begin - size, self.steps - begin, self.steps, self._options.reverse)
        found = _product(self._call, [one[:, at] for one in self._inputs], _part(self._options, at))
        return found.transposed()

    def _run(self, first: int, end: int, entering: torch.Tensor) -> list[torch.Tensor]:
        at = _times(first, end, self.steps, self._options.reverse)
        options = _part(self._options, at)
        if self._call.family.kept:
            kept = self._kept[first // CHECKPOINT_STEPS : -(-end // CHECKPOINT_STEPS)].contiguous()
        else:
            kept = self._hidden[:, at]
            if first:
                before = self.steps - first if self._options.reverse else first - 1
                options = options._replace(initial=self._hidden[:, before].float())
        parts, by = [one[:, at] for one in self._inputs], (kept, self._by[:, at], entering)
        return self._call.family.backward(self._call.cell, parts, by, options)


def _size(inputs: list[torch.Tensor]) -> tuple[int, Chunks]:
    """Steps, and how many are computed again at a time, by the widest input."""
    batch, steps, _ = inputs[0].shape
    return int(steps), Chunks.of(int(batch) * max(one.shape[2] for one in inputs))


def _product(call: RankCall, inputs: list[torch.Tensor], options: Options) -> PartProduct:
    """The map of states over all steps of these inputs: of units, less what comes of zeros."""
    first, width = inputs[0], state_width(discover_scans().cell(call.cell))
    nothing = _without_addend(call.cell)
    if nothing is not None:
        inputs = [*inputs[:-1], first.new_full((1, 1, inputs[-1].shape[2]), nothing).expand(inputs[-1].shape)]

    def after(unit: torch.Tensor) -> torch.Tensor:
        start = unit.repeat(len(first), inputs[-1].shape[2] // width)
        last: torch.Tensor = call.family.forward(call.cell, inputs, options._replace(initial=start))[1]
        return last

    columns = [after(unit) for unit in torch.eye(width, device=first.device)]
    if nothing is None:
        added = after(torch.zeros(width, device=first.device))
        columns = [one - added for one in columns]
    matrix = torch.stack([one.unflatten(1, (-1, width)) for one in columns], -1)
    dropped = torch.zeros(len(first), dtype=torch.bool, device=first.device)
    return PartProduct(matrix, dropped if options.resets is None else (options.resets != 0).any(1))


@cache
def _without_addend(cell: str) -> float | None:
    """The last input that makes b of h' = a h + b zero and has no part in a; None where there is none."""
    from kerneltune.cells.linear import adds_its_last_array

    found = discover_scans().cell(cell)
    if isinstance(found, EquationCell) and adds_its_last_array(found.derivation):
        return 0.0
    return _WITHOUT_CANDIDATE.get(cell)


def _times(first: int, end: int, steps: int, reverse: bool) -> slice:
    """Steps of an array, from their numbers in the order of the forward pass."""
    return slice(steps - end, steps - first) if reverse else slice(first, end)


def _part(options: Options, at: slice) -> Options:
    resets = options.resets
    return options if resets is None else options._replace(resets=resets[:, at].contiguous())
