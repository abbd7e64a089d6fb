"""Kernel Tuner's search spaces, built here.

    import constrint.integrations.kernel_tuner as bridge
    bridge.install()                     # from now on Kernel Tuner builds its search spaces with constrint

The configurations are the same; their order need not be (the last values come first, as in Kernel Tuner's
own search). Its sampling and neighbours work on them as before. What constrint cannot read exactly, Kernel
Tuner builds itself, and a warning says why. Without a patch, `write_cache` makes the file that its framework
"ATF_cache" reads.
"""

from __future__ import annotations

import csv
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from kernel_tuner.searchspace import Searchspace

from constrint.diagrams.listing import without_collection
from constrint.errors import ConstrintError, ModelError
from constrint.solutions.solutionset import SolutionSet
from constrint.tuning.spaces import from_tune_params

_BUILDER = "_Searchspace__build_searchspace"
_own: Callable[..., Any] | None = None

Built = tuple[list[tuple[Any, ...]], dict[tuple[Any, ...], int], int]


def install() -> None:
    """Let Kernel Tuner build its search spaces with constrint, in this process."""
    global _own
    if _own is not None:
        return
    if not hasattr(Searchspace, _BUILDER):
        raise ConstrintError(
            "this version of Kernel Tuner builds its search spaces otherwise than 1.5 does: use `write_cache`"
        )
    _own = getattr(Searchspace, _BUILDER)
    setattr(Searchspace, _BUILDER, _build)


def uninstall() -> None:
    """Give Kernel Tuner its own construction back."""
    global _own
    if _own is not None:
        setattr(Searchspace, _BUILDER, _own)
        _own = None


def write_cache(space: SolutionSet, path: str | Path) -> None:
    """Write configurations as the `;`-separated file that Kernel Tuner's framework "ATF_cache" reads."""
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerow(space.names)
        writer.writerows(space.to_tuples())


def _build(searchspace: Any, block_size_names: Iterable[str], max_threads: int, solver: Any) -> Built:
    """What Kernel Tuner's own construction returns: configurations, their places, and how many they are."""
    given = searchspace.restrictions
    restrictions = list(given) if isinstance(given, list | tuple) else [given]
    names = [name for name in block_size_names if name in searchspace.tune_params]
    threads = f"{' * '.join(names)} <= {max_threads}"
    try:
        if not all(_is_plain(restriction) for restriction in restrictions):
            raise ModelError("a restriction is an object of python-constraint")
        space = from_tune_params(searchspace.tune_params, [*restrictions, *([threads] if names else [])])
    except (
        Exception
    ) as problem:  # whatever it is, Kernel Tuner's own way is what a user has without the bridge
        reason = str(problem).splitlines()[0] if str(problem) else repr(problem)
        warnings.warn(f"Kernel Tuner builds this search space itself: {reason}", stacklevel=2)
        return _built_by_kernel_tuner(searchspace, block_size_names, max_threads, solver)
    _note(searchspace, restrictions, threads if names else None)
    if not space:
        warnings.warn(space.notes[-1], stacklevel=2)
        return [], {}, 0
    with without_collection():
        configurations = space.to_tuples()
        configurations.reverse()
        places = dict(zip(configurations, range(len(configurations)), strict=True))
    return configurations, places, len(configurations)


def _note(searchspace: Any, restrictions: list[Any], threads: str | None) -> None:
    """Leave the limit of threads where Kernel Tuner looks when it changes or checks configurations later."""
    searchspace.restrictions = restrictions
    if threads is None:
        return
    if threads not in restrictions:
        restrictions.append(threads)
    modified = searchspace._modified_restrictions
    if isinstance(modified, list) and threads not in modified:
        modified.append(threads)


def _is_plain(restriction: Any) -> bool:
    module = type(restriction).__module__.partition(".")[0]
    return isinstance(restriction, str) or (callable(restriction) and module != "constraint")


def _built_by_kernel_tuner(searchspace: Any, names: Iterable[str], max_threads: int, solver: Any) -> Built:
    assert _own is not None
    built: Built = _own(searchspace, names, max_threads, solver)
    return built
