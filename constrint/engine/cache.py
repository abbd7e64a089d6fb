"""Where compiled engines are kept: one folder for each content of the sources (numba misses edits)."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path


@cache
def folder(part: str = "engine") -> Path:
    """The folder of a part's machine code, keyed on a hash of the sources and the compiler.

    Args:
        part: "engine", or a twin of the learning search, which has more sources.
    """
    import platform
    from importlib.metadata import version

    import platformdirs

    package = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256(f"{version('numba')} {platform.python_version()}".encode())
    packages = ("engine", "constraints") if part == "engine" else ("engine", "constraints", "learn")
    for source in sorted(path for name in packages for path in package.glob(f"{name}/*.py")):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    return Path(platformdirs.user_cache_dir("constrint")) / f"{part}-{digest.hexdigest()[:16]}"


def is_filled(part: str = "engine") -> bool:
    """Whether this part was compiled on this machine before."""
    return (folder(part) / "complete").exists()


def mark_filled(part: str = "engine") -> None:
    """Note that compiling has come to its end."""
    folder(part).mkdir(parents=True, exist_ok=True)
    (folder(part) / "complete").touch()
