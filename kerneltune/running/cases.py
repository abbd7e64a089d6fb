"""The files of the cases that a run needs, made when they are first needed."""

from __future__ import annotations

import shutil
from pathlib import Path

from kerneltune.errors import KernelTuneError, RunError
from kerneltune.inputs.descriptions import Kernels
from kerneltune.inputs.request import Request
from kerneltune.running.case_maker import case_bytes, make_case

BYTES_AT_A_TIME = 1 << 28  # bytes of input and references on disk at a time; a larger request is alone


class Cases:
    """Folders of input and references.

    Args:
        kernels: The kernels folder, for the references.
        root: A folder for them.
    """

    def __init__(self, kernels: Kernels, root: Path) -> None:
        self.kernels, self._root = kernels, root
        self._known: dict[tuple[Request, int], Path | str] = {}  # a folder, or why there is none
        self._bytes = self._count = 0

    def folder(self, problem: Request, seed: int) -> Path:
        """The folder of a request's input and reference.

        Raises:
            RunError: They cannot be made, now or when they were first needed.
        """
        key = problem, seed
        if key not in self._known:
            more = case_bytes(problem, self.kernels)
            if self._bytes and self._bytes + more > BYTES_AT_A_TIME:
                self._remove_all()
            self._bytes += more
            self._known[key] = self._made(problem, seed)
        found = self._known[key]
        if isinstance(found, str):
            raise RunError(found)
        return found

    def _made(self, problem: Request, seed: int) -> Path | str:
        folder = self._root / f"case{self._count}"
        self._count += 1
        folder.mkdir()
        try:
            make_case(problem, self.kernels, seed, folder)
        except Exception as error:  # a cell's reference.py may raise anything
            shutil.rmtree(folder, ignore_errors=True)
            return str(error) if isinstance(error, KernelTuneError) else f"there is no reference: {error!r}"
        return folder

    def _remove_all(self) -> None:
        for found in self._known.values():
            if isinstance(found, Path):
                shutil.rmtree(found, ignore_errors=True)
        self._known.clear()
        self._bytes = 0
