"""Python processes that this one starts: they run this package's code, never that of the current folder.

`python -m MODULE` puts the current folder in front of everything, so a folder with a model in it could also
hold a `json.py`, and an empty entry of `PYTHONPATH` stands for that folder too. A child is therefore started
with `-P`, without such entries, and with the paths where this process found its packages. The package itself
is loaded from where it was loaded here, so that an editable install, a folder of `pip install --target` and a
zip file serve alike, and the child's version is the parent's.
"""

from __future__ import annotations

import os
import sys

PROGRAM = """import sys
from importlib.machinery import PathFinder
path, packages = {path!r}, {packages!r}
places = [*sys.path, *packages.values()]
sys.path[:] = dict.fromkeys([*path, *places])
class Packages:
    def find_spec(name, path=None, target=None):
        return PathFinder.find_spec(name, [packages[name]]) if name in packages else None
sys.meta_path.insert(0, Packages)
"""
PACKAGES = ("constrint", "kerneltune")


def python_command(program: str, *arguments: str) -> list[str]:
    """The command of a Python process that runs a program after its packages are found.

    Args:
        program: Python statements, such as an import of `main` from a module and its call.
        arguments: The words after the program, `sys.argv[1:]` in it.
    """
    begun = PROGRAM.format(path=search_path(), packages=_packages())
    return [sys.executable, "-P", "-c", begun + program, *arguments]


def can_start() -> bool:
    """Whether there is an interpreter to start; a program frozen into one file has none."""
    return bool(sys.executable) and not getattr(sys, "frozen", False)


def environment() -> dict[str, str]:
    """This process's environment without entries of `PYTHONPATH` that mean the current folder."""
    kept = dict(os.environ)
    places = [place for place in kept.pop("PYTHONPATH", "").split(os.pathsep) if os.path.isabs(place)]
    return {**kept, "PYTHONPATH": os.pathsep.join(places)} if places else kept


def search_path() -> list[str]:
    """Where this process finds modules, without the current folder.

    A child finds that folder by itself where it is meant: as an absolute entry of `PYTHONPATH`, or as a
    folder of installed packages.
    """
    here = _current_folder()
    texts = [place for place in sys.path if isinstance(place, str)]
    return [place for place in texts if os.path.isabs(place) and os.path.realpath(place) != here]


def program_on_path(name: str) -> str | None:
    """The file of a program on `PATH`, without its entries that mean the current folder or are relative."""
    import shutil

    here = _current_folder()
    places = [
        place
        for place in os.environ.get("PATH", os.defpath).split(os.pathsep)
        if os.path.isabs(place) and os.path.realpath(place) != here
    ]
    found = shutil.which(name, path=os.pathsep.join(places)) if places else None
    return found if found is not None and os.path.isabs(found) else None  # Windows looks here first


def leave_current_folder() -> None:
    """Let `python -m constrint` import nothing more from the current folder, which Python put first.

    What was imported before this call can only be kept off by `python -P`, or by the command `constrint`.
    """
    here = _current_folder()
    if here is None or sys.flags.safe_path or not sys.path or os.path.realpath(sys.path[0]) != here:
        return
    if here not in [os.path.realpath(folder) for folder in _packages().values()]:
        del sys.path[0]


def _current_folder() -> str | None:
    try:
        return os.path.realpath(os.getcwd())
    except OSError:  # it was removed
        return None


def _packages() -> dict[str, str]:
    """The packages of this distribution that are loaded, each with the folder or zip file that holds it."""
    files = {name: getattr(sys.modules.get(name), "__file__", None) for name in PACKAGES}
    return {
        name: os.path.dirname(os.path.dirname(os.path.abspath(file))) for name, file in files.items() if file
    }
