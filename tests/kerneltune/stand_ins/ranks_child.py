"""A process of several that divide the time of scans.

    python ranks_child.py RANK COUNT FILE DEVICE BACKEND [CELL…]

Prints, for each case, its name and the worst relative distance from one process alone.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist

from kerneltune.inputs.scan_descriptions import discover_scans
from kerneltune.running.scan_arrays import state_width, widths_of
from kerneltune.torch.diagonal import diagonal
from kerneltune.torch.scan import scan

STEPS, BATCH, CHANNELS = 1900, 2, 3


def cases(cells: list[str]) -> list[dict[str, Any]]:
    """Each of these cells, or of all, both ways, with and without what else there is."""
    found = []
    for cell, about in discover_scans().cells.items():
        if cells and cell not in cells:
            continue
        nonlinear = bool(about.constants()["nonlinear"])
        found += [
            {"cell": cell, "nonlinear": nonlinear, "reverse": reverse, "rest": rest, "keeps": keeps}
            for reverse, rest in ((False, False), (True, True), (False, True))
            for keeps in ((False,) if nonlinear else (False, True))
        ]
    return found


def inputs_of(case: dict[str, Any], device: str) -> tuple[list[Any], dict[str, Any]]:
    """The whole sequence, the same in each process."""
    torch.manual_seed(5)
    about = discover_scans().cells[case["cell"]]
    widths = widths_of(about)
    inputs = [torch.randn(BATCH, STEPS, CHANNELS * width) for width in widths]
    if case["cell"] in ("linear", "complex", "matrix2"):
        inputs[0] = 0.4 * inputs[0]
    if case["keeps"]:
        inputs[0] = never_forgetting(case["cell"], inputs[0])
        if case["cell"] == "minlstm":
            inputs[1] = 0.1 * inputs[1] - 8.0
    others: dict[str, Any] = {}
    if case["nonlinear"]:
        others["weights"] = 0.5 * torch.randn(about.constants()["weights"], CHANNELS)
    if case["rest"]:
        shape = (len(about.spec.states), BATCH, CHANNELS) if case["nonlinear"] else None
        others["initial"] = torch.rand(shape or (BATCH, CHANNELS * state_width(about)))
        others["resets"] = torch.rand(BATCH, STEPS) < 0.001
    return [one.to(device) for one in inputs], {name: one.to(device) for name, one in others.items()}


def never_forgetting(cell: str, first: Any) -> Any:
    """The first input of a linear cell, so that a state is felt over all steps."""
    near = 0.999 + 0.001 * torch.rand(first.shape)
    if cell == "linear":
        return near
    if cell == "complex":
        near[..., 1::2] = 0.01
        return near
    if cell == "matrix2":
        turn = torch.tensor([0.9999, -0.01, 0.01, 0.9999]).repeat(CHANNELS)
        return turn + 1e-5 * first
    return (-8.0 if cell == "mingru" else 8.0) + 0.1 * first


class Counting:
    """Counts the exchanges between processes."""

    def __init__(self) -> None:
        self.count = 0
        for name in ("all_gather", "all_reduce", "broadcast"):
            setattr(dist, name, self.counted(getattr(dist, name)))

    def counted(self, exchange: Callable[..., Any]) -> Callable[..., Any]:
        """The same, counted."""

        def call(*given: Any, **more: Any) -> Any:
            self.count += 1
            return exchange(*given, **more)

        return call


def results(
    case: dict[str, Any], inputs: list[Any], others: dict[str, Any], by: Any, **more: Any
) -> list[Any]:
    """H, and gradients of a sum of it."""
    inputs = [one.clone().requires_grad_() for one in inputs]
    wanted = [name for name in ("weights", "initial") if name in others]
    others = {name: one.clone() for name, one in others.items()}
    for name in wanted:
        others[name].requires_grad_()
    call = diagonal if case["nonlinear"] else scan
    hidden, last = call(case["cell"], *inputs, **others, reverse=case["reverse"], **more)
    leaves = [*inputs, *(others[name] for name in wanted)]
    found = torch.autograd.grad((hidden * by).sum() + 0 * last.sum(), leaves, allow_unused=True)
    return [hidden.detach(), *found]


def main() -> None:
    """All cases."""
    rank, count, file, device, backend = sys.argv[1:6]
    place, ranks = int(rank), int(count)
    if device == "cuda":
        torch.cuda.set_device(place % torch.cuda.device_count())
    dist.init_process_group(backend, init_method=f"file://{file}", rank=place, world_size=ranks)
    exchanges = Counting()
    cuts = [0, *sorted(STEPS * (k + 1) // ranks - 7 * (k + 1) for k in range(ranks - 1)), STEPS]
    mine, said = slice(cuts[place], cuts[place + 1]), []
    for case in cases(sys.argv[6:]):
        inputs, others = inputs_of(case, device)
        by = torch.randn(results(case, inputs, others, 1.0)[0].shape, device=device)
        expected = results(case, inputs, others, by)
        parts = [one[:, mine] for one in inputs]
        given = {name: one[:, mine] if name == "resets" else one for name, one in others.items()}
        exchanges.count = 0
        found = results(case, parts, given, by[:, mine], group=dist.group.WORLD)
        assert case["nonlinear"] or exchanges.count == 2, f"{exchanges.count} exchanges of {case}"
        worst, first = 0.0, place == (ranks - 1 if case["reverse"] else 0)
        for k, (whole, one) in enumerate(zip(expected, found, strict=True)):
            if k <= len(inputs):
                whole = whole[:, mine]
            elif k == len(inputs) + 1 and "weights" in others:
                dist.all_reduce(one)
            elif not first:
                assert one is None or not one.any(), "a gradient by states that did not enter"
                continue
            worst = max(worst, float((one - whole).norm() / whole.norm().clamp_min(1e-20)))
        said.append([json.dumps(case), worst])
    sys.stdout.write(json.dumps(said) + "\n")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
