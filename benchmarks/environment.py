"""The environment of a result: machine, versions, date."""

from __future__ import annotations

import datetime
import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def environment(*packages: str) -> dict[str, object]:
    """Date, machine, GPU and versions for the head of a results file.

    Args:
        packages: Distributions whose versions matter; None is given for one that is not installed.
    """
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "gpu": _gpu(),
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in ("constrint", *packages)},
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def _gpu() -> str | None:
    """The present GPU's name, for a script that uses torch."""
    torch = sys.modules.get("torch")
    return str(torch.cuda.get_device_name()) if torch is not None and torch.cuda.is_available() else None


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
