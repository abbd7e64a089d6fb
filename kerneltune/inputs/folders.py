"""The data folders `kernels` and `hardware_profiles`, in an installed package or in a checkout."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from kerneltune.errors import KernelTuneError


def data_folder(name: str) -> Path:
    """The folder ``kernels`` or ``hardware_profiles``.

    A wheel carries them inside the package; an editable install finds them next to it. They must be real
    files in both cases, because compilers read them.
    """
    package = Path(str(files("kerneltune")))
    for folder in (package / name, package.parent / name):
        if folder.is_dir():
            return folder
    raise KernelTuneError(f"the folder '{name}' is neither in nor beside {package}: reinstall the package")
