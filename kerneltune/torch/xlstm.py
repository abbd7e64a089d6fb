"""The sLSTM as the recurrent backend of the libraries xlstm and tirex, by the functions that they call.

Both keep h, c, n and m as `[4, B, H]` with the heads side by side, and zeros stand for "no step so far".
"""

from __future__ import annotations

import torch

from kerneltune.errors import InputError
from kerneltune.torch.rnn import recurrence

GATES = 4  # i, f, z, o
# A stabiliser so low that the first step's input gate replaces it: what "no step so far" means.
BEFORE_ALL = -1e4


def slstm_forward(
    x: torch.Tensor,
    states: torch.Tensor,
    R: torch.Tensor,  # noqa: N803 # the libraries' name
    b: torch.Tensor,
    pointwise_forward: object = None,
    constants: object = None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """All steps, as xlstm's vanilla backend calls its function of this name.

    Args:
        x: W x, `[T, B, 4 H]`: gate after gate, and in each the heads side by side.
        states: h, c, n and m before the first step, `[4, B, H]`.
        R: `[heads, 4 D, D]`: gate after gate; row = output unit.
        b: `[4 H]`, in the order of x.
        pointwise_forward: Not used: the cell is the sLSTM.
        constants: Not used.

    Returns:
        The states, `[4, T + 1, B, H]`, of which c, n and m are NaN between the first and the last step; the
        last states, `[4, B, H]`; and an empty tensor in the place of the gates. Raises `InputError` for
        shapes that do not fit each other.
    """
    heads, dim = R.shape[0], R.shape[2]
    _check(x, states, heads, dim, R.shape[1] == GATES * dim and b.numel() == GATES * heads * dim)
    product = x.unflatten(2, (GATES, heads, dim)).permute(0, 1, 3, 4, 2)
    bias = b.reshape(GATES, heads, dim).transpose(0, 1)
    return _all_states(product, R.unflatten(1, (GATES, dim)), bias, states)


class SLSTMFunction:
    """The replacement of xlstm's compiled function, which tirex calls, too."""

    @staticmethod
    def apply(
        training: bool,
        x: torch.Tensor,
        states: torch.Tensor,
        R: torch.Tensor,  # noqa: N803
        b: torch.Tensor,
    ) -> torch.Tensor:
        """All steps.

        Args:
            training: Not used: what a backward pass needs is kept where gradients are wanted.
            x: W x, `[T, B, heads 4 D]`: head after head, and in each gate after gate.
            states: h, c, n and m before the first step, `[4, B, H]`.
            R: `[heads, D, 4 D]`: row = input unit; columns gate after gate.
            b: `[heads 4 D]`, in the order of x.

        Returns:
            The states, `[4, T + 1, B, H]`, of which c, n and m are NaN between the first and the last step.
        """
        heads, dim = R.shape[0], R.shape[1]
        _check(x, states, heads, dim, R.shape[2] == GATES * dim and b.numel() == GATES * heads * dim)
        product = x.unflatten(2, (heads, GATES, dim)).transpose(3, 4)
        recurrent = R.unflatten(2, (GATES, dim)).permute(0, 2, 3, 1)
        return _all_states(product, recurrent, b.reshape(heads, GATES, dim), states)[0]


def _check(x: torch.Tensor, states: torch.Tensor, heads: int, dim: int, fits: bool) -> None:
    size = heads * dim
    if not fits or x.dim() != 3 or x.shape[2] != GATES * size:
        wide = GATES * size
        raise InputError(f"with R of {heads} heads of {dim} units, x is [T, B, {wide}] and b [{wide}]")
    if states.shape != (GATES, x.shape[1], size):
        raise InputError(f"states are {[GATES, x.shape[1], size]} here, not {list(states.shape)}")


def _all_states(
    product: torch.Tensor, recurrent: torch.Tensor, bias: torch.Tensor, states: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The recurrence, from and to the libraries' states; numbers are those of x."""
    dtype = product.dtype
    _, batch, heads, dim, _ = product.shape
    h, c, n, m = states.to(dtype).unflatten(2, (heads, dim)).unbind()
    m = torch.where(n == 0, torch.full_like(m, BEFORE_ALL), m)
    initial = torch.stack([h, c, n, m])
    output, last = recurrence("slstm", product, recurrent.to(dtype), bias.to(dtype), initial)
    last = last.flatten(2)
    between = torch.full((3, len(output) - 1, batch, heads * dim), torch.nan, dtype=dtype, device=last.device)
    others = torch.cat([states[1:, None].to(dtype), between, last[1:, None]], 1)
    hidden = torch.cat([states[0, None].to(dtype), output.flatten(2)])
    return torch.cat([hidden[None], others]), last, product.new_empty(0)
