"""Where compiled engines are kept: one folder for each place and content of the sources.

Numba misses edits of callees, and keeps apart what lies at different places.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

# The files of the functions that numba keeps: it compiles anew where these were installed anew.
STAMPED = ("__init__.py", "dfs.py", "loop.py")


@cache
def folder(part: str = "engine") -> Path:
    """The folder of a part's machine code, keyed on the sources, their place, and the compiler.

    Args:
        part: "engine", or a twin of the learning search, which has more sources.
    """
    import hashlib
    import platform
    from importlib.metadata import version
    from pathlib import Path

    import platformdirs

    package = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256(f"{version('numba')} {platform.python_version()} {package}".encode())
    compiled = ("engine", "propagators", "store")
    packages = compiled if part == "engine" else (*compiled, "learning")
    for source in sorted(path for name in packages for path in package.glob(f"{name}/*.py")):
        stamp = source.stat().st_mtime_ns if source.name in STAMPED else ""
        digest.update(f"{source.name} {stamp}\0".encode() + source.read_bytes())
    return Path(platformdirs.user_cache_dir("constrint")) / f"{part}-{digest.hexdigest()[:16]}"


def is_filled(part: str = "engine") -> bool:
    """Whether this part was compiled on this machine before."""
    return (folder(part) / "complete").exists()


def mark_filled(part: str = "engine") -> None:
    """Note that compiling has come to its end."""
    folder(part).mkdir(parents=True, exist_ok=True)
    (folder(part) / "complete").touch()


def is_loaded() -> bool:
    """Whether this process has the compiled engine: handing over then costs a fraction of a millisecond."""
    module = sys.modules.get("constrint.engine.compiled")
    return module is not None and module.is_loaded()
