"""Heads of a layer divided over GPUs, as a style of torch's tensor parallelism.

    from torch.distributed.tensor.parallel import RowwiseParallel, parallelize_module
    from kerneltune.torch.parallel import HeadwiseParallel

    parallelize_module(model, mesh, {"rnn": HeadwiseParallel(), "out": RowwiseParallel()})

Heads recur apart from one another, so that each rank runs its own, and ranks exchange nothing between steps.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch.distributed.tensor import DeviceMesh, DTensor, Partial, Replicate, Shard
from torch.distributed.tensor.parallel import ParallelStyle

from kerneltune.errors import InputError
from kerneltune.torch.fitting import arrived
from kerneltune.torch.layers import TorchLayer


class HeadwiseParallel(ParallelStyle):  # type: ignore[misc] # torch has no types here
    """Gives each rank of a mesh of one dimension as many heads of a layer.

    The layer must have one layer and one direction, no layer norm, and as many heads as the mesh has ranks or
    a multiple; others raise `InputError`. Its parameters become this rank's rows: make optimisers afterwards,
    as for torch's own styles.

    Args:
        gather: Whether the layer gives all units on each rank; by default it gives this rank's, which
            `RowwiseParallel` takes. States are always this rank's, those that are given, too.
    """

    def __init__(self, *, gather: bool = False) -> None:
        super().__init__()
        self.gather = gather

    def _apply(self, module: torch.nn.Module, device_mesh: DeviceMesh) -> torch.nn.Module:
        ranks = _checked(module, device_mesh)
        _divide(module, device_mesh.get_local_rank(), ranks)

        def enter(
            _: object, given: tuple[object, ...], named: dict[str, object]
        ) -> tuple[object, dict[str, object]]:
            if given:
                return (_replicated(given[0], device_mesh), *given[1:]), named
            return given, {**named, "input": _replicated(named["input"], device_mesh)}

        def leave(
            _: object, given: object, found: tuple[torch.Tensor, object]
        ) -> tuple[torch.Tensor, object]:
            whole = DTensor.from_local(found[0], device_mesh, (Shard(-1),), run_check=False)
            return whole.full_tensor(), found[1]

        module.register_forward_pre_hook(enter, with_kwargs=True)
        if self.gather:
            module.register_forward_hook(leave)
        return module


def _checked(module: torch.nn.Module, mesh: DeviceMesh) -> int:
    """The number of ranks; raises `InputError` where a layer's heads cannot be divided over them."""
    if not isinstance(module, TorchLayer):
        raise InputError(f"HeadwiseParallel takes kerneltune.torch's layers, not {type(module).__name__}")
    sizes, ranks = module.sizes, int(mesh.size())
    if mesh.ndim != 1:
        raise InputError(f"HeadwiseParallel takes a mesh of one dimension, not {mesh.ndim}: mesh['name']")
    if sizes.num_layers > 1 or sizes.bidirectional or sizes.layer_norm:
        raise InputError(
            "HeadwiseParallel takes one layer in one direction without layer_norm, since the others see all "
            "units of h: stack layers of num_layers=1, each with a style of its own"
        )
    if module.kind.learnable:
        raise InputError(f"HeadwiseParallel: option '{module.kind.learnable[0][0]}' is learnt by all heads")
    if sizes.heads % ranks:
        raise InputError(
            f"{sizes.heads} heads cannot be divided over {ranks} ranks: heads must be a multiple"
        )
    return ranks


def _divide(module: TorchLayer, rank: int, ranks: int) -> None:
    """Leave a layer the heads of one rank."""
    sizes = module.sizes
    count = sizes.heads // ranks
    for name, parameter in module.named_parameters():
        axis = 1 if name.startswith("weight_unit") else 0  # the axis of the units
        by_head = parameter.detach().unflatten(axis, (-1, sizes.heads, sizes.head_dim))
        mine = by_head.narrow(axis + 1, rank * count, count).flatten(axis, axis + 2).clone()
        setattr(module, name, torch.nn.Parameter(mine, parameter.requires_grad))
    module.__dict__["sizes"] = replace(sizes, hidden_size=count * sizes.head_dim, heads=count)


def _replicated(data: torch.Tensor, mesh: DeviceMesh) -> torch.Tensor:
    """An input that all ranks have; its gradient is the sum of theirs."""
    if not isinstance(data, DTensor):
        data = DTensor.from_local(arrived(data), mesh, (Replicate(),), run_check=False)
    return data.full_tensor(grad_placements=(Partial(),))
