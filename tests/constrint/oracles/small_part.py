"""A stand-in for a compiled part that compiles in a moment: same names, files, locks and checks.

    python -c "import small_part; small_part.obtain(pause)"

obtains it in a separate process, which prints "compiling" if it compiles, and then the answer.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from time import sleep
from typing import Any

from constrint.engine import cache

PART = "small-part"
FOLDERS = [str(Path(__file__).parent), str(Path(cache.__file__).parents[2])]


def total(cells: Any) -> int:
    """The kernel."""
    found = 0
    for i in range(len(cells)):
        found += cells[i]
    return found


def obtain(pause: float = 0.0) -> int:
    """Load the part, or compile it, which takes so many seconds longer; then use it."""
    import numba
    import numpy as np

    from constrint.engine import compiled

    def twins() -> dict[int, Any]:
        print("compiling", flush=True)  # noqa: T201 - what it is for
        sleep(pause)
        return {}

    cache.PARTS.setdefault(PART, ("learning",))
    signature = numba.int64(numba.types.Array(numba.int64, 1, "C"))
    twin = compiled.loaded_or_made(PART, total, signature, twins)
    answer = int(twin(np.arange(5)))
    print(answer, flush=True)  # noqa: T201 - as above
    return answer


def process(home: Path, pause: float = 0.0, code: str = "") -> subprocess.Popen[str]:
    """Another process that obtains the part, with a cache of its own under a folder."""
    code = code or f"import small_part; small_part.obtain({pause})"
    return subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **places(home), "PYTHONPATH": os.pathsep.join(FOLDERS)},
    )


def places(home: Path) -> dict[str, str]:
    """Where a process is told to keep what it keeps."""
    return {"XDG_CACHE_HOME": str(home / "cache"), "TMPDIR": str(home), "HOME": str(home)}
