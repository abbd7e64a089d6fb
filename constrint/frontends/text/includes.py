"""Which files a text may include: those in the folder of the model, and in folders that the user names."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from constrint.errors import ModelError
from constrint.support.limits import Budget, decoded, read_bytes


class Folders:
    """Finds and reads included files.

    Args:
        file: The model's file; None for a text without one.
        others: Further folders, which are searched after the one of the including file.
    """

    def __init__(self, file: str | Path | None = None, others: Iterable[str | Path] = ()) -> None:
        self._others = [Path(other) for other in others]
        own = [] if file is None else [Path(file).parent]
        self._roots = [folder.resolve() for folder in [*own, *self._others]]
        self._first = own[0] if own else None

    def find(self, name: str, including: str) -> Path:
        """The file that an including text means; raises `ModelError` with the reason if there is none.

        Args:
            name: The path as it is written.
            including: The name of the including file.
        """
        if not self._roots:
            raise ModelError(
                "this text is in no file, so there is no folder to include from: name one with "
                "--include FOLDER, or include= in Python"
            )
        path = Path(name)
        if not name.strip() or path.is_absolute() or "\\" in name or ":" in name or "\0" in name:
            raise ModelError(f"'{name}' is not a relative path with '/' between its parts")
        near = [] if self._first is None else [Path(including).parent]
        for folder in [*near, *self._others]:
            found = folder / path
            if not found.exists():
                continue
            if not any(found.resolve().is_relative_to(root) for root in self._roots):
                raise ModelError(
                    f"'{name}' is outside the folder of the model: name its folder with --include FOLDER, "
                    "or include= in Python"
                )
            if not found.is_file():
                raise ModelError(f"'{name}' is no file")
            return found
        raise ModelError(f"there is no file '{name}' beside {including}")

    def read(self, path: Path, budget: Budget) -> str:
        """The text of an included file; raises `ModelError`."""
        try:
            return decoded(read_bytes(path, budget), str(path))
        except OSError as error:
            raise ModelError(f"cannot read {path}: {(error.strerror or str(error)).lower()}") from None
