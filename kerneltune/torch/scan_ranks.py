"""Scans and diagonal cells over sequences whose time is divided over the ranks of a process group.

Each rank computes its part from a guess of the state that enters it, and the ranks exchange the states that
leave. A part is computed again from its first step on until the state is, to the last bit, what it was: from
there on nothing changes. Nearly all cells forget, so that a few hundred steps are computed twice; one that
does not is computed again as a whole, rank after rank. Gradients go the same way back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import distributed

from kerneltune.errors import InputError
from kerneltune.running.diagonal_reference import CHECKPOINT_STEPS
from kerneltune.torch.scan_options import Family, Options, Plain, Results, joined, parted

FIRST = 512  # steps that are computed again at first; twice as many each time

Group = Any  # torch.distributed's process group, or None for the default one


def across_ranks(
    family: Family, cell: str, inputs: Sequence[torch.Tensor], options: Options, group: Group
) -> tuple[torch.Tensor, torch.Tensor, int]:
    """H after each step of this rank's part, the states after it, and the rounds of exchanges that it took.

    Args:
        family: The operators.
        cell: The cell.
        inputs: This rank's steps; parts lie one after another in the order of ranks.
        options: As of one GPU; `initial` is read on the rank that the computation begins on.
        group: The process group; every rank calls, and calls backward.
    """
    if options.lengths is not None or options.boundaries is not None:
        raise InputError("with group=, rows have neither lengths nor cu_seqlens: time is divided over ranks")
    if options.strategy == "newton":
        raise InputError("parallel='newton' runs on one GPU: leave group= out")
    if not distributed.is_initialized():
        raise InputError("group= needs torch.distributed: call init_process_group first")
    plain, tensors = parted(options)
    rounds: list[int] = []
    found = _AcrossRanks.apply(_Call(family, cell, plain, group, rounds), *tensors, *inputs)
    return found[0], found[1], rounds[0]


@dataclass(frozen=True)
class _Call:
    family: Family
    cell: str
    plain: Plain
    group: Group
    rounds: list[int]


class _Pass(Protocol):
    """A pass over this rank's part, in the order of its computation."""

    steps: int

    def whole(self, entering: torch.Tensor | None) -> torch.Tensor:
        """Compute all steps from these states, or zeros, keep the results, and give what leaves."""

    def again(self, begin: int, size: int, entering: torch.Tensor, *, keeps: bool) -> torch.Tensor:
        """The same for some steps, whose results are kept or not."""

    def end_of(self, begin: int, size: int) -> int:
        """Where steps to be computed again may end, `begin + size` at least."""


def _settled(
    work: _Pass, base: torch.Tensor | None, place: tuple[int, int], group: Group, *, adds: bool
) -> tuple[torch.Tensor, torch.Tensor, int]:
    """The states that enter and leave this part, once all ranks agree, and the rounds that took.

    Args:
        work: The pass.
        base: What enters the first part in the order of computation, None for zeros; with `adds`, each rank's
            own addend.
        place: This rank's place in that order, and the rank ahead of it.
        group: The process group.
        adds: Whether what enters is the sum of `base` and what leaves the part ahead.
    """
    position, ahead = place
    count = distributed.get_world_size(group)
    guess = base if adds or position == 0 else None
    leaving = work.whole(guess)
    entering = torch.zeros_like(leaving) if guess is None else guess
    for rounds in range(count):  # the part at a place is right after as many rounds
        every = [torch.empty_like(leaving) for _ in range(count)]
        distributed.all_gather(every, leaving.contiguous(), group=group)
        wanted = entering
        if position:
            wanted = base + every[ahead] if adds and base is not None else every[ahead]
        changed = position > 0 and not torch.equal(wanted, entering)
        flag = torch.tensor(int(changed), dtype=torch.int32, device=leaving.device)
        distributed.all_reduce(flag, op=distributed.ReduceOp.MAX, group=group)
        if not int(flag):
            return entering, leaving, rounds
        if changed:
            leaving, entering = _repaired(work, entering, wanted, leaving), wanted
    return entering, leaving, count


def _repaired(work: _Pass, old: torch.Tensor, new: torch.Tensor, leaving: torch.Tensor) -> torch.Tensor:
    """The states that leave, with others entering."""
    begin, size = 0, FIRST
    while begin < work.steps:
        end = work.end_of(begin, size)
        old = work.again(begin, end - begin, old, keeps=False)
        new = work.again(begin, end - begin, new, keeps=True)
        if torch.equal(old, new):
            return leaving
        begin, size = end, 2 * size
    return new


class _ForwardPart:
    """The forward pass of a part."""

    def __init__(self, call: _Call, inputs: list[torch.Tensor], options: Options) -> None:
        self._call, self._inputs, self._options = call, inputs, options
        self.steps = int(inputs[0].shape[1])
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


class _BackwardPart:
    """The backward pass of a part."""

    def __init__(
        self, call: _Call, inputs: list[torch.Tensor], options: Options, kept: Results, by: torch.Tensor
    ) -> None:
        self._call, self._inputs, self._options = call, inputs, options
        (self._hidden, self._kept), self._by = kept, by
        self.steps = int(inputs[0].shape[1])
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


def _times(first: int, end: int, steps: int, reverse: bool) -> slice:
    """Steps of an array, from their numbers in the order of the forward pass."""
    return slice(steps - end, steps - first) if reverse else slice(first, end)


def _part(options: Options, at: slice) -> Options:
    resets = options.resets
    return options if resets is None else options._replace(resets=resets[:, at].contiguous())


class _AcrossRanks(torch.autograd.Function):  # type: ignore[misc] # torch has no types here
    """Both passes of a part, each settled with the other ranks."""

    @staticmethod
    def forward(ctx: Any, call: _Call, *tensors: Any) -> tuple[torch.Tensor, torch.Tensor]:
        """H after each step, and the states after the last one here."""
        inputs, options = joined(call.plain, tensors)
        ctx.call, ctx.place = call, _place(call.group, options.reverse)
        options = options._replace(keeps=any(ctx.needs_input_grad))
        work = _ForwardPart(call, inputs, options)
        entering, last, rounds = _settled(work, options.initial, ctx.place[:2], call.group, adds=False)
        call.rounds.append(rounds)
        hidden, kept = work.results[0], work.results[call.family.kept]
        ctx.save_for_backward(*inputs, hidden, kept, entering, options.resets, options.weights)
        return hidden, last

    @staticmethod
    @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, by_hidden: torch.Tensor, by_last: torch.Tensor) -> tuple[Any, ...]:
        """Gradients by this rank's tensors."""
        *inputs, hidden, kept, entering, resets, weights = ctx.saved_tensors
        call, (position, _, following) = ctx.call, ctx.place
        options = Options(entering, None, None, None, call.plain[0], weights, call.plain[1])
        options = options._replace(resets=resets)
        work = _BackwardPart(call, inputs, options, (hidden, kept), by_hidden.contiguous())
        count = distributed.get_world_size(call.group)
        place = count - 1 - position, following
        _, by_first, _ = _settled(work, by_last.float().contiguous(), place, call.group, adds=True)
        by_initial = by_first if position == 0 and ctx.needs_input_grad[1] else None
        return (None, by_initial, None, None, None, work.by_weights, *work.by_inputs)


def _place(group: Group, reverse: bool) -> tuple[int, int, int]:
    """This rank's place in the order of the forward pass, and the ranks ahead of it and behind it."""
    rank, count = distributed.get_rank(group), distributed.get_world_size(group)
    return (count - 1 - rank, rank + 1, rank - 1) if reverse else (rank, rank - 1, rank + 1)
