"""GPUs that a compiler knows, and what compiles for older ones."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kerneltune.errors import InputError

NUMBER = re.compile(r"sm_(\d+)[af]?")


def check_target(target: str, known: Sequence[str], compiler: str) -> None:
    """Raise `InputError` for a target that a compiler does not know; nothing is said if it tells none."""
    if not known or target.rstrip("af") in known:
        return
    said = f"the profile's target is {target}, but {compiler} knows {', '.join(known)}"
    if _number(target) < min(map(_number, known)):
        said += (
            ": use CUDA 12, whose nvcc (--compiler nvcc, if it is on PATH) and NVRTC (pip install "
            "'cuda-bindings<13' nvidia-cuda-nvrtc-cu12) know it"
        )
    raise InputError(said)


def _number(target: str) -> int:
    found = NUMBER.fullmatch(target)
    return int(found[1]) if found else 0
