"""Options that several commands share."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Collection
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from kerneltune.errors import InputError, KernelTuneError
from kerneltune.inputs.descriptions import discover
from kerneltune.inputs.hardware import GPU_VARIABLE, load_profile
from kerneltune.inputs.problem import Problem
from kerneltune.inputs.request import Request
from kerneltune.inputs.scan_descriptions import FAMILY, discover_scans
from kerneltune.inputs.scan_problem import ScanProblem

if TYPE_CHECKING:
    from kerneltune.tiling.space import TilingSpace

SCAN = "scan"  # the command line's name for the linear recurrence
CellName = Annotated[
    str, typer.Argument(help="A recurrent cell, such as lstm; or a scan: scan, mingru, minlstm.")
]
Gpu = Annotated[
    str | None,
    typer.Option(help="A profile's name, or the path of its YAML file; by default this machine's GPU."),
]
GpuOfCosts = Annotated[str, typer.Option("--gpu", help="A profile's name, or the path of its YAML file.")]
Heads = Annotated[int | None, typer.Option(help="Number of independent heads of a recurrent cell.")]
HeadDim = Annotated[int | None, typer.Option(help="Number of units of a head.")]
Channels = Annotated[int | None, typer.Option(help="Number of channels of a scan.")]
Reverse = Annotated[bool, typer.Option("--reverse", help="Scan from the last step to the first.")]
Lengths = Annotated[bool, typer.Option("--lengths", help="Scan rows of different lengths.")]
Resets = Annotated[bool, typer.Option("--resets", help="Scan with resets of h before some steps.")]
Batch = Annotated[int, typer.Option(help="Number of sequences in a batch.")]
Dtype = Annotated[
    str,
    typer.Option(
        help="Storage: bf16, fp16, fp32 (or float32 and the like); tf32: fp32 with products in TF32."
    ),
]
Steps = Annotated[int, typer.Option(help="Number of time steps of a sequence.")]
Pass = Annotated[str, typer.Option("--pass", help="The pass: forward, training or backward.")]
Clip = Annotated[
    float, typer.Option("--gate-gradient-clip", help="Backward: bound of each gate's gradient; 0 for none.")
]
Cut = Annotated[
    bool, typer.Option("--cut-recurrent-gradient", help="Backward: stop the gradient through R h.")
]
ForwardClip = Annotated[
    float, typer.Option("--forward-clip", help="Bound of h after each step, in every pass; 0 for none.")
]
StrategyName = Annotated[str | None, typer.Option("--strategy", help="Use only this strategy.")]
Top = Annotated[int, typer.Option(min=1, help="Number of tilings, the fastest first.")]
Json = Annotated[bool, typer.Option("--json", help="Print only JSON to standard output.")]
Backend = Annotated[str, typer.Option("--compiler", help="The compiler: nvrtc, or nvcc if it is on PATH.")]
KernelsRoot = Annotated[
    Path | None, typer.Option("--kernels", help="A kernels folder to use instead of the package's.")
]


@dataclass(frozen=True)
class Asked:
    """The options that describe a request on a GPU."""

    cell: CellName
    batch: Batch
    heads: Heads = None
    head_dim: HeadDim = None
    gpu: Gpu = None
    dtype: Dtype = "bf16"
    steps: Steps = 1024
    direction: Pass = "forward"
    clip: Clip = 0.0
    cut: Cut = False
    forward_clip: ForwardClip = 0.0
    channels: Channels = None
    reverse: Reverse = False
    lengths: Lengths = False
    resets: Resets = False
    strategy: StrategyName = None
    kernels_root: KernelsRoot = None

    def request(self) -> Request:
        """The request; a scan's if the cell is one."""
        name = "linear" if self.cell == SCAN else self.cell
        if name in discover(self.kernels_root).cells:
            return self._layer()
        return self._scan(name) if name in self._scans() else self._layer()

    def space(self) -> TilingSpace:
        """The space of the request on a profile, over the chosen kernels."""
        from kerneltune.tiling.space import TilingSpace

        request = self.request()
        profile = load_profile(self.gpu or gpu_here())
        if self.kernels_root is not None and not self.kernels_root.is_dir():
            raise InputError(f"--kernels: {self.kernels_root} is not a folder")
        found = discover_scans if isinstance(request, ScanProblem) else discover
        return TilingSpace(request, profile, found(self.kernels_root), self.strategy)

    def _scans(self) -> Collection[str]:
        """Names of scans: of the chosen kernels, if they have any."""
        root = self.kernels_root
        return discover_scans(root if root is not None and (root / FAMILY).is_dir() else None).cells

    def _layer(self) -> Problem:
        if self.channels is not None or self.reverse or self.lengths or self.resets:
            known = ", ".join([SCAN, *sorted(self._scans())])
            raise InputError(f"--channels, --reverse, --lengths and --resets are a scan's: {known}")
        if self.heads is None or self.head_dim is None:
            option = "--heads" if self.heads is None else "--head-dim"
            raise InputError(f"{option} is missing: {self.cell} needs it")
        return Problem(
            self.cell,
            self.heads,
            self.head_dim,
            self.batch,
            self.dtype,
            self.steps,
            self.direction,
            self.clip,
            self.cut,
            self.forward_clip,
        )

    def _scan(self, name: str) -> ScanProblem:
        if self.heads is not None or self.head_dim is not None or self.clip or self.cut or self.forward_clip:
            raise InputError(
                "--heads, --head-dim and options of clipping are a recurrent cell's: a scan has --channels"
            )
        if self.channels is None:
            raise InputError(f"--channels is missing: the scan {self.cell} needs it")
        return ScanProblem(
            name,
            self.batch,
            self.steps,
            self.channels,
            self.dtype,
            self.direction,
            self.reverse,
            self.lengths,
            self.resets,
        )


def asking(command: Callable[..., None]) -> Callable[..., None]:
    """Replace a command's first parameter, an `Asked`, by one option for each of its fields."""
    hints = get_type_hints(Asked, include_extras=True)
    own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]
    names = [one.name for one in fields(Asked)]
    options = [
        inspect.Parameter(
            one.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if one.default is MISSING else one.default,
            annotation=hints[one.name],
        )
        for one in fields(Asked)
    ]
    options += [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in own]

    def asked(**given: Any) -> None:
        command(Asked(**{name: given.pop(name) for name in names}), **given)

    asked.__name__, asked.__doc__ = command.__name__, command.__doc__
    asked.__annotations__ = {one.name: one.annotation for one in options}
    asked.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined] # typer reads it
    return asked


def gpu_here() -> str:
    """The profile from the environment or for this machine's GPU; raises `InputError` without one."""
    named = os.environ.get(GPU_VARIABLE)
    if named:
        return named
    from kerneltune.running.detect import detect

    try:
        found = detect()
    except KernelTuneError as error:
        raise InputError(
            "--gpu is not given, and no GPU is found here: give --gpu NAME (kerneltune profile list has the "
            f"names), or run this where there is a GPU and its driver ({error})"
        ) from None
    if found.profile is None:
        raise InputError(f"--gpu is not given, and {found.sentence}")
    return found.profile
