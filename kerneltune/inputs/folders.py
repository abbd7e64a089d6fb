"""The data folders `kernels` and `hardware_profiles`, in an installed package or in a checkout."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from kerneltune.errors import InputError, KernelTuneError


def file_inside(folder: Path, name: str, where: str) -> Path:
    """The path of a file that a description in a folder names.

    Args:
        folder: The folder of the description.
        name: A relative path, as it is written there.
        where: The place in the description, for messages.

    Raises:
        InputError: The path leads out of the folder, also by a link.
    """
    found = folder / name
    try:
        found.is_file()  # raises for a name that no file can have
        is_inside = not Path(name).is_absolute() and found.resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError, RuntimeError):  # too long, a NUL byte, or links in a circle
        is_inside = False
    if not name.strip() or not is_inside:
        raise InputError(f"{where}: {name!r:.200} is no file inside of {folder}: put a copy there")
    return found


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
