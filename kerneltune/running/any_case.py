"""A launch of any request."""

from __future__ import annotations

from typing import TypeAlias

from kerneltune.inputs.descriptions import Kernels
from kerneltune.inputs.request import Request, kernels_for
from kerneltune.inputs.scan_problem import ScanProblem
from kerneltune.running.case import LayerCase, made_case
from kerneltune.running.reference import Arrays
from kerneltune.running.scan_case import ScanCase

AnyCase: TypeAlias = LayerCase | ScanCase


def made_of(request: Request, kernels: Kernels, arrays: Arrays, expected: Arrays) -> AnyCase:
    """The case from drawn arrays and the reference's results."""
    cell = kernels_for(request, kernels).cell(request.cell)
    if isinstance(request, ScanProblem):
        return ScanCase(request, cell, arrays, expected)
    return made_case(request, cell, arrays, expected)
