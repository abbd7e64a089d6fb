"""The cache of compiled parts: one file for each part, content of its sources, and processor.

A file holds machine code, so it is read only if it can be trusted: file and folder belong to this user or to
root, nobody else may write them, and the checksum at the head of the file matches. A file that fails
a check is removed and made again.
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from functools import cache
from time import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

PARTS = {
    "engine": ("engine", "propagators", "store"),
    "learn": ("engine", "propagators", "store", "learning"),
    "jumps": ("engine", "local_search"),
    "annealing": ("engine", "local_search"),
    "cuts": ("engine", "relaxation/sums"),
}
# Descriptions of parts in messages.
ABOUT = {
    "engine": "the search engine, once on this machine (a few seconds)",
    "learn": "the learning search, once on this machine (a few seconds)",
    "jumps": "the local search, once on this machine (a second)",
    "annealing": "annealing, once on this machine (a second)",
    "cuts": "the search for cuts, once on this machine (a second)",
}
VERSIONS = ("llvmlite/_version.py", "numpy/version.py")  # files that say them
MAGIC = b"constrint machine code 4\n"
DIGEST = 32  # bytes of the checksum at the head of a file
ABANDONED = 3600.0  # seconds after which an unfinished file is removed
HEAD_OF_CPUINFO = 16_384  # bytes: enough for the first processor

# Held while compiled parts are imported, loaded or made: LLVM compiles for one thread at a time.
LOADING = threading.RLock()
_loaded: set[str] = set()
_known: dict[Path, tuple[int, int, int]] = {}  # files with a verified checksum: inode, size, time
_said: set[str] = set()


def _after_fork() -> None:
    """Replace the lock in a forked child: another thread may have held it."""
    global LOADING
    LOADING = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@cache
def key(part: str) -> str:
    """A hash, as hex digits, of everything that a part's code depends on.

    Sources, llvmlite, Python, processor.
    """
    import hashlib
    from pathlib import Path

    package = Path(__file__).resolve().parent.parent
    about = [*map(_version, VERSIONS), sys.version, _processor()]
    digest = hashlib.sha256("\n".join(about).encode())
    for source in sorted(path for name in PARTS[part] for path in package.glob(f"{name}/*.py")):
        digest.update(f"{source.parent.name}/{source.name}\0".encode() + source.read_bytes())
    return digest.hexdigest()[:20]


def _version(file: str) -> str:
    """The version of a package, read from its own file: `importlib.metadata` takes 20 ms."""
    from importlib.util import find_spec

    package, _, name = file.partition("/")
    spec = find_spec(package)
    for folder in (spec and spec.submodule_search_locations) or ():
        with suppress(OSError), open(os.path.join(folder, name), encoding="utf-8") as found:
            return found.read()
    from importlib.metadata import version

    return version(package)


def _processor() -> str:
    """The model of the processor, on whose instructions machine code depends."""
    lines: list[str] = []
    with suppress(OSError), open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        first = file.read(HEAD_OF_CPUINFO).partition("\n\n")[0].splitlines()
        lines = [line for line in first if line.startswith(("model name", "flags", "Features", "CPU part"))]
    machine = os.uname().machine if hasattr(os, "uname") else os.environ.get("PROCESSOR_IDENTIFIER", "")
    return "\n".join([sys.platform, machine, *lines])


def folders() -> Iterable[Path]:
    """The folders that may hold machine code: the user's cache, then one in the temporary folder."""
    from constrint.support.caching import user_cache
    from constrint.support.own_files import temporary_folder

    yield user_cache()
    yield temporary_folder("constrint")


def name(part: str) -> str:
    """The file name of a part."""
    return f"{part}-{key(part)}.nbc"


def read(part: str) -> bytes | None:
    """A part's machine code; None if it is missing. Damaged or untrusted files are removed."""
    from hashlib import sha256

    from constrint.support.own_files import is_own_folder, read_own

    for folder in folders():
        path = folder / name(part)
        if not is_own_folder(folder) or not os.path.lexists(path):
            continue
        found = read_own(path)
        if found is not None:
            content, status = found
            head = len(MAGIC) + DIGEST
            if content[:head] == MAGIC + sha256(content[head:]).digest():
                _known[path] = (status.st_ino, status.st_size, status.st_mtime_ns)
                return content[head:]
        with suppress(OSError):  # a folder of that name stays, and nothing can be kept
            path.unlink()
    return None


def is_filled(part: str = "engine") -> bool:
    """Whether this part is in the cache, with an undamaged file."""
    for folder in folders():
        path = folder / name(part)
        with suppress(OSError):
            status = path.lstat()
            if _known.get(path) == (status.st_ino, status.st_size, status.st_mtime_ns):
                return True
    return read(part) is not None


def discard(part: str) -> None:
    """Remove a part's files, because they cannot be used here."""
    from constrint.support.own_files import is_own_folder

    for folder in folders():
        if is_own_folder(folder):
            with suppress(OSError):
                (folder / name(part)).unlink()


def writable() -> Path | None:
    """The folder for new machine code; None if there is none. Reports the problem once."""
    import tempfile

    from constrint.support.own_files import own_folder

    reason = ""
    for folder in folders():
        try:
            own_folder(folder)
            tempfile.TemporaryFile(dir=folder).close()
        except OSError as error:
            reason = reason or f"{folder}: {error.strerror or error}"
        else:
            if reason:
                _say_once(f"cannot keep machine code in {reason}; it is kept in {folder}")
            return folder
    _say_once(f"cannot keep machine code in {reason}; each process that needs it compiles it anew")
    return None


def _say_once(text: str) -> None:
    if text not in _said:
        _said.add(text)
        sys.stderr.write(f"constrint: {text}\n")
        sys.stderr.flush()


def write(part: str, code: bytes) -> bool:
    """Write a part's machine code to a temporary file and rename it; returns whether that worked."""
    from hashlib import sha256

    from constrint.support.own_files import write_own

    folder = writable()
    if folder is None:
        return False
    _sweep(folder)
    try:
        write_own(folder / name(part), MAGIC + sha256(code).digest() + code)
    except OSError as error:
        _say_once(f"cannot keep machine code in {folder}: {error.strerror or error}")
        return False
    return True


def _sweep(folder: Path) -> None:
    """Remove files that killed processes left behind."""
    for path in [*folder.glob("*.tmp"), *folder.glob(".*.nbc")]:
        with suppress(OSError):
            if time() - path.lstat().st_mtime > ABANDONED:
                path.unlink()


def note_loaded(part: str) -> None:
    """Note that this process has loaded a part: handing over then costs a fraction of a millisecond."""
    _loaded.add(part)


def is_loaded(part: str = "engine") -> bool:
    """Whether this process has loaded a part."""
    return part in _loaded


def is_at_hand(part: str) -> bool:
    """Whether a part is loaded, or can be in a hundredth of a second: another is, and this one is on disk."""
    return part in _loaded or (bool(_loaded) and is_filled(part))
