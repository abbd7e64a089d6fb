"""Options of a recurrent cell that a layer learns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from kerneltune.torch.stack import Stack


def whole(stack: Stack, name: str) -> torch.Tensor:
    """A parameter as the cell has it, with a gate for each option that is learnt.

    The gate's W and R are 0, and its bias is the option.

    Args:
        stack: The layers.
        name: Of W, R or one of their biases.
    """
    found: torch.Tensor = getattr(stack, name)
    learnable, units = stack.kind.learnable, stack.sizes.hidden_size
    if not learnable:
        return found
    part, _, end = name.partition("_l")
    if part == "bias_ih":
        options = [getattr(stack, f"option_{one}_l{end}") for one, _ in learnable]
        added = torch.stack(options).repeat_interleave(units)
    else:
        added = found.new_zeros(len(learnable) * units, *found.shape[1:])
    return torch.cat([found, added.to(found.dtype)])
