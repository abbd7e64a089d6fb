"""Which of the two compiled twins a problem needs, and whether this process has it already.

The twin without kernels serves problems of clauses and sums only, and compiles in a fraction of the time.
"""

from __future__ import annotations

from constrint.engine import cache


def part_of(has_kernels: bool) -> str:
    """The name under which a twin is cached."""
    return "learn" if has_kernels else "learn-sums"


def is_loaded(has_kernels: bool) -> bool:
    """Whether a twin is there to be used at once."""
    return cache.is_loaded(part_of(has_kernels))
