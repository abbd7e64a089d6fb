"""Files that commands write."""

from __future__ import annotations

from pathlib import Path

from kerneltune.errors import InputError


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file whole: where that fails, what was there stays. Raises `InputError`."""
    from constrint.support.placing import replaced

    try:
        with replaced(path) as aside:
            aside.write_bytes(content.encode() if isinstance(content, str) else content)
    except (OSError, ValueError) as error:  # ValueError: a NUL byte in the name
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot write {path}: {reason}") from None
