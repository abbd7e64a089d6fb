"""Packages that are only needed for some calls: imported then, with a hint where they are missing."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from constrint.errors import ModelError


def needed(module: str, install: str, purpose: str) -> Any:
    """Import a module of this library, or a package, that needs an optional package.

    Args:
        module: What to import.
        install: What to install where it is missing.
        purpose: What it is needed for.

    Returns:
        The module. Raises `ModelError` where the package is not installed.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        missing = (error.name or module).partition(".")[0]
        if missing == "constrint":
            raise
        raise ModelError(f"{purpose} needs {missing}: pip install '{install}'") from error
