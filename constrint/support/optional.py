"""Optional packages: imported on first use, with an installation hint if missing."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from constrint.errors import ModelError


def needed(module: str, install: str, purpose: str) -> ModuleType:
    """Import a module that needs an optional package.

    Args:
        module: The module or package to import.
        install: What to install if it is missing.
        purpose: What it is needed for.

    Returns:
        The module.

    Raises:
        ModelError: The package is not installed.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        missing = (error.name or module).partition(".")[0]
        if missing == "constrint":
            raise
        raise ModelError(f"{purpose} needs {missing}: pip install '{install}'") from error
