"""Options of scans and diagonal cells, and the derivatives of their operators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch.autograd.function import FunctionCtx

from kerneltune.torch.native import differentiable_gradients

Results = tuple[torch.Tensor, ...]


class Options(NamedTuple):
    """Arguments of an operator besides a cell and its inputs.

    Attributes:
        initial: The states before the first step.
        lengths: Steps of each row that count.
        resets: Where the states before a step are dropped.
        boundaries: Where the sequences of a row begin, and its end.
        reverse: Whether the scan begins at the last step.
        weights: The recurrent weights of a diagonal cell.
        strategy: The only strategy that a diagonal cell is solved for; any if it is empty.
        keeps: Whether a diagonal cell keeps states for the backward pass.
    """

    initial: torch.Tensor | None = None
    lengths: torch.Tensor | None = None
    resets: torch.Tensor | None = None
    boundaries: torch.Tensor | None = None
    reverse: bool = False
    weights: torch.Tensor | None = None
    strategy: str = ""
    keeps: bool = False


Plain = tuple[bool, str, bool]


def parted(options: Options) -> tuple[Plain, tuple[torch.Tensor | None, ...]]:
    """Values and tensors as arguments of an autograd function; `joined` is the inverse."""
    return (options.reverse, options.strategy, options.keeps), (*options[:4], options.weights)


def joined(plain: Plain, tensors: Sequence[object]) -> tuple[list[torch.Tensor], Options]:
    """The inputs and the record of options, from `parted` with the inputs behind."""
    (reverse, strategy, keeps), (initial, lengths, resets, boundaries, weights, *inputs) = plain, tensors
    return inputs, Options(initial, lengths, resets, boundaries, reverse, weights, strategy, keeps)


def converted(options: Options) -> Options:
    """The same with the types that operators take, contiguous."""
    initial, lengths, resets, boundaries, _, weights, *_ = options
    return options._replace(
        initial=None if initial is None else initial.float().contiguous(),
        lengths=None if lengths is None else lengths.to(torch.int32).contiguous(),
        resets=None if resets is None else resets.to(torch.uint8).contiguous(),
        boundaries=None if boundaries is None else boundaries.to(torch.int32).contiguous(),
        weights=None if weights is None else weights.float().contiguous(),
    )


@dataclass(frozen=True, eq=False)
class Family:
    """The operators of scans, or those of diagonal cells, called with the record of options.

    Attributes:
        forward: h after each step, the last states, and what else the operator gives.
        backward: Gradients by the inputs, by the initial states and, if there are any, by the weights; from
            the inputs, what `kept` names, and the gradients by h and by the last states, for which functions
            that launch take None, operators do not.
        native: h and the last states in torch's own operations.
        kept: Which result of `forward` the backward pass reads.
    """

    forward: Callable[[str, list[torch.Tensor], Options], Results]
    backward: Callable[[str, list[torch.Tensor], Sequence[object], Options], list[torch.Tensor]]
    native: Callable[[str, list[torch.Tensor], Options], Results]
    kept: int


class ScanGradients(NamedTuple):
    """By the inputs and, None where there are none, by the initial states and the weights."""

    by_inputs: Sequence[torch.Tensor | None]
    by_initial: torch.Tensor | None
    by_weights: torch.Tensor | None


def remember(
    ctx: FunctionCtx, cell: str, inputs: Sequence[torch.Tensor], options: Options, kept: torch.Tensor
) -> None:
    """Keep in autograd's context what `gradients` reads."""
    ctx.cell, ctx.count, ctx.reverse, ctx.strategy = cell, len(inputs), options.reverse, options.strategy
    ctx.save_for_backward(*inputs, kept, *options[:4], options.weights)


def gradients(ctx: FunctionCtx, family: Family, by: Sequence[Any], *, again: bool = False) -> ScanGradients:
    """The derivatives of an operator.

    Args:
        ctx: Autograd's context after `remember`.
        family: The operators.
        by: The gradients by h and by the last states, or None for zeros where the family takes None.
        again: Whether the derivatives are differentiated, too: then they are computed natively.
    """
    *inputs, kept, initial, lengths, resets, boundaries, weights = ctx.saved_tensors
    options = Options(initial, lengths, resets, boundaries, ctx.reverse, weights, ctx.strategy)
    if again:
        others = {
            name: part for name, part in (("initial", initial), ("weights", weights)) if part is not None
        }

        def run(*parts: torch.Tensor) -> Results:
            given = options._replace(**dict(zip(others, parts[ctx.count :], strict=True)))
            return family.native(ctx.cell, list(parts[: ctx.count]), given)

        found: Sequence[Any] = differentiable_gradients(run, [*inputs, *others.values()], by)
        by_name = dict(zip(others, found[ctx.count :], strict=True))
        return ScanGradients(found[: ctx.count], by_name.get("initial"), by_name.get("weights"))
    by_hidden, by_last = by
    by_last = None if by_last is None else by_last.float().contiguous()
    found = family.backward(ctx.cell, inputs, (kept, by_hidden, by_last), options)
    by_weights = None if weights is None else found[ctx.count + 1]
    return ScanGradients(found[: ctx.count], None if initial is None else found[ctx.count], by_weights)
