"""The version of the package."""

from __future__ import annotations


def version() -> str:
    """The version of the installed distribution; "unknown" for sources that are not installed."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as version_of

    try:
        return version_of("constrint")
    except PackageNotFoundError:
        return "unknown"
