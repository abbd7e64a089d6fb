"""Whether HiGHS is installed, in a version that this process can load next to OR-Tools."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version

CLASHES_FROM = (
    1,
    15,
)  # from then on it brings a shared libhighs.so.1, and so does OR-Tools: the first one wins


@cache
def has_highs() -> bool:
    """Whether linear programs can be solved; otherwise searches run without relaxations."""
    try:
        numbers = version("highspy").split(".")
        if tuple(int(part) for part in numbers[:2]) >= CLASHES_FROM:
            return False
        import highspy  # noqa: F401 - whether it can be imported is the question
    except (PackageNotFoundError, ImportError, ValueError):
        return False
    return True
