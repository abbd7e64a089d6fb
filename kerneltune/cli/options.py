"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kerneltune.errors import InputError
from kerneltune.inputs.descriptions import Kernels, discover
from kerneltune.inputs.hardware import HardwareProfile, load_profile
from kerneltune.inputs.problem import Problem

if TYPE_CHECKING:
    from kerneltune.tiling.space import TilingSpace

CellName = Annotated[str, typer.Argument(help="The recurrent cell, such as lstm.")]
Gpu = Annotated[str, typer.Option(help="A profile's name, or the path of a profile's YAML file.")]
Heads = Annotated[int, typer.Option(help="Independent heads.")]
HeadDim = Annotated[int, typer.Option(help="Units of a head.")]
Batch = Annotated[int, typer.Option(help="Sequences in a batch.")]
Dtype = Annotated[str, typer.Option(help="Storage: bf16, fp16, fp32; tf32: fp32 with products in TF32.")]
Steps = Annotated[int, typer.Option(help="Time steps of a sequence.")]
Pass = Annotated[str, typer.Option("--pass", help="Which pass: forward, training or backward.")]
Clip = Annotated[
    float, typer.Option("--gate-gradient-clip", help="Backward: bound of each gate's gradient; 0 for none.")
]
Cut = Annotated[
    bool, typer.Option("--cut-recurrent-gradient", help="Backward: let no gradient pass through R h.")
]
ForwardClip = Annotated[
    float, typer.Option("--forward-clip", help="Bound of h after each step; 0 for none. Of every pass.")
]
StrategyName = Annotated[str | None, typer.Option("--strategy", help="Only this strategy.")]
Top = Annotated[int, typer.Option(min=1, help="How many tilings, the fastest first.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else, to standard output.")]
Backend = Annotated[str, typer.Option("--compiler", help="nvrtc, or nvcc if it is on PATH.")]
KernelsRoot = Annotated[
    Path | None, typer.Option("--kernels", help="A kernels folder other than the package's own.")
]


def space_of(problem: Problem, gpu: str, kernels_root: Path | None, strategy: str | None) -> TilingSpace:
    """The request on a profile, over the kernels that are meant."""
    from kerneltune.tiling.space import TilingSpace

    profile: HardwareProfile = load_profile(gpu)
    if kernels_root is not None and not kernels_root.is_dir():
        raise InputError(f"--kernels: {kernels_root} is no folder")
    kernels: Kernels = discover(kernels_root)
    return TilingSpace(problem, profile, kernels, strategy)
