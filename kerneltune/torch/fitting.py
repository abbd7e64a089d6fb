"""Checks that tensors fit each other: kernels get addresses alone, and read whatever lies there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch

from kerneltune.errors import InputError

Named = tuple[str, torch.Tensor]


def check_states(data: torch.Tensor, states: Iterable[Named], *, casts: bool) -> None:
    """Raise `InputError` for states on another device or of another dtype than the input.

    Args:
        data: The input.
        states: With their names.
        casts: Whether autocast casts the input: other floating-point types are right then, too.
    """
    for name, tensor in states:
        _check(f"{name} of hx", tensor, data, casts)


def check_parameters(
    data: torch.Tensor, parameters: Iterable[tuple[str, torch.Tensor, Sequence[int]]], *, casts: bool
) -> None:
    """Raise `InputError` for parameters that do not fit the input; each comes with its right shape."""
    for name, tensor, shape in parameters:
        _check(name, tensor, data, casts)
        if tuple(tensor.shape) != tuple(shape):
            raise InputError(f"{name} is {list(shape)} in this layer, not {list(tensor.shape)}")


def _check(name: str, tensor: torch.Tensor, data: torch.Tensor, casts: bool) -> None:
    if tensor.device != data.device:
        raise InputError(
            f"{name} is on {tensor.device}, but the input is on {data.device}: move one of them with .to()"
        )
    if tensor.dtype == data.dtype:
        return
    if not casts or tensor.dtype == torch.float64 or not tensor.is_floating_point():
        raise InputError(
            f"{name} is {tensor.dtype}, but the input is {data.dtype}: cast one of them with .to(), or call "
            "the layer within torch.autocast, which leaves float64 as it is"
        )


class Fixed:
    """A module some of whose attributes are fixed once they are set: what was made of them would not follow.

    Attributes:
        FIXED: Their names.
    """

    FIXED: frozenset[str] = frozenset()

    def __setattr__(self, name: str, value: object) -> None:
        if name in self.FIXED and name in self.__dict__ and self.__dict__[name] != value:
            kind, old = type(self).__name__, self.__dict__[name]
            raise InputError(
                f"{name} of this {kind} is {old!r} and cannot become {value!r}: make a new {kind}"
            )
        super().__setattr__(name, value)


def arrived(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor; a copy where a collective of torch may still write it, which kernels cannot see."""
    if type(tensor) is not torch.Tensor and hasattr(tensor, "trigger_wait"):
        return tensor.clone()  # waits, and gives a plain tensor
    return tensor
