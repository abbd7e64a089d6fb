"""Scans and diagonal cells over sequences whose time is divided over the ranks of a process group.

Each rank computes its part as if zeros entered it, and the ranks exchange what leaves. A cell that is linear
in its state takes one exchange of what each part does to a state; then the first steps are computed again, up
to where what enters is no longer felt. Nearly all cells forget, so these are a few hundred steps; of one that
does not, all. Of any other cell, a part is computed again from its first step on until the state is, to the
last bit, what it was, and the ranks exchange until all agree. Gradients go the same way back.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import distributed
from torch.autograd.function import FunctionCtx

from kerneltune.errors import InputError
from kerneltune.inputs.scan_descriptions import linear_cells
from kerneltune.torch.rank_parts import BackwardPart, ForwardPart, RankCall
from kerneltune.torch.rank_rounds import Group, PartProduct, settled, settled_back, settled_once
from kerneltune.torch.scan_options import Family, Options, joined, parted


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
    found = _AcrossRanks.apply(RankCall(family, cell, plain, group, rounds), *tensors, *inputs)
    return found[0], found[1], rounds[0]


class _AcrossRanks(torch.autograd.Function):  # type: ignore[misc] # torch has no types here
    """Both passes of a part, each settled with the other ranks."""

    @staticmethod
    def forward(
        ctx: FunctionCtx, call: RankCall, *tensors: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """H after each step, and the states after the last one here."""
        inputs, options = joined(call.plain, tensors)
        ctx.call, ctx.order = call, _order(call.group, options.reverse)
        position = ctx.order.index(distributed.get_rank(call.group))
        options = options._replace(keeps=any(ctx.needs_input_grad))
        work = ForwardPart(call, inputs, options)
        products: list[PartProduct] = []
        if call.cell in linear_cells():
            entering, last, products = settled_once(work, options.initial, position, ctx.order, call.group)
            rounds = 1
        else:
            place = position, ctx.order[position - 1]
            entering, last, rounds = settled(work, options.initial, place, call.group, adds=False)
        call.rounds.append(rounds)
        hidden, kept = work.results[0], work.results[call.family.kept]
        numbers = [part for product in products for part in product]
        ctx.save_for_backward(*numbers, *inputs, hidden, kept, entering, options.resets, options.weights)
        return hidden, last

    @staticmethod
    @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: FunctionCtx, by_hidden: torch.Tensor, by_last: torch.Tensor) -> tuple[object, ...]:
        """Gradients by this rank's tensors."""
        call, order, saved = ctx.call, ctx.order[::-1], list(ctx.saved_tensors)
        linear = call.cell in linear_cells()
        numbers = [saved.pop(0) for _ in range(2 * len(order) if linear else 0)]
        *inputs, hidden, kept, entering, resets, weights = saved
        options = Options(entering, None, None, None, call.plain[0], weights, call.plain[1])
        options = options._replace(resets=resets)
        work = BackwardPart(call, inputs, options, (hidden, kept), by_hidden.contiguous())
        position, own = order.index(distributed.get_rank(call.group)), by_last.float().contiguous()
        if linear:
            products = [PartProduct(*pair) for pair in zip(numbers[::2], numbers[1::2], strict=True)]
            by_first = settled_back(work, own, position, order, products, call.group)
        else:
            place = position, order[position - 1]
            _, by_first, _ = settled(work, own, place, call.group, adds=True)
        if position < len(order) - 1:  # the initial states enter at another rank
            by_first = torch.zeros_like(by_first)
        by_initial = by_first if ctx.needs_input_grad[1] else None
        return (None, by_initial, None, None, None, work.by_weights, *work.by_inputs)


def _order(group: Group, reverse: bool) -> list[int]:
    """The ranks in the order of the forward pass."""
    ranks = list(range(distributed.get_world_size(group)))
    return ranks[::-1] if reverse else ranks
