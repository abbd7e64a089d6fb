"""A process of several whose DTensors divide the time of scans.

    python placed_child.py RANK COUNT FILE DEVICE BACKEND

Prints, for each case, its name and the worst relative distance from one process alone.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_module, distribute_tensor

from kerneltune.errors import InputError
from kerneltune.torch import DiagonalGRU, MinGRU, linear_recurrence

BATCH, STEPS, SIZE = 2, 1301, 4


def main() -> None:
    """All cases."""
    rank, count, file, device, backend = sys.argv[1:6]
    if device == "cuda":
        torch.cuda.set_device(int(rank) % torch.cuda.device_count())
    dist.init_process_group(backend, init_method=f"file://{file}", rank=int(rank), world_size=int(count))
    sys.stdout.write(json.dumps(distances(device, int(count))) + "\n")
    dist.destroy_process_group()


def distances(device: str, count: int) -> list[tuple[str, float]]:
    """Of each case, from the whole sequence in this process."""
    mesh = init_device_mesh(device, (count,))
    torch.manual_seed(3)
    a = torch.rand(BATCH, STEPS, SIZE, device=device)
    b, by = torch.randn(2, BATCH, STEPS, SIZE, device=device)
    initial = torch.randn(BATCH, SIZE, device=device)
    resets = torch.rand(BATCH, STEPS, device=device) < 0.001
    found = [
        (name, compared(mesh, recurrence(reverse), [a, b], {"initial": initial, "resets": resets}, by))
        for name, reverse in (("forwards", False), ("backwards", True))
    ]
    if device == "cpu":  # nccl has no complex numbers to distribute
        turn = torch.polar(a, b)
        options = {"initial": initial * turn[:, 0]}
        found.append(("complex", compared(mesh, recurrence(False), [turn, turn * by], options, by * turn)))
    for layer in (MinGRU(SIZE, SIZE), MinGRU(SIZE, SIZE, heads=2, bias=False), DiagonalGRU(SIZE, SIZE)):
        layer = layer.to(device)
        alone = [parameter.detach().clone().requires_grad_() for parameter in layer.parameters()]
        found.append((repr(layer), of_layer(mesh, layer, alone, b, by)))
    refusals(mesh, a, b)
    return found


def recurrence(reverse: bool) -> Callable[..., Any]:
    """The linear recurrence of a direction."""
    return lambda *inputs, **options: linear_recurrence(*inputs, reverse=reverse, **options)


def compared(
    mesh: Any, call: Callable[..., Any], inputs: list[Any], options: dict[str, Any], by: Any
) -> float:
    """A call's results and gradients, those of the last states included."""
    along, whole = [Shard(1)], [Replicate()]

    def results(place: Callable[[Any, Any], Any]) -> list[Any]:
        read = [place(one, along).requires_grad_() for one in inputs]
        given = {name: place(one, along if name == "resets" else whole) for name, one in options.items()}
        given["initial"].requires_grad_()
        hidden, last = call(*read, **given)
        leaves = [*read, given["initial"]]
        product = hidden * place(by, along)
        total = torch.view_as_real(product).sum() if by.is_complex() else product.sum()
        total = total + (torch.view_as_real(last) if last.is_complex() else last).square().sum()
        return [hidden, last, *torch.autograd.grad(total, leaves)]

    expected = results(lambda one, _: one.clone())
    found = results(lambda one, placements: distribute_tensor(one, mesh, placements))
    assert found[0].placements == (Shard(1),)
    assert found[1].placements == (Replicate(),)
    return max(distance(one, whole) for one, whole in zip(found, expected, strict=True))


def of_layer(mesh: Any, layer: Any, alone: list[Any], x: Any, by: Any) -> float:
    """The same of a layer and its parameters."""
    expected = torch.func.functional_call(
        layer, dict(zip(dict(layer.named_parameters()), alone, strict=True)), (x,)
    )
    (expected[0] * by).sum().backward()
    distribute_module(layer, mesh)
    found = layer(distribute_tensor(x, mesh, [Shard(1)]))
    (found[0] * distribute_tensor(by, mesh, [Shard(1)])).sum().backward()
    pairs = [*zip(found, expected, strict=True)]
    pairs += [(one.grad, other.grad) for one, other in zip(layer.parameters(), alone, strict=True)]
    return max(distance(one, whole) for one, whole in pairs)


def distance(found: Any, expected: Any) -> float:
    """Relative, of the whole tensor."""
    assert isinstance(found, DTensor)
    return float((found.full_tensor() - expected).detach().norm() / expected.detach().norm().clamp_min(1e-20))


def refusals(mesh: Any, a: Any, b: Any) -> None:
    """Of what has no meaning, by a message."""
    by_time, by_row = ([distribute_tensor(one, mesh, [Shard(dim)]) for one in (a, b)] for dim in (1, 0))
    short = [distribute_tensor(one[:, : mesh.size() - 1], mesh, [Shard(1)]) for one in (a, b)]
    for inputs, options, words in (
        (by_row, {}, "sharded along T"),
        ([by_time[0], b], {}, "beside DTensors"),
        ([by_time[0], by_row[1]], {}, "input 1 is placed"),
        (by_time, {"group": dist.group.WORLD}, "leave group= out"),
        (by_time, {"initial": a[:, 0]}, "initial is a tensor beside"),
        (by_time, {"lengths": torch.tensor([3, 4], device=a.device)}, "lengths"),
        (short, {}, "without any"),
    ):
        with pytest.raises(InputError, match=words):
            linear_recurrence(*inputs, **options)


if __name__ == "__main__":
    main()
