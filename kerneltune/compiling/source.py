"""The CUDA translation unit of a candidate: it names a strategy, a cell and the solved numbers."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from kerneltune.compiling import scan_arguments
from kerneltune.compiling.arguments import struct_of
from kerneltune.compiling.halffloat import stored_forward_clip
from kerneltune.errors import InputError
from kerneltune.inputs.descriptions import RESULT_NAMES, Cell, Kernels
from kerneltune.inputs.hardware import HardwareProfile
from kerneltune.inputs.request import Request
from kerneltune.inputs.scan_problem import ScanProblem
from kerneltune.tiling.candidate import Candidate

if TYPE_CHECKING:
    from jinja2 import Template

KERNEL_NAME = "kernel"
# Struct names in kernels/common/numeric/scalar.cuh.
SCALARS = {"bf16": "BFloat16", "fp16": "Float16", "fp32": "Float32", "tf32": "TensorFloat32"}


def translation_unit(candidate: Candidate, kernels: Kernels, profile: HardwareProfile) -> str:
    """The CUDA source that instantiates ``candidate``; include paths are relative to the kernels folder."""
    problem = candidate.problem
    strategy = kernels.for_pass(problem.direction).strategy(candidate.strategy)
    cell = kernels.cell(problem.cell)
    constants = {name: candidate.values[name] for name in RESULT_NAMES if name != "cycles"}
    constants.update(candidate.parameters)
    for name, value in constants.items():
        if not -(2**31) <= value < 2**31:
            raise InputError(f"{strategy.name}: the parameter {name} = {value} does not fit an int")
    text: str = _template().render(
        candidate=candidate,
        problem=problem,
        strategy=strategy,
        cell=cell,
        strategy_folder=strategy.folder.relative_to(kernels.root).as_posix(),
        declaration=cell.declaration(kernels.root),
        scalar=SCALARS[problem.dtype],
        constants=constants,
        portable_cluster=profile.cluster_max_portable,
        kernel_name=KERNEL_NAME,
        **_of_family(problem, cell),
    )
    return text


def _of_family(problem: Request, cell: Cell) -> dict[str, object]:
    """The template's values that differ between scans and recurrent layers."""
    if isinstance(problem, ScanProblem):
        return {"scan": True, "header": scan_arguments.HEADER, "arguments": scan_arguments.STRUCT}
    return {
        "scan": False,
        "header": "common/arguments.cuh",
        "arguments": struct_of(problem.direction, bool(cell.spec.weights)),
        "forward_clip": stored_forward_clip(problem),
    }


@cache
def _template() -> Template:
    from jinja2 import Environment, StrictUndefined

    text = files("kerneltune.compiling").joinpath("translation_unit.cu.j2").read_text(encoding="utf-8")
    return Environment(undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False).from_string(
        text
    )
