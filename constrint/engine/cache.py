"""Where compiled engines are kept: one folder for each content of the sources (numba misses edits)."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path


@cache
def folder() -> Path:
    """The folder of this engine's machine code, keyed on a hash of its sources and the compiler."""
    import platform
    from importlib.metadata import version

    import platformdirs

    package = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256(f"{version('numba')} {platform.python_version()}".encode())
    for source in sorted([*package.glob("engine/*.py"), *package.glob("constraints/*.py")]):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    return Path(platformdirs.user_cache_dir("constrint")) / f"engine-{digest.hexdigest()[:16]}"


def is_filled() -> bool:
    """Whether this engine was compiled on this machine before."""
    return (folder() / "complete").exists()


def mark_filled() -> None:
    """Note that compiling has come to its end."""
    folder().mkdir(parents=True, exist_ok=True)
    (folder() / "complete").touch()
