"""Options that several commands share."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from kerneltune.cli import words
from kerneltune.errors import InputError, KernelTuneError, nearest
from kerneltune.inputs.descriptions import ENDING, discover
from kerneltune.inputs.hardware import GPU_VARIABLE, load_profile
from kerneltune.inputs.problem import Problem
from kerneltune.inputs.request import Request
from kerneltune.inputs.scan_descriptions import FAMILY, ScanCell, discover_scans
from kerneltune.inputs.scan_problem import ScanProblem

if TYPE_CHECKING:
    from kerneltune.tiling.space import TilingSpace

SCAN = "scan"  # the command line's name for the linear recurrence
FILE = click.Path(path_type=Path)
HELP = {"help_option_names": ["-h", "--help"], "max_content_width": 110, "show_default": True}
"""Settings of every command."""

Command: TypeAlias = Callable[..., None]
Decorator: TypeAlias = Callable[[Command], Command]

json_option = click.option("--json", "as_json", is_flag=True, help="Print only JSON to standard output.")
gpu_option = click.option(
    "--gpu",
    metavar="PROFILE",
    shell_complete=words.PROFILES,
    help="A profile's name, or the path of its YAML file; by default this machine's GPU.",
)
top_option = click.option(
    "--top", type=click.IntRange(1), default=1, help="Number of tilings, the fastest first."
)
compiler_option = click.option(
    "--compiler", default="nvrtc", help="The compiler: nvrtc, or nvcc if it is on PATH."
)
runs_option = click.option(
    "--runs", type=click.IntRange(1), default=3, help="Number of runs whose results must be bitwise equal."
)
random_seed_option = click.option("--seed", type=int, help="Seed of the input; random by default.")
kernels_option = click.option(
    "--kernels", "kernels_root", type=FILE, help="A kernels folder to use instead of the package's."
)


def timeout_option(seconds: float) -> Decorator:
    """The time limit of a candidate."""
    return click.option(
        "--timeout", type=float, default=seconds, help="Time limit in seconds for each candidate."
    )


def store_option(what: str) -> Decorator:
    """The file of results."""
    return click.option("--store", type=FILE, help=f"{what}; by default in the user's cache folder.")


def written_option(name: str) -> Decorator:
    """A file that measurements are exported to."""
    return click.option(name, type=FILE, help="Write the measurements to this file, and end.")


REQUEST = (
    click.argument("cell", shell_complete=words.CELLS),
    click.option("--batch", type=int, help="Number of sequences in a batch; it has no default."),
    click.option("--heads", type=int, help="Number of independent heads of a recurrent cell."),
    click.option("--head-dim", type=int, help="Number of units of a head."),
    gpu_option,
    click.option(
        "--dtype",
        default="bf16",
        shell_complete=words.DTYPES,
        help="Storage: bf16, fp16, fp32 (or float32 and the like); tf32: fp32 with products in TF32.",
    ),
    click.option("--steps", type=int, default=1024, help="Number of time steps of a sequence."),
    click.option(
        "--pass",
        "direction",
        default="forward",
        shell_complete=words.PASSES,
        help="The pass: forward, training or backward.",
    ),
    click.option(
        "--gate-gradient-clip",
        "clip",
        type=float,
        default=0.0,
        help="Backward: bound of each gate's gradient; 0 for none.",
    ),
    click.option(
        "--cut-recurrent-gradient", "cut", is_flag=True, help="Backward: stop the gradient through R h."
    ),
    click.option(
        "--forward-clip",
        type=float,
        default=0.0,
        help="Bound of h after each step, in every pass; 0 for none.",
    ),
    click.option("--channels", type=int, help="Number of channels of a scan."),
    click.option("--reverse", is_flag=True, help="Scan from the last step to the first."),
    click.option("--lengths", is_flag=True, help="Scan rows of different lengths."),
    click.option("--resets", is_flag=True, help="Scan with resets of h before some steps."),
    click.option("--strategy", shell_complete=words.STRATEGIES, help="Use only this strategy."),
    kernels_option,
)
"""The kind of a request: a recurrent cell such as lstm, its file, or a scan (scan, mingru, minlstm)."""


@dataclass(frozen=True)
class Asked:
    """The options that describe a request on a GPU."""

    cell: str
    batch: int | None
    heads: int | None = None
    head_dim: int | None = None
    gpu: str | None = None
    dtype: str = "bf16"
    steps: int = 1024
    direction: str = "forward"
    clip: float = 0.0
    cut: bool = False
    forward_clip: float = 0.0
    channels: int | None = None
    reverse: bool = False
    lengths: bool = False
    resets: bool = False
    strategy: str | None = None
    kernels_root: Path | None = None

    def request(self) -> Request:
        """The request; a scan's if the cell is one."""
        name = "linear" if self.cell == SCAN else self.cell
        if name.endswith(ENDING):
            is_scan = isinstance(discover(self.kernels_root).cell(name), ScanCell)
            return self._scan(str(Path(name).absolute())) if is_scan else self._layer()
        if name in discover(self.kernels_root).cells:
            return self._layer()
        scans = self._scans()
        if name not in scans:
            known = [*discover(self.kernels_root).cells, SCAN, *scans]
            raise InputError(f"unknown cell '{name}': {nearest(name, known)}{_folder_words(name)}")
        return self._scan(name)

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
        batch = self._given("batch", self.batch)
        heads, head_dim = self._given("heads", self.heads), self._given("head-dim", self.head_dim)
        is_file = self.cell.endswith(ENDING)
        return Problem(
            cell=str(Path(self.cell).absolute()) if is_file else self.cell,  # children have their own folder
            heads=heads,
            head_dim=head_dim,
            batch=batch,
            dtype=self.dtype,
            steps=self.steps,
            direction=self.direction,
            gate_gradient_clip=self.clip,
            cut_recurrent_gradient=self.cut,
            forward_clip=self.forward_clip,
        )

    def _given(self, option: str, value: int | None) -> int:
        """A size that has no default; a cell that does not exist is told before it."""
        if value is None:
            what = "the scan " if option == "channels" else ""
            raise InputError(f"--{option} is missing: {what}{self.cell} needs it")
        return value

    def _scan(self, name: str) -> ScanProblem:
        if self.heads is not None or self.head_dim is not None or self.clip or self.cut or self.forward_clip:
            raise InputError(
                "--heads, --head-dim and options of clipping are a recurrent cell's: a scan has --channels"
            )
        return ScanProblem(
            cell=name,
            batch=self._given("batch", self.batch),
            steps=self.steps,
            channels=self._given("channels", self.channels),
            dtype=self.dtype,
            direction=self.direction,
            reverse=self.reverse,
            lengths=self.lengths,
            resets=self.resets,
        )


def _folder_words(name: str) -> str:
    """A hint for a name that is a path: a kernel of one's own."""
    return "; a kernel of your own is a folder with kernel.yaml" if Path(name).is_dir() or "/" in name else ""


def asking(command: Command) -> Command:
    """Give a command the options of a request, and as its first parameter the `Asked` that they make."""
    names = [one.name for one in fields(Asked)]

    @wraps(command)
    def asked(**given: Any) -> None:
        command(Asked(**{name: given.pop(name) for name in names}), **given)

    made: Command = asked
    for decorate in reversed(REQUEST):
        made = decorate(made)
    return made


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
