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

from constrint.engine import cache

PART = "small-part"
FOLDERS = [str(Path(__file__).parent), str(Path(cache.__file__).parents[2])]


def small_part(count: int) -> int:
    """The kernel."""
    found = 0
    for i in range(count):
        found += i
    return found


def obtain(pause: float = 0.0) -> int:
    """Load the part, or compile it, which takes so many seconds longer; then use it."""
    from constrint.engine import compiled

    def make() -> bytes:
        from constrint.engine.making import code_of

        print("compiling", flush=True)  # noqa: T201 - what it is for
        sleep(pause)
        return code_of(small_part, PART)

    cache.PARTS.setdefault(PART, ("learning",))
    answer = compiled.loaded_or_made(PART, make).bound()(5)
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
