"""Requests: a recurrent layer or a scan, and the kernels for it."""

from __future__ import annotations

from typing import TypeAlias

from kerneltune.inputs.descriptions import Kernels
from kerneltune.inputs.problem import Problem, checked
from kerneltune.inputs.scan_descriptions import FAMILY, discover_scans
from kerneltune.inputs.scan_problem import ScanProblem

Request: TypeAlias = Problem | ScanProblem


def request_from_json(data: object) -> Request:
    """The inverse of `dataclasses.asdict`; raises `ValueError` or `InputError` for anything else."""
    if checked(data, dict, "problem").get("family") == FAMILY:
        return ScanProblem.from_json(data)
    return Problem.from_json(data)


def kernels_for(request: Request, kernels: Kernels) -> Kernels:
    """The kernels of the request's family (recurrent layers or scans) in the same folder."""
    return discover_scans(kernels.root) if isinstance(request, ScanProblem) else kernels
