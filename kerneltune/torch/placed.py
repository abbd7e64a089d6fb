"""Scans and diagonal cells of DTensors: sharded along time, they are divided over the ranks of their mesh.

x = distribute_tensor(x, mesh, [Shard(1)])      # [B, T, D]
h, last = linear_recurrence(a, b)               # h as a and b are placed, last on every rank
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import torch
from torch import distributed
from torch.autograd.function import FunctionCtx

from kerneltune.errors import InputError

if TYPE_CHECKING:
    from torch.distributed import DeviceMesh, ProcessGroup
    from torch.distributed.tensor import DTensor, Placement

_STATES = ("initial", "weights")  # what every rank has whole


def are_placed(tensors: Sequence[object]) -> bool:
    """Whether one is a DTensor."""
    module = sys.modules.get("torch.distributed.tensor")
    return module is not None and any(isinstance(one, module.DTensor) for one in tensors)


def over_mesh(
    call: Callable[..., tuple[torch.Tensor, ...]], inputs: Sequence[DTensor], options: Mapping[str, object]
) -> tuple[DTensor, ...]:
    """The results of a call for DTensors, from those for each rank's part.

    Args:
        call: Takes parts of the inputs, the options, and `group`.
        inputs: `[B, T, …]`, all sharded along time over one dimension of one mesh and replicated over others.
        options: Those of the call: `resets` placed as the inputs, `initial` and `weights` replicated.
    """
    from torch.distributed.tensor import DTensor

    if options.get("group") is not None:
        raise InputError("DTensors have a mesh: leave group= out")
    first = next(one for one in inputs if isinstance(one, DTensor))
    mesh, placements = first.device_mesh, first.placements
    along = _time_of(first)
    whole, by_whole = _whole(mesh, along)
    parts = [_part(f"input {k}", one, mesh, placements) for k, one in enumerate(inputs)]
    given = dict(options)
    for name, one in options.items():
        if one is not None and name in _STATES:
            given[name] = _part(name, one, mesh, whole, by_whole)
        elif one is not None and name == "resets":
            given[name] = _part(name, one, mesh, placements)
    group = mesh.get_group(along)
    hidden, last, *others = call(*parts, **{**given, "group": group})
    final = 0 if options.get("reverse") else mesh.size(along) - 1
    last = _Final.apply(last, group, final)
    return _of_parts(hidden, first), DTensor.from_local(last, mesh, whole, run_check=False), *others


def mapped(module: torch.nn.Module, x: torch.Tensor) -> torch.Tensor:
    """The results of a module that takes each step by itself, for x `[B, T, …]`.

    Of a DTensor that is sharded along time each rank's part is mapped: torch's linear maps would join batch
    and time, which DTensors refuse.
    """
    if not are_placed([x]) or not any(one.is_shard(1) for one in x.placements):
        return module(x)
    mesh = x.device_mesh
    whole, by_whole = _whole(mesh, _time_of(x))
    parameters = {name: _part(name, one, mesh, whole, by_whole) for name, one in module.named_parameters()}
    return _of_parts(torch.func.functional_call(module, parameters, (x.to_local(),)), x)


def _whole(mesh: DeviceMesh, along: int) -> tuple[list[Placement], list[Placement]]:
    """The placements of what every rank has whole, and of the gradients by it, which the ranks add up."""
    from torch.distributed.tensor import Partial, Replicate

    by_whole = [Partial() if k == along else Replicate() for k in range(mesh.ndim)]
    return [Replicate()] * mesh.ndim, by_whole


def _of_parts(part: torch.Tensor, like: DTensor) -> DTensor:
    """The DTensor of which this is the rank's part, placed as another one with as many steps."""
    from torch.distributed.tensor import DTensor

    shape = torch.Size((part.shape[0], like.shape[1], *part.shape[2:]))
    stride = torch.empty(shape, device="meta").stride()
    placed = like.device_mesh, like.placements
    return DTensor.from_local(part, *placed, run_check=False, shape=shape, stride=stride)


def _time_of(tensor: DTensor) -> int:
    """The dimension of the mesh that divides time, if all parts have steps and nothing else is divided."""
    mesh, placements = tensor.device_mesh, tensor.placements
    along = [k for k, one in enumerate(placements) if one.is_shard(1)]
    if len(along) != 1 or sum(one.is_replicate() for one in placements) != mesh.ndim - 1:
        raise InputError(
            f"a DTensor [B, T, D] is sharded along T over one dimension of its mesh and replicated over "
            f"others, not placed {placements}: redistribute it, or divide batch and channels by to_local()"
        )
    (k,) = along
    steps, ranks = tensor.shape[1], mesh.size(k)
    if -(-steps // ranks) * (ranks - 1) >= steps:
        raise InputError(f"{steps} steps leave one of {ranks} ranks without any")
    if mesh.get_local_rank(k) != distributed.get_rank(mesh.get_group(k)):
        raise InputError(
            "the mesh has its ranks in another order than their group: time needs them ascending"
        )
    return k


def _part(
    name: str,
    tensor: DTensor,
    mesh: DeviceMesh,
    placements: Sequence[Placement],
    by: Sequence[Placement] | None = None,
) -> torch.Tensor:
    """This rank's part of a tensor that is placed like that."""
    if not are_placed([tensor]):
        raise InputError(f"{name} is a tensor beside DTensors: distribute it as {tuple(placements)}")
    if tensor.device_mesh != mesh or tuple(tensor.placements) != tuple(placements):
        raise InputError(f"{name} is placed {tensor.placements}, but {tuple(placements)} is wanted")
    return tensor.to_local(grad_placements=by)


class _Final(torch.autograd.Function):  # type: ignore[misc] # torch has no types here
    """The states after the last step, which one rank has, on all."""

    @staticmethod
    def forward(ctx: FunctionCtx, last: torch.Tensor, group: ProcessGroup, rank: int) -> torch.Tensor:
        """From the rank that computes the last steps."""
        ctx.is_mine = distributed.get_rank(group) == rank
        found = last.contiguous().clone()
        numbers = torch.view_as_real(found) if found.is_complex() else found
        distributed.broadcast(numbers, distributed.get_global_rank(group, rank), group=group)
        return found

    @staticmethod
    def backward(ctx: FunctionCtx, by: torch.Tensor) -> tuple[object, ...]:
        """To that rank."""
        return by if ctx.is_mine else torch.zeros_like(by), None, None
