"""Python functions by name, so that a child process can import what its parent was given."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from kerneltune.errors import InputError

CHILD_VARIABLE = "KERNELTUNE_CHILD"  # set in children, which must not tune themselves
MAIN = "__kerneltune_main__"


def named(function: object, what: str = "the function") -> str | None:
    """A text by which a child finds a function of a module or script; None if it cannot be found by name."""
    plain: Any = function
    while hasattr(plain, "fn"):  # Triton's decorators
        plain = plain.fn
    module, name = getattr(plain, "__module__", None), getattr(plain, "__qualname__", "")
    if module is None or not name or "<" in name:
        return None
    loaded = sys.modules.get(module)
    file = getattr(loaded, "__file__", None)
    if file is None or not Path(file).is_file():
        return None
    try:
        if _found(loaded, name) is not function:
            return None
    except AttributeError:
        return None
    return f"{module}|{Path(file).resolve()}|{name}"


def resolved(reference: str) -> Any:
    """The function of a text of `named` or of ``FILE:NAME``.

    Raises:
        InputError: The module or the name is not there, or the module fails when it is imported.
    """
    module, file, name = _parts(reference)
    try:
        if module and module not in ("__main__", MAIN):
            loaded = _imported(module, Path(file))
        else:
            loaded = _from_file(Path(file))
        return _found(loaded, name)
    except AttributeError:
        raise InputError(f"{file}: there is no '{name}'") from None
    except InputError:
        raise
    except SyntaxError as error:
        raise InputError(f"{error.filename or file}:{error.lineno}: no Python: {error.msg}") from None
    except Exception as error:  # the user's module
        raise InputError(f"{file} cannot be imported: {error!r}") from None


def forbid_in_children() -> None:
    """Raise `InputError` in a child that imports a script which tunes without a guard."""
    if os.environ.get(CHILD_VARIABLE):
        raise InputError(
            "a child process imports this script to find its functions, so the script must call tune "
            "below `if __name__ == '__main__':`"
        )


def _parts(reference: str) -> tuple[str, str, str]:
    if reference.count("|") == 2:
        module, file, name = reference.split("|")
        return module, file, name
    file, colon, name = reference.rpartition(":")
    if not colon or not file or not name:
        raise InputError(f"'{reference}' names no function: write FILE.py:NAME")
    return "", file, name


def _from_file(path: Path) -> object:
    if not path.is_file():
        raise InputError(f"there is no file {path}")
    known = sys.modules.get(MAIN)
    if known is not None and getattr(known, "__file__", None) == str(path):
        return known
    spec = importlib.util.spec_from_file_location(MAIN, path)
    if spec is None or spec.loader is None:
        raise InputError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[MAIN] = module
    _make_known(path.parent)
    spec.loader.exec_module(module)
    return module


def _imported(module: str, file: Path) -> object:
    """A module that the parent had from this file; where the file is, its package is taken from there."""
    top, *rest = module.split(".")
    root = file.parents[len(rest) + (file.stem == "__init__")]
    spec = None if top in sys.modules else PathFinder.find_spec(top, [str(root)])
    if spec is not None and spec.loader is not None:
        _make_known(root)
        sys.modules[top] = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(sys.modules[top])
        except BaseException:
            del sys.modules[top]
            raise
    return importlib.import_module(module)


def _make_known(folder: Path) -> None:
    """Let a user's file import its neighbours: after all else, so that a `json.py` there replaces nothing."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def _found(module: object, name: str) -> object:
    for part in name.split("."):
        module = getattr(module, part)
    return module
