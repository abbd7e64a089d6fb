"""A cache of compiled kernels on disk, keyed by a hash of everything that they depend on."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path

from constrint.support.caching import user_cache
from constrint.support.own_files import is_own_folder, read_own, write_own
from kerneltune.compiling.compiler_output import CompilerOutput

CACHE_VARIABLE = "KERNELTUNE_CACHE_DIR"


def default_folder() -> Path:
    """The cache folder from the environment, or the user's default."""
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        return Path(named)
    return user_cache("kerneltune")


def content_key(parts: Iterable[str], source_root: Path) -> str:
    """A hash of ``parts`` and of every device source below ``source_root``."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.encode() + b"\0")
    for path in sorted(source_root.rglob("*.cu*")):
        digest.update(str(path.relative_to(source_root)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


class CubinCache:
    """A folder of cubins. Entries are written under a temporary name and renamed, so none is ever partial.

    An entry that belongs to another user, or that another user may write, is as none.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = (folder or default_folder()) / "cubins"

    def load(self, key: str) -> CompilerOutput | None:
        """The entry with that key, or None if it is missing or damaged."""
        try:
            found = [read_kept(self.folder / f"{key}.{ending}") for ending in ("json", "cubin")]
            if None in found:
                return None
            note, cubin = json.loads(found[0] or b""), found[1] or b""
            if hashlib.sha256(cubin).hexdigest() != note["sha256"]:
                return None
            return CompilerOutput(cubin, note["log"], note["compiler"], note["seconds"], cached=True)
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def store(self, key: str, output: CompilerOutput) -> None:
        """Store ``output``; does nothing if the folder is not writable."""
        note = {
            "sha256": hashlib.sha256(output.cubin).hexdigest(),
            "log": output.log,
            "compiler": output.compiler,
            "seconds": output.seconds,
        }
        try:
            keep(self.folder / f"{key}.cubin", output.cubin)
            keep(self.folder / f"{key}.json", json.dumps(note).encode())
        except OSError:
            return


def read_kept(path: Path) -> bytes | None:
    """The content of a file of a cache; None if it is missing or another user may have written it."""
    found = read_own(path) if is_own_folder(path.parent) else None
    return None if found is None else found[0]


def keep(path: Path, content: bytes) -> None:
    """Write a file of a cache, whole; raises `OSError` if that is impossible, or its folder is another's."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not is_own_folder(path.parent):
        raise PermissionError(f"{path.parent} belongs to another user")
    write_own(path, content)
