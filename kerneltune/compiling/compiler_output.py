"""The output of a compiler."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CompilerOutput:
    """A cubin, ptxas's log, the compiler's version and the time that it took."""

    cubin: bytes
    log: str
    compiler: str
    seconds: float
    cached: bool = False
