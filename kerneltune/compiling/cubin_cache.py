"""A cache of compiled kernels on disk, keyed by a hash of everything that they depend on."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from kerneltune.compiling.compiler_output import CompilerOutput

CACHE_VARIABLE = "KERNELTUNE_CACHE_DIR"


def default_folder() -> Path:
    """The cache folder from the environment, or the user's default."""
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        return Path(named)
    import platformdirs

    return platformdirs.user_cache_path("kerneltune")


def content_key(parts: Iterable[str], source_root: Path) -> str:
    """A hash of ``parts`` and of every device source below ``source_root``."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.encode() + b"\0")
    for path in sorted(source_root.rglob("*.cu*")):
        digest.update(str(path.relative_to(source_root)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


class CubinCache:
    """A folder of cubins. Entries are written under a temporary name and renamed, so none is ever partial."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = (folder or default_folder()) / "cubins"

    def load(self, key: str) -> CompilerOutput | None:
        """The entry with that key, or None if it is missing or damaged."""
        try:
            note = json.loads((self.folder / f"{key}.json").read_text(encoding="utf-8"))
            cubin = (self.folder / f"{key}.cubin").read_bytes()
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
            self.folder.mkdir(parents=True, exist_ok=True)
            self._rename_into_place(f"{key}.cubin", output.cubin)
            self._rename_into_place(f"{key}.json", json.dumps(note).encode())
        except OSError:
            return

    def _rename_into_place(self, name: str, content: bytes) -> None:
        handle, aside = tempfile.mkstemp(dir=self.folder, prefix=".aside-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            os.replace(aside, self.folder / name)
        except BaseException:
            Path(aside).unlink(missing_ok=True)
            raise
